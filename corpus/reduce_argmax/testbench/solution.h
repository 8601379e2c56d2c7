#pragma once

#include <cuda_runtime.h>

constexpr int kMaxRows = 1024;

// The largest value of every row of a row-major matrix, and the smallest column that holds it. Device pointers; rows
// is at most kMaxRows.
cudaError_t reduce_argmax(const float* x, float* value, int* index, int rows, int cols, cudaStream_t stream);
