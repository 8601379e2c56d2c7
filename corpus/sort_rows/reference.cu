// Sorts rows in shared memory: a block per row, a bitonic network, one compare-exchange per thread and step. The
// network needs a power of two, so the row is filled up with infinities, which end up behind its values.
#include "solution.h"

namespace {

constexpr int kMaxCols = 1024;
constexpr int kThreads = kMaxCols / 2;

__device__ void compare_exchange(float& low, float& high, bool ascending) {
    if ((low > high) == ascending) {
        const float held = low;
        low = high;
        high = held;
    }
}

__global__ void sort_kernel(const float* x, float* y, int cols) {
    __shared__ float values[kMaxCols];
    const size_t row = static_cast<size_t>(blockIdx.x) * cols;
    int padded = 1;
    while (padded < cols) padded *= 2;
    for (int c = threadIdx.x; c < padded; c += kThreads) values[c] = c < cols ? x[row + c] : INFINITY;
    __syncthreads();

    for (int size = 2; size <= padded; size *= 2) {
        for (int stride = size / 2; stride > 0; stride /= 2) {
            // The pair of this thread: `stride` apart, inside of a sequence of `size` elements.
            const int low = 2 * threadIdx.x - threadIdx.x % stride;
            const int high = low + stride;
            const bool ascending = (low & size) == 0;
            if (high < padded) compare_exchange(values[low], values[high], ascending);
            __syncthreads();
        }
    }

    for (int c = threadIdx.x; c < cols; c += kThreads) y[row + c] = values[c];
}

}  // namespace

cudaError_t sort_rows(const float* x, float* y, int rows, int cols, cudaStream_t stream) {
    sort_kernel<<<rows, kThreads, 0, stream>>>(x, y, cols);
    return cudaGetLastError();
}
