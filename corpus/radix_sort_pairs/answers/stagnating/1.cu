// Radix sort of pairs, the least significant digit first. Each pass is stable and has three kernels: count the digits
// of every tile, add the counts up over all tiles, and scatter the pairs of every tile to where its digits begin.
#include "solution.h"

namespace {

constexpr int kThreads = 256;
constexpr int kItems = 8;                  // pairs per thread
constexpr int kTile = kThreads * kItems;   // pairs per block
constexpr int kDigitBits = 4;
constexpr int kDigits = 1 << kDigitBits;
constexpr int kPasses = 32 / kDigitBits;
constexpr unsigned kAll = 0xFFFFFFFFu;

static_assert(kPasses % 2 == 0, "the last pass writes to the output");
static_assert(kDigits <= kThreads, "a thread for every digit");
static_assert(kTile < 1 << 16, "ranks fit the counters");

// Keys as unsigned integers whose order is that of the keys.
template <typename Key>
struct KeyTraits;

template <>
struct KeyTraits<unsigned> {
    static __device__ unsigned encode(unsigned bits) { return bits; }
    static __device__ unsigned decode(unsigned code) { return code; }
};

template <>
struct KeyTraits<float> {
    static constexpr unsigned kSign = 0x80000000u;
    // The more negative a number, the larger are its bits: all of them are turned round.
    static __device__ unsigned encode(unsigned bits) { return bits & kSign ? ~bits : bits | kSign; }
    static __device__ unsigned decode(unsigned code) { return code & kSign ? code & ~kSign : ~code; }
};

// The place of a pass among all: keys are encoded when the first one reads them and decoded when the last one writes.
template <typename Key, bool kFirst, bool kLast>
struct Pass {
    static __device__ unsigned read(unsigned bits) { return kFirst ? KeyTraits<Key>::encode(bits) : bits; }
    static __device__ unsigned write(unsigned code) { return kLast ? KeyTraits<Key>::decode(code) : code; }
};

struct Pairs {
    unsigned* keys;
    unsigned* values;
};

__device__ int digit_of(unsigned key, int shift) { return key >> shift & (kDigits - 1); }

__device__ int tile_size(size_t count) {
    const size_t left = count - static_cast<size_t>(blockIdx.x) * kTile;
    return left < kTile ? static_cast<int>(left) : kTile;
}

// Sum of the values of all threads before this one. Every thread of the block has to call it.
template <typename T>
__device__ T exclusive_scan(T value, T* total) {
    __shared__ T warps[kThreads / 32];
    const int lane = threadIdx.x % 32;
    const int warp = threadIdx.x / 32;

    T inclusive = value;
    for (int offset = 1; offset < 32; offset *= 2) {
        const T before = __shfl_up_sync(kAll, inclusive, offset);
        if (lane >= offset) inclusive += before;
    }
    __syncthreads();  // the call before this one has read its sums
    if (lane == 31) warps[warp] = inclusive;
    __syncthreads();
    T before_warp = 0;
    T sum = 0;
    for (int w = 0; w < kThreads / 32; ++w) {
        if (w == warp) before_warp = sum;
        sum += warps[w];
    }
    *total = sum;
    return before_warp + inclusive - value;
}

// counts[digit * tiles + tile]: how often the digit occurs in the tile.
template <typename Stage>
__global__ void count_kernel(const unsigned* keys, unsigned* counts, size_t count, int shift) {
    __shared__ unsigned histogram[kDigits];
    if (threadIdx.x < kDigits) histogram[threadIdx.x] = 0;
    __syncthreads();

    const int size = tile_size(count);
    const unsigned* tile = keys + static_cast<size_t>(blockIdx.x) * kTile;
    for (int i = threadIdx.x; i < size; i += kThreads) {
        atomicAdd(&histogram[digit_of(Stage::read(tile[i]), shift)], 1u);
    }
    __syncthreads();
    if (threadIdx.x < kDigits) counts[threadIdx.x * gridDim.x + blockIdx.x] = histogram[threadIdx.x];
}

// Replaces every count by the sum of all counts before it: smaller digits first, then earlier tiles. One block.
__global__ void offsets_kernel(unsigned* counts, int size) {
    unsigned carry = 0;
    for (int first = 0; first < size; first += kThreads) {
        const int i = first + threadIdx.x;
        const unsigned value = i < size ? counts[i] : 0;
        unsigned total = 0;
        const unsigned before = exclusive_scan(value, &total);
        if (i < size) counts[i] = carry + before;
        carry += total;
    }
}

// The pairs of a tile in shared memory, in the order of their ranks.
struct TileStorage {
    unsigned keys[kTile];
    unsigned values[kTile];
};

// The rank of every pair of the tile, by digit and then by place: what a thread counts comes after what the threads
// before it count.
struct Ranking {
    unsigned short counters[kDigits][kThreads];
    int starts[kDigits];  // rank of the first pair with a digit

