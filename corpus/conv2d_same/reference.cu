// Direct 5 x 5 convolution: a block of 32 x 8 threads walks over the input channels a few at a time. Their window and
// the filters of eight output channels fit into shared memory; every thread keeps eight sums in registers.
#include "solution.h"

namespace {

constexpr int kTap = 5;
constexpr int kRadius = kTap / 2;
constexpr int kTileX = 32;
constexpr int kTileY = 8;
constexpr int kThreads = kTileX * kTileY;
constexpr int kDepth = 4;    // input channels in shared memory at a time
constexpr int kOutputs = 8;  // output channels per block
constexpr int kWindowX = kTileX + 2 * kRadius;
constexpr int kWindowY = kTileY + 2 * kRadius;

__global__ void conv_kernel(const float* x, const float* w, float* y, ConvShape shape, int output_groups) {
    __shared__ float window[kDepth][kWindowY][kWindowX];
    __shared__ float filters[kDepth][kTap * kTap][kOutputs];

    const int thread = threadIdx.y * kTileX + threadIdx.x;
    const int left = blockIdx.x * kTileX - kRadius;
    const int top = blockIdx.y * kTileY - kRadius;
    const int n = blockIdx.z / output_groups;
    const int first_output = blockIdx.z % output_groups * kOutputs;
    const size_t plane = static_cast<size_t>(shape.height) * shape.width;
    const float* image = x + n * plane * shape.in_channels;

    float sums[kOutputs] = {};
    for (int first = 0; first < shape.in_channels; first += kDepth) {
        for (int i = thread; i < kDepth * kWindowY * kWindowX; i += kThreads) {
            const int depth = i / (kWindowY * kWindowX);
            const int wr = i / kWindowX % kWindowY;
            const int wc = i % kWindowX;
            const int row = top + wr;
            const int column = left + wc;
            const bool inside = first + depth < shape.in_channels && row >= 0 && row < shape.height && column >= 0 &&
                                column < shape.width;
            window[depth][wr][wc] = inside ? image[(first + depth) * plane + row * shape.width + column] : 0.0f;
        }
        for (int i = thread; i < kDepth * kTap * kTap * kOutputs; i += kThreads) {
            const int depth = i / (kTap * kTap * kOutputs);
            const int tap = i / kOutputs % (kTap * kTap);
            const int o = first_output + i % kOutputs;
            const bool inside = first + depth < shape.in_channels && o < shape.out_channels;
            filters[depth][tap][i % kOutputs] =
                inside ? w[(o * shape.in_channels + first + depth) * kTap * kTap + tap] : 0.0f;
        }
        __syncthreads();

        for (int depth = 0; depth < kDepth; ++depth) {
            for (int tap = 0; tap < kTap * kTap; ++tap) {
                const float value = window[depth][threadIdx.y + tap / kTap][threadIdx.x + tap % kTap];
#pragma unroll
                for (int o = 0; o < kOutputs; ++o) sums[o] += value * filters[depth][tap][o];
            }
        }
        __syncthreads();  // the next channels overwrite the window and the filters
    }

    const int row = blockIdx.y * kTileY + threadIdx.y;
    const int column = blockIdx.x * kTileX + threadIdx.x;
    if (row >= shape.height || column >= shape.width) return;
    float* pixel = y + n * plane * shape.out_channels + row * shape.width + column;
#pragma unroll
    for (int o = 0; o < kOutputs; ++o) {
        if (first_output + o < shape.out_channels) pixel[(first_output + o) * plane] = sums[o];
    }
}

}  // namespace

cudaError_t conv2d_same(const float* x, const float* w, float* y, ConvShape shape, cudaStream_t stream) {
    const int output_groups = (shape.out_channels + kOutputs - 1) / kOutputs;
    const dim3 block(kTileX, kTileY);
    const dim3 grid((shape.width + kTileX - 1) / kTileX, (shape.height + kTileY - 1) / kTileY,
                    shape.batch * output_groups);
    conv_kernel<<<grid, block, 0, stream>>>(x, w, y, shape, output_groups);
    return cudaGetLastError();
}
