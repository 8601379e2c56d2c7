// Sliding-window attention without any intermediate: every thread walks over the window of its token twice, once for
// the largest score and once for the weighted sum.
#include "solution.h"

namespace {

constexpr int kThreads = 256;

__device__ float score(const float* query, const float* k, int j) {
    float dot = 0.0f;
    for (int d = 0; d < kHeadDim; ++d) dot += query[d] * k[static_cast<size_t>(j) * kHeadDim + d];
    return dot * rsqrtf(float(kHeadDim));
}

__global__ void attention_kernel(const float* q, const float* k, const float* v, float* y, int tokens, int window) {
    const int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= tokens) return;
    float query[kHeadDim];
    float sum[kHeadDim] = {};
    for (int d = 0; d < kHeadDim; ++d) query[d] = q[static_cast<size_t>(t) * kHeadDim + d];

    const int first = max(t - window + 1, 0);
    float largest = -INFINITY;
    for (int j = first; j <= t; ++j) largest = fmaxf(largest, score(query, k, j));

    float total = 0.0f;
    for (int j = first; j <= t; ++j) {
        const float weight = expf(score(query, k, j) - largest);
        total += weight;
        for (int d = 0; d < kHeadDim; ++d) sum[d] += weight * v[static_cast<size_t>(j) * kHeadDim + d];
    }
    for (int d = 0; d < kHeadDim; ++d) y[static_cast<size_t>(t) * kHeadDim + d] = sum[d] / total;
}

}  // namespace

cudaError_t attention_window(const float* q, const float* k, const float* v, float* y, int tokens, int window,
                             cudaStream_t stream) {
    attention_kernel<<<(tokens + kThreads - 1) / kThreads, kThreads, 0, stream>>>(q, k, v, y, tokens, window);
    return cudaGetLastError();
}
