#pragma once

#include <cuda_runtime.h>

// C = A B, row-major: a[m][k], b[k][n], c[m][n]. Device pointers.
cudaError_t gemm_rect(const float* a, const float* b, float* c, int m, int n, int k, cudaStream_t stream);
