// Sliding-window attention in one pass: a block stages the keys and values that its tokens see in shared memory, and
// every thread folds the window of its token into a running softmax.
#include "solution.h"

namespace {

constexpr int kThreads = 128;
constexpr int kMaxWindow = 64;
constexpr int kRows = kThreads + kMaxWindow - 1;
constexpr int kQuads = kHeadDim / 4;

__device__ float dot(float4 a, float4 b) { return (a.x * b.x + a.y * b.y) + (a.z * b.z + a.w * b.w); }

// sum * scale + weight * value
__device__ float4 blend(float4 sum, float scale, float weight, float4 value) {
    return make_float4(sum.x * scale + weight * value.x, sum.y * scale + weight * value.y,
                       sum.z * scale + weight * value.z, sum.w * scale + weight * value.w);
}

__global__ void attention_kernel(const float4* q, const float4* k, const float4* v, float4* y, int tokens, int window) {
    __shared__ float4 keys[kRows * kQuads];
    __shared__ float4 values[kRows * kQuads];

    const int first = static_cast<int>(blockIdx.x) * kThreads;
    const int oldest = max(first - window + 1, 0);
    const int end = min(first + kThreads, tokens);
    for (int i = threadIdx.x; i < (end - oldest) * kQuads; i += kThreads) {
        keys[i] = k[static_cast<size_t>(oldest) * kQuads + i];
        values[i] = v[static_cast<size_t>(oldest) * kQuads + i];
    }
    __syncthreads();

    const int t = first + static_cast<int>(threadIdx.x);
    if (t >= tokens) return;
    float4 query[kQuads];
    float4 sum[kQuads];
    for (int i = 0; i < kQuads; ++i) {
        query[i] = q[static_cast<size_t>(t) * kQuads + i];
        sum[i] = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    }

    const float scale = rsqrtf(static_cast<float>(kHeadDim));
    float largest = -INFINITY;
    float total = 0.0f;
    for (int j = max(t - window + 1, 0); j <= t; ++j) {
        const int row = (j - oldest) * kQuads;
        float score = 0.0f;
        for (int i = 0; i < kQuads; ++i) score += dot(query[i], keys[row + i]);
        score *= scale;
        const float larger = fmaxf(largest, score);
        const float correction = expf(largest - larger);  // 0 for the first key
        const float weight = expf(score - larger);
        for (int i = 0; i < kQuads; ++i) sum[i] = blend(sum[i], correction, weight, values[row + i]);
        total = total * correction + weight;
        largest = larger;
    }

    const float4 zero = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    for (int i = 0; i < kQuads; ++i) y[static_cast<size_t>(t) * kQuads + i] = blend(zero, 0.0f, 1.0f / total, sum[i]);
}

}  // namespace

cudaError_t attention_window(const float* q, const float* k, const float* v, float* y, int tokens, int window,
                             cudaStream_t stream) {
    const int blocks = (tokens + kThreads - 1) / kThreads;
    attention_kernel<<<blocks, kThreads, 0, stream>>>(
        reinterpret_cast<const float4*>(q), reinterpret_cast<const float4*>(k), reinterpret_cast<const float4*>(v),
        reinterpret_cast<float4*>(y), tokens, window);
    return cudaGetLastError();
}
