// Heat equation, one explicit step with the seven-point stencil: lanes along x, where neighbours lie side by side, and
// four points above each other per thread, which share their values along z.
#include "solution.h"

namespace {

constexpr int kBlockX = 64;
constexpr int kBlockY = 4;
constexpr int kClimb = 4;  // points per thread along z

__global__ void heat_kernel(const float* __restrict__ before, float* __restrict__ after, Box box, float rate) {
    const int x = blockIdx.x * kBlockX + threadIdx.x;
    const int y = blockIdx.y * kBlockY + threadIdx.y;
    const int first = blockIdx.z * kClimb;
    if (x >= box.nx || y >= box.ny) return;
    const int layer = box.nx * box.ny;
    const size_t column = static_cast<size_t>(y) * box.nx + x;

    // Layers first - 1 to first + kClimb of this column; what lies outside of the box is not used.
    float values[kClimb + 2];
#pragma unroll
    for (int k = 0; k < kClimb + 2; ++k) {
        const int z = min(max(first + k - 1, 0), box.nz - 1);
        values[k] = before[static_cast<size_t>(z) * layer + column];
    }
    const bool edge = x == 0 || x == box.nx - 1 || y == 0 || y == box.ny - 1;
#pragma unroll
    for (int k = 1; k <= kClimb; ++k) {
        const int z = first + k - 1;
        if (z >= box.nz) return;
        const size_t i = static_cast<size_t>(z) * layer + column;
        float result = values[k];
        if (!edge && z > 0 && z < box.nz - 1) {
            const float level = (before[i - 1] + before[i + 1]) + (before[i - box.nx] + before[i + box.nx]);
            result += rate * (level + (values[k - 1] + values[k + 1]) - 6.0f * values[k]);
        }
        after[i] = result;
    }
}

}  // namespace

cudaError_t stencil_heat3d(const float* before, float* after, Box box, float rate, cudaStream_t stream) {
    const dim3 block(kBlockX, kBlockY);
    const dim3 grid((box.nx + kBlockX - 1) / kBlockX, (box.ny + kBlockY - 1) / kBlockY, (box.nz + kClimb - 1) / kClimb);
    heat_kernel<<<grid, block, 0, stream>>>(before, after, box, rate);
    return cudaGetLastError();
}
