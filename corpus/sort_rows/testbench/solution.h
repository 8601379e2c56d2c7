#pragma once

#include <cuda_runtime.h>

// Sorts every row of a row-major matrix in ascending order. Device pointers; at most 1024 columns.
cudaError_t sort_rows(const float* x, float* y, int rows, int cols, cudaStream_t stream);
