// What CUDA calls return when something is wrong, and what they leave behind.
#include "case.cuh"

__global__ void nothing() {}
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
    const int codes[] = {0,   1,   2,   3,   4,   9,   13,  21,  35,  46,  98,  100,  101,
                         200, 201, 209, 218, 300, 400, 500, 600, 700, 701, 702, 710,  715,
                         716, 717, 718, 719, 720, 801, 802, 900, 901, 906, 999, 12345};
    for (int code : codes)
        printf("%d %s: %s\n", code, cudaGetErrorName(static_cast<cudaError_t>(code)),
               cudaGetErrorString(static_cast<cudaError_t>(code)));
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

CASE(illegal_address_stays) {
    sticky([] { write_to_null<<<1, 1>>>(nullptr); });
}
CASE(misaligned_address_stays) {
    Buffer<char> data(16);
    char *pointer = data;
    sticky([=] { misaligned<<<1, 1>>>(pointer); });
}
CASE(trap_stays) {
    sticky([] { trapped<<<1, 1>>>(); });
}

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
    exit(0);
}
