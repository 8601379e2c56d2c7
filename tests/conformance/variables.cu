// Variables of modules and their initialisers, managed memory, and host memory that kernels reach.
#include "elementwise.cuh"

__constant__ int constant_table[8] = {1, -2, 3, -4, 5, -6, 7, -8};
__constant__ double constant_pair[2];
__device__ int counter = 41;
__device__ float untouched[3];
__device__ const char *const words[] = {"beaver", "dam", "lodge"};
struct Node {
    int value;
    const Node *next;
    const int *table;
};
__device__ int pointed_at[4] = {10, 20, 30, 40};
__device__ Node last[2] = {{2, nullptr, constant_table}, {3, nullptr, pointed_at + 3}};
__device__ Node middle = {4, last + 1, pointed_at + 2};
__device__ Node chain = {1, &middle, pointed_at + 1};

__global__ void read_constants(int *out, double *pair) {
    out[threadIdx.x] = constant_table[threadIdx.x] * constant_table[7 - threadIdx.x];
    if (threadIdx.x < 2) pair[threadIdx.x] = constant_pair[threadIdx.x];
}

CASE(constant_memory) {
    const double pair[] = {0.5, -2.25};
    Buffer<int> out(8);
    Buffer<double> doubles(2);
    CHECK(cudaMemcpyToSymbol(constant_pair, pair, sizeof pair));
    read_constants<<<1, 8>>>(out, doubles);
    out.show("initialised");
    doubles.show("copied");
    const int replacement[] = {100, 200};
    CHECK(cudaMemcpyToSymbol(constant_table, replacement, sizeof replacement, 3 * sizeof(int)));
    read_constants<<<1, 8>>>(out, doubles);
    out.show("overwritten from 3");
}

__global__ void count() { atomicAdd(&counter, 1); }

CASE(device_variables) {
    int value = 0;
    float zeros[3] = {1, 1, 1};
    void *address = nullptr;
    size_t size = 0;
    count<<<2, 16>>>();
    CHECK(cudaMemcpyFromSymbol(&value, counter, sizeof value));
    print("counter", &value, 1);
    CHECK(cudaMemcpyFromSymbol(zeros, untouched, sizeof zeros));
    print("zeros", zeros, 3);
    CHECK(cudaGetSymbolSize(&size, untouched));
    printf("size %zu\n", size);
    CHECK(cudaGetSymbolAddress(&address, counter));
    CHECK(cudaMemcpy(&value, address, sizeof value, cudaMemcpyDeviceToHost));
    print("by address", &value, 1);
}

__global__ void follow(int *out) {
    int i = 0;
    for (const Node *node = &chain; node; node = node->next) {
        out[i++] = node->value;
        out[i++] = *node->table;
    }
    for (const char *word : words)
        for (const char *c = word; *c; ++c) out[6] = out[6] * 31 + *c;
    out[7] = static_cast<int>(sizeof(Node));
}

CASE(initialisers_hold_addresses) {
    Buffer<int> out(8);
    follow<<<1, 1>>>(out);
    out.show("chain, words");
}

__managed__ int managed_variable = 5;
__global__ void change_managed(int *more) {
    if (threadIdx.x == 0) managed_variable += 37;
    more[threadIdx.x] += static_cast<int>(threadIdx.x);
}

CASE(managed_memory) {
    int *more = nullptr;
    CHECK(cudaMallocManaged(&more, 4 * sizeof(int)));
    for (int i = 0; i < 4; ++i) more[i] = 100 * i;
    managed_variable += 1;
    change_managed<<<1, 4>>>(more);
    CHECK(cudaDeviceSynchronize());
    printf("%d: %d %d %d %d\n", managed_variable, more[0], more[1], more[2], more[3]);
    CHECK(cudaFree(more));
}

__global__ void add_mapped(const int *in, int *out) { out[threadIdx.x] = in[threadIdx.x] + 1; }

CASE(host_memory_in_kernels) {
    int *pinned = nullptr, *mapped = nullptr, *address = nullptr;
    CHECK(cudaMallocHost(&pinned, 8 * sizeof(int)));
    CHECK(cudaHostAlloc(&mapped, 8 * sizeof(int), cudaHostAllocMapped));
    CHECK(cudaHostGetDevicePointer(&address, mapped, 0));
    for (int i = 0; i < 8; ++i) pinned[i] = i * i;
    add_mapped<<<1, 8>>>(pinned, address);
    CHECK(cudaDeviceSynchronize());
    print("mapped", mapped, 8);
    CHECK(cudaFreeHost(pinned));
    CHECK(cudaFreeHost(mapped));
}
