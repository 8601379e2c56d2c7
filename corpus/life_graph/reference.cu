// Game of Life: a graph of one launch per generation, instantiated once. Generations go back and forth between two
// boards of the object; the caller's cells are copied in before the graph, and out of the last board after it.
#include "solution.h"

#include <new>

namespace {

constexpr int kBlockX = 32;
constexpr int kBlockY = 8;

__global__ void generation_kernel(const unsigned char* before, unsigned char* after, int height, int width) {
    const int column = blockIdx.x * kBlockX + threadIdx.x;
    const int row = blockIdx.y * kBlockY + threadIdx.y;
    if (row >= height || column >= width) return;

    const int left = column == 0 ? width - 1 : column - 1;
    const int right = column == width - 1 ? 0 : column + 1;
    const unsigned char* above = before + static_cast<size_t>(row == 0 ? height - 1 : row - 1) * width;
    const unsigned char* here = before + static_cast<size_t>(row) * width;
    const unsigned char* below = before + static_cast<size_t>(row == height - 1 ? 0 : row + 1) * width;
    const int neighbours = above[left] + above[column] + above[right] + here[left] + here[right] + below[left] +
                           below[column] + below[right];
    const bool alive = neighbours == 3 || (neighbours == 2 && here[column]);
    after[static_cast<size_t>(row) * width + column] = alive;
}

}  // namespace

struct Life {
    int height;
    int width;
    int generations;
    unsigned char* boards[2] = {};
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t exec = nullptr;

    size_t bytes() const { return static_cast<size_t>(height) * width; }

    cudaError_t allocate() {
        for (unsigned char*& board : boards) {
            if (const cudaError_t error = cudaMalloc(&board, bytes())) return error;
        }
        return cudaSuccess;
    }

    cudaError_t record() {
        if (const cudaError_t error = cudaGraphCreate(&graph, 0)) return error;
        cudaGraphNode_t last = nullptr;
        for (int g = 0; g < generations; ++g) {
            const unsigned char* before = boards[g % 2];
            unsigned char* after = boards[(g + 1) % 2];
            void* arguments[] = {&before, &after, &height, &width};
            cudaKernelNodeParams launch = {};
            launch.func = reinterpret_cast<void*>(generation_kernel);
            launch.gridDim = dim3((width + kBlockX - 1) / kBlockX, (height + kBlockY - 1) / kBlockY);
            launch.blockDim = dim3(kBlockX, kBlockY);
            launch.kernelParams = arguments;
            cudaGraphNode_t node = nullptr;
            if (const cudaError_t error = cudaGraphAddKernelNode(&node, graph, &last, g > 0 ? 1 : 0, &launch)) {
                return error;
            }
            last = node;
        }
        return cudaGraphInstantiate(&exec, graph, 0);
    }

    ~Life() {
        if (exec) cudaGraphExecDestroy(exec);
        if (graph) cudaGraphDestroy(graph);
        for (unsigned char* board : boards) cudaFree(board);
    }
};

cudaError_t life_create(Life** life, int height, int width, int generations) {
    Life* made = new (std::nothrow) Life{height, width, generations};
    if (!made) return cudaErrorMemoryAllocation;
    cudaError_t error = made->allocate();
    if (!error) error = made->record();
    if (error) {
        delete made;
        return error;
    }
    *life = made;
    return cudaSuccess;
}

cudaError_t life_run(Life* life, const unsigned char* cells, unsigned char* result, cudaStream_t stream) {
    const size_t bytes = life->bytes();
    const unsigned char* last = life->boards[life->generations % 2];
    if (const cudaError_t error = cudaMemcpyAsync(life->boards[0], cells, bytes, cudaMemcpyDeviceToDevice, stream)) {
        return error;
    }
    if (const cudaError_t error = cudaGraphLaunch(life->exec, stream)) return error;
    return cudaMemcpyAsync(result, last, bytes, cudaMemcpyDeviceToDevice, stream);
}

void life_destroy(Life* life) { delete life; }
