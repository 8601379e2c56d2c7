#pragma once

#include <cuda_runtime.h>

// Softmax over the rows of a row-major matrix. Device pointers.
cudaError_t softmax_rows(const float* x, float* y, int rows, int cols, cudaStream_t stream);
