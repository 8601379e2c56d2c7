// Row maxima, one warp per row.
#include "solution.h"

namespace {

__global__ void argmax_kernel(const float* x, float* value, int* index, int cols) {
    const float* values = x + static_cast<size_t>(blockIdx.x) * cols;
    float best = -INFINITY;
    int at = cols;
    for (int c = threadIdx.x; c < cols; c += 32) {
        if (values[c] > best || at == cols) {
            best = values[c];
            at = c;
        }
    }
    for (int offset = 16; offset > 0; offset /= 2) {
        const float other = __shfl_xor_sync(0xFFFFFFFFu, best, offset);
        const int other_at = __shfl_xor_sync(0xFFFFFFFFu, at, offset);
        if (other > best || (other == best && other_at < at)) {
            best = other;
            at = other_at;
        }
    }
    if (threadIdx.x == 0) {
        value[blockIdx.x] = best;
        index[blockIdx.x] = at;
    }
}

}  // namespace

cudaError_t reduce_argmax(const float* x, float* value, int* index, int rows, int cols, cudaStream_t stream) {
    argmax_kernel<<<rows, 32, 0, stream>>>(x, value, index, cols);
    return cudaGetLastError();
}
