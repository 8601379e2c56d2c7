#pragma once

#include <cuda_runtime.h>

constexpr int kMinLength = 64;
constexpr int kMaxLength = 4096;

// Forward discrete Fourier transform of every row of x[rows][length]; length is a power of two from kMinLength to
// kMaxLength. Device pointers; x and y do not overlap.
cudaError_t fft_stockham(const float2* x, float2* y, int rows, int length, cudaStream_t stream);
