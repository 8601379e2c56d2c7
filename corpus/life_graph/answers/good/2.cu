// Game of Life: a graph of one launch per generation, instantiated once and launched by every run. Generations go back
// and forth between two boards.
#include "solution.h"

#include <memory>

namespace {

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

}  // namespace

// What lives from one run to the next.
struct Life {
    Life(int height, int width) : height_(height), width_(width) {}
    ~Life() {
        if (exec_) cudaGraphExecDestroy(exec_);
        if (graph_) cudaGraphDestroy(graph_);
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
        last_ = boards_[generations % 2];
        return cudaGraphInstantiate(&exec_, graph_, 0);
    }

    cudaError_t run(const unsigned char* cells, unsigned char* result, cudaStream_t stream) {
        if (const cudaError_t error =
                cudaMemcpyAsync(boards_[0], cells, bytes(), cudaMemcpyDeviceToDevice, stream)) {
            return error;
        }
        if (const cudaError_t error = cudaGraphLaunch(exec_, stream)) return error;
        return cudaMemcpyAsync(result, last_, bytes(), cudaMemcpyDeviceToDevice, stream);
    }

private:
    size_t bytes() const { return static_cast<size_t>(height_) * width_; }

    int height_;
    int width_;
    unsigned char* boards_[2] = {};
    const unsigned char* last_ = nullptr;  // the board that holds the last generation: the second one if they are odd
    cudaGraph_t graph_ = nullptr;
    cudaGraphExec_t exec_ = nullptr;
};

cudaError_t life_create(Life** life, int height, int width, int generations) {
    auto made = std::make_unique<Life>(height, width);
    const cudaError_t error = made->prepare(generations);
    if (!error) *life = made.release();
    return error;
}

cudaError_t life_run(Life* life, const unsigned char* cells, unsigned char* result, cudaStream_t stream) {
    return life->run(cells, result, stream);
}

void life_destroy(Life* life) { delete life; }
