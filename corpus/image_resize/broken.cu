// Resizes an image in two passes: along the rows into scratch, then along the columns. Where the filters lie is the
// same for all threads, so it is kept in constant memory.
#include "solution.h"

#include <cstring>

namespace {

constexpr int kBlockX = 32;
constexpr int kBlockY = 8;

struct Filter {
    const int* first;
    const float* weights;
};

__constant__ Filter along_rows;
__constant__ Filter along_columns;

__global__ void horizontal_kernel(const float* in, float* out, int rows, int in_width, int out_width, int taps) {
    const int column = blockIdx.x * kBlockX + threadIdx.x;
    const int row = blockIdx.y * kBlockY + threadIdx.y;
    if (row >= rows || column >= out_width) return;
    const float* from = in + static_cast<size_t>(row) * in_width + along_rows.first[column];
    float sum = 0.0f;
    for (int t = 0; t < taps; ++t) sum += along_rows.weights[t * out_width + column] * from[t];
    out[static_cast<size_t>(row) * out_width + column] = sum;
}

__global__ void vertical_kernel(const float* in, float* out, int in_height, int out_height, int width, int taps) {
    const int column = blockIdx.x * kBlockX + threadIdx.x;
    const int row = blockIdx.y * kBlockY + threadIdx.y;
    if (row >= out_height || column >= width) return;
    const size_t top = static_cast<size_t>(blockIdx.z) * in_height + along_columns.first[row];
    float sum = 0.0f;
    for (int t = 0; t < taps; ++t) {
        sum += along_columns.weights[t * out_height + row] * in[(top + t) * width + column];
    }
    out[(static_cast<size_t>(blockIdx.z) * out_height + row) * width + column] = sum;
}

void set_filter(Filter& filter, const Resampling& resampling) {
    const Filter value = {resampling.first, resampling.weights};
    std::memcpy(&filter, &value, sizeof value);
}

int blocks(int size, int block) { return (size + block - 1) / block; }

}  // namespace

cudaError_t image_resize(const float* image, float* scratch, float* result, ResizeShape shape, Resampling horizontal,
                         Resampling vertical, cudaStream_t stream) {
    set_filter(along_rows, horizontal);
    set_filter(along_columns, vertical);

    const dim3 block(kBlockX, kBlockY);
    const int rows = shape.channels * shape.in_height;
    const dim3 across(blocks(horizontal.size, kBlockX), blocks(rows, kBlockY));
    horizontal_kernel<<<across, block, 0, stream>>>(image, scratch, rows, shape.in_width, horizontal.size,
                                                    horizontal.taps);
    const dim3 down(blocks(horizontal.size, kBlockX), blocks(vertical.size, kBlockY), shape.channels);
    vertical_kernel<<<down, block, 0, stream>>>(scratch, result, shape.in_height, vertical.size, horizontal.size,
                                                vertical.taps);
    return cudaGetLastError();
}
