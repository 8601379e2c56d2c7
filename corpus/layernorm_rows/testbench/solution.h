#pragma once

#include <cuda_runtime.h>

// Layer normalisation of the rows of a row-major matrix. Device pointers; cols is a multiple of 4, all pointers are
// aligned to 16 bytes.
cudaError_t layernorm_rows(const float* x, const float* gamma, const float* beta, float* y, int rows, int cols,
                           float epsilon, cudaStream_t stream);
