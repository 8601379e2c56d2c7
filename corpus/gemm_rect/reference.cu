// C = A B: a block of 16 x 16 threads computes a tile of 64 x 64, four by four elements per thread, from slices of A
// and B in shared memory.
#include "solution.h"

namespace {

constexpr int kTile = 64;
constexpr int kDepth = 16;
constexpr int kSide = 16;             // threads along a side of the block
constexpr int kEach = kTile / kSide;  // elements of C per thread along a side
constexpr int kThreads = kSide * kSide;

__global__ void gemm_kernel(const float* a, const float* b, float* c, int m, int n, int k) {
    __shared__ float slice_a[kDepth][kTile + 4];  // transposed; the padding spreads its columns over the banks
    __shared__ float slice_b[kDepth][kTile];

    const int tx = threadIdx.x;
    const int ty = threadIdx.y;
    const int thread = ty * kSide + tx;
    const int top = blockIdx.y * kTile;
    const int left = blockIdx.x * kTile;

    float sums[kEach][kEach] = {};
    for (int first = 0; first < k; first += kDepth) {
        for (int i = thread; i < kTile * kDepth; i += kThreads) {
            const int row = top + i / kDepth;
            const int depth = first + i % kDepth;
            const bool inside = row < m && depth < k;
            slice_a[i % kDepth][i / kDepth] = inside ? a[static_cast<size_t>(row) * k + depth] : 0.0f;
        }
        for (int i = thread; i < kTile * kDepth; i += kThreads) {
            const int depth = first + i / kTile;
            const int column = left + i % kTile;
            const bool inside = depth < k && column < n;
            slice_b[i / kTile][i % kTile] = inside ? b[static_cast<size_t>(depth) * n + column] : 0.0f;
        }
        __syncthreads();

#pragma unroll
        for (int depth = 0; depth < kDepth; ++depth) {
            float left_values[kEach];
            float right_values[kEach];
#pragma unroll
            for (int i = 0; i < kEach; ++i) {
                left_values[i] = slice_a[depth][ty * kEach + i];
                right_values[i] = slice_b[depth][tx + i * kSide];
            }
#pragma unroll
            for (int i = 0; i < kEach; ++i) {
#pragma unroll
                for (int j = 0; j < kEach; ++j) sums[i][j] += left_values[i] * right_values[j];
            }
        }
        __syncthreads();  // the next slices overwrite these
    }

#pragma unroll
    for (int i = 0; i < kEach; ++i) {
        const int row = top + ty * kEach + i;
#pragma unroll
        for (int j = 0; j < kEach; ++j) {
            const int column = left + tx + j * kSide;
            if (row < m && column < n) c[static_cast<size_t>(row) * n + column] = sums[i][j];
        }
    }
}

}  // namespace

cudaError_t gemm_rect(const float* a, const float* b, float* c, int m, int n, int k, cudaStream_t stream) {
    const dim3 block(kSide, kSide);
    const dim3 grid((n + kTile - 1) / kTile, (m + kTile - 1) / kTile);
    gemm_kernel<<<grid, block, 0, stream>>>(a, b, c, m, n, k);
    return cudaGetLastError();
}
