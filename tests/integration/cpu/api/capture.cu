// Capture: what may be done meanwhile, what ends it, and what it makes.
#include "say.cuh"

#include <thread>

__global__ void add(int *sum, int value) {
    *sum += value;
}

static int *sum, value;
static cudaStream_t stream, other, third, made_stream;
static cudaEvent_t event, first, second, made_event;
static cudaGraph_t graph;
static cudaGraphExec_t executable;
static void *pointer;
static size_t count, total;
static float milliseconds;
static cudaStreamCaptureStatus status;
static const cudaMemLocation on_device = {cudaMemLocationTypeDevice, 0};

static cudaError_t launch(cudaStream_t into, int threads = 1) {
    add<<<1, threads, 0, into>>>(sum, 100);
    return cudaPeekAtLastError();
}

static cudaError_t in_thread(cudaError_t (*call)()) {
    cudaError_t error;
    std::thread([&] { error = call(); }).join();
    return error;
}

static void begin(cudaStreamCaptureMode mode) {
    cudaMemset(sum, 0, 4);
    cudaDeviceSynchronize();
    if (const cudaError_t error = cudaStreamBeginCapture(stream, mode)) printf("begin %d\n", error);
    add<<<1, 1, 0, stream>>>(sum, 1);
}

static void end() {
    graph = 0;
    count = 0;
    cudaStreamIsCapturing(stream, &status);
    const cudaError_t error = cudaStreamEndCapture(stream, &graph);
    if (graph) cudaGraphGetNodes(graph, 0, &count);
    printf("  status %d end %d nodes %zu\n", status, error, count);
    if (graph) cudaGraphDestroy(graph);
    cudaGetLastError();
}

