// C = A B on tensor cores: four warps compute a tile of 32 x 32, one fragment of 16 x 16 each, from slices of A and B
// in shared memory.
#include "solution.h"

#include <mma.h>

namespace {

using namespace nvcuda;

constexpr int kFragment = 16;
constexpr int kTile = 2 * kFragment;
constexpr int kDepth = 64;
constexpr int kThreads = 128;
constexpr int kPitchA = kDepth + 8;  // the padding spreads rows over the banks; fragments stay aligned to 32 bytes
constexpr int kPitchB = kTile + 8;

__global__ void gemm_kernel(const half* __restrict__ a, const half* __restrict__ b, float* __restrict__ c, int m,
                            int n, int k) {
    __shared__ __align__(32) half slice_a[kTile * kPitchA];
    __shared__ __align__(32) half slice_b[kDepth * kPitchB];

    const int top = blockIdx.y * kTile;
    const int left = blockIdx.x * kTile;
    const int warp = threadIdx.x / 32;
    const int warp_row = warp / 2 * kFragment;
    const int warp_column = warp % 2 * kFragment;

    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sums;
    wmma::fill_fragment(sums, 0.0f);
    for (int first = 0; first < k; first += kDepth) {
#pragma unroll
        for (int i = threadIdx.x; i < kTile * kDepth; i += kThreads) {
            const int row = top + i / kDepth;
            const int depth = first + i % kDepth;
            if (row >= m || depth >= k) continue;
            slice_a[i / kDepth * kPitchA + i % kDepth] = a[static_cast<size_t>(row) * k + depth];
        }
#pragma unroll
        for (int i = threadIdx.x; i < kDepth * kTile; i += kThreads) {
            const int depth = first + i / kTile;
            const int column = left + i % kTile;
            if (depth >= k || column >= n) continue;
            slice_b[i / kTile * kPitchB + i % kTile] = b[static_cast<size_t>(depth) * n + column];
        }
        __syncthreads();

#pragma unroll
        for (int depth = 0; depth < kDepth; depth += kFragment) {
            wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> left_factor;
            wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> right_factor;
            wmma::load_matrix_sync(left_factor, slice_a + warp_row * kPitchA + depth, kPitchA);
            wmma::load_matrix_sync(right_factor, slice_b + depth * kPitchB + warp_column, kPitchB);
            wmma::mma_sync(sums, left_factor, right_factor, sums);
        }
        __syncthreads();  // the next slices overwrite these
    }

    // A fragment is stored as a whole, so it must not reach over the edge.
    const int row = top + warp_row;
    const int column = left + warp_column;
    if (row + kFragment <= m && column + kFragment <= n) {
        wmma::store_matrix_sync(c + static_cast<size_t>(row) * n + column, sums, n, wmma::mem_row_major);
    }
}

}  // namespace

cudaError_t gemm_wmma(const half* a, const half* b, float* c, int m, int n, int k, cudaStream_t stream) {
    const dim3 grid((n + kTile - 1) / kTile, (m + kTile - 1) / kTile);
    gemm_kernel<<<grid, kThreads, 0, stream>>>(a, b, c, m, n, k);
    return cudaGetLastError();
}
