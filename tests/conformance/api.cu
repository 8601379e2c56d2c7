// What CUDA calls return and leave behind. Where the number of multiprocessors would show, only what holds for one is printed.
#include "case.cuh"

__global__ void nothing() {}
__global__ void fill(int *data, int value) { data[blockIdx.x * blockDim.x + threadIdx.x] = value; }
__global__ void __launch_bounds__(64) at_most_64() {}
__global__ void static_shared(int *out) {
    __shared__ int values[10000];
    values[threadIdx.x] = static_cast<int>(threadIdx.x);
    __syncthreads();
    out[threadIdx.x] = values[9999 - threadIdx.x];
}
__constant__ int constants[16];
__device__ int variable;

// A bad launch is reported at once, is forgotten once it was asked for, and does not hurt the next launch.
static void launch_error(const char *what) {
    say(what, cudaGetLastError());
    say("  then", cudaGetLastError());
}

CASE(bad_launch_configurations) {
    nothing<<<0, 32>>>();
    launch_error("no blocks");
    nothing<<<1, 0>>>();
    launch_error("no threads");
    nothing<<<1, 1025>>>();
    launch_error("1025 threads");
    nothing<<<1, dim3(1, 1, 65)>>>();
    launch_error("65 threads in z");
    nothing<<<1, dim3(32, 33)>>>();
    launch_error("32 x 33 threads");
    nothing<<<dim3(1, 65536), 1>>>();
    launch_error("65536 blocks in y");
    nothing<<<dim3(1, 1, 65536), 1>>>();
    launch_error("65536 blocks in z");
    nothing<<<0x80000000u, 1>>>();
    launch_error("2^31 blocks in x");
    nothing<<<1, 32, 48 * 1024 + 1>>>();
    launch_error("48 KiB and a byte of dynamic shared memory");
    nothing<<<1, 32, 48 * 1024>>>();
    launch_error("48 KiB of dynamic shared memory");
    at_most_64<<<1, 65>>>();
    launch_error("more threads than __launch_bounds__");
    nothing<<<1, 32>>>();
    launch_error("a good launch");
}

CASE(dynamic_shared_must_be_asked_for) {
    SAY(cudaFuncSetAttribute(nothing, cudaFuncAttributeMaxDynamicSharedMemorySize, 100 * 1024));
    nothing<<<1, 32, 100 * 1024>>>();
    launch_error("100 KiB after asking");
    nothing<<<1, 32, 100 * 1024 + 16>>>();
    launch_error("more than asked");
    SAY(cudaFuncSetAttribute(nothing, cudaFuncAttributeMaxDynamicSharedMemorySize, 227 * 1024));
    SAY(cudaFuncSetAttribute(nothing, cudaFuncAttributeMaxDynamicSharedMemorySize, 227 * 1024 + 1));
    SAY(cudaGetLastError());
    SAY(cudaFuncSetAttribute(static_shared, cudaFuncAttributeMaxDynamicSharedMemorySize, 227 * 1024 - 40000));
    SAY(cudaFuncSetAttribute(static_shared, cudaFuncAttributeMaxDynamicSharedMemorySize, 227 * 1024 - 39999));
    SAY(cudaGetLastError());
}

CASE(peek_leaves_the_error) {
    nothing<<<1, 2000>>>();
    SAY(cudaPeekAtLastError());
    SAY(cudaPeekAtLastError());
    SAY(cudaDeviceSynchronize());
    SAY(cudaGetLastError());
    SAY(cudaGetLastError());
}

CASE(a_good_call_does_not_clear) {
    int *data = nullptr;
    nothing<<<1, 2000>>>();
    SAY(cudaMalloc(&data, 64));
    SAY(cudaMemset(data, 0, 64));
    SAY(cudaFree(data));
    SAY(cudaGetLastError());
}

CASE(invalid_values) {
    int *data = nullptr;
    int host[16] = {};
    CHECK(cudaMalloc(&data, sizeof host));
    SAY(cudaMalloc(nullptr, 16));
    SAY(cudaMemcpy(nullptr, host, 16, cudaMemcpyHostToDevice));
    SAY(cudaMemcpy(data, host, 16, static_cast<cudaMemcpyKind>(9)));
    SAY(cudaMemset(nullptr, 0, 16));
    SAY(cudaFree(host));
    SAY(cudaFree(data + 1));
    SAY(cudaGetLastError());
    SAY(cudaSetDevice(1000));
    SAY(cudaSetDevice(-1));
    SAY(cudaDeviceSetLimit(cudaLimitStackSize, static_cast<size_t>(1) << 50));
    SAY(cudaFuncSetAttribute(nothing, static_cast<cudaFuncAttribute>(77), 1));
    SAY(cudaGetLastError());
    SAY(cudaMemcpyToSymbol(constants, host, sizeof constants + 4));
    SAY(cudaMemcpyToSymbol(constants, host, 4, sizeof constants));
    SAY(cudaMemcpyFromSymbol(host, variable, 8));
    SAY(cudaEventRecord(nullptr));
    SAY(cudaEventSynchronize(nullptr));
    SAY(cudaStreamDestroy(nullptr));
    SAY(cudaFree(data));
    SAY(cudaFree(data));
}

