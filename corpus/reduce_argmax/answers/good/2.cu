// Row maxima: several blocks share a row. Each writes down the best of its part; the last one to do so, and it alone,
// compares the parts. There is no turn to wait for.
#include "solution.h"

namespace {

constexpr int kThreads = 256;
constexpr int kWarps = kThreads / 32;
constexpr int kParts = 8;  // blocks that share a row

struct Best {
    float value;
    int index;

    __device__ bool beats(const Best& other) const {
        return value > other.value || (value == other.value && index < other.index);
    }
};

__device__ float part_values[kMaxRows][kParts];
__device__ int part_indices[kMaxRows][kParts];
__device__ unsigned int finished[kMaxRows];  // blocks that have written their part

__device__ Best best_of_warp(Best best) {
    for (int offset = 16; offset > 0; offset /= 2) {
        const Best other = {__shfl_xor_sync(0xFFFFFFFFu, best.value, offset),
                            __shfl_xor_sync(0xFFFFFFFFu, best.index, offset)};
        if (other.beats(best)) best = other;
    }
    return best;
}

// The best of the block, in its first warp.
__device__ Best best_of_block(Best best) {
    __shared__ Best warps[kWarps];
    best = best_of_warp(best);
    if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = best;
    __syncthreads();
    if (threadIdx.x >= 32) return best;
    return best_of_warp(warps[threadIdx.x % kWarps]);
}

__global__ void argmax_kernel(const float* x, float* value, int* index, int cols) {
    const int row = blockIdx.y;
    const float* values = x + static_cast<size_t>(row) * cols;

    Best best = {-INFINITY, cols};
#pragma unroll 4
    for (int c = blockIdx.x * kThreads + threadIdx.x; c < cols; c += kParts * kThreads) {
        const Best candidate = {values[c], c};
        if (candidate.beats(best)) best = candidate;
    }
    best = best_of_block(best);
    if (threadIdx.x != 0) return;

    part_values[row][blockIdx.x] = best.value;
    part_indices[row][blockIdx.x] = best.index;
    __threadfence();
    if (atomicAdd(&finished[row], 1u) + 1 < kParts) return;
    finished[row] = 0;  // for the next call
    __threadfence();
    for (int part = 0; part < kParts; ++part) {
        const Best candidate = {__ldcg(&part_values[row][part]), __ldcg(&part_indices[row][part])};
        if (candidate.beats(best)) best = candidate;
    }
    value[row] = best.value;
    index[row] = best.index;
}

}  // namespace

cudaError_t reduce_argmax(const float* x, float* value, int* index, int rows, int cols, cudaStream_t stream) {
    argmax_kernel<<<dim3(kParts, rows), kThreads, 0, stream>>>(x, value, index, cols);
    return cudaGetLastError();
}
