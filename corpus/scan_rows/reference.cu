// Inclusive row scan: one block per row, tile by tile. Warps scan by shuffles; their totals meet in shared memory.
#include "solution.h"

namespace {

constexpr int kThreads = 256;
constexpr int kWarps = kThreads / 32;

struct Sum {
    static constexpr float kIdentity = 0.0f;
    __device__ float operator()(float a, float b) const { return a + b; }
};

struct Max {
    static constexpr float kIdentity = -__builtin_huge_valf();
    __device__ float operator()(float a, float b) const { return fmaxf(a, b); }
};

template <typename Op>
__device__ float scan_warp(float value, Op op) {
    const int lane = threadIdx.x % 32;
    for (int offset = 1; offset < 32; offset *= 2) {
        const float before = __shfl_up_sync(0xFFFFFFFFu, value, offset);
        if (lane >= offset) value = op(before, value);
    }
    return value;
}

template <typename Op>
__global__ void scan_kernel(const float* x, float* y, int cols, Op op) {
    __shared__ float totals[kWarps];
    const int lane = threadIdx.x % 32;
    const int warp = threadIdx.x / 32;
    const size_t row = static_cast<size_t>(blockIdx.x) * cols;

    float carry = Op::kIdentity;
    for (int tile = 0; tile < cols; tile += kThreads) {
        const int column = tile + static_cast<int>(threadIdx.x);
        const float value = scan_warp(column < cols ? x[row + column] : Op::kIdentity, op);
        if (lane == 31) totals[warp] = value;
        __syncthreads();

        float before = carry;
        for (int w = 0; w < kWarps; ++w) {
            if (w == warp) before = carry;
            carry = op(carry, totals[w]);
        }
        if (column < cols) y[row + column] = op(before, value);
        __syncthreads();  // the next tile overwrites totals
    }
}

}  // namespace

cudaError_t scan_rows(const float* x, float* y, int rows, int cols, ScanKind kind, cudaStream_t stream) {
    if (kind == ScanKind::sum) {
        scan_kernel<<<rows, kThreads, 0, stream>>>(x, y, cols, Sum{});
    } else {
        scan_kernel<<<rows, kThreads, 0, stream>>>(x, y, cols, Max{});
    }
    return cudaGetLastError();
}
