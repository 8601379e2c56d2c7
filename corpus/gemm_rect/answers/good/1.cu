// C = A B: a block of 256 threads computes 64 rows by 32 columns of C. A thread has eight elements of one column, so
// that every value of B that it reads from shared memory is used eight times.
#include "solution.h"

namespace {

constexpr int kRows = 64;
constexpr int kColumns = 32;
constexpr int kDepth = 32;
constexpr int kThreadRows = 8;
constexpr int kEach = kRows / kThreadRows;

__global__ void gemm_kernel(const float* a, const float* b, float* c, int m, int n, int k) {
    __shared__ float slice_a[kRows][kDepth];
    __shared__ float slice_b[kDepth][kColumns];

    const int tx = threadIdx.x;
    const int ty = threadIdx.y;
    const int top = blockIdx.y * kRows;
    const int column = blockIdx.x * kColumns + tx;

    float sums[kEach] = {};
    for (int first = 0; first + kDepth <= k; first += kDepth) {
#pragma unroll
        for (int i = 0; i < kEach; ++i) {
            const int row = top + ty * kEach + i;
            const bool inside = row < m;
            slice_a[ty * kEach + i][tx] = inside ? a[static_cast<size_t>(row) * k + first + tx] : 0.0f;
        }
#pragma unroll
        for (int i = 0; i < kDepth / kThreadRows; ++i) {
            const int depth = ty + i * kThreadRows;
            const bool inside = column < n;
            slice_b[depth][tx] = inside ? b[static_cast<size_t>(first + depth) * n + column] : 0.0f;
        }
        __syncthreads();

#pragma unroll
        for (int depth = 0; depth < kDepth; ++depth) {
            const float value = slice_b[depth][tx];
#pragma unroll
            for (int i = 0; i < kEach; ++i) sums[i] += slice_a[ty * kEach + i][depth] * value;
        }
        __syncthreads();
    }

#pragma unroll
    for (int i = 0; i < kEach; ++i) {
        const int row = top + ty * kEach + i;
        if (row < m && column < n) c[static_cast<size_t>(row) * n + column] = sums[i];
    }
}

}  // namespace

cudaError_t gemm_rect(const float* a, const float* b, float* c, int m, int n, int k, cudaStream_t stream) {
    const dim3 block(kColumns, kThreadRows);
    const dim3 grid((n + kColumns - 1) / kColumns, (m + kRows - 1) / kRows);
    gemm_kernel<<<grid, block, 0, stream>>>(a, b, c, m, n, k);
    return cudaGetLastError();
}
