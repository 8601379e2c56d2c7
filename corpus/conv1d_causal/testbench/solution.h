#pragma once

#include <cuda_runtime.h>

constexpr int kTaps = 4;

struct CausalShape {
    int batch;
    int in_channels;
    int out_channels;
    int steps;     // in time
    int dilation;  // distance of two taps in time
};

// y[n][o][t] = bias[o] + the sum over i and k of w[o][i][k] * x[n][i][t - k * dilation], where x before time 0 is
// zero. Device pointers; all arrays are contiguous in the order of their indices.
cudaError_t conv1d_causal(const float* x, const float* w, const float* bias, float* y, CausalShape shape,
                          cudaStream_t stream);
