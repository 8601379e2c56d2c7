// Which calls deliver the fault of a kernel that still runs, and what each returns after it was delivered.
#include "say.cuh"

#include <cuda_profiler_api.h>
#include <sys/wait.h>
#include <unistd.h>

__global__ void fault_after(long long cycles) {
    const long long start = clock64();
    while (clock64() - start < cycles) {
    }
    *(volatile int *)16 = 1;
}
__global__ void fine(int *out) {
    if (out) *out = 7;
}
__device__ int symbol[16];

static int *device, *other, *pinned, *managed, pageable[64], number;
static cudaStream_t stream, quiet, made_stream;
static cudaEvent_t event, past, made_event;
static cudaGraph_t graph;
static cudaGraphExec_t executable;
static void *pointer;
static size_t size, total;
static float milliseconds;
static cudaFuncAttributes attributes;
static cudaDeviceProp properties;
static cudaPointerAttributes kind;
static cudaMemPool_t pool;
static cudaStreamCaptureStatus status;
static const cudaMemLocation on_device = {cudaMemLocationTypeDevice, 0};

static cudaError_t launch(int threads) {
    fine<<<1, threads>>>(device);
    return cudaPeekAtLastError();
}

struct Call {
    const char *name;
    cudaError_t (*make)();
};
#define CALL(...) {#__VA_ARGS__, [] { return __VA_ARGS__; }}

static const Call calls[] = {
    CALL(cudaGetLastError()),
    CALL(cudaPeekAtLastError()),
    CALL(launch(1)),
    CALL(launch(2000)),
    CALL(cudaMalloc(&pointer, 100)),
    CALL(cudaMalloc(&pointer, 0)),
    CALL(cudaFree(0)),
    CALL(cudaFree(other)),
    CALL(cudaMallocHost(&pointer, 100)),
    CALL(cudaFreeHost(pinned)),
    CALL(cudaMallocManaged(&pointer, 100)),
    CALL(cudaMallocAsync(&pointer, 100, 0)),
    CALL(cudaFreeAsync(other, 0)),
    CALL(cudaMemcpy(pageable, device, 16, cudaMemcpyDeviceToHost)),
    CALL(cudaMemcpy(pinned, device, 16, cudaMemcpyDeviceToHost)),
    CALL(cudaMemcpy(device, pageable, 16, cudaMemcpyHostToDevice)),
    CALL(cudaMemcpy(device, pinned, 16, cudaMemcpyHostToDevice)),
    CALL(cudaMemcpy(device, other, 16, cudaMemcpyDeviceToDevice)),
    CALL(cudaMemcpy(pageable, pageable + 16, 16, cudaMemcpyHostToHost)),
    CALL(cudaMemcpy(device, pageable, 0, cudaMemcpyHostToDevice)),
    CALL(cudaMemcpyAsync(pageable, device, 16, cudaMemcpyDeviceToHost, stream)),
    CALL(cudaMemcpyAsync(pageable, device, 16, cudaMemcpyDeviceToHost, 0)),
    CALL(cudaMemcpyAsync(pinned, device, 16, cudaMemcpyDeviceToHost, stream)),
    CALL(cudaMemcpyAsync(device, pageable, 16, cudaMemcpyHostToDevice, stream)),
    CALL(cudaMemcpyAsync(device, pinned, 16, cudaMemcpyHostToDevice, stream)),
    CALL(cudaMemcpy2D(pageable, 16, device, 16, 16, 2, cudaMemcpyDeviceToHost)),
    CALL(cudaMemcpyToSymbol(symbol, pageable, 16)),
    CALL(cudaMemcpyFromSymbol(pageable, symbol, 16)),
    CALL(cudaMemset(device, 0, 16)),
    CALL(cudaMemset(pinned, 0, 16)),
    CALL(cudaMemset(managed, 0, 16)),
    CALL(cudaMemset2D(device, 16, 0, 16, 2)),
    CALL(cudaMemsetAsync(device, 0, 16, stream)),
    CALL(cudaMemPrefetchAsync(managed, 64, on_device, 0, 0)),
    CALL(cudaMemGetInfo(&size, &total)),
    CALL(cudaGetSymbolAddress(&pointer, symbol)),
    CALL(cudaGetSymbolSize(&size, symbol)),
    CALL(cudaPointerGetAttributes(&kind, device)),
    CALL(cudaHostGetDevicePointer(&pointer, pinned, 0)),
    CALL(cudaHostRegister(pageable, 64, 0)),
    CALL(cudaDeviceSynchronize()),
    CALL(cudaStreamSynchronize(0)),
    CALL(cudaStreamSynchronize(quiet)),
    CALL(cudaStreamQuery(0)),
    CALL(cudaStreamCreate(&made_stream)),
    CALL(cudaStreamDestroy(quiet)),
    CALL(cudaStreamWaitEvent(quiet, past, 0)),
    CALL(cudaStreamIsCapturing(stream, &status)),
    CALL(cudaEventCreate(&made_event)),
    CALL(cudaEventRecord(event, 0)),
    CALL(cudaEventSynchronize(past)),
    CALL(cudaEventDestroy(past)),
    CALL(cudaEventElapsedTime(&milliseconds, past, past)),
    CALL(cudaLaunchHostFunc(0, [](void *) {}, nullptr)),
    CALL(cudaSetDevice(0)),
    CALL(cudaGetDevice(&number)),
    CALL(cudaGetDeviceCount(&number)),
    CALL(cudaGetDeviceProperties(&properties, 0)),
    CALL(cudaDeviceGetAttribute(&number, cudaDevAttrWarpSize, 0)),
    CALL(cudaDeviceGetLimit(&size, cudaLimitStackSize)),
    CALL(cudaDeviceSetLimit(cudaLimitStackSize, 2048)),
    CALL(cudaDeviceGetStreamPriorityRange(&number, &number)),
    CALL(cudaDeviceGetDefaultMemPool(&pool, 0)),
    CALL(cudaFuncGetAttributes(&attributes, fine)),
    CALL(cudaFuncSetAttribute(fine, cudaFuncAttributeMaxDynamicSharedMemorySize, 65536)),
    CALL(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&number, fine, 128, 0)),
    CALL(cudaDriverGetVersion(&number)),
    CALL(cudaRuntimeGetVersion(&number)),
    CALL(cudaGraphCreate(&graph, 0)),
    CALL(cudaGraphLaunch(executable, stream)),
    CALL(cudaProfilerStart()),
    CALL(cudaDeviceReset()),
};

