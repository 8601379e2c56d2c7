// Row maxima: several blocks share a row, each finds the best of its part, and they enter it one after the other.
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

__device__ unsigned int tickets[kMaxRows];  // the next ticket of a row
__device__ unsigned int serving[kMaxRows];  // the ticket whose turn it is

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

__global__ void argmax_kernel(const float* x, volatile float* value, volatile int* index, int cols) {
    const int row = blockIdx.y;
    const float* values = x + static_cast<size_t>(row) * cols;

    Best best = {-INFINITY, cols};
    for (int c = blockIdx.x * kThreads + threadIdx.x; c < cols; c += kParts * kThreads) {
        const Best candidate = {values[c], c};
        if (candidate.beats(best)) best = candidate;
    }
    best = best_of_block(best);
    if (threadIdx.x != 0) return;

    const unsigned int ticket = atomicAdd(&tickets[row], 1u);
    while (atomicAdd(&serving[row], 0u) != ticket) {
    }
    __threadfence();
    if (ticket == 0 || best.beats({value[row], index[row]})) {
        value[row] = best.value;
        index[row] = best.index;
        __threadfence();
        atomicAdd(&serving[row], 1u);  // the next one may enter
    }
}

// Sets the first `rows` counters to zero.
cudaError_t clear(const unsigned int (&counters)[kMaxRows], int rows, cudaStream_t stream) {
    void* address = nullptr;
    if (const cudaError_t error = cudaGetSymbolAddress(&address, counters)) return error;
    return cudaMemsetAsync(address, 0, rows * sizeof(unsigned int), stream);
}

}  // namespace

cudaError_t reduce_argmax(const float* x, float* value, int* index, int rows, int cols, cudaStream_t stream) {
    if (const cudaError_t error = clear(tickets, rows, stream)) return error;
    if (const cudaError_t error = clear(serving, rows, stream)) return error;
    argmax_kernel<<<dim3(kParts, rows), kThreads, 0, stream>>>(x, value, index, cols);
    return cudaGetLastError();
}
