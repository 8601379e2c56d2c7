// Resizes an image in two passes, one thread per row of their results.
#include "solution.h"

namespace {

constexpr int kThreads = 64;

__global__ void horizontal_kernel(const float* in, float* out, int rows, int in_width, Resampling filter) {
    const int row = blockIdx.x * kThreads + threadIdx.x;
    if (row >= rows) return;
    for (int column = 0; column < filter.size; ++column) {
        const float* from = in + static_cast<size_t>(row) * in_width + filter.first[column];
        float sum = 0.0f;
        for (int t = 0; t < filter.taps; ++t) sum += filter.weights[t * filter.size + column] * from[t];
        out[static_cast<size_t>(row) * filter.size + column] = sum;
    }
}

__global__ void vertical_kernel(const float* in, float* out, int in_height, int width, Resampling filter) {
    const int row = blockIdx.x * kThreads + threadIdx.x;
    if (row >= filter.size) return;
    const size_t top = static_cast<size_t>(blockIdx.y) * in_height + filter.first[row];
    for (int column = 0; column < width; ++column) {
        float sum = 0.0f;
        for (int t = 0; t < filter.taps; ++t) {
            sum += filter.weights[t * filter.size + row] * in[(top + t) * width + column];
        }
        out[(static_cast<size_t>(blockIdx.y) * filter.size + row) * width + column] = sum;
    }
}

int blocks(int size) { return (size + kThreads - 1) / kThreads; }

}  // namespace

cudaError_t image_resize(const float* image, float* scratch, float* result, ResizeShape shape, Resampling horizontal,
                         Resampling vertical, cudaStream_t stream) {
    const int rows = shape.channels * shape.in_height;
    horizontal_kernel<<<blocks(rows), kThreads, 0, stream>>>(image, scratch, rows, shape.in_width, horizontal);
    vertical_kernel<<<dim3(blocks(vertical.size), shape.channels), kThreads, 0, stream>>>(
        scratch, result, shape.in_height, horizontal.size, vertical);
    return cudaGetLastError();
}
