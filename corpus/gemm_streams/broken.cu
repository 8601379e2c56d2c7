// Matrix products, each in a stream of its own.
#include "solution.h"

namespace {

constexpr int kTile = 32;
constexpr int kSide = 16;             // threads along a side of the block
constexpr int kEach = kTile / kSide;  // elements of C per thread along a side

__global__ void gemm_kernel(const float* a, const float* b, float* c, int m, int n, int k) {
    __shared__ float slice_a[kTile][kTile + 1];
    __shared__ float slice_b[kTile][kTile];
    const int tx = threadIdx.x;
    const int ty = threadIdx.y;
    const int top = blockIdx.y * kTile;
    const int left = blockIdx.x * kTile;

    float sums[kEach][kEach] = {};
    for (int first = 0; first < k; first += kTile) {
#pragma unroll
        for (int i = 0; i < kTile; i += kSide) {
#pragma unroll
            for (int j = 0; j < kTile; j += kSide) {
                const int y = ty + i;
                const int x = tx + j;
                slice_a[y][x] = top + y < m && first + x < k ? a[static_cast<size_t>(top + y) * k + first + x] : 0.0f;
                slice_b[y][x] = first + y < k && left + x < n ? b[static_cast<size_t>(first + y) * n + left + x] : 0.0f;
            }
        }
        __syncthreads();

#pragma unroll
        for (int depth = 0; depth < kTile; ++depth) {
#pragma unroll
            for (int i = 0; i < kEach; ++i) {
#pragma unroll
                for (int j = 0; j < kEach; ++j) {
                    sums[i][j] += slice_a[ty + i * kSide][depth] * slice_b[depth][tx + j * kSide];
                }
            }
        }
        __syncthreads();
    }

#pragma unroll
    for (int i = 0; i < kEach; ++i) {
#pragma unroll
        for (int j = 0; j < kEach; ++j) {
            const int row = top + ty + i * kSide;
            const int column = left + tx + j * kSide;
            if (row < m && column < n) c[static_cast<size_t>(row) * n + column] = sums[i][j];
        }
    }
}

cudaError_t launch(const GemmProblem& problem, cudaStream_t stream) {
    const dim3 block(kSide, kSide);
    const dim3 grid((problem.n + kTile - 1) / kTile, (problem.m + kTile - 1) / kTile);
    gemm_kernel<<<grid, block, 0, stream>>>(problem.a, problem.b, problem.c, problem.m, problem.n, problem.k);
    return cudaGetLastError();
}

}  // namespace

cudaError_t gemm_streams(const GemmProblem* problems, int count, cudaStream_t stream) {
    // The factors must be there.
    if (const cudaError_t error = cudaStreamSynchronize(stream)) return error;
    for (int i = 0; i < count; ++i) {
        cudaStream_t own = nullptr;
        if (const cudaError_t error = cudaStreamCreate(&own)) return error;
        if (const cudaError_t error = launch(problems[i], own)) return error;
        if (const cudaError_t error = cudaStreamSynchronize(own)) return error;
        if (const cudaError_t error = cudaStreamDestroy(own)) return error;
    }
    return cudaSuccess;
}
