#pragma once

#include <cuda_runtime.h>

// A box of points; the value at (x, y, z) lies at index (z * ny + y) * nx + x.
struct Box {
    int nx;
    int ny;
    int nz;
};

// One explicit step of the heat equation; points on the six faces keep their values. Device pointers.
cudaError_t stencil_heat3d(const float* before, float* after, Box box, float rate, cudaStream_t stream);
