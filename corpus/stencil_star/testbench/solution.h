#pragma once

#include <cuda_runtime.h>

// Weights of a point, w[0], and of its four neighbours at distance 1, 2 and 3.
struct StarWeights {
    float w[4];
};

// Star stencil of radius 3 with a replicated border on a row-major grid. Device pointers.
cudaError_t stencil_star(const float* x, float* y, int height, int width, StarWeights weights, cudaStream_t stream);
