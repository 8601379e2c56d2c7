// The k largest values of every row, one warp per row. Each lane keeps a sorted list of the best candidates that it
// has seen; then the warp takes the best head of all lists, k times. The size of the lists is a template argument.
#include "solution.h"

#include <climits>

namespace {

constexpr int kThreads = 256;
constexpr int kWarps = kThreads / 32;

template <typename T>
struct Candidate {
    T value;
    int column;
};

// What stands in a list before anything was seen: worse than every candidate, -infinity too, which has a lower column.
template <typename T>
__device__ Candidate<T> none() {
    return {static_cast<T>(-INFINITY), INT_MAX};
}

// The order of the result.
template <typename T>
__device__ bool better(const Candidate<T>& a, const Candidate<T>& b) {
    return a.value > b.value || (a.value == b.value && a.column < b.column);
}

template <typename T, int K>
class BestList {
public:
    __device__ BestList() {
#pragma unroll
        for (int i = 0; i < K; ++i) entries_[i] = none<T>();
    }

    __device__ void insert(Candidate<T> candidate) {
        if (!better(candidate, entries_[K - 1])) return;
#pragma unroll
        for (int i = 0; i < K; ++i) {
            if (better(candidate, entries_[i])) {
                const Candidate<T> worse = entries_[i];
                entries_[i] = candidate;
                candidate = worse;
            }
        }
    }

    __device__ const Candidate<T>& head() const { return entries_[0]; }

    __device__ void pop() {
#pragma unroll
        for (int i = 0; i + 1 < K; ++i) entries_[i] = entries_[i + 1];
        entries_[K - 1] = none<T>();
    }

private:
    Candidate<T> entries_[K];
};

template <typename T>
__device__ Candidate<T> best_of_warp(Candidate<T> own) {
    for (int offset = 16; offset > 0; offset /= 2) {
        const Candidate<T> other{__shfl_xor_sync(0xFFFFFFFFu, own.value, offset),
                                 __shfl_xor_sync(0xFFFFFFFFu, own.column, offset)};
        if (better(other, own)) own = other;
    }
    return own;
}

template <typename T, int K>
__global__ void topk_kernel(const T* __restrict__ x, T* __restrict__ values, int* __restrict__ columns, int rows,
                            int cols) {
    static_assert(K <= 32, "a lane writes one of the results");
    const int lane = threadIdx.x % 32;
    const int row = blockIdx.x * kWarps + threadIdx.x / 32;
    if (row >= rows) return;

    BestList<T, K> list;
    for (int c = lane; c < cols; c += 32) list.insert({x[static_cast<size_t>(row) * cols + c], c});

    Candidate<T> result = none<T>();  // of lane i: the candidate in place i
    for (int i = 0; i < K; ++i) {
        const Candidate<T> best = best_of_warp(list.head());
        if (list.head().column == best.column) list.pop();
        if (lane == i) result = best;
    }
    if (lane < K) {
        values[static_cast<size_t>(row) * K + lane] = result.value;
        columns[static_cast<size_t>(row) * K + lane] = result.column;
    }
}

template <int K>
cudaError_t launch(const float* x, float* values, int* columns, int rows, int cols, cudaStream_t stream) {
    topk_kernel<float, K><<<(rows + kWarps - 1) / kWarps, kThreads, 0, stream>>>(x, values, columns, rows, cols);
    return cudaGetLastError();
}

}  // namespace

cudaError_t topk_rows(const float* x, float* values, int* columns, int rows, int cols, int k, cudaStream_t stream) {
    switch (k) {
        case 1: return launch<1>(x, values, columns, rows, cols, stream);
        case 4: return launch<4>(x, values, columns, rows, cols, stream);
        case 16: return launch<16>(x, values, columns, rows, cols, stream);
        default: return cudaErrorInvalidValue;
    }
}
