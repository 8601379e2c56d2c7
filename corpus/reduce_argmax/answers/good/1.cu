// Row maxima: several blocks share a row. Value and column are packed into one key, so that an atomic maximum combines
// what they found; a second kernel unpacks the keys.
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

__device__ unsigned long long keys[kMaxRows];

// Orders unsigned numbers as the floats that they stand for.
__device__ unsigned int ordered(float value) {
    const unsigned int bits = __float_as_uint(value);
    return bits & 0x80000000u ? ~bits : bits | 0x80000000u;
}

__device__ float unordered(unsigned int bits) {
    return __uint_as_float(bits & 0x80000000u ? bits & 0x7FFFFFFFu : ~bits);
}

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

__global__ void argmax_kernel(const float* x, int cols) {
    const int row = blockIdx.y;
    const float* values = x + static_cast<size_t>(row) * cols;

    Best best = {-INFINITY, cols};
    for (int c = blockIdx.x * kThreads + threadIdx.x; c < cols; c += kParts * kThreads) {
        const Best candidate = {values[c], c};
        if (candidate.beats(best)) best = candidate;
    }
    best = best_of_block(best);
    if (threadIdx.x != 0) return;
    const unsigned long long key = static_cast<unsigned long long>(ordered(best.value)) << 32 | best.index;
    atomicMax(&keys[row], key);
}

__global__ void unpack_kernel(float* value, int* index, int rows) {
    const int row = blockIdx.x * kThreads + threadIdx.x;
    if (row >= rows) return;
    value[row] = unordered(static_cast<unsigned int>(keys[row] >> 32));
    index[row] = static_cast<int>(keys[row] & 0xFFFFFFFFu);
}

}  // namespace

cudaError_t reduce_argmax(const float* x, float* value, int* index, int rows, int cols, cudaStream_t stream) {
    void* address = nullptr;
    if (const cudaError_t error = cudaGetSymbolAddress(&address, keys)) return error;
    if (const cudaError_t error = cudaMemsetAsync(address, 0, rows * sizeof(keys[0]), stream)) return error;
    argmax_kernel<<<dim3(kParts, rows), kThreads, 0, stream>>>(x, cols);
    unpack_kernel<<<(rows + kThreads - 1) / kThreads, kThreads, 0, stream>>>(value, index, rows);
    return cudaGetLastError();
}
