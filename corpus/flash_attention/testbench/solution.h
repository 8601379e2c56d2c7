#pragma once

#include <cuda_runtime.h>

constexpr int kHeadSize = 32;

// Attention of every head over all tokens; q, k, v and y are [heads][tokens][kHeadSize]. Device pointers.
cudaError_t flash_attention(const float* q, const float* k, const float* v, float* y, int heads, int tokens,
                            cudaStream_t stream);
