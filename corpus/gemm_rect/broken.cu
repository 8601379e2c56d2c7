// C = A B, one thread per element of C.
#include "solution.h"

namespace {

__global__ void gemm_kernel(const float* a, const float* b, float* c, int m, int n, int k) {
    const int row = blockIdx.x * blockDim.x + threadIdx.x;
    const int column = blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= m || column >= n) return;
    float sum = 0.0f;
    for (int i = 0; i < k; ++i) {
        sum += a[static_cast<size_t>(row) * k + i] * b[static_cast<size_t>(i) * n + column];
    }
    c[static_cast<size_t>(row) * n + column] = sum;
}

}  // namespace

cudaError_t gemm_rect(const float* a, const float* b, float* c, int m, int n, int k, cudaStream_t stream) {
    const dim3 block(32, 8);
    const dim3 grid((m + block.x - 1) / block.x, (n + block.y - 1) / block.y);
    gemm_kernel<<<grid, block, 0, stream>>>(a, b, c, m, n, k);
    return cudaGetLastError();
}
