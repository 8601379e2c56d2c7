// y = A x for a matrix in compressed row format, one warp per row reduced by shuffles.
#include "solution.h"

namespace {

__global__ void spmv_kernel(CsrMatrix matrix, const float* x, float* y) {
    const int lane = threadIdx.x % 32;
    const int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    if (row >= matrix.rows) return;
    float sum = 0.0f;
    for (int i = matrix.offsets[row] + lane; i < matrix.offsets[row + 1]; i += 32) {
        sum += matrix.values[i] * x[matrix.columns[i]];
    }
    for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_down(sum, offset);
    if (lane == 0) y[row] = sum;
}

}  // namespace

cudaError_t spmv_csr(CsrMatrix matrix, const float* x, float* y, cudaStream_t stream) {
    spmv_kernel<<<(matrix.rows + 7) / 8, 256, 0, stream>>>(matrix, x, y);
    return cudaGetLastError();
}
