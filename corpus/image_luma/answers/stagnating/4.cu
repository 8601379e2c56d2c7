// RGB to luma: a block per row, four pixels per thread. Twelve bytes come in as three words, four floats leave as one
// float4.
#include "solution.h"

namespace {

constexpr int kThreads = 256;

using packed_uint = unsigned int;
using packed_float4 = float4;

__device__ float luma_of(unsigned int red, unsigned int green, unsigned int blue) {
    return 0.299f * red + 0.587f * green + 0.114f * blue;
}

__device__ unsigned int byte_of(unsigned int word, int index) { return word >> (8 * index) & 0xFF; }

__global__ void luma_kernel(const unsigned char* rgb, float* luma, int width) {
    const unsigned char* row = rgb + static_cast<size_t>(blockIdx.x) * width * 3;
    float* out = luma + static_cast<size_t>(blockIdx.x) * width;

    const packed_uint* words = reinterpret_cast<const packed_uint*>(row);
    packed_float4* quads = reinterpret_cast<packed_float4*>(out);
    for (int i = threadIdx.x; i < width / 4; i += kThreads) {
        const unsigned int a = words[3 * i];
        const unsigned int b = words[3 * i + 1];
        const unsigned int c = words[3 * i + 2];
        quads[i] = make_float4(luma_of(byte_of(a, 0), byte_of(a, 1), byte_of(a, 2)),
                               luma_of(byte_of(a, 3), byte_of(b, 0), byte_of(b, 1)),
                               luma_of(byte_of(b, 2), byte_of(b, 3), byte_of(c, 0)),
                               luma_of(byte_of(c, 1), byte_of(c, 2), byte_of(c, 3)));
    }

    const int column = width / 4 * 4 + threadIdx.x;
    if (column < width) out[column] = luma_of(row[3 * column], row[3 * column + 1], row[3 * column + 2]);
}

}  // namespace

cudaError_t image_luma(const unsigned char* rgb, float* luma, int height, int width, cudaStream_t stream) {
    luma_kernel<<<height, kThreads, 0, stream>>>(rgb, luma, width);
    return cudaGetLastError();
}
