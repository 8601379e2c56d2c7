#pragma once

#include <cuda_runtime.h>

enum class ScanKind { sum, max };

// Inclusive scan along the rows of a row-major matrix: y[r][c] = x[r][0] op ... op x[r][c]. Device pointers.
cudaError_t scan_rows(const float* x, float* y, int rows, int cols, ScanKind kind, cudaStream_t stream);