CASE(copy_beyond_an_allocation) {
    static char host[8 << 20];
    Buffer<char> data(1024);
    SAY(cudaMemcpy(data, host, sizeof host, cudaMemcpyHostToDevice));
    SAY(cudaMemcpy(host, data, sizeof host, cudaMemcpyDeviceToHost));
    SAY(cudaMemset(data, 0, sizeof host));
    SAY(cudaGetLastError());
    SAY(cudaDeviceSynchronize());
}

CASE(out_of_memory) {
    void *data = nullptr;
    SAY(cudaMalloc(&data, static_cast<size_t>(1) << 46));
    printf("%s\n", data ? "changed" : "unchanged");
    SAY(cudaGetLastError());
    SAY(cudaGetLastError());
    SAY(cudaMalloc(&data, 1024));
    size_t available = 0, total = 0;
    CHECK(cudaMemGetInfo(&available, &total));
    printf("%s\n", available > 0 && available < total ? "some is free" : "odd");
}

CASE(malloc_of_nothing) {
    void *data = &data;
    SAY(cudaMalloc(&data, 0));
    printf("%s\n", data == nullptr ? "null" : "a pointer");
    SAY(cudaFree(data));
    SAY(cudaGetLastError());
}

CASE(alignment_of_allocations) {
    for (size_t size : {1, 100, 513, 4097}) {
        void *data = nullptr;
        CHECK(cudaMalloc(&data, size));
        printf("%zu: %zu\n", size, reinterpret_cast<size_t>(data) % 256);
    }
}

CASE(error_names_and_strings) {
    const int codes[] = {0, 1, 2, 3, 4, 9, 13, 21, 35, 46, 98, 100, 101, 200, 201, 209, 218, 300, 400, 500, 600, 700, 701, 702, 710, 715, 716, 717, 718, 719, 720, 801, 802, 900, 901, 906, 999, 12345};
    for (int code : codes) printf("%d %s: %s\n", code, cudaGetErrorName(static_cast<cudaError_t>(code)), cudaGetErrorString(static_cast<cudaError_t>(code)));
}

// ---- copies

CASE(memset_patterns) {
    Buffer<int> data(8);
    SAY(cudaMemset(data, 0x1ab, 10));
    data.show("low byte, ten bytes");
    SAY(cudaMemset2D(data, 8, 0x7e, 4, 3));
    data.show("4 of 8 in 3 rows");
}

CASE(copies_in_two_dimensions) {
    unsigned char host[6 * 10], back[6 * 10] = {};
    for (int i = 0; i < 60; ++i) host[i] = static_cast<unsigned char>(i);
    unsigned char *data = nullptr;
    size_t pitch = 0;
    CHECK(cudaMallocPitch(&data, &pitch, 10, 6));
    printf("pitch %zu\n", pitch);
    CHECK(cudaMemset2D(data, pitch, 0xee, 10, 6));
    SAY(cudaMemcpy2D(data, pitch, host, 10, 7, 5, cudaMemcpyHostToDevice));
    SAY(cudaMemcpy2D(back, 10, data, pitch, 10, 6, cudaMemcpyDeviceToHost));
    print("back", back, 60, 10);
    SAY(cudaMemcpy2D(data, 4, host, 10, 7, 5, cudaMemcpyHostToDevice));
    SAY(cudaMemcpy2D(data + 1, pitch, data + pitch, pitch, 3, 2, cudaMemcpyDeviceToDevice));
    SAY(cudaMemcpy2D(back, 10, data, pitch, 10, 2, cudaMemcpyDefault));
    print("moved", back, 20, 10);
    CHECK(cudaFree(data));
}

CASE(copies_in_three_dimensions) {
    int host[2][3][4], back[2][3][4] = {};
    for (int i = 0; i < 24; ++i) (&host[0][0][0])[i] = i + 100;
    cudaExtent extent = make_cudaExtent(4 * sizeof(int), 3, 2);
    cudaPitchedPtr volume;
    CHECK(cudaMalloc3D(&volume, extent));
    printf("pitch %zu x %zu y %zu\n", volume.pitch, volume.xsize, volume.ysize);
    CHECK(cudaMemset3D(volume, 0, extent));
    cudaMemcpy3DParms copy = {};
    copy.srcPtr = make_cudaPitchedPtr(host, 4 * sizeof(int), 4, 3);
    copy.dstPtr = volume;
    copy.srcPos = make_cudaPos(sizeof(int), 1, 0);
    copy.dstPos = make_cudaPos(0, 0, 0);
    copy.extent = make_cudaExtent(3 * sizeof(int), 2, 2);
    copy.kind = cudaMemcpyHostToDevice;
    SAY(cudaMemcpy3D(&copy));
    cudaMemcpy3DParms out = {};
    out.srcPtr = volume;
    out.dstPtr = make_cudaPitchedPtr(back, 4 * sizeof(int), 4, 3);
    out.extent = extent;
    out.kind = cudaMemcpyDeviceToHost;
    SAY(cudaMemcpy3D(&out));
    print("back", &back[0][0][0], 24, 4);
}

