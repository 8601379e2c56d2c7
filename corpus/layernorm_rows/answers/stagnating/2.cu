// Layer normalisation, one warp per row, on CUTLASS arrays of four floats.
#include "solution.h"

#include <cutlass/array.h>
#include <cutlass/functional.h>
#include <cutlass/cutlass.h>

namespace {

using Fragment = cutlass::AlignedArray<float, 4>;

constexpr int kThreads = 256;
constexpr int kRowsPerBlock = kThreads / 32;

__device__ float sum_over_warp(float value) {
    for (int offset = 16; offset > 0; offset /= 2) value += __shfl_xor_sync(0xFFFFFFFFu, value, offset);
    return value;
}

__global__ void layernorm_kernel(const Fragment* x, const Fragment* gamma, const Fragment* beta, Fragment* y, int rows,
                                 int fragments, float epsilon) {
    const int lane = threadIdx.x % 32;
    const int row = blockIdx.x * kRowsPerBlock + threadIdx.x / 32;
    if (row >= rows) return;
    const Fragment* in = x + static_cast<size_t>(row) * fragments;
    Fragment* out = y + static_cast<size_t>(row) * fragments;
    const float per_column = 1.0f / static_cast<float>(fragments * Fragment::kElements);

    cutlass::plus<Fragment> add;
    cutlass::minus<Fragment> subtract;
    cutlass::multiplies<Fragment> multiply;
    cutlass::multiply_add<Fragment> multiply_add;

    Fragment sums;
    sums.fill(0.0f);
    for (int i = lane; i < fragments; i += 32) sums = add(sums, in[i]);
    const float mean = sum_over_warp(sums[0] + sums[1] + sums[2] + sums[3]) * per_column;

    Fragment means;
    means.fill(mean);
    Fragment squares;
    squares.fill(0.0f);
    for (int i = lane; i < fragments; i += 32) {
        const Fragment deviation = subtract(in[i], means);
        squares = multiply_add(deviation, deviation, squares);
    }
    const float variance = sum_over_warp(squares[0] + squares[1] + squares[2] + squares[3]) * per_column;

    Fragment scales;
    scales.fill(rsqrtf(variance + epsilon));
    for (int i = lane; i < fragments; i += 32) {
        const Fragment normalised = multiply(subtract(in[i], means), scales);
        out[i] = multiply_add(normalised, gamma[i], beta[i]);
    }
}

}  // namespace

cudaError_t layernorm_rows(const float* x, const float* gamma, const float* beta, float* y, int rows, int cols,
                           float epsilon, cudaStream_t stream) {
    const int blocks = (rows + kRowsPerBlock - 1) / kRowsPerBlock;
    layernorm_kernel<<<blocks, kThreads, 0, stream>>>(
        reinterpret_cast<const Fragment*>(x), reinterpret_cast<const Fragment*>(gamma),
        reinterpret_cast<const Fragment*>(beta), reinterpret_cast<Fragment*>(y), rows, cols / 4, epsilon);
    return cudaGetLastError();
}
