// Star stencil of radius 3, one pass over the grid for each tap.
#include "solution.h"

namespace {

__global__ void add_tap(const float* x, float* y, int height, int width, int dr, int dc, float weight, bool first) {
    const int column = blockIdx.x * blockDim.x + threadIdx.x;
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= height || column >= width) return;
    const int r = min(max(row + dr, 0), height - 1);
    const int c = min(max(column + dc, 0), width - 1);
    float* out = y + static_cast<size_t>(row) * width + column;
    const float term = weight * x[static_cast<size_t>(r) * width + c];
    *out = first ? term : *out + term;
}

}  // namespace

cudaError_t stencil_star(const float* x, float* y, int height, int width, StarWeights weights, cudaStream_t stream) {
    const dim3 block(32, 8);
    const dim3 grid((width + 31) / 32, (height + 7) / 8);
    add_tap<<<grid, block, 0, stream>>>(x, y, height, width, 0, 0, weights.w[0], true);
    for (int k = 1; k <= 3; ++k) {
        add_tap<<<grid, block, 0, stream>>>(x, y, height, width, 0, -k, weights.w[k], false);
        add_tap<<<grid, block, 0, stream>>>(x, y, height, width, 0, k, weights.w[k], false);
        add_tap<<<grid, block, 0, stream>>>(x, y, height, width, -k, 0, weights.w[k], false);
        add_tap<<<grid, block, 0, stream>>>(x, y, height, width, k, 0, weights.w[k], false);
    }
    return cudaGetLastError();
}
