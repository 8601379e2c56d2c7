// Causal convolution over time: lanes lie along time, so that they read neighbouring values of x and write
// neighbouring values of y. Four output channels per thread share every value of x; their weights lie in shared
// memory.
#include "solution.h"

namespace {

constexpr int kThreads = 128;  // times per block
constexpr int kOutputs = 4;    // output channels per thread
constexpr int kChannels = 64;  // input channels at a time

__global__ void conv_kernel(const float* __restrict__ x, const float* __restrict__ w, const float* __restrict__ bias,
                            float* __restrict__ y, CausalShape shape) {
    __shared__ float4 weights[kChannels * kTaps];

    const int t = blockIdx.x * kThreads + threadIdx.x;
    const int o = blockIdx.y * kOutputs;
    const int n = blockIdx.z;
    // Channels after the last one compute the last one again; they are not written.
    const int last = shape.out_channels - 1;
    const int outputs[kOutputs] = {o, min(o + 1, last), min(o + 2, last), min(o + 3, last)};

    float4 sum = make_float4(bias[outputs[0]], bias[outputs[1]], bias[outputs[2]], bias[outputs[3]]);
    for (int first = 0; first < shape.in_channels; first += kChannels) {
        const int channels = min(kChannels, shape.in_channels - first);
        __syncthreads();
        for (int j = threadIdx.x; j < channels * kTaps; j += kThreads) {
            const auto weight = [&](int output) { return w[(output * shape.in_channels + first) * kTaps + j]; };
            weights[j] =
                make_float4(weight(outputs[0]), weight(outputs[1]), weight(outputs[2]), weight(outputs[3]));
        }
        __syncthreads();
        const float* in = x + (static_cast<size_t>(n) * shape.in_channels + first) * shape.steps;
#pragma unroll 4
        for (int i = 0; i < channels; ++i) {
#pragma unroll
            for (int k = 0; k < kTaps; ++k) {
                const int from = t - k * shape.dilation;
                const bool inside = from >= 0 && from < shape.steps;
                const float value = inside ? in[static_cast<size_t>(i) * shape.steps + from] : 0.0f;
                const float4 weight = weights[i * kTaps + k];
                sum.x += weight.x * value;
                sum.y += weight.y * value;
                sum.z += weight.z * value;
                sum.w += weight.w * value;
            }
        }
    }

    if (t >= shape.steps) return;
    float* out = y + (static_cast<size_t>(n) * shape.out_channels + o) * shape.steps + t;
    out[0] = sum.x;
    if (o + 1 <= last) out[shape.steps] = sum.y;
    if (o + 2 <= last) out[2 * static_cast<size_t>(shape.steps)] = sum.z;
    if (o + 3 <= last) out[3 * static_cast<size_t>(shape.steps)] = sum.w;
}

}  // namespace

cudaError_t conv1d_causal(const float* x, const float* w, const float* bias, float* y, CausalShape shape,
                          cudaStream_t stream) {
    const dim3 grid((shape.steps + kThreads - 1) / kThreads, (shape.out_channels + kOutputs - 1) / kOutputs,
                    shape.batch);
    conv_kernel<<<grid, kThreads, 0, stream>>>(x, w, bias, y, shape);
    return cudaGetLastError();
}
