// Launches that are refused, attributes of kernels, occupancy.
#include "say.cuh"

#include <cooperative_groups.h>

__global__ void plain(int *out) {
    if (out) *out = 7;
}
// For attributes that would change what is found out about another kernel.
__global__ void hinted(int *out) {
    if (out) *out = 7;
}
__global__ void __launch_bounds__(128) bounded(int *out) {
    if (out) *out = 7;
}
__global__ void fixed_shared(int *out) {
    __shared__ int values[4096];
    values[threadIdx.x] = threadIdx.x;
    __syncthreads();
    if (out) *out = values[threadIdx.x ^ 1];
}
__global__ void dynamic_shared(int *out) {
    extern __shared__ int values[];
    values[threadIdx.x] = 1;
    __syncthreads();
    if (out) *out = values[threadIdx.x ^ 1];
}
// Takes all 255 registers.
__global__ void many_registers(float *values, int n) {
    float kept[160];
    for (int i = 0; i < 160; i++) kept[i] = values[i * n + threadIdx.x];
    for (int k = 0; k < n; k++) {
#pragma unroll
        for (int i = 0; i < 160; i++) kept[i] = kept[i] * kept[(i * 7 + 3) % 160] + 1;
    }
#pragma unroll
    for (int i = 0; i < 160; i++) values[i * n + threadIdx.x] = kept[i];
}
__global__ void cooperative(int *out) {
    cooperative_groups::this_grid().sync();
    if (out) *out = 1;
}
static void not_a_kernel() {
}

static int *memory;

static void shapes() {
    SAY_LAUNCH(plain, 0, 1, 0, memory);
    SAY_LAUNCH(plain, 1, 0, 0, memory);
    SAY_LAUNCH(plain, dim3(1, 0, 1), 1, 0, memory);
    SAY_LAUNCH(plain, dim3(1, 65535, 1), 1, 0, nullptr);
    SAY_LAUNCH(plain, dim3(1, 65536, 1), 1, 0, memory);
    SAY_LAUNCH(plain, dim3(1, 1, 65536), 1, 0, memory);
    SAY_LAUNCH(plain, 2147483648u, 1, 0, memory);
    SAY_LAUNCH(plain, 1, 1024, 0, memory);
    SAY_LAUNCH(plain, 1, 1025, 0, memory);
    SAY_LAUNCH(plain, 1, dim3(1, 1, 64), 0, memory);
    SAY_LAUNCH(plain, 1, dim3(1, 1, 65), 0, memory);
    SAY_LAUNCH(plain, 1, dim3(1, 2, 1024), 0, memory);
    SAY_LAUNCH(plain, 1, dim3(32, 33), 0, memory);
    SAY_LAUNCH(plain, 1, dim3(65536, 65536), 0, memory);
    SAY_LAUNCH(bounded, 1, 128, 0, memory);
    SAY_LAUNCH(bounded, 1, 129, 0, memory);
    SAY_LAUNCH(bounded, 1, 1025, 0, memory);
    SAY_LAUNCH(many_registers, 1, 128, 0, (float *)memory, 2);
    SAY_LAUNCH(many_registers, 1, 1024, 0, (float *)memory, 2);
    SAY_LAUNCH(many_registers, 1, 1024, 100000, (float *)memory, 2);
}

static void shared_memory() {
    SAY_LAUNCH(dynamic_shared, 1, 32, 49152, memory);
    SAY_LAUNCH(dynamic_shared, 1, 32, 49153, memory);
    SAY_LAUNCH(dynamic_shared, 1, 32, 232448, memory);
    SAY_LAUNCH(dynamic_shared, 1, 2000, 300000, memory);
    SAY_LAUNCH(fixed_shared, 1, 32, 32768, memory);
    SAY_LAUNCH(fixed_shared, 1, 32, 32769, memory);
    SAY(cudaFuncSetAttribute(dynamic_shared, cudaFuncAttributeMaxDynamicSharedMemorySize, 232448));
    SAY_LAUNCH(dynamic_shared, 1, 32, 232448, memory);
    SAY_LAUNCH(dynamic_shared, 1, 32, 232449, memory);
    SAY(cudaFuncSetAttribute(dynamic_shared, cudaFuncAttributeMaxDynamicSharedMemorySize, 232449));
    SAY(cudaFuncSetAttribute(dynamic_shared, cudaFuncAttributeMaxDynamicSharedMemorySize, -1));
    SAY(cudaFuncSetAttribute(dynamic_shared, cudaFuncAttributeMaxDynamicSharedMemorySize, 1024));
    SAY_LAUNCH(dynamic_shared, 1, 32, 1024, memory);
    SAY_LAUNCH(dynamic_shared, 1, 32, 1025, memory);
    SAY(cudaFuncSetAttribute(fixed_shared, cudaFuncAttributeMaxDynamicSharedMemorySize, 232448));
    SAY(cudaFuncSetAttribute(fixed_shared, cudaFuncAttributeMaxDynamicSharedMemorySize, 232448 - 16384));
    SAY(cudaFuncSetAttribute(fixed_shared, cudaFuncAttributeMaxDynamicSharedMemorySize, 232448 - 16383));
}

