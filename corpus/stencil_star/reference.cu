// Star stencil of radius 3: a block loads its tile and the halo on all four sides into shared memory.
#include "solution.h"

namespace {

constexpr int kRadius = 3;
constexpr int kBlockX = 32;
constexpr int kBlockY = 8;

__global__ void star_kernel(const float* x, float* y, int height, int width, StarWeights weights) {
    __shared__ float tile[kBlockY + 2 * kRadius][kBlockX + 2 * kRadius];

    const int column = static_cast<int>(blockIdx.x) * kBlockX + threadIdx.x;
    const int row = static_cast<int>(blockIdx.y) * kBlockY + threadIdx.y;
    const int tx = threadIdx.x + kRadius;
    const int ty = threadIdx.y + kRadius;

    const auto at = [=](int r, int c) {
        const int clamped_row = min(max(r, 0), height - 1);
        const int clamped_column = min(max(c, 0), width - 1);
        return x[static_cast<size_t>(clamped_row) * width + clamped_column];
    };

    tile[ty][tx] = at(row, column);
    if (threadIdx.x < kRadius) {
        tile[ty][tx - kRadius] = at(row, column - kRadius);
        tile[ty][tx + kBlockX] = at(row, column + kBlockX);
    }
    if (threadIdx.y < kRadius) {
        tile[ty - kRadius][tx] = at(row - kRadius, column);
        tile[ty + kBlockY][tx] = at(row + kBlockY, column);
    }
    __syncthreads();

    if (row >= height || column >= width) return;
    float sum = weights.w[0] * tile[ty][tx];
#pragma unroll
    for (int k = 1; k <= kRadius; ++k) {
        sum += weights.w[k] * (tile[ty][tx - k] + tile[ty][tx + k] + tile[ty - k][tx] + tile[ty + k][tx]);
    }
    y[static_cast<size_t>(row) * width + column] = sum;
}

}  // namespace

cudaError_t stencil_star(const float* x, float* y, int height, int width, StarWeights weights, cudaStream_t stream) {
    const dim3 block(kBlockX, kBlockY);
    const dim3 grid((width + kBlockX - 1) / kBlockX, (height + kBlockY - 1) / kBlockY);
    star_kernel<<<grid, block, 0, stream>>>(x, y, height, width, weights);
    return cudaGetLastError();
}