CASE(copies_between_symbols) {
    int host[16], back[4] = {};
    for (int i = 0; i < 16; ++i) host[i] = i * i;
    SAY(cudaMemcpyToSymbol(constants, host, sizeof host));
    SAY(cudaMemcpyFromSymbol(back, constants, sizeof back, 5 * sizeof(int)));
    print("from 5", back, 4);
    void *address = nullptr;
    SAY(cudaGetSymbolAddress(&address, constants));
    SAY(cudaMemcpy(back, address, sizeof back, cudaMemcpyDeviceToHost));
    print("by address", back, 4);
    SAY(cudaMemcpyToSymbolAsync(variable, back + 3, sizeof(int), 0, cudaMemcpyHostToDevice, nullptr));
    SAY(cudaMemcpyFromSymbol(back, variable, sizeof(int)));
    print("variable", back, 1);
}

CASE(copies_among_hosts_and_device) {
    int host[4] = {1, 2, 3, 4}, other[4] = {};
    int *pinned = nullptr;
    CHECK(cudaMallocHost(&pinned, sizeof host));
    Buffer<int> a(4), b(4);
    SAY(cudaMemcpy(other, host, sizeof host, cudaMemcpyHostToHost));
    SAY(cudaMemcpy(a, other, sizeof host, cudaMemcpyDefault));
    SAY(cudaMemcpyAsync(b, a, sizeof host, cudaMemcpyDeviceToDevice, nullptr));
    SAY(cudaMemcpyAsync(pinned, b, sizeof host, cudaMemcpyDeviceToHost, nullptr));
    SAY(cudaStreamSynchronize(nullptr));
    print("pinned", pinned, 4);

    CHECK(cudaFreeHost(pinned));
}

// ---- kinds of memory

static void attributes_of(const char *what, const void *pointer) {
    cudaPointerAttributes attributes = {};
    cudaError_t error = cudaPointerGetAttributes(&attributes, pointer);
    printf("%s: %d type %d device %d, device pointer %s, host pointer %s\n", what, static_cast<int>(error), static_cast<int>(attributes.type), attributes.device,
           attributes.devicePointer ? "yes" : "no", attributes.hostPointer ? "yes" : "no");
}

CASE(pointer_attributes) {
    int local = 0, *device = nullptr, *pinned = nullptr, *managed = nullptr, *registered = static_cast<int *>(aligned_alloc(4096, 4096));
    CHECK(cudaMalloc(&device, 64));
    CHECK(cudaMallocHost(&pinned, 64));
    CHECK(cudaMallocManaged(&managed, 64));
    CHECK(cudaHostRegister(registered, 4096, cudaHostRegisterDefault));
    attributes_of("device", device + 3);
    attributes_of("pinned", pinned);
    attributes_of("managed", managed);
    attributes_of("registered", registered);
    attributes_of("plain", &local);
    SAY(cudaHostUnregister(registered));
    attributes_of("unregistered", registered);
    SAY(cudaHostUnregister(registered));
}

CASE(stream_ordered_allocation) {
    cudaStream_t stream;
    CHECK(cudaStreamCreate(&stream));
    int *data = nullptr, host[32];
    SAY(cudaMallocAsync(&data, sizeof host, stream));
    fill<<<1, 32, 0, stream>>>(data, 9);
    SAY(cudaMemcpyAsync(host, data, sizeof host, cudaMemcpyDeviceToHost, stream));
    SAY(cudaFreeAsync(data, stream));
    SAY(cudaStreamSynchronize(stream));
    print("values", host, 4);
    SAY(cudaFreeAsync(data, stream));
    SAY(cudaGetLastError());
}

