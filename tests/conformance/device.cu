// What the device says of itself. Where the number of multiprocessors would show, only what holds for one is printed.
#include "case.cuh"

__global__ void nothing() {}
__global__ void static_shared(int *out) {
    __shared__ int values[10000];
    values[threadIdx.x] = static_cast<int>(threadIdx.x);
    __syncthreads();
    out[threadIdx.x] = values[9999 - threadIdx.x];
}

CASE(limits) {
    size_t value = 0;
    for (cudaLimit limit : {cudaLimitStackSize, cudaLimitPrintfFifoSize, cudaLimitMallocHeapSize}) {
        CHECK(cudaDeviceGetLimit(&value, limit));
        printf("%d: %zu\n", static_cast<int>(limit), value);
    }
    SAY(cudaDeviceSetLimit(cudaLimitStackSize, 5000));
    CHECK(cudaDeviceGetLimit(&value, cudaLimitStackSize));
    printf("stack %zu\n", value);
    SAY(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 64 << 20));
    CHECK(cudaDeviceGetLimit(&value, cudaLimitMallocHeapSize));
    printf("heap %zu\n", value);
}

CASE(properties_of_compute_capability_9) {
    cudaDeviceProp p;
    CHECK(cudaGetDeviceProperties(&p, 0));
    printf("%d.%d warp %d threads %d of %d, registers %d of %d, blocks %d\n", p.major, p.minor, p.warpSize,
           p.maxThreadsPerBlock, p.maxThreadsPerMultiProcessor, p.regsPerBlock, p.regsPerMultiprocessor,
           p.maxBlocksPerMultiProcessor);
    printf("shared %zu, opt-in %zu, reserved %zu, of %zu\n", p.sharedMemPerBlock, p.sharedMemPerBlockOptin,
           p.reservedSharedMemPerBlock, p.sharedMemPerMultiprocessor);
    printf("block %d %d %d grid %d %d %d\n", p.maxThreadsDim[0], p.maxThreadsDim[1], p.maxThreadsDim[2],
           p.maxGridSize[0], p.maxGridSize[1], p.maxGridSize[2]);
    printf("constant %zu, managed %d, unified %d, cooperative %d, concurrent %d\n", p.totalConstMem, p.managedMemory,
           p.unifiedAddressing, p.cooperativeLaunch, p.concurrentKernels);
    for (cudaDeviceAttr attribute :
         {cudaDevAttrMaxThreadsPerBlock, cudaDevAttrMaxSharedMemoryPerBlock, cudaDevAttrWarpSize,
          cudaDevAttrComputeCapabilityMajor, cudaDevAttrMaxSharedMemoryPerBlockOptin, cudaDevAttrMemoryPoolsSupported,
          cudaDevAttrMaxPitch}) {
        int value = -1;
        CHECK(cudaDeviceGetAttribute(&value, attribute, 0));
        printf("%d: %d\n", static_cast<int>(attribute), value);
    }
}

CASE(occupancy_of_one_multiprocessor) {
    for (int threads : {1, 32, 64, 96, 128, 256, 512, 768, 1024}) {
        int plain = -1, with_static = -1, with_dynamic = -1;
        CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&plain, nothing, threads, 0));
        CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&with_static, static_shared, threads, 0));
        CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&with_dynamic, nothing, threads, 20000));
        printf("%d threads: %d, %d, %d\n", threads, plain, with_static, with_dynamic);
    }
    int grid = 0, block = 0;
    CHECK(cudaOccupancyMaxPotentialBlockSize(&grid, &block, nothing, 0, 0));
    printf("block %d\n", block);
}

CASE(versions) {
    int runtime = 0, device = -1, count = 0;
    CHECK(cudaRuntimeGetVersion(&runtime));
    CHECK(cudaGetDevice(&device));
    CHECK(cudaGetDeviceCount(&count));
    printf("%s, device %d, %s\n", runtime / 1000 == 13 ? "13" : "another", device, count >= 1 ? "some" : "none");
}

CASE(stream_priorities_and_flags) {
    int least = 9, greatest = 9, priority = 9;
    unsigned flags = 9;
    CHECK(cudaDeviceGetStreamPriorityRange(&least, &greatest));
    cudaStream_t stream;
    CHECK(cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, greatest));
    CHECK(cudaStreamGetPriority(stream, &priority));
    CHECK(cudaStreamGetFlags(stream, &flags));
    printf("%s, flags %u\n", priority == greatest && least == 0 ? "as asked" : "otherwise", flags);
    SAY(cudaStreamDestroy(stream));
}

CASE(events_before_they_are_recorded) {
    cudaEvent_t a, b;
    float milliseconds = 0;
    CHECK(cudaEventCreate(&a));
    CHECK(cudaEventCreate(&b));
    SAY(cudaEventQuery(a));
    SAY(cudaEventSynchronize(a));
    SAY(cudaEventElapsedTime(&milliseconds, a, b));
    SAY(cudaGetLastError());
    SAY(cudaEventDestroy(a));
}
