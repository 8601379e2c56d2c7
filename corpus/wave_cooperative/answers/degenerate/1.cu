// Wave equation in one launch of a single block, whose own barrier is enough.
#include "solution.h"

namespace {

constexpr int kThreads = 256;

__global__ void wave_kernel(const float* u0, const float* v0, float* u, float* v, Membrane membrane, float rate,
                            int steps) {
    const int width = membrane.width;
    const int count = membrane.height * width;
    for (int i = threadIdx.x; i < count; i += kThreads) {
        u[i] = u0[i];
        v[i] = v0[i];
    }
    const auto inside = [=](int i) {
        return i >= width && i < count - width && i % width != 0 && i % width != width - 1;
    };
    for (int step = 0; step < steps; ++step) {
        __syncthreads();
        for (int i = threadIdx.x; i < count; i += kThreads) {
            if (inside(i)) v[i] += rate * (u[i - 1] + u[i + 1] + u[i - width] + u[i + width] - 4.0f * u[i]);
        }
        __syncthreads();
        for (int i = threadIdx.x; i < count; i += kThreads) {
            if (inside(i)) u[i] += v[i];
        }
    }
}

}  // namespace

cudaError_t wave_cooperative(const float* u0, const float* v0, float* u, float* v, Membrane membrane, float rate,
                             int steps, cudaStream_t stream) {
    wave_kernel<<<1, kThreads, 0, stream>>>(u0, v0, u, v, membrane, rate, steps);
    return cudaGetLastError();
}
