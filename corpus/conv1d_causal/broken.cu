// Causal convolution over time, one thread per output.
#include "solution.h"

namespace {

__global__ void conv_kernel(const float* x, const float* w, const float* bias, float* y, CausalShape shape) {
    const int o = blockIdx.x * blockDim.x + threadIdx.x;
    const int t = blockIdx.y * blockDim.y + threadIdx.y;
    const int n = blockIdx.z;
    if (o >= shape.out_channels || t >= shape.steps) return;
    float sum = bias[o];
    for (int i = 0; i < shape.in_channels; ++i) {
        for (int k = 0; k < kTaps; ++k) {
            const int from = t - k * shape.dilation;
            if (from < 0) break;
            sum += w[(o * shape.in_channels + i) * kTaps + k] *
                   x[(static_cast<size_t>(n) * shape.in_channels + i) * shape.steps + from];
        }
    }
    y[(static_cast<size_t>(n) * shape.out_channels + o) * shape.steps + t] = sum;
}

}  // namespace

cudaError_t conv1d_causal(const float* x, const float* w, const float* bias, float* y, CausalShape shape,
                          cudaStream_t stream) {
    const dim3 block(32, 8);
    const dim3 grid((shape.out_channels + block.x - 1) / block.x, (shape.steps + block.y - 1) / block.y, shape.batch);
    conv_kernel<<<grid, block, 0, stream>>>(x, w, bias, y, shape);
    return cudaGetLastError();
}
