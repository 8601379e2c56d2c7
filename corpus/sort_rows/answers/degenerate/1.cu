// Sorts rows by counting, for every value, how many belong before it; one thread per value, all from global memory.
#include "solution.h"

namespace {

__global__ void rank_kernel(const float* x, float* y, int cols) {
    const size_t row = static_cast<size_t>(blockIdx.x) * cols;
    for (int c = threadIdx.x; c < cols; c += blockDim.x) {
        const float value = x[row + c];
        int rank = 0;
        for (int k = 0; k < cols; ++k) {
            const float other = x[row + k];
            if (other < value || (other == value && k < c)) ++rank;
        }
        y[row + rank] = value;
    }
}

}  // namespace

cudaError_t sort_rows(const float* x, float* y, int rows, int cols, cudaStream_t stream) {
    rank_kernel<<<rows, 64, 0, stream>>>(x, y, cols);
    return cudaGetLastError();
}
