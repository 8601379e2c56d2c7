// Channel statistics: a block per channel. Every thread keeps the mean of its values and their squared distances from
// it (Welford); two sets of values are merged by their counts.
#include "solution.h"

namespace {

constexpr int kThreads = 1024;
constexpr int kWarps = kThreads / 32;

struct Moments {
    float count = 0.0f;
    float mean = 0.0f;
    float squares = 0.0f;  // sum of squared distances from the mean

    __device__ void add(float value) {
        count += 1.0f;
        const float distance = value - mean;
        mean += distance / count;
        squares += distance * (value - mean);
    }

    __device__ void merge(const Moments& other) {
        const float total = count + other.count;
        if (total == 0.0f) return;
        mean = (count * mean + other.count * other.mean) / total;
        squares += other.squares;
        count = total;
    }
};

__device__ Moments merge_warp(Moments moments) {
    for (int offset = 16; offset > 0; offset /= 2) {
        Moments other;
        other.count = __shfl_down_sync(0xFFFFFFFFu, moments.count, offset);
        other.mean = __shfl_down_sync(0xFFFFFFFFu, moments.mean, offset);
        other.squares = __shfl_down_sync(0xFFFFFFFFu, moments.squares, offset);
        moments.merge(other);
    }
    return moments;  // complete in the first lane
}

__global__ void stats_kernel(const float* x, float* mean, float* variance, int batch, int channels, int plane) {
    __shared__ float counts[kWarps];
    __shared__ float means[kWarps];
    __shared__ float squares[kWarps];
    const int channel = blockIdx.x;
    const int lane = threadIdx.x % 32;
    const int warp = threadIdx.x / 32;

    Moments moments;
    for (int n = 0; n < batch; ++n) {
        const float* values = x + (static_cast<size_t>(n) * channels + channel) * plane;
        for (int p = threadIdx.x; p < plane; p += kThreads) moments.add(values[p]);
    }

    moments = merge_warp(moments);
    if (lane == 0) {
        counts[warp] = moments.count;
        means[warp] = moments.mean;
        squares[warp] = moments.squares;
    }
    __syncthreads();
    if (warp != 0) return;

    moments.count = counts[lane];
    moments.mean = means[lane];
    moments.squares = squares[lane];
    moments = merge_warp(moments);
    if (lane == 0) {
        mean[channel] = moments.mean;
        variance[channel] = moments.squares / moments.count;
    }
}

}  // namespace

cudaError_t batchnorm_stats(const float* x, float* mean, float* variance, int batch, int channels, int plane,
                            cudaStream_t stream) {
    stats_kernel<<<channels, kThreads, 0, stream>>>(x, mean, variance, batch, channels, plane);
    return cudaGetLastError();
}
