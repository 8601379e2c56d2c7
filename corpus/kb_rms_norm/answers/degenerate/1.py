"""RMS norm of rows: a thread per row."""

import torch.nn as nn
from torch.utils.cpp_extension import load_inline

CUDA_SOURCE = r"""
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAStream.h>

constexpr int kThreads = 64;

__global__ void rms_norm_kernel(const float* __restrict__ x, const float* __restrict__ weight, float* __restrict__ y,
                                int rows, int cols, float eps) {
    const int r = blockIdx.x * kThreads + threadIdx.x;
    if (r >= rows) return;
    const float* row = x + static_cast<size_t>(r) * cols;
    float squares = 0.0f;
    for (int c = 0; c < cols; ++c) squares += row[c] * row[c];
    const float scale = rsqrtf(squares / cols + eps);
    for (int c = 0; c < cols; ++c) y[static_cast<size_t>(r) * cols + c] = row[c] * scale * weight[c];
}

torch::Tensor rms_norm(torch::Tensor x, torch::Tensor weight, double eps) {
    TORCH_CHECK(x.is_cuda() && x.is_contiguous() && x.dim() == 2, "x must be a contiguous matrix on the GPU");
    const int rows = x.size(0);
    const int cols = x.size(1);
    auto y = torch::empty_like(x);
    rms_norm_kernel<<<(rows + kThreads - 1) / kThreads, kThreads, 0, c10::cuda::getCurrentCUDAStream()>>>(
        x.data_ptr<float>(), weight.data_ptr<float>(), y.data_ptr<float>(), rows, cols, static_cast<float>(eps));
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
