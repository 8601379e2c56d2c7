// Sliding-window attention without any intermediate: two neighbouring lanes share a token, each with half of its
// query and of its sum, and walk over the window once, with a running softmax.
#include "solution.h"

namespace {

constexpr int kThreads = 256;
constexpr int kLanes = 2;  // per token; each holds one float4 of a row
static_assert(kHeadDim == 4 * kLanes);

__global__ void attention_kernel(const float4* q, const float4* k, const float4* v, float4* y, int tokens, int window) {
    const int thread = blockIdx.x * kThreads + threadIdx.x;
    const int t = thread / kLanes;
    const int half = thread % kLanes;
    const int last = min(t, tokens - 1);  // lanes behind the end repeat the last token, for the shuffles
    // Scores in base 2: exp(x) = exp2(x * log2(e)).
    const float scale = rsqrtf(float(kHeadDim)) * 1.44269504f;
    float4 query = q[static_cast<size_t>(last) * kLanes + half];
    query = make_float4(query.x * scale, query.y * scale, query.z * scale, query.w * scale);

    float4 sum = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    float total = 0.0f;
    float largest = -INFINITY;
#pragma unroll 4
    for (int back = 0; back < window; ++back) {
        const int j = max(last - back, 0) * kLanes + half;
        const float4 key = k[j];
        const float4 value = v[j];
        float dot = (query.x * key.x + query.y * key.y) + (query.z * key.z + query.w * key.w);
        dot += __shfl_xor_sync(0xFFFFFFFFu, dot, 1);
        const float score = back <= last ? dot : -INFINITY;

        // Of the two factors, exp2(largest - larger) and exp2(score - larger), one is always 1.
        const float smaller = exp2f(-fabsf(score - largest));
        const float correction = score > largest ? smaller : 1.0f;  // 0 for the first key
        const float weight = score > largest ? 1.0f : smaller;
        largest = fmaxf(largest, score);
        total = total * correction + weight;
        sum.x = sum.x * correction + weight * value.x;
        sum.y = sum.y * correction + weight * value.y;
        sum.z = sum.z * correction + weight * value.z;
        sum.w = sum.w * correction + weight * value.w;
    }

    if (t >= tokens) return;
    const float share = 1.0f / total;
    y[thread] = make_float4(sum.x * share, sum.y * share, sum.z * share, sum.w * share);
}

}  // namespace

cudaError_t attention_window(const float* q, const float* k, const float* v, float* y, int tokens, int window,
                             cudaStream_t stream) {
    constexpr int tokens_per_block = kThreads / kLanes;
    attention_kernel<<<(tokens + tokens_per_block - 1) / tokens_per_block, kThreads, 0, stream>>>(
        reinterpret_cast<const float4*>(q), reinterpret_cast<const float4*>(k), reinterpret_cast<const float4*>(v),
        reinterpret_cast<float4*>(y), tokens, window);
    return cudaGetLastError();
}
