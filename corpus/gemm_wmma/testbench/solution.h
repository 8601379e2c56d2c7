#pragma once

#include <cuda_fp16.h>
#include <cuda_runtime.h>

// C = A B, row-major: a[m][k] and b[k][n] of half, c[m][n] of float. Device pointers, aligned to 256 bytes.
cudaError_t gemm_wmma(const half* a, const half* b, float* c, int m, int n, int k, cudaStream_t stream);
