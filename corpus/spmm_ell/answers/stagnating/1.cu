// Y = A X for a matrix in ELLPACK format: a warp per row of A and 64 columns of X. The lanes load 32 entries of the
// row at once and hand them to each other by shuffles.
#include "solution.h"

namespace {

constexpr unsigned kWarps = 8;
constexpr unsigned kTile = 64;  // columns of X per warp, two for each lane
constexpr unsigned kAll = 0xFFFFFFFFu;

__global__ void spmm_kernel(EllMatrix matrix, const float* x, float* y, unsigned n) {
    const unsigned lane = threadIdx.x;
    const unsigned row = blockIdx.x * kWarps + threadIdx.y;
    const unsigned left = blockIdx.y * kTile + lane;
    const unsigned right = left + 32;
    const unsigned width = matrix.width;
    if (row >= matrix.rows) return;
    const size_t start = static_cast<size_t>(row) * width;

    float sums[2] = {};
    for (unsigned first = 0; first < width; first += 32) {
        // Places without an entry have column -1: column 0 is read in their stead.
        unsigned column = 0;
        float value = 0.0f;
        if (first + lane < width) {
            column = max(matrix.columns[start + first + lane], 0);
            value = matrix.values[start + first + lane];
        }
        const unsigned count = min(32u, width - first);
        for (unsigned k = 0; k < count; ++k) {
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
