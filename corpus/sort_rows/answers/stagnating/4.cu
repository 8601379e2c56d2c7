// Sorts rows in shared memory: a block per row, a bitonic network, one compare-exchange per thread and step.
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
    for (int c = threadIdx.x; c < cols; c += kThreads) values[c] = x[row + c];
    __syncthreads();

    for (int size = 2; size / 2 < cols; size *= 2) {
        for (int stride = size / 2; stride > 0; stride /= 2) {
            // The pair of this thread: `stride` apart, inside of a sequence of `size` elements.
            const int low = 2 * threadIdx.x - threadIdx.x % stride;
            const int high = low + stride;
            const bool ascending = (low & size) == 0;
            if (high < cols) compare_exchange(values[low], values[high], ascending || size >= cols);
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
