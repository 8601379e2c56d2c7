// Sliding-window attention in three steps: all scores, a masked softmax over each row, the weighted sum of the values.
#include "solution.h"

namespace {

constexpr int kThreads = 256;

__global__ void scores_kernel(const float* q, const float* k, float* scores, int tokens, int window) {
    const int j = blockIdx.x * blockDim.x + threadIdx.x;
    const int t = blockIdx.y * blockDim.y + threadIdx.y;
    if (t >= tokens || j >= tokens) return;
    float dot = 0.0f;
    for (int d = 0; d < kHeadDim; ++d) {
        dot += q[static_cast<size_t>(t) * kHeadDim + d] * k[static_cast<size_t>(j) * kHeadDim + d];
    }
    const bool visible = j <= t && j > t - window;
    scores[static_cast<size_t>(t) * tokens + j] = visible ? dot * rsqrtf(float(kHeadDim)) : -INFINITY;
}

__global__ void softmax_kernel(const float* scores, float* weights, int tokens) {
    const int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= tokens) return;
    const float* in = scores + static_cast<size_t>(t) * tokens;
    float* out = weights + static_cast<size_t>(t) * tokens;
    float largest = -INFINITY;
    for (int j = 0; j <= t; ++j) largest = fmaxf(largest, in[j]);
    float sum = 0.0f;
    for (int j = 0; j <= t; ++j) sum += expf(in[j] - largest);
    for (int j = 0; j <= t; ++j) out[j] = expf(in[j] - largest) / sum;
}

__global__ void values_kernel(const float* weights, const float* v, float* y, int tokens) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= tokens * kHeadDim) return;
    const int t = i / kHeadDim;
    const int d = i % kHeadDim;
    float sum = 0.0f;
    for (int j = 0; j <= t; ++j) {
        sum += weights[static_cast<size_t>(t) * tokens + j] * v[static_cast<size_t>(j) * kHeadDim + d];
    }
    y[i] = sum;
}

}  // namespace

cudaError_t attention_window(const float* q, const float* k, const float* v, float* y, int tokens, int window,
                             cudaStream_t stream) {
    float* scores = nullptr;
    const size_t bytes = static_cast<size_t>(tokens) * tokens * sizeof(float);
    if (const cudaError_t error = cudaMallocAsync(&scores, bytes, stream)) return error;

    const dim3 block(32, 8);
    const dim3 grid((tokens + 31) / 32, (tokens + 7) / 8);
    scores_kernel<<<grid, block, 0, stream>>>(q, k, scores, tokens, window);
    softmax_kernel<<<(tokens + kThreads - 1) / kThreads, kThreads, 0, stream>>>(scores, scores, tokens);
    values_kernel<<<(tokens * kHeadDim + kThreads - 1) / kThreads, kThreads, 0, stream>>>(scores, v, y, tokens);

    if (const cudaError_t error = cudaGetLastError()) return error;
    return cudaFreeAsync(scores, stream);
}
