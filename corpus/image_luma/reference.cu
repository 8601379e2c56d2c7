// RGB to luma: the image is one array of pixels, so that groups of four stay aligned whatever the width is. Twelve
// bytes come in as three words, four floats leave as one float4.
#include "solution.h"

namespace {

constexpr int kThreads = 256;

__device__ float luma_of(unsigned int red, unsigned int green, unsigned int blue) {
    return 0.299f * red + 0.587f * green + 0.114f * blue;
}

__device__ unsigned int byte_of(unsigned int word, int index) { return word >> (8 * index) & 0xFF; }

__global__ void luma_kernel(const unsigned char* rgb, float* luma, size_t pixels) {
    const size_t i = static_cast<size_t>(blockIdx.x) * kThreads + threadIdx.x;
    if (i < pixels / 4) {
        const unsigned int* words = reinterpret_cast<const unsigned int*>(rgb) + 3 * i;
        const unsigned int a = words[0];
        const unsigned int b = words[1];
        const unsigned int c = words[2];
        reinterpret_cast<float4*>(luma)[i] = make_float4(luma_of(byte_of(a, 0), byte_of(a, 1), byte_of(a, 2)),
                                                         luma_of(byte_of(a, 3), byte_of(b, 0), byte_of(b, 1)),
                                                         luma_of(byte_of(b, 2), byte_of(b, 3), byte_of(c, 0)),
                                                         luma_of(byte_of(c, 1), byte_of(c, 2), byte_of(c, 3)));
    }

    const size_t rest = pixels / 4 * 4 + i;
    if (rest < pixels) luma[rest] = luma_of(rgb[3 * rest], rgb[3 * rest + 1], rgb[3 * rest + 2]);
}

}  // namespace

cudaError_t image_luma(const unsigned char* rgb, float* luma, int height, int width, cudaStream_t stream) {
    const size_t pixels = static_cast<size_t>(height) * width;
    const int blocks = static_cast<int>((pixels / 4 + kThreads) / kThreads);
    luma_kernel<<<blocks, kThreads, 0, stream>>>(rgb, luma, pixels);
    return cudaGetLastError();
}
