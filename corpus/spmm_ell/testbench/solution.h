#pragma once

#include <cuda_runtime.h>

// A sparse matrix in ELLPACK format: row r has the entries values[r * width + k] in column columns[r * width + k], for
// k = 0 .. width-1. A row with fewer entries is filled up at its end, where columns is -1 and values is undefined.
struct EllMatrix {
    int rows;
    int cols;
    int width;
    const int* columns;
    const float* values;
};

// Y = A X; x[cols][n] and y[rows][n] are row-major. Device pointers.
cudaError_t spmm_ell(EllMatrix matrix, const float* x, float* y, int n, cudaStream_t stream);
