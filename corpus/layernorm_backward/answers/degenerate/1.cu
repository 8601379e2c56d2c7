// Gradients of layer normalisation without atomics: one thread per row for dx, one thread per column for the rest.
#include "solution.h"

namespace {

constexpr int kThreads = 64;

__global__ void row_kernel(const float* dy, const float* x, const float* gamma, const float* mean, const float* rstd,
                           float* dx, int rows, int cols) {
    const int r = blockIdx.x * kThreads + threadIdx.x;
    if (r >= rows) return;
    const size_t first = static_cast<size_t>(r) * cols;
    float sum = 0.0f;
    float product = 0.0f;
    for (int c = 0; c < cols; ++c) {
        sum += dy[first + c] * gamma[c];
        product += dy[first + c] * gamma[c] * (x[first + c] - mean[r]) * rstd[r];
    }
    sum /= cols;
    product /= cols;
    for (int c = 0; c < cols; ++c) {
        const float normal = (x[first + c] - mean[r]) * rstd[r];
        dx[first + c] = rstd[r] * (dy[first + c] * gamma[c] - sum - normal * product);
    }
}

__global__ void column_kernel(const float* dy, const float* x, const float* mean, const float* rstd, float* dgamma,
                              float* dbeta, int rows, int cols) {
    const int c = blockIdx.x * kThreads + threadIdx.x;
    if (c >= cols) return;
    float product = 0.0f;
    float sum = 0.0f;
    for (int r = 0; r < rows; ++r) {
        const size_t i = static_cast<size_t>(r) * cols + c;
        product += dy[i] * (x[i] - mean[r]) * rstd[r];
        sum += dy[i];
    }
    dgamma[c] = product;
    dbeta[c] = sum;
}

}  // namespace

cudaError_t layernorm_backward(const float* dy, const float* x, const float* gamma, const float* mean,
                               const float* rstd, float* dx, float* dgamma, float* dbeta, int rows, int cols,
                               cudaStream_t stream) {
    const int row_blocks = (rows + kThreads - 1) / kThreads;
    const int column_blocks = (cols + kThreads - 1) / kThreads;
    row_kernel<<<row_blocks, kThreads, 0, stream>>>(dy, x, gamma, mean, rstd, dx, rows, cols);
    column_kernel<<<column_blocks, kThreads, 0, stream>>>(dy, x, mean, rstd, dgamma, dbeta, rows, cols);
    return cudaGetLastError();
}
