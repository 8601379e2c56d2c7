// Wave equation in one cooperative launch. A thread has four points of one column in every tile of its block; after
// each step the whole grid meets.
#include "solution.h"

#include <cooperative_groups.h>

namespace {

namespace cg = cooperative_groups;

constexpr int kThreadsX = 32;
constexpr int kThreadsY = 8;
constexpr int kThreads = kThreadsX * kThreadsY;
constexpr int kRows = 4;  // points per thread and tile

__host__ __device__ int tiles_along(int size, int tile) { return (size + tile - 1) / tile; }

// Calls visit(i, inside) for all points of this thread: index, and whether the point lies inside of the border.
template <typename Visit>
__device__ void own_points(Membrane membrane, Visit visit) {
    const int across = tiles_along(membrane.width, kThreadsX);
    const int tiles = across * tiles_along(membrane.height, kThreadsY * kRows);
    for (int tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
        const int column = tile % across * kThreadsX + threadIdx.x;
        const int first = (tile / across * kThreadsY + threadIdx.y) * kRows;
        if (column >= membrane.width) continue;
        const bool between = column > 0 && column < membrane.width - 1;
        for (int row = first; row < min(first + kRows, membrane.height); ++row) {
            visit(static_cast<size_t>(row) * membrane.width + column, between && row > 0 && row < membrane.height - 1);
        }
    }
}

__global__ void wave_kernel(const float* u0, const float* v0, float* u, float* v, Membrane membrane, float rate,
                            int steps) {
    const cg::grid_group grid = cg::this_grid();
    const int width = membrane.width;

    own_points(membrane, [&](size_t i, bool) {
        u[i] = u0[i];
        v[i] = v0[i];
    });
    for (int step = 0; step < steps; ++step) {
        grid.sync();
        // A point needs its own new velocity only, so both updates can be made in one go.
        own_points(membrane, [&](size_t i, bool inside) {
            if (!inside) return;
            const float around = u[i - 1] + u[i + 1] + u[i - width] + u[i + width];
            const float velocity = v[i] + rate * (around - 4.0f * u[i]);
            v[i] = velocity;
            __threadfence();  // neighbours see either all of the update or nothing of it
            u[i] += velocity;
        });
    }
}

// The largest grid whose blocks are all on the device at the same time.
cudaError_t resident_blocks(int* blocks) {
    int device = 0;
    int processors = 0;
    int per_processor = 0;
    if (const cudaError_t error = cudaGetDevice(&device)) return error;
    if (const cudaError_t error = cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device)) {
        return error;
    }
    const cudaError_t error = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_processor, wave_kernel, kThreads, 0);
    *blocks = processors * per_processor;
    return error;
}

}  // namespace

cudaError_t wave_cooperative(const float* u0, const float* v0, float* u, float* v, Membrane membrane, float rate,
                             int steps, cudaStream_t stream) {
    int blocks = 0;
    if (const cudaError_t error = resident_blocks(&blocks)) return error;
    blocks = min(blocks, tiles_along(membrane.width, kThreadsX) * tiles_along(membrane.height, kThreadsY * kRows));
    void* arguments[] = {&u0, &v0, &u, &v, &membrane, &rate, &steps};
    return cudaLaunchCooperativeKernel(wave_kernel, dim3(blocks), dim3(kThreadsX, kThreadsY), arguments, 0, stream);
}
