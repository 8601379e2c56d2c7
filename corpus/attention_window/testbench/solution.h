#pragma once

#include <cuda_runtime.h>

constexpr int kHeadDim = 8;

// Causal attention over a sliding window of at most 64 tokens. q, k, v, y: device pointers to [tokens][kHeadDim].
cudaError_t attention_window(const float* q, const float* k, const float* v, float* y, int tokens, int window,
                             cudaStream_t stream);
