"""RMS norm of rows: a block per row."""

import torch.nn as nn
from torch.utils.cpp_extension import load_inline

CUDA_SOURCE = r"""
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAStream.h>

constexpr int kThreads = 256;
constexpr int kWarps = kThreads / 32;

__device__ float warp_sum(float value) {
    for (int offset = 16; offset > 0; offset /= 2) value += __shfl_down_sync(0xffffffffu, value, offset);
    return value;
}

// The sum over a block, for every thread of it.
__device__ float block_sum(float value) {
    __shared__ float partial[kWarps];
    __shared__ float total;
    const int lane = threadIdx.x % 32;
    const int warp = threadIdx.x / 32;
    value = warp_sum(value);
    if (lane == 0) partial[warp] = value;
    __syncthreads();
    if (warp == 0) {
        value = warp_sum(lane < kWarps ? partial[lane] : 0.0f);
        if (lane == 0) total = value;
    }
    __syncthreads();
    return total;
}

__global__ void rms_norm_kernel(const float* __restrict__ x, const float* __restrict__ weight, float* __restrict__ y,
                                int cols, float eps) {
    const float* row = x + static_cast<size_t>(blockIdx.x) * cols;
    float* out = y + static_cast<size_t>(blockIdx.x) * cols;
    float squares = 0.0f;
    for (int c = threadIdx.x; c < cols; c += kThreads) squares += row[c] * row[c];
    const float scale = rsqrtf(block_sum(squares) / cols + eps);
    for (int c = threadIdx.x; c < cols; c += kThreads) out[c] = row[c] * scale * weight[c];
}

torch::Tensor rms_norm(torch::Tensor x, torch::Tensor weight, double eps) {
    TORCH_CHECK(x.is_cuda() && x.is_contiguous() && x.dim() == 2, "x must be a contiguous matrix on the GPU");
    const int rows = x.size(0);
    const int cols = x.size(1);
    auto y = torch::empty_like(x);
    rms_norm_kernel<<<rows, kThreads, 0, c10::cuda::getCurrentCUDAStream()>>>(
        x.data_ptr<float>(), weight.data_ptr<float>(), y.data_ptr<float>(), cols, static_cast<float>(eps));
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    return y;
}
"""

CPP_SOURCE = "torch::Tensor rms_norm(torch::Tensor x, torch::Tensor weight, double eps);"

rms_norm_ext = load_inline(
    name="rms_norm_ext",
    cpp_sources=CPP_SOURCE,
    cuda_sources=CUDA_SOURCE,
    functions=["rms_norm"],
    extra_cuda_cflags=["-O3"],
)


class ModelNew(nn.Module):
    def __init__(self, eps):
        super().__init__()
        self.eps = eps

    def forward(self, x, weight):
        return rms_norm_ext.rms_norm(x, weight, self.eps)
