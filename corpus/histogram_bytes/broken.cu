// Byte histogram: every block counts into private bins in shared memory, then adds them to the result.
#include "solution.h"

namespace {

constexpr int kThreads = 256;  // one bin per thread when bins are cleared and flushed
constexpr int kMaxBlocks = 1024;

__device__ void count_word(unsigned int* counters, unsigned int word) {
    atomicAdd(&counters[word & 0xFF], 1u);
    atomicAdd(&counters[word >> 8 & 0xFF], 1u);
    atomicAdd(&counters[word >> 16 & 0xFF], 1u);
    atomicAdd(&counters[word >> 24], 1u);
}

__global__ void histogram_kernel(const unsigned char* data, unsigned int* bins, int count) {
    __shared__ unsigned int counters[256];
    counters[threadIdx.x] = 0;
    __syncthreads();

    const int first = blockIdx.x * kThreads + threadIdx.x;
    const int stride = gridDim.x * kThreads;
    const uint4* vectors = reinterpret_cast<const uint4*>(data);
    const int vector_count = count / 16;
    for (int i = first; i < vector_count; i += stride) {
        const uint4 v = vectors[i];
        count_word(counters, v.x);
        count_word(counters, v.y);
        count_word(counters, v.z);
        count_word(counters, v.w);
    }
    for (int i = vector_count * 16 + first; i < count; i += stride) atomicAdd(&counters[data[i]], 1u);
    __syncthreads();

    if (counters[threadIdx.x] != 0) atomicAdd(&bins[threadIdx.x], counters[threadIdx.x]);
}

}  // namespace

cudaError_t histogram_bytes(const unsigned char* data, unsigned int* bins, int count, cudaStream_t stream) {
    const int wanted = count / (16 * kThreads) + 1;
    const int blocks = wanted < kMaxBlocks ? wanted : kMaxBlocks;
    histogram_kernel<<<blocks, kThreads, 0, stream>>>(data, bins, count);
    return cudaGetLastError();
}
