#pragma once

#include <cuda_runtime.h>

// Gradients of layer normalisation over the rows of a row-major matrix. dy, x and dx have rows * cols values, gamma,
// dgamma and dbeta cols, mean and rstd rows. Device pointers.
cudaError_t layernorm_backward(const float* dy, const float* x, const float* gamma, const float* mean,
                               const float* rstd, float* dx, float* dgamma, float* dbeta, int rows, int cols,
                               cudaStream_t stream);
