// Wave equation in one cooperative launch. A step has two phases: all velocities change, then all deflections. Between
// them, and before the next step, the whole grid meets, because neighbours belong to other threads.
#include "solution.h"

#include <cooperative_groups.h>

namespace {

namespace cg = cooperative_groups;

constexpr int kTileX = 32;
constexpr int kTileY = 8;
constexpr int kThreads = kTileX * kTileY;

__host__ __device__ int tiles_along(int size, int tile) { return (size + tile - 1) / tile; }

// Calls visit(row, column) for all points of this thread, inside of the border or on it.
template <typename Visit>
__device__ void own_points(Membrane membrane, Visit visit) {
    const int across = tiles_along(membrane.width, kTileX);
    const int tiles = across * tiles_along(membrane.height, kTileY);
    for (int tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
        const int row = tile / across * kTileY + threadIdx.y;
        const int column = tile % across * kTileX + threadIdx.x;
        if (row < membrane.height && column < membrane.width) visit(row, column);
    }
}

__global__ void wave_kernel(const float* u0, const float* v0, float* u, float* v, Membrane membrane, float rate,
                            int steps) {
    const cg::grid_group grid = cg::this_grid();
    const int width = membrane.width;
    const auto at = [width](int row, int column) { return static_cast<size_t>(row) * width + column; };
    const auto inside = [=](int row, int column) {
        return row > 0 && row < membrane.height - 1 && column > 0 && column < width - 1;
    };

    own_points(membrane, [&](int row, int column) {
        u[at(row, column)] = u0[at(row, column)];
        v[at(row, column)] = v0[at(row, column)];
    });
    grid.sync();
    for (int step = 0; step < steps; ++step) {
        own_points(membrane, [&](int row, int column) {
            if (!inside(row, column)) return;
            const size_t i = at(row, column);
            v[i] += rate * ((u[i - 1] + u[i + 1]) + (u[i - width] + u[i + width]) - 4.0f * u[i]);
        });
        grid.sync();
        own_points(membrane, [&](int row, int column) {
            if (inside(row, column)) u[at(row, column)] += v[at(row, column)];
        });
        grid.sync();
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
    blocks = min(blocks, tiles_along(membrane.width, kTileX) * tiles_along(membrane.height, kTileY));
    void* arguments[] = {&u0, &v0, &u, &v, &membrane, &rate, &steps};
    return cudaLaunchCooperativeKernel(wave_kernel, dim3(blocks), dim3(kTileX, kTileY), arguments, 0, stream);
}
