#pragma once

#include <cuda_runtime.h>

// Sums of consecutive segments of x: segment s is x[offsets[s]] .. x[offsets[s+1]-1]. Device pointers; offsets has
// segments + 1 entries that never decrease, the first is 0, the last is count.
cudaError_t segment_sums(const float* x, const int* offsets, float* sums, int count, int segments,
                         cudaStream_t stream);
