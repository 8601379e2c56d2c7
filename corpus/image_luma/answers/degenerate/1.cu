// RGB to luma, one thread per row, one pixel at a time.
#include "solution.h"

namespace {

__global__ void luma_kernel(const unsigned char* rgb, float* luma, int height, int width) {
    const int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= height) return;
    for (int c = 0; c < width; ++c) {
        const size_t i = static_cast<size_t>(r) * width + c;
        luma[i] = 0.299f * rgb[3 * i] + 0.587f * rgb[3 * i + 1] + 0.114f * rgb[3 * i + 2];
    }
}

}  // namespace

cudaError_t image_luma(const unsigned char* rgb, float* luma, int height, int width, cudaStream_t stream) {
    luma_kernel<<<(height + 63) / 64, 64, 0, stream>>>(rgb, luma, height, width);
    return cudaGetLastError();
}
