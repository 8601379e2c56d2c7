#pragma once

#include <cuda_runtime.h>

// Running sums within consecutive segments of x: y[i] = x[offsets[s]] + .. + x[i] for i in segment s. Device pointers;
// offsets has segments + 1 entries that increase strictly, the first is 0, the last is count.
cudaError_t scan_segmented(const float* x, const int* offsets, float* y, int count, int segments,
                           cudaStream_t stream);
