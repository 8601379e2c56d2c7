#pragma once

#include <cuda_runtime.h>

// Mean and variance (divided by the number of values) of every channel of x[batch][channels][plane]. Device pointers.
cudaError_t batchnorm_stats(const float* x, float* mean, float* variance, int batch, int channels, int plane,
                            cudaStream_t stream);
