// Matrix products over a few streams that are made once. They fork from the caller's stream by one event and join it by
// one event each, so that the host never waits.
#include "solution.h"

namespace {

constexpr int kTile = 32;
constexpr int kSide = 16;             // threads along a side of the block
constexpr int kEach = kTile / kSide;  // elements of C per thread along a side

__global__ void gemm_kernel(const float* a, const float* b, float* c, int m, int n, int k) {
    __shared__ float slice_a[kTile][kTile + 1];
    __shared__ float slice_b[kTile][kTile];
    const int tx = threadIdx.x;
    const int ty = threadIdx.y;
    const int top = blockIdx.y * kTile;
    const int left = blockIdx.x * kTile;

    float sums[kEach][kEach] = {};
    for (int first = 0; first < k; first += kTile) {
#pragma unroll
        for (int i = 0; i < kTile; i += kSide) {
#pragma unroll
            for (int j = 0; j < kTile; j += kSide) {
                const int y = ty + i;
                const int x = tx + j;
                slice_a[y][x] = top + y < m && first + x < k ? a[static_cast<size_t>(top + y) * k + first + x] : 0.0f;
                slice_b[y][x] = first + y < k && left + x < n ? b[static_cast<size_t>(first + y) * n + left + x] : 0.0f;
            }
        }
        __syncthreads();

#pragma unroll
        for (int depth = 0; depth < kTile; ++depth) {
#pragma unroll
            for (int i = 0; i < kEach; ++i) {
#pragma unroll
                for (int j = 0; j < kEach; ++j) {
                    sums[i][j] += slice_a[ty + i * kSide][depth] * slice_b[depth][tx + j * kSide];
                }
            }
        }
        __syncthreads();
    }

#pragma unroll
    for (int i = 0; i < kEach; ++i) {
#pragma unroll
        for (int j = 0; j < kEach; ++j) {
            const int row = top + ty + i * kSide;
            const int column = left + tx + j * kSide;
            if (row < m && column < n) c[static_cast<size_t>(row) * n + column] = sums[i][j];
        }
    }
}

cudaError_t launch(const GemmProblem& problem, cudaStream_t stream) {
    const dim3 block(kSide, kSide);
    const dim3 grid((problem.n + kTile - 1) / kTile, (problem.m + kTile - 1) / kTile);
    gemm_kernel<<<grid, block, 0, stream>>>(problem.a, problem.b, problem.c, problem.m, problem.n, problem.k);
    return cudaGetLastError();
}

constexpr int kLanes = 4;

struct Lane {
    cudaStream_t stream = nullptr;
    cudaEvent_t done = nullptr;
};

// The streams and events that all calls share; made by the first call, kept until the process ends.
struct Lanes {
    Lane lanes[kLanes];
    cudaEvent_t start = nullptr;
    cudaError_t error = cudaSuccess;

    Lanes() {
        note(cudaEventCreateWithFlags(&start, cudaEventDisableTiming));
        for (Lane& lane : lanes) {
            note(cudaStreamCreateWithFlags(&lane.stream, cudaStreamNonBlocking));
            note(cudaEventCreateWithFlags(&lane.done, cudaEventDisableTiming));
        }
    }

    void note(cudaError_t result) {
        if (error == cudaSuccess) error = result;
    }
};

}  // namespace

cudaError_t gemm_streams(const GemmProblem* problems, int count, cudaStream_t stream) {
    static Lanes shared;
    if (shared.error != cudaSuccess) return shared.error;
    const int used = count < kLanes ? count : kLanes;

    if (const cudaError_t error = cudaEventRecord(shared.start, stream)) return error;
    for (int i = 0; i < count; ++i) {
        const Lane& lane = shared.lanes[i % kLanes];
        if (i < used) {
            if (const cudaError_t error = cudaStreamWaitEvent(lane.stream, shared.start, 0)) return error;
        }
        if (const cudaError_t error = launch(problems[i], lane.stream)) return error;
    }
    for (int i = 0; i < used; ++i) {
        const Lane& lane = shared.lanes[i];
        if (const cudaError_t error = cudaEventRecord(lane.done, lane.stream)) return error;
        if (const cudaError_t error = cudaStreamWaitEvent(stream, lane.done, 0)) return error;
    }
    return cudaSuccess;
}
