"""Softmax over the first scores of each row."""

import torch.nn as nn
from torch.utils.cpp_extension import load_inline

CUDA_SOURCE = r"""
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAStream.h>

constexpr int kThreads = 32;

// Softmax over the first lengths[row] scores of a row; the rest of the row becomes zero.
__global__ void masked_softmax_kernel(const float* __restrict__ scores, const int* __restrict__ lengths,
                                      float* __restrict__ y, int rows, int cols) {
    const int r = blockIdx.x * kThreads + threadIdx.x;
    if (r >= rows) return;
    const float* row = scores + static_cast<size_t>(r) * cols;
    float* out = y + static_cast<size_t>(r) * cols;
    float largest = -INFINITY;
    for (int c = 0; c < lengths[r]; ++c) largest = fmaxf(largest, row[c]);
    float sum = 0.0f;
    for (int c = 0; c < lengths[r]; ++c) sum += expf(row[c] - largest);
    for (int c = 0; c < cols; ++c) out[c] = c < lengths[r] ? expf(row[c] - largest) / sum : 0.0f;
}

torch::Tensor masked_softmax(torch::Tensor scores, torch::Tensor lengths) {
    TORCH_CHECK(scores.is_cuda() && scores.is_contiguous() && scores.dim() == 2, "scores must be a contiguous matrix");
    TORCH_CHECK(lengths.scalar_type() == torch::kInt && lengths.numel() == scores.size(0), "one int for each row");
    auto y = torch::empty_like(scores);
    const int rows = scores.size(0);
    const int cols = scores.size(1);
    masked_softmax_kernel<<<(rows + kThreads - 1) / kThreads, kThreads, 0, c10::cuda::getCurrentCUDAStream()>>>(
        scores.data_ptr<float>(), lengths.data_ptr<int>(), y.data_ptr<float>(), rows, cols);
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    return y;
}
"""

CPP_SOURCE = "torch::Tensor masked_softmax(torch::Tensor scores, torch::Tensor lengths);"

masked_softmax_ext = load_inline(
    name="masked_softmax_ext",
    cpp_sources=CPP_SOURCE,
    cuda_sources=CUDA_SOURCE,
    functions=["masked_softmax"],
    extra_cuda_cflags=["-O3"],
)


class ModelNew(nn.Module):
    def forward(self, scores, lengths):
        return masked_softmax_ext.masked_softmax(scores, lengths)
