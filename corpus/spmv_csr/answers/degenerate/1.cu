// y = A x for a matrix in compressed row format: blocks of a single thread.
#include "solution.h"

namespace {

__global__ void spmv_kernel(CsrMatrix matrix, const float* x, float* y) {
    for (int row = blockIdx.x; row < matrix.rows; row += gridDim.x) {
        float sum = 0.0f;
        for (int i = matrix.offsets[row]; i < matrix.offsets[row + 1]; ++i) {
            sum += matrix.values[i] * x[matrix.columns[i]];
        }
        y[row] = sum;
    }
}

}  // namespace

cudaError_t spmv_csr(CsrMatrix matrix, const float* x, float* y, cudaStream_t stream) {
    spmv_kernel<<<256, 1, 0, stream>>>(matrix, x, y);
    return cudaGetLastError();
}
