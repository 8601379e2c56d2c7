// The sum of 16 million floats: five shuffles, a barrier and a second round of shuffles for every thread.
#include <cstdio>

constexpr int kCount = 16 << 20, kThreads = 256;

__global__ void block_sums(const float *x, float *sums) {
    __shared__ float warps[kThreads / 32];
    float value = x[blockIdx.x * kThreads + threadIdx.x];
    for (int offset = 16; offset > 0; offset /= 2) value += __shfl_down_sync(0xFFFFFFFFu, value, offset);
    if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = value;
    __syncthreads();
    if (threadIdx.x < 32) {
        value = threadIdx.x < kThreads / 32 ? warps[threadIdx.x] : 0.0f;
        for (int offset = 4; offset > 0; offset /= 2) value += __shfl_down_sync(0xFFFFFFFFu, value, offset);
        if (threadIdx.x == 0) sums[blockIdx.x] = value;
    }
}

__global__ void ones(float *x) { x[blockIdx.x * kThreads + threadIdx.x] = 1.0f; }

int main() {
    float *x, *sums;
    cudaMalloc(&x, kCount * sizeof(float));
    cudaMallocManaged(&sums, kCount / kThreads * sizeof(float));
    ones<<<kCount / kThreads, kThreads>>>(x);
    block_sums<<<kCount / kThreads, kThreads>>>(x, sums);
    if (cudaDeviceSynchronize() != cudaSuccess) return 1;
    double total = 0;
    for (int i = 0; i < kCount / kThreads; ++i) total += sums[i];
    std::printf("%.0f\n", total);
    return total == kCount ? 0 : 1;
}
