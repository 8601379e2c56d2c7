#pragma once

#include <cuda_runtime.h>

struct ConvShape {
    int batch, in_channels, out_channels, height, width;
};

// Direct 5 x 5 convolution with zero padding: x[batch][in][height][width], w[out][in][5][5],
// y[batch][out][height][width]. Device pointers; at most 32 channels on either side.
cudaError_t conv2d_same(const float* x, const float* w, float* y, ConvShape shape, cudaStream_t stream);
