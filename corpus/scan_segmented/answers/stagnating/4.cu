// Segmented sums over tiles of equal length: pairs of a sum and a flag that says whether a segment starts in it combine
// like sums, except that a start cuts off what is before it.
#include "solution.h"

namespace {

constexpr int kThreads = 256;
constexpr int kWarps = kThreads / 32;
constexpr int kItems = 8;  // consecutive values per thread
constexpr int kTile = kThreads * kItems;

struct Partial {
    float sum;
    bool starts;
};

__device__ Partial combine(Partial left, Partial right) {
    return {right.starts ? right.sum : left.sum + right.sum, left.starts || right.starts};
}

__device__ Partial shuffle_up(Partial partial, int distance) {
    return {__shfl_up_sync(0xFFFFFFFFu, partial.sum, distance),
            __shfl_up_sync(0xFFFFFFFFu, static_cast<int>(partial.starts), distance) != 0};
}

// What all threads before this one combine to.
__device__ Partial scan_block(Partial own) {
    __shared__ Partial warps[kWarps];
    const int lane = threadIdx.x % 32;
    const int warp = threadIdx.x / 32;
    for (int distance = 1; distance < 32; distance *= 2) {
        const Partial before = shuffle_up(own, distance);
        if (lane >= distance) own = combine(before, own);
    }
    if (lane == 31) warps[warp] = own;
    __syncthreads();

    Partial before = {0.0f, false};
    for (int w = 0; w < warp; ++w) before = combine(before, warps[w]);
    const Partial inside = shuffle_up(own, 1);
    return lane == 0 ? before : combine(before, inside);
}

// The segment that value i belongs to.
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

__global__ void tile_kernel(const float* __restrict__ x, const int* __restrict__ offsets, float* __restrict__ y,
                            int count, int segments) {
    const size_t first = static_cast<size_t>(blockIdx.x) * kTile + threadIdx.x * kItems;
    const int begin = static_cast<int>(min(first, static_cast<size_t>(count)));
    const int items = min(kItems, count - begin);

    float values[kItems];
    for (int k = 0; k < kItems; ++k) values[k] = k < items ? x[begin + k] : 0.0f;

    Partial own = {0.0f, false};
    int whole = kItems;  // values before the first start
    if (items > 0) {
        int segment = segment_of(offsets, segments, begin);
        int next = offsets[segment] == begin ? begin : offsets[segment + 1];
        if (next == begin) --segment;
        for (int k = 0; k < items; ++k) {
            if (begin + k == next) {
                if (!own.starts) whole = k;
                own = {0.0f, true};
                ++segment;
                next = offsets[segment + 1];
            }
            own.sum += values[k];
            values[k] = own.sum;
        }
    }

    const Partial before = scan_block(own);
    for (int k = 0; k < items; ++k) y[begin + k] = values[k] + (k < whole ? before.sum : 0.0f);
}

}  // namespace

cudaError_t scan_segmented(const float* x, const int* offsets, float* y, int count, int segments,
                           cudaStream_t stream) {
    const int tiles = (count - 1) / kTile + 1;
    tile_kernel<<<tiles, kThreads, 0, stream>>>(x, offsets, y, count, segments);
    return cudaGetLastError();
}
