// y = A x for a matrix in compressed row format, one tile of 32 threads per row.
#include "solution.h"

#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

namespace {

namespace cg = cooperative_groups;

constexpr int kThreads = 256;
constexpr int kLanes = 32;
constexpr int kSums = 4;

__global__ void spmv_kernel(CsrMatrix matrix, const float* x, float* y) {
    const auto tile = cg::tiled_partition<kLanes>(cg::this_thread_block());
    const int row = blockIdx.x * (kThreads / kLanes) + tile.meta_group_rank();
    if (row >= matrix.rows) return;
    const int begin = matrix.offsets[row];
    const int end = matrix.offsets[row + 1];

    // Four sums per lane keep four gathers from x in flight.
    float sums[kSums] = {};
    int i = begin + tile.thread_rank();
    for (; i + (kSums - 1) * kLanes < end; i += kSums * kLanes) {
#pragma unroll
        for (int s = 0; s < kSums; ++s) sums[s] += matrix.values[i + s * kLanes] * x[matrix.columns[i + s * kLanes]];
    }
    for (; i < end; i += kLanes) sums[0] += matrix.values[i] * x[matrix.columns[i]];

    const float sum = cg::reduce(tile, (sums[0] + sums[1]) + (sums[2] + sums[3]), cg::plus<float>());
    if (tile.thread_rank() == 0) y[row] = sum;
}

}  // namespace

cudaError_t spmv_csr(CsrMatrix matrix, const float* x, float* y, cudaStream_t stream) {
    const int rows_per_block = kThreads / kLanes;
    spmv_kernel<<<(matrix.rows + rows_per_block - 1) / rows_per_block, kThreads, 0, stream>>>(matrix, x, y);
    return cudaGetLastError();
}
