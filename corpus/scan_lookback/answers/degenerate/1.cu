// Running sums in a single pass along a chain: every tile waits until the one before it knows all sums up to its end.
#include "solution.h"

namespace {

constexpr int kThreads = 256;
constexpr int kWarps = kThreads / 32;
constexpr int kItems = 8;  // consecutive values per thread
constexpr int kTile = kThreads * kItems;
constexpr unsigned int kAllLanes = 0xFFFFFFFFu;

// State and value of a tile in one word, so that both are written and read together.
using Word = unsigned long long;
enum State : unsigned int { kNothing = 0, kPrefix = 1 };

struct Scratch {
    unsigned int next_tile;
    Word tiles[1];  // as many as there are
};

__device__ Word pack(State state, unsigned int value) { return static_cast<Word>(state) << 32 | value; }
__device__ State state_of(Word word) { return static_cast<State>(word >> 32); }
__device__ unsigned int value_of(Word word) { return static_cast<unsigned int>(word); }

// The sum of everything before `tile`.
__device__ unsigned int wait_for(const volatile Word* tiles, int tile) {
    if (tile == 0) return 0;
    Word word;
    do {
        word = tiles[tile - 1];
    } while (state_of(word) != kPrefix);
    return value_of(word);
}

// The sum over all threads before this one; `total` becomes that over the block.
__device__ unsigned int scan_block(unsigned int own, unsigned int& total) {
    __shared__ unsigned int warps[kWarps];
    const int lane = threadIdx.x % 32;
    const int warp = threadIdx.x / 32;
    unsigned int inclusive = own;
    for (int distance = 1; distance < 32; distance *= 2) {
        const unsigned int other = __shfl_up_sync(kAllLanes, inclusive, distance);
        if (lane >= distance) inclusive += other;
    }
    if (lane == 31) warps[warp] = inclusive;
    __syncthreads();
    unsigned int before = 0;
    total = 0;
    for (int w = 0; w < kWarps; ++w) {
        if (w == warp) before = total;
        total += warps[w];
    }
    return before + inclusive - own;
}

__global__ void scan_kernel(const unsigned int* x, unsigned int* y, int count, Scratch* scratch) {
    __shared__ int shared_tile;
    __shared__ unsigned int shared_before;
    // Tiles are taken in order: whoever waits for a tile knows that it has been taken.
    if (threadIdx.x == 0) shared_tile = atomicAdd(&scratch->next_tile, 1u);
    __syncthreads();
    const int tile = shared_tile;
    volatile Word* tiles = scratch->tiles;

    const int begin = tile * kTile + threadIdx.x * kItems;
    alignas(16) unsigned int values[kItems] = {};
    if (begin + kItems <= count) {
        reinterpret_cast<uint4*>(values)[0] = reinterpret_cast<const uint4*>(x + begin)[0];
        reinterpret_cast<uint4*>(values)[1] = reinterpret_cast<const uint4*>(x + begin)[1];
    } else {
#pragma unroll
        for (int k = 0; k < kItems; ++k) values[k] = begin + k < count ? x[begin + k] : 0;
    }
#pragma unroll
    for (int k = 1; k < kItems; ++k) values[k] += values[k - 1];

    unsigned int total;
    const unsigned int inside = scan_block(values[kItems - 1], total);
    if (threadIdx.x == 0) {
        const unsigned int before = wait_for(tiles, tile);
        tiles[tile] = pack(kPrefix, before + total);
        shared_before = before;
    }
    __syncthreads();

    const unsigned int before = shared_before + inside;
#pragma unroll
    for (int k = 0; k < kItems; ++k) values[k] += before;
    if (begin + kItems <= count) {
        reinterpret_cast<uint4*>(y + begin)[0] = reinterpret_cast<uint4*>(values)[0];
        reinterpret_cast<uint4*>(y + begin)[1] = reinterpret_cast<uint4*>(values)[1];
    } else {
#pragma unroll
        for (int k = 0; k < kItems; ++k) {
            if (begin + k < count) y[begin + k] = values[k];
        }
    }
}

}  // namespace

cudaError_t scan_lookback(const unsigned int* x, unsigned int* y, int count, void* scratch, cudaStream_t stream) {
    const int tiles = (count - 1) / kTile + 1;
    const size_t bytes = sizeof(Scratch) + tiles * sizeof(Word);
    if (const cudaError_t error = cudaMemsetAsync(scratch, 0, bytes, stream)) return error;
    scan_kernel<<<tiles, kThreads, 0, stream>>>(x, y, count, static_cast<Scratch*>(scratch));
    return cudaGetLastError();
}
