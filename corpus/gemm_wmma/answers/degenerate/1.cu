// C = A B without tensor cores: one thread per element, neighbouring threads in different rows.
#include "solution.h"

namespace {

__global__ void gemm_kernel(const half* a, const half* b, float* c, int m, int n, int k) {
    const int row = blockIdx.x * blockDim.x + threadIdx.x;
    const int column = blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= m || column >= n) return;
    float sum = 0.0f;
    for (int i = 0; i < k; ++i) {
        sum += __half2float(a[static_cast<size_t>(row) * k + i]) * __half2float(b[static_cast<size_t>(i) * n + column]);
    }
    c[static_cast<size_t>(row) * n + column] = sum;
}

}  // namespace

cudaError_t gemm_wmma(const half* a, const half* b, float* c, int m, int n, int k, cudaStream_t stream) {
    const dim3 block(32, 8);
    gemm_kernel<<<dim3((m + 31) / 32, (n + 7) / 8), block, 0, stream>>>(a, b, c, m, n, k);
    return cudaGetLastError();
}
