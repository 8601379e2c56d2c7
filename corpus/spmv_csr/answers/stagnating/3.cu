// y = A x for a matrix in compressed row format, one warp per row two entries at a time.
#include "solution.h"

namespace {

__global__ void spmv_kernel(CsrMatrix matrix, const float* x, float* y) {
    const int lane = threadIdx.x % 32;
    const int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    if (row >= matrix.rows) return;
    float sum = 0.0f;
    const int2* columns = reinterpret_cast<const int2*>(matrix.columns + matrix.offsets[row]);
    const float2* values = reinterpret_cast<const float2*>(matrix.values + matrix.offsets[row]);
    for (int i = lane; i < (matrix.offsets[row + 1] - matrix.offsets[row]) / 2; i += 32) {
        sum += values[i].x * x[columns[i].x] + values[i].y * x[columns[i].y];
    }
    for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_down_sync(0xFFFFFFFFu, sum, offset);
    if (lane == 0) y[row] = sum;
}

}  // namespace

cudaError_t spmv_csr(CsrMatrix matrix, const float* x, float* y, cudaStream_t stream) {
    spmv_kernel<<<(matrix.rows + 7) / 8, 256, 0, stream>>>(matrix, x, y);
    return cudaGetLastError();
}
