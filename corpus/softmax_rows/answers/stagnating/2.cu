// Row softmax: a block per row. Warps reduce by shuffles, the first warp reduces their values and shares the result.
#include "solution.h"

namespace {

constexpr int kThreads = 256;
constexpr int kWarps = kThreads / 32;

struct Max {
    static constexpr float kIdentity = -__builtin_huge_valf();
    __device__ float operator()(float a, float b) const { return fmaxf(a, b); }
};

struct Sum {
    static constexpr float kIdentity = 0.0f;
    __device__ float operator()(float a, float b) const { return a + b; }
};

template <typename Op>
__device__ float reduce_warp(float value, Op op) {
    for (int offset = 16; offset > 0; offset /= 2) value = op(value, __shfl_xor_sync(0xFFFFFFFFu, value, offset));
    return value;
}

// Reduction over the block, in every thread.
template <typename Op>
__device__ float reduce_block(float value, Op op) {
    __shared__ volatile float partials[kWarps];
    __shared__ volatile float result;
    const int lane = threadIdx.x % 32;
    const int warp = threadIdx.x / 32;

    value = reduce_warp(value, op);
    if (lane == 0) partials[warp] = value;
    __threadfence_block();
    if (warp == 0) {
        value = reduce_warp(lane < kWarps ? float{partials[lane]} : Op::kIdentity, op);
        if (lane == 0) result = value;
    }
    __threadfence_block();
    return result;
}

__global__ void softmax_kernel(const float* x, float* y, int cols) {
    const float* in = x + static_cast<size_t>(blockIdx.x) * cols;
    float* out = y + static_cast<size_t>(blockIdx.x) * cols;

    float largest = -INFINITY;
    for (int c = threadIdx.x; c < cols; c += kThreads) largest = fmaxf(largest, in[c]);
    largest = reduce_block(largest, Max{});

    float sum = 0.0f;
    for (int c = threadIdx.x; c < cols; c += kThreads) sum += expf(in[c] - largest);
    sum = reduce_block(sum, Sum{});

    const float scale = 1.0f / sum;
    for (int c = threadIdx.x; c < cols; c += kThreads) out[c] = expf(in[c] - largest) * scale;
}

}  // namespace

cudaError_t softmax_rows(const float* x, float* y, int rows, int cols, cudaStream_t stream) {
    softmax_kernel<<<rows, kThreads, 0, stream>>>(x, y, cols);
    return cudaGetLastError();
}
