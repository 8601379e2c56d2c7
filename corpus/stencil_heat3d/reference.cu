// Heat equation, one explicit step with the seven-point stencil. Lanes lie along x; a thread climbs through a few
// points of one column and keeps the values below, at and above its point in registers.
#include "solution.h"

namespace {

constexpr int kBlockX = 32;
constexpr int kBlockY = 8;
constexpr int kClimb = 4;  // points per thread along z

__global__ void heat_kernel(const float* __restrict__ before, float* __restrict__ after, Box box, float rate) {
    const int x = blockIdx.x * kBlockX + threadIdx.x;
    const int y = blockIdx.y * kBlockY + threadIdx.y;
    const int first = blockIdx.z * kClimb;
    if (x >= box.nx || y >= box.ny) return;
    const size_t layer = static_cast<size_t>(box.nx) * box.ny;
    const bool edge = x == 0 || x == box.nx - 1 || y == 0 || y == box.ny - 1;

    size_t i = first * layer + static_cast<size_t>(y) * box.nx + x;
    float below = first > 0 ? before[i - layer] : 0.0f;
    float centre = before[i];
#pragma unroll
    for (int step = 0; step < kClimb; ++step) {
        const int z = first + step;
        if (z >= box.nz) return;
        const float above = z < box.nz - 1 ? before[i + layer] : 0.0f;
        float result = centre;
        if (!edge && z > 0 && z < box.nz - 1) {
            const float level = (before[i - 1] + before[i + 1]) + (before[i - box.nx] + before[i + box.nx]);
            result = centre + rate * (level + (below + above) - 6.0f * centre);
        }
        after[i] = result;
        below = centre;
        centre = above;
        i += layer;
    }
}

}  // namespace

cudaError_t stencil_heat3d(const float* before, float* after, Box box, float rate, cudaStream_t stream) {
    const dim3 block(kBlockX, kBlockY);
    const dim3 grid((box.nx + kBlockX - 1) / kBlockX, (box.ny + kBlockY - 1) / kBlockY, (box.nz + kClimb - 1) / kClimb);
    heat_kernel<<<grid, block, 0, stream>>>(before, after, box, rate);
    return cudaGetLastError();
}
