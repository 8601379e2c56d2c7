// Gradients of layer normalisation in two kernels: dx with a warp per row, dgamma and dbeta with a block for every 32
// columns, whose warps go down the rows and meet in shared memory.
#include "solution.h"

namespace {

constexpr int kRowThreads = 128;
constexpr int kRowsPerBlock = kRowThreads / 32;
constexpr int kWarps = 32;  // of a block that sums over columns

__device__ float sum_over_warp(float value) {
    for (int offset = 16; offset > 0; offset /= 2) value += __shfl_xor_sync(0xFFFFFFFFu, value, offset);
    return value;
}

__global__ void row_kernel(const float* __restrict__ dy, const float* __restrict__ x,
                           const float* __restrict__ gamma, const float* __restrict__ mean,
                           const float* __restrict__ rstd, float* __restrict__ dx, int rows, int cols) {
    const int lane = threadIdx.x % 32;
    const int r = blockIdx.x * kRowsPerBlock + threadIdx.x / 32;
    if (r >= rows) return;
    const float* row_dy = dy + static_cast<size_t>(r) * cols;
    const float* row_x = x + static_cast<size_t>(r) * cols;
    float* row_dx = dx + static_cast<size_t>(r) * cols;
    const float center = mean[r];
    const float scale = rstd[r];

    float sum = 0.0f;
    float product = 0.0f;
#pragma unroll 4
    for (int c = lane; c < cols; c += 32) {
        const float scaled = row_dy[c] * gamma[c];
        sum += scaled;
        product += scaled * (row_x[c] - center);
    }
    sum = sum_over_warp(sum) / static_cast<float>(cols);
    product = sum_over_warp(product) * scale / static_cast<float>(cols);

#pragma unroll 4
    for (int c = lane; c < cols; c += 32) {
        const float normal = (row_x[c] - center) * scale;
        row_dx[c] = scale * (row_dy[c] * gamma[c] - sum - normal * product);
    }
}

__global__ void column_kernel(const float* __restrict__ dy, const float* __restrict__ x,
                              const float* __restrict__ mean, const float* __restrict__ rstd,
                              float* __restrict__ dgamma, float* __restrict__ dbeta, int rows, int cols) {
    // One column more than needed: the transposed reads below then touch all banks.
    __shared__ float products[kWarps][32 + 1];
    __shared__ float sums[kWarps][32 + 1];
    const int lane = threadIdx.x;
    const int warp = threadIdx.y;
    const int column = blockIdx.x * 32 + lane;

    float product = 0.0f;
    float sum = 0.0f;
    if (column < cols) {
#pragma unroll 4
        for (int r = warp; r < rows; r += kWarps) {
            const size_t i = static_cast<size_t>(r) * cols + column;
            const float gradient = dy[i];
            product += gradient * ((x[i] - mean[r]) * rstd[r]);
            sum += gradient;
        }
    }
    products[warp][lane] = product;
    sums[warp][lane] = sum;
    __syncthreads();

    // Warp w finishes column w of the block.
    product = sum_over_warp(products[lane][warp]);
    sum = sum_over_warp(sums[lane][warp]);
    const int finished = blockIdx.x * 32 + warp;
    if (lane == 0 && finished < cols) {
        dgamma[finished] = product;
        dbeta[finished] = sum;
    }
}

}  // namespace

cudaError_t layernorm_backward(const float* dy, const float* x, const float* gamma, const float* mean,
                               const float* rstd, float* dx, float* dgamma, float* dbeta, int rows, int cols,
                               cudaStream_t stream) {
    const int row_blocks = (rows + kRowsPerBlock - 1) / kRowsPerBlock;
    row_kernel<<<row_blocks, kRowThreads, 0, stream>>>(dy, x, gamma, mean, rstd, dx, rows, cols);
    if (const cudaError_t error = cudaGetLastError()) return error;
    column_kernel<<<(cols + 31) / 32, dim3(32, kWarps), 0, stream>>>(dy, x, mean, rstd, dgamma, dbeta, rows, cols);
    return cudaGetLastError();
}