// One call between the beginning and the end of a capture.
#define WHILE_CAPTURING(mode, ...)          \
    do {                                    \
        begin(cudaStreamCaptureMode##mode); \
        SAY(__VA_ARGS__);                   \
        end();                              \
    } while (0)

static void one_call_each() {
    WHILE_CAPTURING(Global, cudaMalloc(&pointer, 16));
    WHILE_CAPTURING(Global, cudaFree(pointer));
    WHILE_CAPTURING(Global, cudaFree(0));
    WHILE_CAPTURING(Global, cudaMallocHost(&pointer, 16));
    WHILE_CAPTURING(Global, cudaMallocManaged(&pointer, 16));
    WHILE_CAPTURING(Global, cudaMallocAsync(&pointer, 16, stream));
    WHILE_CAPTURING(Global, cudaMallocAsync(&pointer, 16, other));
    WHILE_CAPTURING(Global, cudaMemcpy(&value, sum, 4, cudaMemcpyDeviceToHost));
    WHILE_CAPTURING(Global, cudaMemcpy(sum, sum + 8, 4, cudaMemcpyDeviceToDevice));
    WHILE_CAPTURING(Global, cudaMemcpyAsync(&value, sum, 4, cudaMemcpyDeviceToHost, stream));
    WHILE_CAPTURING(Global, cudaMemcpyAsync(&value, sum, 4, cudaMemcpyDeviceToHost, 0));
    WHILE_CAPTURING(Global, cudaMemcpyAsync(&value, sum, 4, cudaMemcpyDeviceToHost, other));
    WHILE_CAPTURING(Global, cudaMemcpyAsync(sum, &value, 4000000, cudaMemcpyHostToDevice, stream));
    WHILE_CAPTURING(Global, cudaMemset(sum, 0, 4));
    WHILE_CAPTURING(Global, cudaMemsetAsync(sum, 0, 4, stream));
    WHILE_CAPTURING(Global, cudaMemsetAsync(sum, 0, 4, 0));
    WHILE_CAPTURING(Global, cudaMemPrefetchAsync(sum, 4, on_device, 0, stream));
    WHILE_CAPTURING(Global, cudaMemGetInfo(&count, &total));
    WHILE_CAPTURING(Global, cudaDeviceSynchronize());
    WHILE_CAPTURING(Global, cudaDeviceSetLimit(cudaLimitStackSize, 2048));
    WHILE_CAPTURING(Global, cudaStreamSynchronize(stream));
    WHILE_CAPTURING(Global, cudaStreamSynchronize(other));
    WHILE_CAPTURING(Global, cudaStreamSynchronize(0));
    WHILE_CAPTURING(Global, cudaStreamQuery(stream));
    WHILE_CAPTURING(Global, cudaStreamQuery(other));
    WHILE_CAPTURING(Global, cudaStreamQuery(0));
    WHILE_CAPTURING(Global, cudaStreamCreate(&made_stream));
    WHILE_CAPTURING(Global, cudaStreamDestroy(made_stream));
    WHILE_CAPTURING(Global, cudaStreamWaitEvent(stream, event, 0));
    WHILE_CAPTURING(Global, cudaStreamIsCapturing(0, &status));
    WHILE_CAPTURING(Global, cudaEventQuery(event));
    WHILE_CAPTURING(Global, cudaEventSynchronize(event));
    WHILE_CAPTURING(Global, cudaEventElapsedTime(&milliseconds, event, event));
    WHILE_CAPTURING(Global, cudaEventRecord(first, stream));
    WHILE_CAPTURING(Global, cudaEventRecord(event, other));
    WHILE_CAPTURING(Global, cudaEventRecord(event, 0));
    WHILE_CAPTURING(Global, cudaEventCreate(&made_event));
    WHILE_CAPTURING(Global, cudaEventDestroy(made_event));
    WHILE_CAPTURING(Global, cudaLaunchHostFunc(stream, [](void *) {}, 0));
    WHILE_CAPTURING(Global, cudaLaunchHostFunc(0, [](void *) {}, 0));
    WHILE_CAPTURING(Global, cudaStreamAddCallback(stream, [](cudaStream_t, cudaError_t, void *) {}, 0, 0));
    WHILE_CAPTURING(Global, cudaStreamAddCallback(other, [](cudaStream_t, cudaError_t, void *) {}, 0, 0));
    WHILE_CAPTURING(Global, launch(stream));
    WHILE_CAPTURING(Global, launch(stream, 2000));
    WHILE_CAPTURING(Global, launch(0));
    WHILE_CAPTURING(Global, launch(other));
    WHILE_CAPTURING(Global, cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    WHILE_CAPTURING(Global, in_thread([] { return cudaMalloc(&pointer, 16); }));
    WHILE_CAPTURING(Global, in_thread([] { return cudaStreamEndCapture(stream, &graph); }));
    WHILE_CAPTURING(Relaxed, cudaMalloc(&pointer, 16));
    WHILE_CAPTURING(Relaxed, cudaFree(pointer));
    WHILE_CAPTURING(Relaxed, cudaDeviceSynchronize());
    WHILE_CAPTURING(Relaxed, cudaStreamSynchronize(stream));
    WHILE_CAPTURING(Relaxed, cudaStreamSynchronize(other));
    WHILE_CAPTURING(Relaxed, cudaEventSynchronize(event));
    WHILE_CAPTURING(Relaxed, cudaStreamQuery(0));
    WHILE_CAPTURING(Relaxed, cudaMemcpy(&value, sum, 4, cudaMemcpyDeviceToHost));
    WHILE_CAPTURING(Relaxed, launch(0));
    WHILE_CAPTURING(Relaxed, in_thread([] { return cudaStreamEndCapture(stream, &graph); }));
    WHILE_CAPTURING(ThreadLocal, cudaMalloc(&pointer, 16));
    WHILE_CAPTURING(ThreadLocal, in_thread([] { return cudaMalloc(&pointer, 16); }));
    WHILE_CAPTURING(ThreadLocal, in_thread([] { return cudaDeviceSynchronize(); }));
    WHILE_CAPTURING(ThreadLocal, in_thread([] { return cudaStreamEndCapture(stream, &graph); }));
}

static void beginning_and_ending() {
    SAY(cudaStreamBeginCapture(0, cudaStreamCaptureModeGlobal));
    SAY(cudaStreamBeginCapture(cudaStreamLegacy, cudaStreamCaptureModeGlobal));
    SAY(cudaStreamBeginCapture(stream, (cudaStreamCaptureMode)9));
    SAY(cudaStreamEndCapture(stream, &graph));
    SAY(cudaStreamIsCapturing(0, &status));
    SHOW("%d", status);
    SAY(cudaStreamBeginCapture(cudaStreamPerThread, cudaStreamCaptureModeGlobal));
    SAY(cudaStreamEndCapture(cudaStreamPerThread, &graph));
    SAY(cudaGraphGetNodes(graph, 0, &count));
    SHOW("%zu", count);
    SAY(cudaGraphInstantiate(&executable, graph, 0));
    SAY(cudaGraphLaunch(executable, 0));
    SAY(cudaDeviceSynchronize());
    SAY(cudaStreamBeginCapture(third, cudaStreamCaptureModeGlobal));
    SAY(cudaStreamDestroy(third));
    SAY(cudaMalloc(&pointer, 16));
    cudaStreamCreateWithFlags(&third, cudaStreamNonBlocking);
    unsigned long long id = 0;
    cudaGraph_t found;
    const cudaGraphNode_t *dependencies;
    begin(cudaStreamCaptureModeGlobal);
    SAY(cudaStreamGetCaptureInfo(stream, &status, &id, &found, &dependencies, nullptr, &count));
    SHOW("%d", status);
    SHOW("%d", id != 0 && found != 0 && dependencies != 0);
    SHOW("%zu", count);
    SAY(cudaStreamGetCaptureInfo(0, &status, &id));
    SHOW("%d", status);
    end();
    SAY(cudaStreamGetCaptureInfo(stream, &status, &id, &found, &dependencies, nullptr, &count));
    SHOW("%d", status);
}

// The captured stream does not wait for the legacy stream: that may be used.
static void beside_the_legacy_stream() {
    SAY(cudaStreamBeginCapture(other, cudaStreamCaptureModeGlobal));
    SAY(launch(other));
    SAY(launch(0));
    SAY(cudaMemset(sum, 0, 4));
    SAY(cudaStreamSynchronize(0));
    SAY(cudaStreamIsCapturing(other, &status));
    SHOW("%d", status);
    SAY(cudaStreamEndCapture(other, &graph));
    SAY(cudaStreamBeginCapture(other, cudaStreamCaptureModeGlobal));
    SAY(cudaMemcpy(&value, sum, 4, cudaMemcpyDeviceToHost));
    SAY(cudaStreamEndCapture(other, &graph));
}

static void show_sum() {
    cudaMemcpy(&value, sum, 4, cudaMemcpyDeviceToHost);
    SHOW("%d", value);
}

static void forks() {
    begin(cudaStreamCaptureModeGlobal);
    SAY(cudaEventRecord(first, stream));
    SAY(cudaStreamWaitEvent(other, first, 0));
    SAY(cudaStreamIsCapturing(other, &status));
    SHOW("%d", status);
    SAY(launch(other));
    SAY(cudaEventQuery(first));
    end();
    SAY(cudaStreamIsCapturing(other, &status));
    SHOW("%d", status);

    puts("unjoined");
    begin(cudaStreamCaptureModeGlobal);
    SAY(cudaEventRecord(first, stream));
    SAY(cudaStreamWaitEvent(other, first, 0));
    SAY(launch(other));
    end();

    puts("a fork without work of its own");
    begin(cudaStreamCaptureModeGlobal);
    SAY(cudaEventRecord(first, stream));
    SAY(cudaStreamWaitEvent(other, first, 0));
    end();

    puts("the wrong stream");
    begin(cudaStreamCaptureModeGlobal);
    SAY(cudaEventRecord(first, stream));
    SAY(cudaStreamWaitEvent(other, first, 0));
    SAY(cudaStreamEndCapture(other, &graph));
    end();

    puts("joined");
    begin(cudaStreamCaptureModeGlobal);
    SAY(cudaEventRecord(first, stream));
    SAY(cudaStreamWaitEvent(other, first, 0));
    add<<<1, 1, 0, other>>>(sum, 10);
    SAY(cudaEventRecord(second, other));
    SAY(cudaStreamWaitEvent(stream, second, 0));
    add<<<1, 1, 0, stream>>>(sum, 1000);
    SAY(cudaStreamEndCapture(stream, &graph));
    SAY(cudaStreamIsCapturing(other, &status));
    SHOW("%d", status);
    cudaGraphNode_t from[16], to[16];
    count = 16;
    SAY(cudaGraphGetNodes(graph, from, &count));
    SHOW("%zu", count);
    count = 16;
    SAY(cudaGraphGetEdges(graph, from, to, 0, &count));
    SHOW("%zu", count);
    count = 16;
    SAY(cudaGraphGetRootNodes(graph, from, &count));
    SHOW("%zu", count);
    SAY(cudaGraphInstantiate(&executable, graph, 0));
    show_sum();
    SAY(cudaGraphLaunch(executable, stream));
    SAY(cudaStreamSynchronize(stream));
    show_sum();
    SAY(cudaGraphLaunch(executable, 0));
    show_sum();
    SAY(cudaEventSynchronize(first));
    SAY(cudaEventElapsedTime(&milliseconds, first, second));
    SAY(cudaEventQuery(first));
    SAY(cudaStreamWaitEvent(other, first, 0));
}

static void an_executable_in_a_capture() {
    begin(cudaStreamCaptureModeGlobal);
    SAY(cudaGraphLaunch(executable, stream));
    end();
}

static void foreign_events() {
    SAY(cudaStreamBeginCapture(other, cudaStreamCaptureModeGlobal));
    SAY(cudaStreamBeginCapture(third, cudaStreamCaptureModeGlobal));
    SAY(cudaEventRecord(first, other));
    SAY(cudaStreamWaitEvent(third, first, 0));
    SAY(cudaStreamEndCapture(third, &graph));
    SAY(cudaStreamEndCapture(other, &graph));
    SAY(cudaEventRecord(first, other));
    SAY(cudaStreamBeginCapture(third, cudaStreamCaptureModeGlobal));
    SAY(cudaStreamWaitEvent(third, first, 0));
    SAY(launch(third));
    SAY(cudaStreamEndCapture(third, &graph));
    SAY(cudaStreamBeginCapture(third, cudaStreamCaptureModeGlobal));
    SAY(cudaStreamWaitEvent(third, first, cudaEventWaitExternal));
    SAY(cudaEventRecordWithFlags(first, third, cudaEventRecordExternal));
    SAY(cudaStreamEndCapture(third, &graph));
    SAY(cudaGraphGetNodes(graph, 0, &count));
    SHOW("%zu", count);
}

static void memory_of_a_graph() {
    begin(cudaStreamCaptureModeGlobal);
    int *captured;
    SAY(cudaMallocAsync(&captured, 16, stream));
    SAY(cudaMemsetAsync(captured, 1, 16, stream));
    SAY(cudaMemcpyAsync(sum, captured, 4, cudaMemcpyDeviceToDevice, stream));
    SAY(cudaFreeAsync(captured, stream));
    SAY(cudaStreamEndCapture(stream, &graph));
    SAY(cudaGraphInstantiate(&executable, graph, 0));
    SAY(cudaGraphLaunch(executable, stream));
    SAY(cudaGraphLaunch(executable, stream));
    show_sum();
    begin(cudaStreamCaptureModeGlobal);
    SAY(cudaMallocAsync(&captured, 16, stream));
    SAY(cudaStreamEndCapture(stream, &graph));
    SAY(cudaGraphInstantiate(&executable, graph, 0));
    SAY(cudaGraphLaunch(executable, stream));
    SAY(cudaGraphLaunch(executable, stream));
    SAY(cudaMemset(captured, 0, 16));
    SAY(cudaFree(captured));
    SAY(cudaGraphLaunch(executable, stream));
    SAY(cudaFreeAsync(captured, stream));
    SAY(cudaStreamSynchronize(stream));
}

int main() {
    cudaMalloc(&sum, 4096);
    cudaStreamCreate(&stream);
    cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&third, cudaStreamNonBlocking);
    cudaEventCreate(&event);
    cudaEventCreate(&first);
    cudaEventCreate(&second);
    cudaEventRecord(event, stream);
    add<<<1, 1>>>(sum, 1);
    cudaDeviceSynchronize();
    one_call_each();
    beginning_and_ending();
    beside_the_legacy_stream();
    forks();
    an_executable_in_a_capture();
    foreign_events();
    memory_of_a_graph();
}
