// Segmented sums by way of rows: every segment becomes a row of a padded matrix, the rows are scanned, and the sums are
// packed again.
#include "solution.h"

namespace {

constexpr int kThreads = 256;

__global__ void pad_kernel(const float* x, const int* offsets, float* padded, size_t pitch) {
    const int begin = offsets[blockIdx.x];
    const int length = offsets[blockIdx.x + 1] - begin;
    float* row = padded + blockIdx.x * pitch;
    for (size_t i = threadIdx.x; i < pitch; i += kThreads) row[i] = i < length ? x[begin + i] : 0.0f;
}

// A block per row: it walks over the row and carries the sum along.
__global__ void scan_kernel(float* padded, size_t pitch) {
    __shared__ float sums[kThreads];
    float* row = padded + blockIdx.x * pitch;
    float carry = 0.0f;
    for (size_t first = 0; first < pitch; first += kThreads) {
        const size_t i = first + threadIdx.x;
        sums[threadIdx.x] = i < pitch ? row[i] : 0.0f;
        __syncthreads();
        for (int distance = 1; distance < kThreads; distance *= 2) {
            const float other = threadIdx.x >= distance ? sums[threadIdx.x - distance] : 0.0f;
            __syncthreads();
            sums[threadIdx.x] += other;
            __syncthreads();
        }
        if (i < pitch) row[i] = carry + sums[threadIdx.x];
        carry += sums[kThreads - 1];
        __syncthreads();
    }
}

__global__ void pack_kernel(const float* padded, const int* offsets, float* y, size_t pitch) {
    const int begin = offsets[blockIdx.x];
    const int length = offsets[blockIdx.x + 1] - begin;
    const float* row = padded + blockIdx.x * pitch;
    for (int i = threadIdx.x; i < length; i += kThreads) y[begin + i] = row[i];
}

}  // namespace

cudaError_t scan_segmented(const float* x, const int* offsets, float* y, int count, int segments,
                           cudaStream_t stream) {
    // The lengths are on the device; no segment is longer than all of x.
    const size_t pitch = count;
    const size_t bytes = segments * pitch * sizeof(float);
    float* padded = nullptr;
    if (const cudaError_t error = cudaMalloc(&padded, bytes)) return error;

    pad_kernel<<<segments, kThreads, 0, stream>>>(x, offsets, padded, pitch);
    scan_kernel<<<segments, kThreads, 0, stream>>>(padded, pitch);
    pack_kernel<<<segments, kThreads, 0, stream>>>(padded, offsets, y, pitch);

    const cudaError_t error = cudaStreamSynchronize(stream);
    cudaFree(padded);
    return error;
}
