#pragma once

#include <cuda_runtime.h>

// A sparse matrix as a list of its entries: entry i is values[i] in row row_of[i], column column_of[i]. Entries are in
// order of their rows.
struct CooMatrix {
    int rows;
    int cols;
    int entries;
    const int* row_of;
    const int* column_of;
    const float* values;
};

// y = A x. Device pointers; the contents of y before the call do not matter.
cudaError_t spmv_coo(CooMatrix matrix, const float* x, float* y, cudaStream_t stream);
