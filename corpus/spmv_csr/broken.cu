// y = A x for a matrix in compressed row format, one thread per row.
#include "solution.h"

namespace {

constexpr int kThreads = 256;

__global__ void spmv_kernel(CsrMatrix matrix, const float* x, float* y) {
    const int row = blockIdx.x * kThreads + threadIdx.x;
    if (row >= matrix.rows) return;
    float sum = 0.0f;
    for (int i = matrix.offsets[row]; i < matrix.offsets[row + 1]; ++i) {
        sum += matrix.values[i] * x[matrix.columns[i]];
    }
    y[row] = sum;
}

}  // namespace

cudaError_t spmv_csr(CsrMatrix matrix, const float* x, float* y, cudaStream_t stream) {
    const int blocks = (matrix.rows + kThreads - 1) / kThreads;
    spmv_kernel<<<blocks, kThreads, 0, stream>>>(matrix, x, y);
    return cudaGetLastError();
}
