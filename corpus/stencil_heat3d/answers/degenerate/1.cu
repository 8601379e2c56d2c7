// Heat equation, one explicit step with the seven-point stencil: one thread per row of points, from one end to the
// other.
#include "solution.h"

namespace {

__global__ void heat_kernel(const float* before, float* after, Box box, float rate) {
    const int y = blockIdx.x * blockDim.x + threadIdx.x;
    const int z = blockIdx.y;
    if (y >= box.ny) return;
    const size_t layer = static_cast<size_t>(box.nx) * box.ny;
    const size_t start = z * layer + static_cast<size_t>(y) * box.nx;
    const bool face = y == 0 || y == box.ny - 1 || z == 0 || z == box.nz - 1;
    for (int x = 0; x < box.nx; ++x) {
        const size_t i = start + x;
        float result = before[i];
        if (!face && x > 0 && x < box.nx - 1) {
            result += rate * (before[i - 1] + before[i + 1] + before[i - box.nx] + before[i + box.nx] +
                              before[i - layer] + before[i + layer] - 6.0f * before[i]);
        }
        after[i] = result;
    }
}

}  // namespace

cudaError_t stencil_heat3d(const float* before, float* after, Box box, float rate, cudaStream_t stream) {
    heat_kernel<<<dim3((box.ny + 63) / 64, box.nz), 64, 0, stream>>>(before, after, box, rate);
    return cudaGetLastError();
}
