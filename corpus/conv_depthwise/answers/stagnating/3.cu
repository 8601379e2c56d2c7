// Depthwise convolution: a block filters a strip of rows of one channel of one image. Rows pass through a ring in
// shared memory; asynchronous copies of 2 bytes fetch the next ones while one is being filtered.
#include "solution.h"

#include <cuda_pipeline.h>

namespace {

constexpr int kThreads = 128;
constexpr int kStrip = 16;  // rows of y per block
constexpr int kRing = 8;    // rows of x in shared memory
constexpr int kAhead = 4;   // rows that are fetched before they are needed
constexpr int kPad = 4;     // floats on either side of a row; the ones next to it are zero

// Starts to fetch a row into a place of the ring. Rows outside of the image are zero.
__device__ void fetch_row(const float* image, float* place, int row, int height, int width) {
    if (row >= 0 && row < height) {
        const float* source = image + static_cast<size_t>(row) * width;
        // Halves of a float can be copied from anywhere.
        for (int c = threadIdx.x; c < 2 * width; c += kThreads) {
            const auto to = static_cast<unsigned int>(__cvta_generic_to_shared(place + kPad)) + 2 * c;
            const auto from = reinterpret_cast<size_t>(source) + 2 * c;
            asm volatile("cp.async.ca.shared.global [%0], [%1], 2;" ::"r"(to), "l"(from) : "memory");
        }
    } else {
        for (int c = threadIdx.x; c < width; c += kThreads) place[kPad + c] = 0.0f;
    }
}

__global__ void conv_kernel(const float* x, const float* w, float* y, int channels, int height, int width, int pitch) {
    extern __shared__ __align__(16) float ring[];
    const size_t plane = blockIdx.y;
    const float* image = x + plane * height * width;
    float* out = y + plane * height * width;
    const int begin = blockIdx.x * kStrip;
    const int end = min(begin + kStrip, height);
    const int rows = end - begin + 2;  // of x: one more on either side

    float weights[9];
#pragma unroll
    for (int i = 0; i < 9; ++i) weights[i] = w[plane % channels * 9 + i];

    if (threadIdx.x < kRing) {
        ring[threadIdx.x * pitch + kPad - 1] = 0.0f;
        ring[threadIdx.x * pitch + kPad + width] = 0.0f;
    }
    // Row q of the strip is row begin - 1 + q of the image and has place q % kRing. Every row is a group of its own.
    for (int q = 0; q < kAhead; ++q) {
        if (q < rows) fetch_row(image, ring + q * pitch, begin - 1 + q, height, width);
        __pipeline_commit();
    }

    for (int q = 0; q < end - begin; ++q) {
        const int next = q + kAhead;
        if (next < rows) fetch_row(image, ring + next % kRing * pitch, begin - 1 + next, height, width);
        __pipeline_commit();
        __pipeline_wait_prior(kAhead - 2);  // rows q, q + 1 and q + 2 are there
        __syncthreads();

        const float* above = ring + q % kRing * pitch + kPad;
        const float* middle = ring + (q + 1) % kRing * pitch + kPad;
        const float* below = ring + (q + 2) % kRing * pitch + kPad;
        for (int c = threadIdx.x; c < width; c += kThreads) {
            float sum = 0.0f;
#pragma unroll
            for (int j = 0; j < 3; ++j) {
                sum += weights[j] * above[c + j - 1];
                sum += weights[3 + j] * middle[c + j - 1];
                sum += weights[6 + j] * below[c + j - 1];
            }
            out[static_cast<size_t>(begin + q) * width + c] = sum;
        }
    }
}

}  // namespace

cudaError_t conv_depthwise(const float* x, const float* w, float* y, ConvShape shape, cudaStream_t stream) {
    const int pitch = (shape.width + 3) / 4 * 4 + 2 * kPad;
    const size_t bytes = static_cast<size_t>(kRing) * pitch * sizeof(float);
    const dim3 grid((shape.height + kStrip - 1) / kStrip, shape.batch * shape.channels);
    conv_kernel<<<grid, kThreads, bytes, stream>>>(x, w, y, shape.channels, shape.height, shape.width, pitch);
    return cudaGetLastError();
}
