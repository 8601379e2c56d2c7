#pragma once

#include <cuda_runtime.h>

// A membrane of height * width points, row-major, clamped at its border: u holds its deflection, v its velocity.
struct Membrane {
    int height;
    int width;
};

// Moves the membrane on by `steps` steps, from u0 and v0 to u and v, which is also where the steps between are kept.
// Device pointers.
cudaError_t wave_cooperative(const float* u0, const float* v0, float* u, float* v, Membrane membrane, float rate,
                             int steps, cudaStream_t stream);
