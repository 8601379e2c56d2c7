#pragma once

#include <cuda_runtime.h>

// Luma of an RGB image, 3 bytes per pixel, without padding between rows. Device pointers, aligned to 256 bytes.
cudaError_t image_luma(const unsigned char* rgb, float* luma, int height, int width, cudaStream_t stream);
