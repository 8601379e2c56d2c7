// Y = A X for a matrix in ELLPACK format: a warp per row of A and 64 columns of X. The lanes load 32 entries of the
// row at once and hand them to each other by shuffles; the first place without an entry ends the row.
#include "solution.h"

namespace {

constexpr int kWarps = 8;
constexpr int kTile = 64;  // columns of X per warp, two for each lane
constexpr unsigned kAll = 0xFFFFFFFFu;

__global__ void spmm_kernel(EllMatrix matrix, const float* __restrict__ x, float* __restrict__ y, int n) {
    const int lane = threadIdx.x;
    const int row = blockIdx.x * kWarps + threadIdx.y;
    const int left = blockIdx.y * kTile + lane;
    const int right = left + 32;
    if (row >= matrix.rows) return;
    const size_t start = static_cast<size_t>(row) * matrix.width;

    float sums[2] = {};
    int count = 32;
    for (int first = 0; first < matrix.width && count == 32; first += 32) {
        const int column = first + lane < matrix.width ? matrix.columns[start + first + lane] : -1;
        const float value = column >= 0 ? matrix.values[start + first + lane] : 0.0f;
        count = __popc(__ballot_sync(kAll, column >= 0));
#pragma unroll 4
        for (int k = 0; k < count; ++k) {
            const float* in = x + static_cast<size_t>(__shfl_sync(kAll, column, k)) * n;
            const float factor = __shfl_sync(kAll, value, k);
            if (left < n) sums[0] += factor * in[left];
            if (right < n) sums[1] += factor * in[right];
        }
    }
    float* out = y + static_cast<size_t>(row) * n;
    if (left < n) out[left] = sums[0];
    if (right < n) out[right] = sums[1];
}

}  // namespace

cudaError_t spmm_ell(EllMatrix matrix, const float* x, float* y, int n, cudaStream_t stream) {
    const dim3 block(32, kWarps);
    const dim3 grid((matrix.rows + kWarps - 1) / kWarps, (n + kTile - 1) / kTile);
    spmm_kernel<<<grid, block, 0, stream>>>(matrix, x, y, n);
    return cudaGetLastError();
}
