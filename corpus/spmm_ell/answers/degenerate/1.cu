// Y = A X for a matrix in ELLPACK format: one thread per row of A, one column of X after the other.
#include "solution.h"

namespace {

constexpr int kThreads = 64;

__global__ void spmm_kernel(EllMatrix matrix, const float* x, float* y, int n) {
    const int row = blockIdx.x * kThreads + threadIdx.x;
    if (row >= matrix.rows) return;
    const size_t start = static_cast<size_t>(row) * matrix.width;
    for (int j = 0; j < n; ++j) {
        float sum = 0.0f;
        for (int k = 0; k < matrix.width; ++k) {
            const int column = matrix.columns[start + k];
            if (column < 0) break;
            sum += matrix.values[start + k] * x[static_cast<size_t>(column) * n + j];
        }
        y[static_cast<size_t>(row) * n + j] = sum;
    }
}

}  // namespace

cudaError_t spmm_ell(EllMatrix matrix, const float* x, float* y, int n, cudaStream_t stream) {
    spmm_kernel<<<(matrix.rows + kThreads - 1) / kThreads, kThreads, 0, stream>>>(matrix, x, y, n);
    return cudaGetLastError();
}
