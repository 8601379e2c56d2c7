// Game of Life: a graph of one launch per generation, instantiated once and launched by every run. Generations go back
// and forth between two boards.
#include "solution.h"

namespace life {

constexpr int kBlockX = 32;
constexpr int kBlockY = 8;

__global__ void generation_kernel(const unsigned char* before, unsigned char* after, int height, int width) {
    const int column = blockIdx.x * kBlockX + threadIdx.x;
    const int row = blockIdx.y * kBlockY + threadIdx.y;
    if (row >= height || column >= width) return;

    const int left = (column + width - 1) % width;
    const int right = (column + 1) % width;
    const unsigned char* above = before + (row + height - 1) % height * width;
    const unsigned char* here = before + row * width;
    const unsigned char* below = before + (row + 1) % height * width;
    const int neighbours = above[left] + above[column] + above[right] + here[left] + here[right] + below[left] +
                           below[column] + below[right];
    after[row * width + column] = neighbours == 3 || (neighbours == 2 && here[column]);
}

// What lives from one run to the next.
class Life {
public:
    Life(int height, int width) : height_(height), width_(width) {}
    ~Life() {
        cudaGraphExecDestroy(exec_);
        cudaGraphDestroy(graph_);
        cudaFree(boards_[0]);
        cudaFree(boards_[1]);
    }

    cudaError_t prepare(int generations) {
        for (unsigned char*& board : boards_) {
            if (const cudaError_t error = cudaMalloc(&board, bytes())) return error;
        }
        if (const cudaError_t error = cudaGraphCreate(&graph_, 0)) return error;
        cudaGraphNode_t last = nullptr;
        for (int g = 0; g < generations; ++g) {
            void* arguments[] = {&boards_[g % 2], &boards_[(g + 1) % 2], &height_, &width_};
            cudaKernelNodeParams launch = {};
            launch.func = reinterpret_cast<void*>(generation_kernel);
            launch.gridDim = dim3((width_ + kBlockX - 1) / kBlockX, (height_ + kBlockY - 1) / kBlockY);
            launch.blockDim = dim3(kBlockX, kBlockY);
            launch.kernelParams = arguments;
            cudaGraphNode_t node = nullptr;
            const cudaError_t error = cudaGraphAddKernelNode(&node, graph_, &last, g > 0 ? 1 : 0, &launch);
            if (error) return error;
            last = node;
        }
        return cudaGraphInstantiate(&exec_, graph_, 0);
    }

    cudaError_t run(const unsigned char* cells, unsigned char* result, cudaStream_t stream) {
        cudaMemcpyAsync(boards_[0], cells, bytes(), cudaMemcpyDeviceToDevice, stream);
        cudaGraphLaunch(exec_, stream);
        return cudaMemcpyAsync(result, boards_[0], bytes(), cudaMemcpyDeviceToDevice, stream);
    }

private:
    size_t bytes() const { return static_cast<size_t>(height_) * width_; }

    int height_;
    int width_;
    unsigned char* boards_[2] = {};
    cudaGraph_t graph_ = nullptr;
    cudaGraphExec_t exec_ = nullptr;
};

cudaError_t life_create(Life** life, int height, int width, int generations) {
    *life = new Life(height, width);
    return (*life)->prepare(generations);
}

cudaError_t life_run(Life* life, const unsigned char* cells, unsigned char* result, cudaStream_t stream) {
    return life->run(cells, result, stream);
}

void life_destroy(Life* life) { delete life; }

}  // namespace life

// The names of the interface.
using life::life_create;
using life::life_destroy;
using life::life_run;