template <class Function>
static void describe(const char *name, Function *kernel) {
    cudaFuncAttributes found;
    say(name, cudaFuncGetAttributes(&found, kernel));
    printf("  code %d %d constant %zu threads %d registers %d shared %zu dynamic %d carveout %d\n", found.binaryVersion,
           found.ptxVersion, found.constSizeBytes, found.maxThreadsPerBlock, found.numRegs, found.sharedSizeBytes,
           found.maxDynamicSharedSizeBytes, found.preferredShmemCarveout);
}

static void attributes() {
    SAY(cudaFuncSetAttribute(hinted, cudaFuncAttributePreferredSharedMemoryCarveout, 50));
    SAY(cudaFuncSetAttribute(hinted, cudaFuncAttributePreferredSharedMemoryCarveout, 101));
    SAY(cudaFuncSetAttribute(hinted, cudaFuncAttributePreferredSharedMemoryCarveout, -2));
    SAY(cudaFuncSetAttribute(hinted, (cudaFuncAttribute)3, 1));
    SAY(cudaFuncSetAttribute(hinted, cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
    SAY(cudaFuncSetAttribute((const void *)not_a_kernel, cudaFuncAttributePreferredSharedMemoryCarveout, 50));
    SAY(cudaFuncSetAttribute((const void *)nullptr, cudaFuncAttributePreferredSharedMemoryCarveout, 50));
    SAY(cudaFuncSetCacheConfig(hinted, cudaFuncCachePreferL1));
    describe("plain", plain);
    describe("hinted", hinted);
    describe("bounded", bounded);
    describe("fixed_shared", fixed_shared);
    describe("dynamic_shared", dynamic_shared);
    describe("many_registers", many_registers);
    describe("cooperative", cooperative);
    cudaFuncAttributes found;
    SAY(cudaFuncGetAttributes(&found, (const void *)not_a_kernel));
    SAY(cudaFuncGetAttributes(&found, (const void *)nullptr));
    SAY(cudaFuncGetAttributes(nullptr, (const void *)plain));
    const char *name;
    SAY(cudaFuncGetName(&name, (const void *)plain));
    SHOW("%s", name);
    size_t offset, size;
    SAY(cudaFuncGetParamInfo((const void *)many_registers, 1, &offset, &size));
    SHOW("%zu", offset);
    SHOW("%zu", size);
    SAY(cudaFuncGetParamInfo((const void *)many_registers, 2, &offset, &size));
    cudaKernel_t kernel;
    cudaFunction_t function;
    void *arguments[] = {&memory};
    SAY(cudaGetKernel(&kernel, (const void *)plain));
    SAY(cudaLaunchKernel((const void *)kernel, 1, 1, arguments, 0, 0));
    SAY(cudaGetKernel(&kernel, (const void *)not_a_kernel));
    SAY(cudaGetFuncBySymbol(&function, (const void *)plain));
    SAY(cudaGetFuncBySymbol(&function, (const void *)not_a_kernel));
}

static void launching_calls() {
    void *arguments[] = {&memory};
    SAY(cudaLaunchKernel((const void *)plain, 0, 1, arguments, 0, 0));
    SAY(cudaLaunchKernel((const void *)plain, 1, 1, arguments, 0, 0));
    SAY(cudaLaunchKernel((const void *)not_a_kernel, 1, 1, arguments, 0, 0));
    SAY(cudaLaunchKernel((const void *)nullptr, 1, 1, arguments, 0, 0));
    SAY(cudaLaunchKernel((const void *)plain, 1, 1, nullptr, 0, 0));
    SAY(cudaLaunchCooperativeKernel((const void *)cooperative, 8, 128, arguments, 0, 0));
    SAY(cudaLaunchCooperativeKernel((const void *)cooperative, 1000000, 1024, arguments, 0, 0));
    SAY(cudaLaunchCooperativeKernel((const void *)cooperative, 0, 1024, arguments, 0, 0));
    SAY(cudaLaunchCooperativeKernel((const void *)cooperative, 1, 2048, arguments, 0, 0));
    cudaLaunchAttribute attribute = {};
    cudaLaunchConfig_t config = {};
    config.gridDim = 4;
    config.blockDim = 32;
    config.attrs = &attribute;
    config.numAttrs = 1;
    attribute.id = cudaLaunchAttributeCooperative;
    attribute.val.cooperative = 1;
    SAY(cudaLaunchKernelExC(&config, (const void *)cooperative, arguments));
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim.x = attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
    SAY(cudaLaunchKernelExC(&config, (const void *)plain, arguments));
    attribute.val.clusterDim.x = 3;
    SAY(cudaLaunchKernelExC(&config, (const void *)plain, arguments));
    attribute.id = cudaLaunchAttributePriority;
    attribute.val.priority = 0;
    SAY(cudaLaunchKernelExC(&config, (const void *)plain, arguments));
    attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attribute.val.programmaticStreamSerializationAllowed = 1;
    SAY(cudaLaunchKernelExC(&config, (const void *)plain, arguments));
    attribute.id = (cudaLaunchAttributeID)99;
    SAY(cudaLaunchKernelExC(&config, (const void *)plain, arguments));
}

#define SAY_BLOCKS(...)                                                           \
    do {                                                                          \
        int blocks = -1;                                                          \
        SAY(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, __VA_ARGS__)); \
        SHOW("%d", blocks);                                                       \
    } while (0)

static void occupancy() {
    SAY_BLOCKS(plain, 32, 0);
    SAY_BLOCKS(plain, 128, 0);
    SAY_BLOCKS(plain, 1024, 0);
    SAY_BLOCKS(plain, 1025, 0);
    SAY_BLOCKS(plain, 2048, 0);
    SAY_BLOCKS(plain, 0, 0);
    SAY_BLOCKS(plain, -5, 0);
    SAY_BLOCKS(plain, 128, 1 << 20);
    SAY_BLOCKS(plain, 128, 49152);
    SAY_BLOCKS(plain, 128, 49153);
    SAY_BLOCKS(plain, 128, 10000);
    SAY_BLOCKS(fixed_shared, 64, 0);
    SAY_BLOCKS(fixed_shared, 64, 40000);
    SAY_BLOCKS(many_registers, 96, 0);
    SAY_BLOCKS(many_registers, 256, 0);
    SAY_BLOCKS(many_registers, 1024, 0);
    SAY_BLOCKS(bounded, 96, 0);
    SAY_BLOCKS(bounded, 256, 0);
    SAY_BLOCKS((void (*)(int *))not_a_kernel, 256, 0);
    SAY(cudaOccupancyMaxActiveBlocksPerMultiprocessor(nullptr, plain, 256, 0));
    size_t bytes;
    for (int blocks : {-1, 0, 1, 2, 3, 4, 5, 7, 16, 31, 32, 33, 40}) {
        printf("%d blocks\n", blocks);
        bytes = 77;
        SAY(cudaOccupancyAvailableDynamicSMemPerBlock(&bytes, plain, blocks, 64));
        SHOW("%zu", bytes);
        bytes = 77;
        SAY(cudaOccupancyAvailableDynamicSMemPerBlock(&bytes, fixed_shared, blocks, 64));
        SHOW("%zu", bytes);
    }
    int grid, block;
    SAY(cudaOccupancyMaxPotentialBlockSize(&grid, &block, many_registers, 0, 0));
    SHOW("%d", block);
    SAY(cudaOccupancyMaxPotentialBlockSize(&grid, &block, plain, 0, 0));
    SHOW("%d", block);
}

int main() {
    cudaMalloc(&memory, 1 << 20);
    cudaMemset(memory, 0, 1 << 20);
    shapes();
    shared_memory();
    attributes();
    launching_calls();
    occupancy();
}
