// Resizes an image in two passes: along the rows into scratch, then along the columns. Kernels get their filters as
// arguments, which lie in constant memory anyway and belong to one launch.
#include "solution.h"

namespace {

constexpr int kBlockX = 32;
constexpr int kBlockY = 8;

__global__ void horizontal_kernel(const float* __restrict__ in, float* __restrict__ out, int rows, int in_width,
                                  Resampling filter) {
    const int column = blockIdx.x * kBlockX + threadIdx.x;
    const int row = blockIdx.y * kBlockY + threadIdx.y;
    if (row >= rows || column >= filter.size) return;
    const float* from = in + static_cast<size_t>(row) * in_width + __ldg(&filter.first[column]);
    float sum = 0.0f;
#pragma unroll 4
    for (int t = 0; t < filter.taps; ++t) sum += __ldg(&filter.weights[t * filter.size + column]) * from[t];
    out[static_cast<size_t>(row) * filter.size + column] = sum;
}

__global__ void vertical_kernel(const float* __restrict__ in, float* __restrict__ out, int in_height, int width,
                                Resampling filter) {
    const int column = blockIdx.x * kBlockX + threadIdx.x;
    const int row = blockIdx.y * kBlockY + threadIdx.y;
    if (row >= filter.size || column >= width) return;
    const size_t top = static_cast<size_t>(blockIdx.z) * in_height + __ldg(&filter.first[row]);
    float sum = 0.0f;
#pragma unroll 4
    for (int t = 0; t < filter.taps; ++t) {
        sum += __ldg(&filter.weights[t * filter.size + row]) * in[(top + t) * width + column];
    }
    out[(static_cast<size_t>(blockIdx.z) * filter.size + row) * width + column] = sum;
}

int blocks(int size, int block) { return (size + block - 1) / block; }

}  // namespace

cudaError_t image_resize(const float* image, float* scratch, float* result, ResizeShape shape, Resampling horizontal,
                         Resampling vertical, cudaStream_t stream) {
    const dim3 block(kBlockX, kBlockY);
    const int rows = shape.channels * shape.in_height;
    const dim3 across(blocks(horizontal.size, kBlockX), blocks(rows, kBlockY));
    horizontal_kernel<<<across, block, 0, stream>>>(image, scratch, rows, shape.in_width, horizontal);
    if (const cudaError_t error = cudaGetLastError()) return error;
    const dim3 down(blocks(horizontal.size, kBlockX), blocks(vertical.size, kBlockY), shape.channels);
    vertical_kernel<<<down, block, 0, stream>>>(scratch, result, shape.in_height, horizontal.size, vertical);
    return cudaGetLastError();
}
