// Segmented sums, one thread per segment.
#include "solution.h"

namespace {

__global__ void scan_kernel(const float* x, const int* offsets, float* y, int segments) {
    const int s = blockIdx.x * blockDim.x + threadIdx.x;
    if (s >= segments) return;
    float sum = 0.0f;
    for (int i = offsets[s]; i < offsets[s + 1]; ++i) {
        sum += x[i];
        y[i] = sum;
    }
}

}  // namespace

cudaError_t scan_segmented(const float* x, const int* offsets, float* y, int, int segments, cudaStream_t stream) {
    scan_kernel<<<(segments + 127) / 128, 128, 0, stream>>>(x, offsets, y, segments);
    return cudaGetLastError();
}
