// CUB and Thrust: their kernels use a GPU in ways that nobody writes by hand.
// nvcc: --extended-lambda -diag-suppress 177
#include <cub/block/block_radix_sort.cuh>
#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_reduce.cuh>
#include <cub/device/device_scan.cuh>
#include <cub/warp/warp_reduce.cuh>

#include <thrust/device_vector.h>
#include <thrust/reduce.h>
#include <thrust/scan.h>
#include <thrust/sort.h>
#include <thrust/transform.h>

#include "case.cuh"

typedef unsigned u32;

__global__ void block_collectives(const int *in, int *out) {
    using Reduce = cub::BlockReduce<int, 128>;
    using Scan = cub::BlockScan<int, 128>;
    __shared__ union {
        Reduce::TempStorage reduce;
        Scan::TempStorage scan;
    } storage;
    int value = in[threadIdx.x], before;
    int sum = Reduce(storage.reduce).Sum(value);
    __syncthreads();
    Scan(storage.scan).ExclusiveSum(value, before);
    out[threadIdx.x] = before;
    if (threadIdx.x == 0) out[128] = sum;
}

static void fill(int *values, int n) {
    for (int i = 0; i < n; ++i) values[i] = static_cast<int>((static_cast<u32>(i) * 2654435761u) >> 12) % 10007 - 5000;
}

CASE(block_reduce_and_scan) {
    int host[128];
    fill(host, 128);
    Buffer<int> in(host), out(129);
    block_collectives<<<1, 128>>>(in, out);
    out.show("scan, sum", 16);
}

__global__ void block_sort(const int *in, int *out) {
    using Sort = cub::BlockRadixSort<int, 64, 4>;
    __shared__ Sort::TempStorage storage;
    int values[4];
    for (int i = 0; i < 4; ++i) values[i] = in[threadIdx.x * 4 + i];
    Sort(storage).Sort(values);
    for (int i = 0; i < 4; ++i) out[threadIdx.x * 4 + i] = values[i];
}

CASE(block_radix_sort) {
    int host[256];
    fill(host, 256);
    Buffer<int> in(host), out(256);
    block_sort<<<1, 64>>>(in, out);
    out.show("sorted", 16);
}

__global__ void warp_collectives(const int *in, int *out) {
    using Reduce = cub::WarpReduce<int>;
    __shared__ Reduce::TempStorage storage[2];
    int largest = Reduce(storage[threadIdx.x / 32]).Reduce(in[threadIdx.x], [](int a, int b) { return a > b ? a : b; });
    if (threadIdx.x % 32 == 0) out[threadIdx.x / 32] = largest;
}

CASE(warp_reduce) {
    int host[64];
    fill(host, 64);
    Buffer<int> in(host), out(2);
    warp_collectives<<<1, 64>>>(in, out);
    out.show("largest");
}

// CUB's device-wide algorithms are called twice: for the size of their workspace, and for the work.
template <class Work>
static void with_workspace(Work work) {
    size_t bytes = 0;
    CHECK(work(nullptr, bytes));
    Buffer<char> workspace(bytes);
    CHECK(work(workspace.data, bytes));
    CHECK(cudaDeviceSynchronize());
}

CASE(device_reduce) {
    static int host[20000];
    fill(host, 20000);
    Buffer<int> in(host), out(2);
    with_workspace([&](void *workspace, size_t &bytes) {
        return cub::DeviceReduce::Sum(workspace, bytes, in.data, out.data, 20000);
    });
    with_workspace([&](void *workspace, size_t &bytes) {
        return cub::DeviceReduce::Max(workspace, bytes, in.data, out.data + 1, 20000);
    });
    out.show("sum, maximum");
}

CASE(device_scan) {
    static int host[20000];
    fill(host, 20000);
    Buffer<int> in(host), out(20000);
    with_workspace([&](void *workspace, size_t &bytes) {
        return cub::DeviceScan::InclusiveSum(workspace, bytes, in.data, out.data, 20000);
    });
    out.show_hash("scan");
}

CASE(device_radix_sort) {
    static int host[20000], ranks[20000];
    fill(host, 20000);
    for (int i = 0; i < 20000; ++i) ranks[i] = i;
    Buffer<int> in(host), out(20000), numbers(ranks), order(20000);
    with_workspace([&](void *workspace, size_t &bytes) {
        return cub::DeviceRadixSort::SortPairs(workspace, bytes, in.data, out.data, numbers.data, order.data, 20000);
    });
    out.show_hash("keys");
    order.show_hash("order");
}

CASE(thrust_algorithms) {
    static int host[5000];
    fill(host, 5000);
    thrust::device_vector<int> values(host, host + 5000), scanned(5000);
    printf("%d\n", thrust::reduce(values.begin(), values.end(), 0));
    thrust::transform(values.begin(), values.end(), values.begin(), [] __device__(int x) { return x * 3 + 1; });
    thrust::exclusive_scan(values.begin(), values.end(), scanned.begin());
    printf("%d\n", static_cast<int>(scanned[4999]));
    thrust::sort(values.begin(), values.end());
    printf("%d %d %d\n", static_cast<int>(values[0]), static_cast<int>(values[2500]), static_cast<int>(values[4999]));
}
