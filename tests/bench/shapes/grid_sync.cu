// A cooperative launch of 64 blocks that meet at 100 barriers of the grid.
#include <cooperative_groups.h>

#include <cstdio>

constexpr int kBlocks = 64, kThreads = 256, kRounds = 100;

// Every block passes its number on to the next one, a round at a time.
__global__ void pass_on(int *now, int *next) {
    const cooperative_groups::grid_group grid = cooperative_groups::this_grid();
    for (int round = 0; round < kRounds; ++round) {
        if (threadIdx.x == 0) next[(blockIdx.x + 1) % gridDim.x] = now[blockIdx.x] + 1;
        grid.sync();
        int *const swap = now;
        now = next;
        next = swap;
    }
}

int main() {
    int *now, *next;
    cudaMallocManaged(&now, kBlocks * sizeof(int));
    cudaMallocManaged(&next, kBlocks * sizeof(int));
    for (int i = 0; i < kBlocks; ++i) now[i] = i;
    void *arguments[] = {&now, &next};
    if (cudaLaunchCooperativeKernel(pass_on, kBlocks, kThreads, arguments) != cudaSuccess) return 1;
    if (cudaDeviceSynchronize() != cudaSuccess) return 1;
    for (int i = 0; i < kBlocks; ++i)
        if (now[i] != (i - kRounds % kBlocks + kBlocks) % kBlocks + kRounds) return std::printf("now[%d] is %d\n", i, now[i]), 1;
    return 0;
}
