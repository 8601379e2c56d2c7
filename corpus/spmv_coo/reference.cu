// y = A x for a list of entries: a warp walks through consecutive entries, 32 at a time. Shuffles add up what belongs
// to the same row (a segmented sum), and the last lane of each row adds the sum to y by an atomic.
#include "solution.h"

namespace {

constexpr int kThreads = 256;
constexpr int kSteps = 4;  // groups of 32 entries per warp
constexpr unsigned kAll = 0xFFFFFFFFu;

__global__ void spmv_kernel(CooMatrix matrix, const float* __restrict__ x, float* __restrict__ y) {
    const int lane = threadIdx.x % 32;
    const int warp = (blockIdx.x * kThreads + threadIdx.x) / 32;
    const int first = warp * (kSteps * 32);

    // All loads first, so that they are under way at the same time.
    int rows[kSteps];
    float products[kSteps];
#pragma unroll
    for (int s = 0; s < kSteps; ++s) {
        const int i = first + s * 32 + lane;
        const bool inside = i < matrix.entries;
        rows[s] = inside ? matrix.row_of[i] : -1;
        products[s] = inside ? matrix.values[i] * x[matrix.column_of[i]] : 0.0f;
    }

    float carry = 0.0f;  // the sum so far of the row that the previous group ends in
    int carry_row = -1;
#pragma unroll
    for (int s = 0; s < kSteps; ++s) {
        const int row = rows[s];
        float sum = products[s];
        if (lane == 0 && carry_row >= 0) {
            if (carry_row == row) sum += carry;
            else atomicAdd(&y[carry_row], carry);
        }
        for (int offset = 1; offset < 32; offset *= 2) {
            const float before = __shfl_up_sync(kAll, sum, offset);
            const int row_before = __shfl_up_sync(kAll, row, offset);
            if (lane >= offset && row_before == row) sum += before;
        }
        const int row_after = __shfl_down_sync(kAll, row, 1);
        if (lane < 31 && row >= 0 && row_after != row) atomicAdd(&y[row], sum);
        carry = __shfl_sync(kAll, sum, 31);
        carry_row = __shfl_sync(kAll, row, 31);
    }
    if (lane == 0 && carry_row >= 0) atomicAdd(&y[carry_row], carry);
}

}  // namespace

cudaError_t spmv_coo(CooMatrix matrix, const float* x, float* y, cudaStream_t stream) {
    if (const cudaError_t error = cudaMemsetAsync(y, 0, matrix.rows * sizeof(float), stream)) return error;
    const int per_block = kThreads * kSteps;
    spmv_kernel<<<(matrix.entries + per_block - 1) / per_block, kThreads, 0, stream>>>(matrix, x, y);
    return cudaGetLastError();
}
