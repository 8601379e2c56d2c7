// RGB to luma: a block per row, four pixels per thread. Four uchar3 come in, four floats leave as one float4.
#include "solution.h"

namespace {

constexpr int kThreads = 256;

__device__ float luma_of(unsigned int red, unsigned int green, unsigned int blue) {
    return 0.299f * red + 0.587f * green + 0.114f * blue;
}

__global__ void luma_kernel(const unsigned char* rgb, float* luma, int width) {
    const unsigned char* row = rgb + static_cast<size_t>(blockIdx.x) * width * 3;
    float* out = luma + static_cast<size_t>(blockIdx.x) * width;

    float4* quads = reinterpret_cast<float4*>(out);
    for (int i = threadIdx.x; i < width / 4; i += kThreads) {
        const uchar3* pixels = reinterpret_cast<const uchar3*>(row) + 4 * i;
        quads[i] = make_float4(luma_of(pixels[0].x, pixels[0].y, pixels[0].z),
                               luma_of(pixels[1].x, pixels[1].y, pixels[1].z),
                               luma_of(pixels[2].x, pixels[2].y, pixels[2].z),
                               luma_of(pixels[3].x, pixels[3].y, pixels[3].z));
    }

    const int column = width / 4 * 4 + threadIdx.x;
    if (column < width) out[column] = luma_of(row[3 * column], row[3 * column + 1], row[3 * column + 2]);
}

}  // namespace

cudaError_t image_luma(const unsigned char* rgb, float* luma, int height, int width, cudaStream_t stream) {
    luma_kernel<<<height, kThreads, 0, stream>>>(rgb, luma, width);
    return cudaGetLastError();
}
