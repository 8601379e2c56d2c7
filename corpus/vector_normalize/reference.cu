// y = x / |x| in one kernel: partial sums of squares, a barrier over the grid, then the scaling. The launch is
// cooperative and has no more blocks than the device holds at a time; every block reaches the barrier, whether it has
// work or not.
#include "solution.h"

#include <cooperative_groups.h>

namespace {

namespace cg = cooperative_groups;

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

__global__ void normalize_kernel(const float* x, float* y, int count) {
    const int blocks = static_cast<int>(gridDim.x);
    const size_t first = static_cast<size_t>(blockIdx.x) * kThreads + threadIdx.x;
    const size_t stride = static_cast<size_t>(blocks) * kThreads;

    float squares = 0.0f;
    for (size_t i = first; i < count; i += stride) squares += x[i] * x[i];
    const float block_sum = sum_over_block(squares);
    if (threadIdx.x == 0) partials[blockIdx.x] = block_sum;

    cg::this_grid().sync();

    float sum = 0.0f;
    for (int b = threadIdx.x; b < blocks; b += kThreads) sum += partials[b];
    const float scale = rsqrtf(sum_over_block(sum));
    for (size_t i = first; i < count; i += stride) y[i] = x[i] * scale;
}

// The largest grid, up to kMaxBlocks, whose blocks are all on the device at the same time.
cudaError_t resident_blocks(int* blocks) {
    int device = 0;
    int processors = 0;
    int per_processor = 0;
    if (const cudaError_t error = cudaGetDevice(&device)) return error;
    if (const cudaError_t error = cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device)) {
        return error;
    }
    const cudaError_t error =
        cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_processor, normalize_kernel, kThreads, 0);
    *blocks = min(processors * per_processor, kMaxBlocks);
    return error;
}

}  // namespace

cudaError_t vector_normalize(const float* x, float* y, int count, cudaStream_t stream) {
    int blocks = 0;
    if (const cudaError_t error = resident_blocks(&blocks)) return error;
    blocks = min(blocks, (count + kThreads - 1) / kThreads);
    void* arguments[] = {&x, &y, &count};
    return cudaLaunchCooperativeKernel(normalize_kernel, dim3(blocks), dim3(kThreads), arguments, 0, stream);
}
