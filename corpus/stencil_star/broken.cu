// Star stencil of radius 3: a block loads its tile and the halo on all four sides into shared memory.
#include "solution.h"

namespace {

constexpr unsigned kRadius = 3;
constexpr unsigned kBlockX = 32;
constexpr unsigned kBlockY = 8;

__global__ void star_kernel(const float* x, float* y, unsigned height, unsigned width, StarWeights weights) {
    __shared__ float tile[kBlockY + 2 * kRadius][kBlockX + 2 * kRadius];

    const unsigned column = blockIdx.x * kBlockX + threadIdx.x;
    const unsigned row = blockIdx.y * kBlockY + threadIdx.y;
    const unsigned tx = threadIdx.x + kRadius;
    const unsigned ty = threadIdx.y + kRadius;

    // The border is replicated: indices outside of the grid are clamped to it.
    const unsigned r = min(row, height - 1);
    const unsigned c = min(column, width - 1);
    tile[ty][tx] = x[r * width + c];
    if (threadIdx.x < kRadius) {
        const unsigned left = max(column - kRadius, 0u);
        const unsigned right = min(column + kBlockX, width - 1);
        tile[ty][tx - kRadius] = x[r * width + left];
        tile[ty][tx + kBlockX] = x[r * width + right];
    }
    if (threadIdx.y < kRadius) {
        const unsigned above = max(row - kRadius, 0u);
        const unsigned below = min(row + kBlockY, height - 1);
        tile[ty - kRadius][tx] = x[above * width + c];
        tile[ty + kBlockY][tx] = x[below * width + c];
    }
    __syncthreads();

    if (row >= height || column >= width) return;
    float sum = weights.w[0] * tile[ty][tx];
#pragma unroll
    for (unsigned k = 1; k <= kRadius; ++k) {
        sum += weights.w[k] * (tile[ty][tx - k] + tile[ty][tx + k] + tile[ty - k][tx] + tile[ty + k][tx]);
    }
    y[row * width + column] = sum;
}

}  // namespace

cudaError_t stencil_star(const float* x, float* y, int height, int width, StarWeights weights, cudaStream_t stream) {
    const dim3 block(kBlockX, kBlockY);
    const dim3 grid((width + kBlockX - 1) / kBlockX, (height + kBlockY - 1) / kBlockY);
    star_kernel<<<grid, block, 0, stream>>>(x, y, height, width, weights);
    return cudaGetLastError();
}
