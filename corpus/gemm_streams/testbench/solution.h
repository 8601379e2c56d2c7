#pragma once

#include <cuda_runtime.h>

// C = A B, row-major: a[m][k], b[k][n], c[m][n]. Device pointers, aligned to 4 bytes.
struct GemmProblem {
    const float* a;
    const float* b;
    float* c;
    int m, n, k;
};

// Solves `count` independent problems; the array itself is in host memory. The work starts after what was put into
// `stream` before the call, and what is put into it later starts after the work.
cudaError_t gemm_streams(const GemmProblem* problems, int count, cudaStream_t stream);
