// Direct 5 x 5 convolution: a block of 32 x 8 threads stages the input window and all filters in shared memory, then
// every thread computes its pixel in all output channels.
#include "solution.h"

namespace {

constexpr int kTap = 5;
constexpr int kRadius = kTap / 2;
constexpr int kTileX = 32;
constexpr int kTileY = 8;
constexpr int kMaxChannels = 32;
constexpr int kWindowX = kTileX + 2 * kRadius;
constexpr int kWindowY = kTileY + 2 * kRadius;

__global__ void conv_kernel(const float* x, const float* w, float* y, ConvShape shape) {
    __shared__ float window[kMaxChannels][kWindowY][kWindowX];
    __shared__ float filters[kMaxChannels * kMaxChannels * kTap * kTap];

    const int thread = threadIdx.y * kTileX + threadIdx.x;
    const int left = blockIdx.x * kTileX - kRadius;
    const int top = blockIdx.y * kTileY - kRadius;
    const size_t plane = static_cast<size_t>(shape.height) * shape.width;
    const float* image = x + blockIdx.z * plane * shape.in_channels;

    for (int i = thread; i < shape.in_channels * kWindowY * kWindowX; i += kTileX * kTileY) {
        const int channel = i / (kWindowY * kWindowX);
        const int wr = i / kWindowX % kWindowY;
        const int wc = i % kWindowX;
        const int row = top + wr;
        const int column = left + wc;
        const bool inside = row >= 0 && row < shape.height && column >= 0 && column < shape.width;
        window[channel][wr][wc] = inside ? image[channel * plane + row * shape.width + column] : 0.0f;
    }
    for (int i = thread; i < shape.out_channels * shape.in_channels * kTap * kTap; i += kTileX * kTileY) {
        filters[i] = w[i];
    }
    __syncthreads();

    const int row = blockIdx.y * kTileY + threadIdx.y;
    const int column = blockIdx.x * kTileX + threadIdx.x;
    if (row >= shape.height || column >= shape.width) return;
    float* pixel = y + blockIdx.z * plane * shape.out_channels + row * shape.width + column;
    for (int o = 0; o < shape.out_channels; ++o) {
        float sum = 0.0f;
        for (int channel = 0; channel < shape.in_channels; ++channel) {
            const float* filter = filters + (o * shape.in_channels + channel) * kTap * kTap;
            for (int dr = 0; dr < kTap; ++dr) {
                for (int dc = 0; dc < kTap; ++dc) {
                    sum += window[channel][threadIdx.y + dr][threadIdx.x + dc] * filter[dr * kTap + dc];
                }
            }
        }
        pixel[o * plane] = sum;
    }
}

}  // namespace

cudaError_t conv2d_same(const float* x, const float* w, float* y, ConvShape shape, cudaStream_t stream) {
    const dim3 block(kTileX, kTileY);
    const dim3 grid((shape.width + kTileX - 1) / kTileX, (shape.height + kTileY - 1) / kTileY, shape.batch);
    conv_kernel<<<grid, block, 0, stream>>>(x, w, y, shape);
    return cudaGetLastError();
}
