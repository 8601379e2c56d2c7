// y = A x for a list of entries, one thread per row: it looks for the first entry of the row and adds them up alone.
#include "solution.h"

namespace {

constexpr int kThreads = 128;

__global__ void spmv_kernel(CooMatrix matrix, const float* x, float* y) {
    const int row = blockIdx.x * kThreads + threadIdx.x;
    if (row >= matrix.rows) return;
    int begin = 0;
    int end = matrix.entries;
    while (begin < end) {
        const int middle = begin + (end - begin) / 2;
        if (matrix.row_of[middle] < row) begin = middle + 1;
        else end = middle;
    }
    float sum = 0.0f;
    for (int i = begin; i < matrix.entries && matrix.row_of[i] == row; ++i) {
        sum += matrix.values[i] * x[matrix.column_of[i]];
    }
    y[row] = sum;
}

}  // namespace

cudaError_t spmv_coo(CooMatrix matrix, const float* x, float* y, cudaStream_t stream) {
    spmv_kernel<<<(matrix.rows + kThreads - 1) / kThreads, kThreads, 0, stream>>>(matrix, x, y);
    return cudaGetLastError();
}
