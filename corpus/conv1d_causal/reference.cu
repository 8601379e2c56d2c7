// Causal convolution over time: lanes lie along time, a thread has eight output channels of one time. The block keeps
// their weights in shared memory, so that a value of x, once loaded, is used eight times and no weight is loaded
// twice.
#include "solution.h"

namespace {

constexpr int kThreads = 64;    // times per block
constexpr int kOutputs = 8;     // output channels per thread
constexpr int kChannels = 32;   // input channels at a time

__global__ void conv_kernel(const float* __restrict__ x, const float* __restrict__ w, const float* __restrict__ bias,
                            float* __restrict__ y, CausalShape shape) {
    __shared__ float4 weights[kChannels][kTaps][kOutputs / 4];

    const int t = blockIdx.x * kThreads + threadIdx.x;
    const int first_output = blockIdx.y * kOutputs;
    const int outputs = min(kOutputs, shape.out_channels - first_output);
    const float* in = x + static_cast<size_t>(blockIdx.z) * shape.in_channels * shape.steps;

    float sums[kOutputs];
#pragma unroll
    for (int o = 0; o < kOutputs; ++o) sums[o] = o < outputs ? bias[first_output + o] : 0.0f;

    for (int first = 0; first < shape.in_channels; first += kChannels) {
        const int channels = min(kChannels, shape.in_channels - first);
        __syncthreads();  // the weights before these are no longer needed
        for (int j = threadIdx.x; j < channels * kTaps * kOutputs; j += kThreads) {
            const int o = j / (channels * kTaps);
            const int rest = j % (channels * kTaps);  // channel and tap, side by side in w
            const size_t row = static_cast<size_t>(first_output + o) * shape.in_channels + first;
            const float weight = o < outputs ? w[row * kTaps + rest] : 0.0f;
            reinterpret_cast<float*>(weights[rest / kTaps][rest % kTaps])[o] = weight;
        }
        __syncthreads();

        if (t >= shape.steps) continue;
#pragma unroll 4
        for (int i = 0; i < channels; ++i) {
            const float* row = in + static_cast<size_t>(first + i) * shape.steps;
#pragma unroll
            for (int k = 0; k < kTaps; ++k) {
                const int from = t - k * shape.dilation;
                const float value = from >= 0 ? row[from] : 0.0f;
#pragma unroll
                for (int quad = 0; quad < kOutputs / 4; ++quad) {
                    const float4 weight = weights[i][k][quad];
                    sums[quad * 4] += weight.x * value;
                    sums[quad * 4 + 1] += weight.y * value;
                    sums[quad * 4 + 2] += weight.z * value;
                    sums[quad * 4 + 3] += weight.w * value;
                }
            }
        }
    }

    if (t >= shape.steps) return;
    float* out = y + (static_cast<size_t>(blockIdx.z) * shape.out_channels + first_output) * shape.steps + t;
#pragma unroll
    for (int o = 0; o < kOutputs; ++o) {
        if (o < outputs) out[static_cast<size_t>(o) * shape.steps] = sums[o];
    }
}

}  // namespace

cudaError_t conv1d_causal(const float* x, const float* w, const float* bias, float* y, CausalShape shape,
                          cudaStream_t stream) {
    const dim3 grid((shape.steps + kThreads - 1) / kThreads, (shape.out_channels + kOutputs - 1) / kOutputs,
                    shape.batch);
    conv_kernel<<<grid, kThreads, 0, stream>>>(x, w, bias, y, shape);
    return cudaGetLastError();
}
