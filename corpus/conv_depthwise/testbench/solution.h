#pragma once

#include <cuda_runtime.h>

constexpr int kMaxWidth = 1024;

struct ConvShape {
    int batch, channels, height, width;
};

// Every channel of x[batch][channels][height][width] filtered with its own w[channels][3][3]; the border is padded with
// zeros, so that y has the shape of x. width is at most kMaxWidth. Device pointers.
cudaError_t conv_depthwise(const float* x, const float* w, float* y, ConvShape shape, cudaStream_t stream);
