// Direct 5 x 5 convolution: a block of 32 x 4 threads stages the input window of all channels and the filters of four
// output channels in dynamic shared memory, then every thread computes its pixel in these four.
#include "solution.h"

namespace {

constexpr int kTap = 5;
constexpr int kTaps = kTap * kTap;
constexpr int kRadius = kTap / 2;
constexpr int kTileX = 32;
constexpr int kTileY = 4;
constexpr int kThreads = kTileX * kTileY;
constexpr int kWindowX = kTileX + 2 * kRadius;
constexpr int kWindowY = kTileY + 2 * kRadius;
constexpr int kWindow = kWindowX * kWindowY;
constexpr int kOutputs = 4;  // one float4 of filter values

__global__ void conv_kernel(const float* x, const float* w, float* y, ConvShape shape, int groups) {
    extern __shared__ float4 shared[];
    const int filter_size = shape.in_channels * kTaps;
    float4* filters = shared;                                         // [in_channels][kTaps]
    float* window = reinterpret_cast<float*>(shared + filter_size);  // [in_channels][kWindowY][kWindowX]

    const int thread = threadIdx.y * kTileX + threadIdx.x;
    const int left = blockIdx.x * kTileX - kRadius;
    const int top = blockIdx.y * kTileY - kRadius;
    const int n = blockIdx.z / groups;
    const int first = blockIdx.z % groups * kOutputs;
    const size_t plane = static_cast<size_t>(shape.height) * shape.width;
    const float* image = x + n * plane * shape.in_channels;

#pragma unroll 8
    for (int i = thread; i < shape.in_channels * kWindow; i += kThreads) {
        const int channel = i / kWindow;
        const int wr = i / kWindowX % kWindowY;
        const int wc = i % kWindowX;
        const int row = top + wr;
        const int column = left + wc;
        const bool inside = row >= 0 && row < shape.height && column >= 0 && column < shape.width;
        window[i] = inside ? image[channel * plane + row * shape.width + column] : 0.0f;
    }
    const auto filter = [&](int o, int i) { return o < shape.out_channels ? w[o * filter_size + i] : 0.0f; };
    for (int i = thread; i < filter_size; i += kThreads) {
        filters[i] = make_float4(filter(first, i), filter(first + 1, i), filter(first + 2, i), filter(first + 3, i));
    }
    __syncthreads();

    const int row = blockIdx.y * kTileY + threadIdx.y;
    const int column = blockIdx.x * kTileX + threadIdx.x;
    if (row >= shape.height || column >= shape.width) return;
    float sums[kOutputs] = {};
    for (int channel = 0; channel < shape.in_channels; ++channel) {
        const float* corner = window + channel * kWindow + threadIdx.y * kWindowX + threadIdx.x;
#pragma unroll
        for (int tap = 0; tap < kTaps; ++tap) {
            const float value = corner[tap / kTap * kWindowX + tap % kTap];
            const float4 weights = filters[channel * kTaps + tap];
            sums[0] += value * weights.x;
            sums[1] += value * weights.y;
            sums[2] += value * weights.z;
            sums[3] += value * weights.w;
        }
    }
    float* pixel = y + n * plane * shape.out_channels + row * shape.width + column;
#pragma unroll
    for (int o = 0; o < kOutputs; ++o) {
        if (first + o < shape.out_channels) pixel[(first + o) * plane] = sums[o];
    }
}

}  // namespace

cudaError_t conv2d_same(const float* x, const float* w, float* y, ConvShape shape, cudaStream_t stream) {
    // Four output channels per block: enough blocks for a device with many processors.
    const int groups = (shape.out_channels + kOutputs - 1) / kOutputs;
    const dim3 block(kTileX, kTileY);
    const dim3 grid((shape.width + kTileX - 1) / kTileX, (shape.height + kTileY - 1) / kTileY, shape.batch * groups);
    const int bytes = shape.in_channels * (kWindow + kTaps * kOutputs) * static_cast<int>(sizeof(float));
    const cudaError_t error = cudaFuncSetAttribute(conv_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
    if (error != cudaSuccess) return error;
    conv_kernel<<<grid, block, bytes, stream>>>(x, w, y, shape, groups);
    return cudaGetLastError();
}
