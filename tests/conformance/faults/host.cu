// Faults of the host's side: no kernel's line is at fault.
#include "case.cuh"
#include "ended.cuh"

__global__ void nothing() {}
__global__ void write_null(int *data) {
    data[threadIdx.x] = 1;  // FAULT later_calls_see_the_error
}

CASE(too_many_threads) {
    nothing<<<1, 2048>>>();
    ended();
}

CASE(too_much_shared_memory) {
    nothing<<<1, 32, 1 << 20>>>();
    ended();
}

CASE(double_free) {
    int *data = nullptr;
    CHECK(cudaMalloc(&data, 1024));
    SAY(cudaFree(data));
    SAY(cudaFree(data));
    ended();
}

CASE(copy_of_too_many_bytes) {
    static char host[8 << 20];
    char *data = nullptr;
    CHECK(cudaMalloc(&data, 1024));
    SAY(cudaMemcpy(data, host, sizeof host, cudaMemcpyHostToDevice));
    ended();
}

CASE(copy_in_the_wrong_direction) {
    int host[16] = {}, *data = nullptr;
    CHECK(cudaMalloc(&data, sizeof host));
    SAY(cudaMemcpy(data, host, sizeof host, cudaMemcpyDeviceToHost));
    ended();
}

CASE(host_reads_device_memory) {
    int *data = nullptr;
    CHECK(cudaMalloc(&data, 1024));
    CHECK(cudaMemset(data, 0, 1024));
    printf("%d\n", data[0]);
    ended();
}

CASE(more_memory_than_there_is) {
    void *data = nullptr;
    SAY(cudaMalloc(&data, static_cast<size_t>(1) << 46));
    ended();
}

CASE(later_calls_see_the_error) {
    int *data = nullptr, host[4];
    CHECK(cudaMalloc(&data, sizeof host));
    write_null<<<1, 32>>>(nullptr);
    SAY(cudaDeviceSynchronize());
    SAY(cudaMemcpy(host, data, sizeof host, cudaMemcpyDeviceToHost));
    SAY(cudaFree(data));
    ended();
}

CASE(memory_that_is_never_freed) {
    int *data = nullptr;
    CHECK(cudaMalloc(&data, 12345));
    nothing<<<1, 1>>>();
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaDeviceReset());
    printf("end: 0 cudaSuccess\n");
}
