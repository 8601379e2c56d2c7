// Heat equation, one explicit step with the seven-point stencil: one thread per point.
#include "solution.h"

namespace {

__global__ void heat_kernel(const float* before, float* after, Box box, float rate) {
    const int z = blockIdx.x * blockDim.x + threadIdx.x;
    const int y = blockIdx.y * blockDim.y + threadIdx.y;
    const int x = blockIdx.z * blockDim.z + threadIdx.z;
    if (x >= box.nx || y >= box.ny || z >= box.nz) return;

    const auto at = [=](int i, int j, int k) { return (static_cast<size_t>(k) * box.ny + j) * box.nx + i; };
    const float centre = before[at(x, y, z)];
    const bool inside = x > 0 && x < box.nx - 1 && y > 0 && y < box.ny - 1 && z > 0 && z < box.nz - 1;
    if (!inside) {
        after[at(x, y, z)] = centre;
        return;
    }
    const float around = before[at(x - 1, y, z)] + before[at(x + 1, y, z)] + before[at(x, y - 1, z)] +
                         before[at(x, y + 1, z)] + before[at(x, y, z - 1)] + before[at(x, y, z + 1)];
    after[at(x, y, z)] = centre + rate * (around - 6.0f * centre);
}

}  // namespace

cudaError_t stencil_heat3d(const float* before, float* after, Box box, float rate, cudaStream_t stream) {
    const dim3 block(32, 4, 2);
    const dim3 grid((box.nz + block.x - 1) / block.x, (box.ny + block.y - 1) / block.y,
                    (box.nx + block.z - 1) / block.z);
    heat_kernel<<<grid, block, 0, stream>>>(before, after, box, rate);
    return cudaGetLastError();
}
