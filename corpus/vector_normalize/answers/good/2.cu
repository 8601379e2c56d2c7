// y = x / |x| in one kernel: partial sums of squares, a barrier over the grid, then the scaling.
#include "solution.h"

#include <cooperative_groups.h>

namespace {

constexpr int kThreads = 256;
constexpr int kMaxBlocks = 1024;

__device__ float partials[kMaxBlocks];

// Sum over the block, in every thread.
__device__ float sum_over_block(float value) {
    __shared__ float warps[kThreads / 32];
    for (int offset = 16; offset > 0; offset /= 2) value += __shfl_xor_sync(0xFFFFFFFFu, value, offset);
    if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = value;
    __syncthreads();
    float sum = 0.0f;
    for (int w = 0; w < kThreads / 32; ++w) sum += warps[w];
    __syncthreads();
    return sum;
}

__global__ void normalize_kernel(const float* x, float* y, int count, int chunk) {
    // A block without work has an empty range, but it comes to the barrier like all others.
    const int begin = min(static_cast<int>(blockIdx.x) * chunk, count);
    const int end = min(begin + chunk, count);

    float squares = 0.0f;
    for (int i = begin + threadIdx.x; i < end; i += kThreads) squares += x[i] * x[i];
    const float block_sum = sum_over_block(squares);
    if (threadIdx.x == 0) partials[blockIdx.x] = block_sum;

    cooperative_groups::this_grid().sync();

    float sum = 0.0f;
    for (unsigned int b = threadIdx.x; b < gridDim.x; b += kThreads) sum += __ldcg(&partials[b]);
    const float scale = rsqrtf(sum_over_block(sum));
    for (int i = begin + threadIdx.x; i < end; i += kThreads) y[i] = x[i] * scale;
}

}  // namespace

cudaError_t vector_normalize(const float* x, float* y, int count, cudaStream_t stream) {
    // As many blocks as the device holds at a time: a block that waits for its turn could never reach the barrier.
    int device = 0;
    int processors = 0;
    int per_processor = 0;
    if (const cudaError_t error = cudaGetDevice(&device)) return error;
    if (const cudaError_t error = cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device)) {
        return error;
    }
    if (const cudaError_t error =
            cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_processor, normalize_kernel, kThreads, 0)) {
        return error;
    }
    const int blocks = min(kMaxBlocks, processors * per_processor);

    // Equal chunks of whole rounds of the block.
    const int rounds = (count + blocks * kThreads - 1) / (blocks * kThreads);
    int chunk = rounds * kThreads;
    void* arguments[] = {&x, &y, &count, &chunk};
    return cudaLaunchCooperativeKernel(normalize_kernel, dim3(blocks), dim3(kThreads), arguments, 0, stream);
}
