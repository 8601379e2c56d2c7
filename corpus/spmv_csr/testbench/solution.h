#pragma once

#include <cuda_runtime.h>

// Row r holds values[i] in column columns[i] for i = offsets[r] .. offsets[r + 1] - 1. Device pointers.
struct CsrMatrix {
    int rows, cols;
    const int* offsets;
    const int* columns;
    const float* values;
};

// y = A x. Device pointers.
cudaError_t spmv_csr(CsrMatrix matrix, const float* x, float* y, cudaStream_t stream);