    __device__ void rank(const int (&digits)[kItems], int (&ranks)[kItems]) {
        for (int digit = 0; digit < kDigits; ++digit) counters[digit][threadIdx.x] = 0;
#pragma unroll
        for (int i = 0; i < kItems; ++i) {
            __syncthreads();  // item by item, so that no thread is ahead of the others
            ranks[i] = counters[digits[i]][threadIdx.x]++;
        }
        __syncthreads();

        // All counters in a row, digit by digit, are summed up: kDigits consecutive ones by each thread.
        unsigned short* own = &counters[0][0] + threadIdx.x * kDigits;
        int sum = 0;
#pragma unroll
        for (int i = 0; i < kDigits; ++i) sum += own[i];
        int total = 0;
        int before = exclusive_scan(sum, &total);
#pragma unroll
        for (int i = 0; i < kDigits; ++i) {
            const int counter = own[i];
            own[i] = static_cast<unsigned short>(before);
            before += counter;
        }
        __syncthreads();

#pragma unroll
        for (int i = 0; i < kItems; ++i) ranks[i] += counters[digits[i]][threadIdx.x];
        if (threadIdx.x < kDigits) starts[threadIdx.x] = counters[threadIdx.x][0];
        __syncthreads();
    }
};

template <typename Stage>
__global__ void scatter_kernel(const unsigned* keys, const unsigned* values, Pairs out, const unsigned* offsets,
                               size_t count, int shift) {
    __shared__ TileStorage tile;
    __shared__ Ranking ranking;

    // In each round a warp reads 32 neighbouring pairs. Places after the last pair hold the largest key, so that they
    // get the last ranks.
    const size_t begin = static_cast<size_t>(blockIdx.x) * kTile;
    const int size = tile_size(count);
    unsigned own_keys[kItems];
    unsigned own_values[kItems];
    int digits[kItems];
    int ranks[kItems];
#pragma unroll
    for (int i = 0; i < kItems; ++i) {
        const int place = i * kThreads + threadIdx.x;
        own_keys[i] = place < size ? Stage::read(keys[begin + place]) : kAll;
        own_values[i] = place < size ? values[begin + place] : 0;
        digits[i] = digit_of(own_keys[i], shift);
    }
    ranking.rank(digits, ranks);

    // In the order of their ranks pairs of a digit leave side by side.
#pragma unroll
    for (int i = 0; i < kItems; ++i) {
        tile.keys[ranks[i]] = own_keys[i];
        tile.values[ranks[i]] = own_values[i];
    }
    __syncthreads();
    for (int i = threadIdx.x; i < size; i += kThreads) {
        const int digit = digit_of(tile.keys[i], shift);
        const size_t place = offsets[digit * gridDim.x + blockIdx.x] + (i - ranking.starts[digit]);
        out.keys[place] = Stage::write(tile.keys[i]);
        out.values[place] = tile.values[i];
    }
}

size_t tiles_of(size_t count) { return (count + kTile - 1) / kTile; }

size_t rounded(size_t bytes) { return (bytes + 255) / 256 * 256; }

// What the workspace holds: pairs between two passes, and the counts of all tiles.
struct Workspace {
    Workspace(void* memory, size_t count) {
        char* place = static_cast<char*>(memory);
        pairs.keys = reinterpret_cast<unsigned*>(place);
        pairs.values = reinterpret_cast<unsigned*>(place + rounded(count * sizeof(unsigned)));
        counts = reinterpret_cast<unsigned*>(place + 2 * rounded(count * sizeof(unsigned)));
    }

    Pairs pairs;
    unsigned* counts;
};

template <typename Stage>
cudaError_t run_pass(const unsigned* keys, const unsigned* values, Pairs out, unsigned* counts, size_t count, int pass,
                     cudaStream_t stream) {
    const int tiles = static_cast<int>(tiles_of(count));
    const int shift = pass * kDigitBits;
    count_kernel<Stage><<<tiles, kThreads, 0, stream>>>(keys, counts, count, shift);
    offsets_kernel<<<1, kThreads, 0, stream>>>(counts, tiles * kDigits);
    scatter_kernel<Stage><<<tiles, kThreads, 0, stream>>>(keys, values, out, counts, count, shift);
    return cudaGetLastError();
}

template <typename Key>
cudaError_t sort(const Key* keys, const unsigned* values, Key* sorted_keys, unsigned* sorted_values, size_t count,
                 void* memory, cudaStream_t stream) {
    if (count == 0) return cudaSuccess;
    const Workspace workspace(memory, count);
    const Pairs between = workspace.pairs;
    const Pairs sorted = {reinterpret_cast<unsigned*>(sorted_keys), sorted_values};

    const unsigned* bits = reinterpret_cast<const unsigned*>(keys);
    cudaError_t error =
        run_pass<Pass<Key, true, false>>(bits, values, between, workspace.counts, count, 0, stream);
    for (int pass = 1; pass < kPasses && !error; ++pass) {
        const Pairs from = pass % 2 == 1 ? between : sorted;
        const Pairs to = pass % 2 == 1 ? sorted : between;
        if (pass < kPasses - 1) {
            error = run_pass<Pass<Key, false, false>>(from.keys, from.values, to, workspace.counts, count, pass,
                                                      stream);
        } else {
            error = run_pass<Pass<Key, false, true>>(from.keys, from.values, to, workspace.counts, count, pass,
                                                     stream);
        }
    }
    return error;
}

}  // namespace

std::size_t radix_sort_workspace(std::size_t count) {
    return 2 * rounded(count * sizeof(unsigned)) + rounded(tiles_of(count) * kDigits * sizeof(unsigned));
}

cudaError_t radix_sort_pairs(const unsigned* keys, const unsigned* values, unsigned* sorted_keys,
                             unsigned* sorted_values, std::size_t count, void* workspace, cudaStream_t stream) {
    return sort(keys, values, sorted_keys, sorted_values, count, workspace, stream);
}

cudaError_t radix_sort_pairs(const float* keys, const unsigned* values, float* sorted_keys, unsigned* sorted_values,
                             std::size_t count, void* workspace, cudaStream_t stream) {
    return sort(keys, values, sorted_keys, sorted_values, count, workspace, stream);
}
