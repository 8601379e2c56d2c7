"""Softmax over the first scores of each row."""

import torch.nn as nn
from torch.utils.cpp_extension import load_inline

CUDA_SOURCE = r"""
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAStream.h>

constexpr int kThreads = 128;
constexpr int kWarps = kThreads / 32;

template <typename Operation>
__device__ float block_reduce(float value, float neutral, Operation operation) {
    __shared__ float partial[kWarps];
    for (int offset = 16; offset > 0; offset /= 2) value = operation(value, __shfl_xor_sync(0xffffffffu, value, offset));
    if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = value;
    __syncthreads();
    value = neutral;
    for (int warp = 0; warp < kWarps; ++warp) value = operation(value, partial[warp]);
    __syncthreads();
    return value;
}

// Softmax over the first lengths[row] scores of a row; the rest of the row becomes zero.
__global__ void masked_softmax_kernel(const float* __restrict__ scores, const int* __restrict__ lengths,
                                      float* __restrict__ y, int cols) {
    const float* row = scores + static_cast<size_t>(blockIdx.x) * cols;
    float* out = y + static_cast<size_t>(blockIdx.x) * cols;
    const int length = lengths[blockIdx.x];
    // four scores at a time, and what is left over one by one
    const float4* vectors = reinterpret_cast<const float4*>(row);
    const int whole = length / 4;
    float largest = -INFINITY;
    for (int i = threadIdx.x; i < whole; i += kThreads) {
        const float4 v = vectors[i];
        largest = fmaxf(largest, fmaxf(fmaxf(v.x, v.y), fmaxf(v.z, v.w)));
    }
    for (int c = 4 * whole + threadIdx.x; c < length; c += kThreads) largest = fmaxf(largest, row[c]);
    largest = block_reduce(largest, -INFINITY, [](float a, float b) { return fmaxf(a, b); });
    float sum = 0.0f;
    for (int i = threadIdx.x; i < whole; i += kThreads) {
        const float4 v = vectors[i];
        sum += expf(v.x - largest) + expf(v.y - largest) + expf(v.z - largest) + expf(v.w - largest);
    }
    for (int c = 4 * whole + threadIdx.x; c < length; c += kThreads) sum += expf(row[c] - largest);
    sum = block_reduce(sum, 0.0f, [](float a, float b) { return a + b; });
    for (int c = threadIdx.x; c < cols; c += kThreads) out[c] = c < length ? expf(row[c] - largest) / sum : 0.0f;
}

torch::Tensor masked_softmax(torch::Tensor scores, torch::Tensor lengths) {
    TORCH_CHECK(scores.is_cuda() && scores.is_contiguous() && scores.dim() == 2, "scores must be a contiguous matrix");
    TORCH_CHECK(lengths.scalar_type() == torch::kInt && lengths.numel() == scores.size(0), "one int for each row");
    auto y = torch::empty_like(scores);
    const int rows = scores.size(0);
    const int cols = scores.size(1);
    masked_softmax_kernel<<<rows, kThreads, 0, c10::cuda::getCurrentCUDAStream()>>>(
        scores.data_ptr<float>(), lengths.data_ptr<int>(), y.data_ptr<float>(), cols);
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
