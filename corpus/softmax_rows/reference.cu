// Row softmax: a block per row. Warps reduce by shuffles, then one value per warp meets in shared memory.
#include "solution.h"

namespace {

constexpr int kThreads = 256;
constexpr int kWarps = kThreads / 32;

struct Max {
    __device__ float operator()(float a, float b) const { return fmaxf(a, b); }
};

struct Sum {
    __device__ float operator()(float a, float b) const { return a + b; }
};

// Reduction over the block, in every thread. `partials` may be used again after it.
template <typename Op>
__device__ float reduce_block(float value, float* partials, Op op) {
    for (int offset = 16; offset > 0; offset /= 2) value = op(value, __shfl_xor_sync(0xFFFFFFFFu, value, offset));
    if (threadIdx.x % 32 == 0) partials[threadIdx.x / 32] = value;
    __syncthreads();
    value = partials[0];
    for (int w = 1; w < kWarps; ++w) value = op(value, partials[w]);
    __syncthreads();
    return value;
}

__global__ void softmax_kernel(const float* x, float* y, int cols) {
    __shared__ float partials[kWarps];
    const float* in = x + static_cast<size_t>(blockIdx.x) * cols;
    float* out = y + static_cast<size_t>(blockIdx.x) * cols;

    float largest = -INFINITY;
    for (int c = threadIdx.x; c < cols; c += kThreads) largest = fmaxf(largest, in[c]);
    largest = reduce_block(largest, partials, Max{});

    float sum = 0.0f;
    for (int c = threadIdx.x; c < cols; c += kThreads) sum += expf(in[c] - largest);
    sum = reduce_block(sum, partials, Sum{});

    const float scale = 1.0f / sum;
    for (int c = threadIdx.x; c < cols; c += kThreads) out[c] = expf(in[c] - largest) * scale;
}

}  // namespace

cudaError_t softmax_rows(const float* x, float* y, int rows, int cols, cudaStream_t stream) {
    softmax_kernel<<<rows, kThreads, 0, stream>>>(x, y, cols);
    return cudaGetLastError();
}
