// y = x / |x| by a single block.
#include "solution.h"

namespace {

constexpr int kThreads = 256;

__global__ void normalize_kernel(const float* x, float* y, int count) {
    __shared__ float squares[kThreads];
    float sum = 0.0f;
    for (int i = threadIdx.x; i < count; i += kThreads) sum += x[i] * x[i];
    squares[threadIdx.x] = sum;
    __syncthreads();
    for (int half = kThreads / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) squares[threadIdx.x] += squares[threadIdx.x + half];
        __syncthreads();
    }
    const float scale = rsqrtf(squares[0]);
    for (int i = threadIdx.x; i < count; i += kThreads) y[i] = x[i] * scale;
}

}  // namespace

cudaError_t vector_normalize(const float* x, float* y, int count, cudaStream_t stream) {
    normalize_kernel<<<1, kThreads, 0, stream>>>(x, y, count);
    return cudaGetLastError();
}
