// Game of Life by one block that plays all generations by itself: no graph, one launch.
#include "solution.h"

namespace {

constexpr int kThreads = 256;

__global__ void life_kernel(unsigned char* first, unsigned char* second, int height, int width, int generations) {
    for (int g = 0; g < generations; ++g) {
        const unsigned char* before = g % 2 == 0 ? first : second;
        unsigned char* after = g % 2 == 0 ? second : first;
        for (int i = threadIdx.x; i < height * width; i += kThreads) {
            const int row = i / width;
            const int column = i % width;
            int neighbours = 0;
            for (int dr = -1; dr <= 1; ++dr) {
                for (int dc = -1; dc <= 1; ++dc) {
                    if (dr == 0 && dc == 0) continue;
                    neighbours += before[(row + dr + height) % height * width + (column + dc + width) % width];
                }
            }
            after[i] = neighbours == 3 || (neighbours == 2 && before[i]);
        }
        __syncthreads();
    }
}

}  // namespace

struct Life {
    int height;
    int width;
    int generations;
    unsigned char* boards[2];
};

cudaError_t life_create(Life** life, int height, int width, int generations) {
    *life = new Life{height, width, generations, {}};
    for (unsigned char*& board : (*life)->boards) {
        if (const cudaError_t error = cudaMalloc(&board, static_cast<size_t>(height) * width)) return error;
    }
    return cudaSuccess;
}

cudaError_t life_run(Life* life, const unsigned char* cells, unsigned char* result, cudaStream_t stream) {
    const size_t bytes = static_cast<size_t>(life->height) * life->width;
    cudaMemcpyAsync(life->boards[0], cells, bytes, cudaMemcpyDeviceToDevice, stream);
    life_kernel<<<1, kThreads, 0, stream>>>(life->boards[0], life->boards[1], life->height, life->width,
                                            life->generations);
    if (const cudaError_t error = cudaGetLastError()) return error;
    return cudaMemcpyAsync(result, life->boards[life->generations % 2], bytes, cudaMemcpyDeviceToDevice, stream);
}

void life_destroy(Life* life) {
    if (!life) return;
    for (unsigned char* board : life->boards) cudaFree(board);
    delete life;
}