static void prepare() {
    cudaMalloc(&device, 4096);
    cudaMalloc(&other, 4096);
    cudaMallocHost(&pinned, 4096);
    cudaMallocManaged(&managed, 4096);
    cudaStreamCreate(&stream);
    cudaStreamCreateWithFlags(&quiet, cudaStreamNonBlocking);
    cudaEventCreate(&event);
    cudaEventCreate(&past);
    cudaEventRecord(past, 0);
    cudaGraphNode_t node;
    cudaGraphCreate(&graph, 0);
    cudaGraphAddEmptyNode(&node, graph, 0, 0);
    cudaGraphInstantiate(&executable, graph, 0);
    fine<<<1, 1>>>(device);
    cudaMemcpyToSymbol(symbol, pageable, 16);
    cudaDeviceSynchronize();
}

static void in_child(void (*body)(const Call &), const Call &call) {
    fflush(stdout);
    if (fork() == 0) {
        prepare();
        body(call);
        fflush(stdout);
        _exit(0);
    }
    wait(nullptr);
}

static void while_running(const Call &call) {
    fault_after<<<1, 1>>>(200000000);
    const cudaError_t at_launch = cudaGetLastError(), error = call.make(), last = cudaPeekAtLastError();
    const cudaError_t at_end = cudaDeviceSynchronize(), first = cudaGetLastError(), again = cudaGetLastError();
    printf("%s\n  while the kernel runs %d, then %d; the launch %d, waiting %d, then %d and %d\n", call.name, error, last,
           at_launch, at_end, first, again);
}

static void afterwards(const Call &call) {
    fault_after<<<1, 1>>>(1000);
    cudaDeviceSynchronize();
    const cudaError_t first = cudaGetLastError(), again = cudaGetLastError(), error = call.make();
    const cudaError_t last = cudaGetLastError();
    printf("  after %d and %d: %d, then %d; an allocation %d\n", first, again, error, last, cudaMalloc(&pointer, 16));
}

int main() {
    for (const Call &call : calls) {
        in_child(while_running, call);
        in_child(afterwards, call);
    }
}
