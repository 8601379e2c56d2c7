// y = A x for a matrix in compressed row format, one warp per row: neighbouring lanes read neighbouring entries, and
// their sums meet by shuffles.
#include "solution.h"

namespace {

constexpr int kThreads = 128;
constexpr int kRowsPerBlock = kThreads / 32;

__global__ void spmv_kernel(CsrMatrix matrix, const float* __restrict__ x, float* __restrict__ y) {
    const int lane = threadIdx.x % 32;
    const int row = blockIdx.x * kRowsPerBlock + threadIdx.x / 32;
    if (row >= matrix.rows) return;
    const int end = matrix.offsets[row + 1];
    float sum = 0.0f;
#pragma unroll 4
    for (int i = matrix.offsets[row] + lane; i < end; i += 32) {
        sum += matrix.values[i] * __ldg(&x[matrix.columns[i]]);
    }
    for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_xor_sync(0xFFFFFFFFu, sum, offset);
    if (lane == 0) y[row] = sum;
}

}  // namespace

cudaError_t spmv_csr(CsrMatrix matrix, const float* x, float* y, cudaStream_t stream) {
    const int blocks = (matrix.rows + kRowsPerBlock - 1) / kRowsPerBlock;
    spmv_kernel<<<blocks, kThreads, 0, stream>>>(matrix, x, y);
    return cudaGetLastError();
}
