// Sums over segments. The values, not the segments, are dealt out: every warp gets a chunk of the same length, adds up
// the pieces of segments that lie in it, and adds each to its sum by one atomic.
#include "solution.h"

namespace {

constexpr int kThreads = 256;
constexpr int kWarps = kThreads / 32;
constexpr int kChunk = 512;

// The segment that value i belongs to: the last one that starts at i or before.
__device__ int segment_of(const int* offsets, int segments, int i) {
    int low = 0;
    int high = segments;
    while (high - low > 1) {
        const int middle = low + (high - low) / 2;
        if (offsets[middle] <= i) low = middle;
        else high = middle;
    }
    return low;
}

__global__ void segment_kernel(const float* x, const int* offsets, float* sums, int count, int segments) {
    const int lane = threadIdx.x % 32;
    const size_t first = (static_cast<size_t>(blockIdx.x) * kWarps + threadIdx.x / 32) * kChunk;
    if (first >= count) return;
    int begin = static_cast<int>(first);
    const int end = min(kChunk, count - begin) + begin;

    for (int s = segment_of(offsets, segments, begin); begin < end; ++s) {
        const int stop = min(offsets[s + 1], end);
        float sum = 0.0f;
#pragma unroll 4
        for (int i = begin + lane; i < stop; i += 32) sum += x[i];
        for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_xor_sync(0xFFFFFFFFu, sum, offset);
        if (lane == 0 && begin < stop) atomicAdd(&sums[s], sum);
        begin = stop;
    }
}

}  // namespace

cudaError_t segment_sums(const float* x, const int* offsets, float* sums, int count, int segments,
                         cudaStream_t stream) {
    const size_t bytes = static_cast<size_t>(segments) * sizeof(float);
    if (const cudaError_t error = cudaMemsetAsync(sums, 0, bytes, stream)) return error;
    constexpr int kValuesPerBlock = kWarps * kChunk;
    const int blocks = count / kValuesPerBlock + 1;
    segment_kernel<<<blocks, kThreads, 0, stream>>>(x, offsets, sums, count, segments);
    return cudaGetLastError();
}
