// Row maxima: several blocks share a row. Each leaves the best of its part in memory and counts itself; the one that
// comes last combines all parts. Nobody waits for anybody.
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

__device__ Best found[kMaxRows][kParts];
__device__ unsigned int arrived[kMaxRows];  // zero between two launches: the last block wraps it around

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

    found[row][blockIdx.x] = best;
    __threadfence();  // what is counted can be seen
    if (atomicInc(&arrived[row], kParts - 1) != kParts - 1) return;
    __threadfence();
    for (int part = 0; part < kParts; ++part) {
        const volatile Best& other = found[row][part];
        const Best candidate = {other.value, other.index};
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