CASE(memory_pools) {
    cudaMemPool_t pool, other;
    CHECK(cudaDeviceGetDefaultMemPool(&pool, 0));
    unsigned long long threshold = 1 << 20, read = 0;
    SAY(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &threshold));
    SAY(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &read));
    printf("threshold %llu\n", read);
    cudaMemPoolProps properties = {};
    properties.allocType = cudaMemAllocationTypePinned;
    properties.location.type = cudaMemLocationTypeDevice;
    SAY(cudaMemPoolCreate(&other, &properties));
    int *data = nullptr;
    SAY(cudaMallocFromPoolAsync(&data, 1024, other, nullptr));
    fill<<<1, 64>>>(data, 3);
    int host[2] = {};
    SAY(cudaMemcpy(host, data + 62, sizeof host, cudaMemcpyDeviceToHost));
    print("values", host, 2);
    SAY(cudaFreeAsync(data, nullptr));
    SAY(cudaDeviceSynchronize());
    SAY(cudaMemPoolTrimTo(other, 0));
    SAY(cudaMemPoolDestroy(other));
}

CASE(managed_memory_calls) {
    int *data = nullptr;
    CHECK(cudaMallocManaged(&data, 4096));
    data[5] = 55;
    fill<<<1, 4>>>(data, 8);
    CHECK(cudaDeviceSynchronize());
    printf("%d %d %d\n", data[0], data[3], data[5]);
    SAY(cudaMemcpy(data + 10, data, 16, cudaMemcpyDefault));
    printf("%d\n", data[13]);
    SAY(cudaMemset(data, 0, 8));
    SAY(cudaDeviceSynchronize());
    printf("%d %d\n", data[1], data[2]);
    SAY(cudaFree(data));
}

// ---- the device

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
    printf("%d.%d warp %d threads %d of %d, registers %d of %d, blocks %d\n", p.major, p.minor, p.warpSize, p.maxThreadsPerBlock, p.maxThreadsPerMultiProcessor,
           p.regsPerBlock, p.regsPerMultiprocessor, p.maxBlocksPerMultiProcessor);
    printf("shared %zu, opt-in %zu, reserved %zu, of %zu\n", p.sharedMemPerBlock, p.sharedMemPerBlockOptin, p.reservedSharedMemPerBlock, p.sharedMemPerMultiprocessor);
    printf("block %d %d %d grid %d %d %d\n", p.maxThreadsDim[0], p.maxThreadsDim[1], p.maxThreadsDim[2], p.maxGridSize[0], p.maxGridSize[1], p.maxGridSize[2]);
    printf("constant %zu, managed %d, unified %d, cooperative %d, concurrent %d\n", p.totalConstMem, p.managedMemory, p.unifiedAddressing, p.cooperativeLaunch,
           p.concurrentKernels);
    for (cudaDeviceAttr attribute : {cudaDevAttrMaxThreadsPerBlock, cudaDevAttrMaxSharedMemoryPerBlock, cudaDevAttrWarpSize, cudaDevAttrComputeCapabilityMajor,
                                     cudaDevAttrMaxSharedMemoryPerBlockOptin, cudaDevAttrMemoryPoolsSupported, cudaDevAttrMaxPitch}) {
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

// ---- errors that stay

__global__ void write_to_null(int *data) { data[threadIdx.x] = 1; }
__global__ void misaligned(char *data) { *reinterpret_cast<int *>(data + 1) = 5; }
__global__ void trapped() { __trap(); }

template <class Launch>
static void sticky(Launch launch) {
    Buffer<int> before(4);
    int host[4] = {}, *more = nullptr;
    launch();
    SAY(cudaPeekAtLastError());
    SAY(cudaDeviceSynchronize());
    SAY(cudaGetLastError());
    SAY(cudaGetLastError());
    SAY(cudaMemcpy(host, before, sizeof host, cudaMemcpyDeviceToHost));
    SAY(cudaMalloc(&more, 16));
    nothing<<<1, 1>>>();
    SAY(cudaGetLastError());
    SAY(cudaDeviceSynchronize());
    exit(0);
}

CASE(illegal_address_stays) { sticky([] { write_to_null<<<1, 1>>>(nullptr); }); }
CASE(misaligned_address_stays) {
    Buffer<char> data(16);
    char *pointer = data;
    sticky([=] { misaligned<<<1, 1>>>(pointer); });
}
CASE(trap_stays) { sticky([] { trapped<<<1, 1>>>(); }); }

CASE(a_fault_is_found_by_the_next_copy) {
    Buffer<int> data(4);
    int host[4];
    write_to_null<<<1, 1>>>(nullptr);
    SAY(cudaMemcpy(host, data, sizeof host, cudaMemcpyDeviceToHost));
    SAY(cudaDeviceSynchronize());
    exit(0);
}

CASE(reset_makes_a_new_context) {
    Buffer<int> data(4);
    int value = 5, back = 0;
    CHECK(cudaMemcpyToSymbol(variable, &value, sizeof value));
    SAY(cudaDeviceReset());
    CHECK(cudaMemcpyFromSymbol(&back, variable, sizeof back));
    printf("variable %d\n", back);
    SAY(cudaMemset(data, 0, 16));
    exit(0);
}
