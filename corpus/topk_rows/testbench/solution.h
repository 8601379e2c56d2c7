#pragma once

#include <cuda_runtime.h>

// The k largest values of every row of a row-major matrix, the largest first, and their columns. Of equal values the
// one in the lower column comes first. k is 1, 4 or 16. values and columns are [rows][k]. Device pointers.
cudaError_t topk_rows(const float* x, float* values, int* columns, int rows, int cols, int k, cudaStream_t stream);
