// Streams, events and host functions.
#include "say.cuh"

static cudaStream_t stream, other;
static cudaEvent_t event, untimed;

static void streams() {
    int least, greatest, priority, device;
    unsigned flags;
    unsigned long long id, other_id;
    cudaStream_t made;
    SAY(cudaDeviceGetStreamPriorityRange(&least, &greatest));
    SHOW("%d", least);
    SHOW("%d", greatest);
    SAY(cudaStreamCreate(&stream));
    SAY(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
    SAY(cudaStreamCreateWithFlags(&made, 7));
    SAY(cudaStreamCreate(0));
    SAY(cudaStreamCreateWithPriority(&made, cudaStreamNonBlocking, -1));
    SAY(cudaStreamGetPriority(made, &priority));
    SHOW("%d", priority);
    SAY(cudaStreamGetFlags(made, &flags));
    SHOW("%u", flags);
    SAY(cudaStreamDestroy(made));
    SAY(cudaStreamCreateWithPriority(&made, 0, -100));
    SAY(cudaStreamGetPriority(made, &priority));
    SHOW("%d", priority);
    SAY(cudaStreamCreateWithPriority(&made, 0, 100));
    SAY(cudaStreamGetPriority(made, &priority));
    SHOW("%d", priority);
    SAY(cudaStreamGetPriority(0, &priority));
    SHOW("%d", priority);
    SAY(cudaStreamGetFlags(0, &flags));
    SHOW("%u", flags);
    SAY(cudaStreamGetId(stream, &id));
    SAY(cudaStreamGetId(other, &other_id));
    SHOW("%d", id != other_id);
    SAY(cudaStreamGetDevice(stream, &device));
    SHOW("%d", device);
    SAY(cudaStreamDestroy(0));
    SAY(cudaStreamDestroy(cudaStreamPerThread));
    SAY(cudaStreamQuery(0));
    SAY(cudaStreamQuery(cudaStreamLegacy));
    SAY(cudaStreamQuery(cudaStreamPerThread));
    SAY(cudaStreamSynchronize(stream));
}

static void events() {
    float milliseconds = -1;
    cudaEvent_t made;
    SAY(cudaEventCreate(&event));
    SAY(cudaEventCreate(0));
    SAY(cudaEventCreateWithFlags(&made, 99));
    SAY(cudaEventCreateWithFlags(&made, cudaEventInterprocess));
    SAY(cudaEventCreateWithFlags(&made, cudaEventInterprocess | cudaEventDisableTiming));
    SAY(cudaEventCreateWithFlags(&made, cudaEventBlockingSync));
    SAY(cudaEventCreateWithFlags(&untimed, cudaEventDisableTiming));
    SAY(cudaEventElapsedTime(&milliseconds, event, event));
    SAY(cudaEventQuery(event));
    SAY(cudaEventSynchronize(event));
    SAY(cudaEventRecord(event, stream));
    SAY(cudaEventRecord(untimed, stream));
    SAY(cudaEventSynchronize(event));
    SAY(cudaEventElapsedTime(&milliseconds, event, untimed));
    SAY(cudaEventElapsedTime(&milliseconds, event, event));
    SHOW("%g", milliseconds);
    SAY(cudaEventElapsedTime(0, event, event));
    SAY(cudaEventElapsedTime(&milliseconds, event, 0));
    SAY(cudaEventRecord(0, stream));
    SAY(cudaEventQuery(0));
    SAY(cudaEventDestroy(0));
    SAY(cudaStreamWaitEvent(other, event, 0));
    SAY(cudaStreamWaitEvent(other, 0, 0));
    SAY(cudaStreamWaitEvent(other, event, 77));
    SAY(cudaEventRecordWithFlags(event, stream, 55));
    SAY(cudaEventRecordWithFlags(event, stream, cudaEventRecordExternal));
    SAY(cudaEventDestroy(untimed));
}

static cudaError_t inside;

static void call_the_api(void *) {
    void *memory;
    inside = cudaMalloc(&memory, 16);
}

static void store(cudaStream_t, cudaError_t error, void *given) {
    *(int *)given = 6 + error;
}

static void host_functions() {
    int value = 0, *data = &value;
    SAY(cudaLaunchHostFunc(stream, [](void *given) { *(int *)given = 5; }, data));
    SAY(cudaStreamSynchronize(stream));
    SHOW("%d", value);
    SAY(cudaLaunchHostFunc(stream, 0, 0));
    SAY(cudaStreamAddCallback(stream, store, data, 0));
    SAY(cudaStreamSynchronize(stream));
    SHOW("%d", value);
    SAY(cudaStreamAddCallback(stream, [](cudaStream_t, cudaError_t, void *) {}, data, 3));
    SAY(cudaLaunchHostFunc(stream, call_the_api, 0));
    SAY(cudaStreamSynchronize(stream));
    SHOW("%d", inside);
}

int main() {
    streams();
    events();
    host_functions();
}
