#pragma once

#include <cuda_runtime.h>

// y = x / |x|, the Euclidean norm. Device pointers, aligned to 256 bytes; x is not all zero.
cudaError_t vector_normalize(const float* x, float* y, int count, cudaStream_t stream);
