// Sliding-window attention in three steps over a band of scores, [window][tokens]: scores, softmax, weighted sum.
#include "solution.h"

namespace {

constexpr int kThreads = 256;

// band[b][t] belongs to token t and the token b before it.
__global__ void scores_kernel(const float* q, const float* k, float* band, int tokens) {
    const int t = blockIdx.x * blockDim.x + threadIdx.x;
    const int back = blockIdx.y;
    if (t >= tokens) return;
    float dot = 0.0f;
    for (int d = 0; d < kHeadDim && back <= t; ++d) {
        dot += q[static_cast<size_t>(t) * kHeadDim + d] * k[static_cast<size_t>(t - back) * kHeadDim + d];
    }
    band[static_cast<size_t>(back) * tokens + t] = back <= t ? dot * rsqrtf(float(kHeadDim)) : -INFINITY;
}

__global__ void softmax_kernel(float* band, int tokens, int window) {
    const int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= tokens) return;
    float largest = -INFINITY;
    for (int b = 0; b < window; ++b) largest = fmaxf(largest, band[static_cast<size_t>(b) * tokens + t]);
    float sum = 0.0f;
    for (int b = 0; b < window; ++b) sum += expf(band[static_cast<size_t>(b) * tokens + t] - largest);
    for (int b = 0; b < window; ++b) {
        float* score = &band[static_cast<size_t>(b) * tokens + t];
        *score = expf(*score - largest) / sum;
    }
}

__global__ void values_kernel(const float* band, const float* v, float* y, int tokens, int window) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= tokens * kHeadDim) return;
    const int t = i / kHeadDim;
    const int d = i % kHeadDim;
    float sum = 0.0f;
    for (int b = 0; b < window && b <= t; ++b) {
        sum += band[static_cast<size_t>(b) * tokens + t] * v[static_cast<size_t>(t - b) * kHeadDim + d];
    }
    y[i] = sum;
}

}  // namespace

cudaError_t attention_window(const float* q, const float* k, const float* v, float* y, int tokens, int window,
                             cudaStream_t stream) {
    float* band = nullptr;
    const size_t bytes = static_cast<size_t>(window) * tokens * sizeof(float);
    if (const cudaError_t error = cudaMallocAsync(&band, bytes, stream)) return error;
    const int blocks = (tokens + kThreads - 1) / kThreads;
    scores_kernel<<<dim3(blocks, window), kThreads, 0, stream>>>(q, k, band, tokens);
    softmax_kernel<<<blocks, kThreads, 0, stream>>>(band, tokens, window);
    values_kernel<<<(tokens * kHeadDim + kThreads - 1) / kThreads, kThreads, 0, stream>>>(band, v, y, tokens, window);
    if (const cudaError_t error = cudaGetLastError()) return error;
    return cudaFreeAsync(band, stream);
}
