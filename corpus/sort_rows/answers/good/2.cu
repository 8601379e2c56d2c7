// Sorts rows in shared memory: a block per row, a bitonic network, one compare-exchange per thread and step. The
// first step of a merge mirrors its second half, so that all sequences ascend and the missing ones at the end do no
// harm.
#include "solution.h"

namespace {

constexpr int kMaxCols = 1024;
constexpr int kThreads = kMaxCols / 2;

__device__ void compare_exchange(float* values, int low, int high, int cols) {
    if (high < cols && values[low] > values[high]) {
        const float held = values[low];
        values[low] = values[high];
        values[high] = held;
    }
}

__global__ void sort_kernel(const float* x, float* y, int cols) {
    __shared__ float values[kMaxCols];
    const size_t row = static_cast<size_t>(blockIdx.x) * cols;
    for (int c = threadIdx.x; c < cols; c += kThreads) values[c] = x[row + c];
    __syncthreads();

    const int thread = threadIdx.x;
    for (int half = 1; half < cols; half *= 2) {
        // Two ascending sequences of `half` elements: the i-th of the first meets the i-th from the end of the second.
        const int offset = thread & (half - 1);
        const int start = 2 * (thread - offset);
        compare_exchange(values, start + offset, start + 2 * half - 1 - offset, cols);
        __syncthreads();
        for (int stride = half / 2; stride > 0; stride /= 2) {
            const int low = 2 * thread - (thread & (stride - 1));
            compare_exchange(values, low, low + stride, cols);
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
