// Gradients of layer normalisation: one thread per row computes its row of dx and adds to dgamma and dbeta.
#include "solution.h"

namespace {

constexpr int kThreads = 64;

__global__ void backward_kernel(const float* dy, const float* x, const float* gamma, const float* mean,
                                const float* rstd, float* dx, float* dgamma, float* dbeta, int rows, int cols) {
    const int r = blockIdx.x * kThreads + threadIdx.x;
    if (r >= rows) return;
    const float* row_dy = dy + static_cast<size_t>(r) * cols;
    const float* row_x = x + static_cast<size_t>(r) * cols;
    float* row_dx = dx + static_cast<size_t>(r) * cols;

    float sum = 0.0f;
    float product = 0.0f;
    for (int c = 0; c < cols; ++c) {
        const float normal = (row_x[c] - mean[r]) * rstd[r];
        const float scaled = row_dy[c] * gamma[c];
        sum += scaled;
        product += scaled * normal;
    }
    sum /= static_cast<float>(cols);
    product /= static_cast<float>(cols);

    for (int c = 0; c < cols; ++c) {
        const float normal = (row_x[c] - mean[r]) * rstd[r];
        atomicAdd(&dgamma[c], row_dy[c] * normal);
        atomicAdd(&dbeta[c], row_dy[c]);
        row_dx[c] = rstd[r] * (row_dy[c] * gamma[c] - sum - normal * product);
    }
}

}  // namespace

cudaError_t layernorm_backward(const float* dy, const float* x, const float* gamma, const float* mean,
                               const float* rstd, float* dx, float* dgamma, float* dbeta, int rows, int cols,
                               cudaStream_t stream) {
    const size_t bytes = static_cast<size_t>(cols) * sizeof(float);
    if (const cudaError_t error = cudaMemsetAsync(dgamma, 0, bytes, stream)) return error;
    if (const cudaError_t error = cudaMemsetAsync(dbeta, 0, bytes, stream)) return error;
    const int blocks = (rows + kThreads - 1) / kThreads;
    backward_kernel<<<blocks, kThreads, 0, stream>>>(dy, x, gamma, mean, rstd, dx, dgamma, dbeta, rows, cols);
    return cudaGetLastError();
}
