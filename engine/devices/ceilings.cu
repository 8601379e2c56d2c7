// What this GPU reaches: bytes per second from device memory and from L2, operations per second of FP32 FMA and of FP16
// tensor cores, and seconds per launch of an empty kernel. One JSON object on standard output. The best of several
// batches counts: a ceiling is what nothing should beat.
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <mma.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

namespace {

void check(cudaError_t error, int line) {
    if (error == cudaSuccess) return;
    std::fprintf(stderr, "ceilings.cu:%d: %s\n", line, cudaGetErrorString(error));
    std::exit(2);
}
#define CHECK(expression) check((expression), __LINE__)

constexpr int kThreads = 256;

// Past L1: what is asked for twice comes from L2 or from memory.
__global__ void read_all(const float4* data, size_t count, int passes, float* out) {
    float sum = 0.0f;
    const size_t step = static_cast<size_t>(gridDim.x) * blockDim.x;
    const size_t first = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    for (int pass = 0; pass < passes; ++pass) {
#pragma unroll 8
        for (size_t i = first; i < count; i += step) {
            const float4 value = __ldcg(data + i);
            sum += value.x + value.y + value.z + value.w;
        }
    }
    if (sum == 1.2345f) *out = sum;
}

__global__ void copy_all(const float4* from, float4* to, size_t count, int passes) {
    const size_t step = static_cast<size_t>(gridDim.x) * blockDim.x;
    const size_t first = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    for (int pass = 0; pass < passes; ++pass) {
#pragma unroll 4
        for (size_t i = first; i < count; i += step) to[i] = __ldcg(from + i);
    }
}

constexpr int kChains = 8;
constexpr int kRounds = 4096;

__global__ void multiply_add(float x, float* out) {
    float chain[kChains];
    for (int i = 0; i < kChains; ++i) chain[i] = x + i + threadIdx.x;
    for (int round = 0; round < kRounds; ++round) {
#pragma unroll
        for (int i = 0; i < kChains; ++i) chain[i] = fmaf(chain[i], x, x);
    }
    float sum = 0.0f;
    for (int i = 0; i < kChains; ++i) sum += chain[i];
    if (sum == 1.2345f) *out = sum;
}

constexpr int kTiles = 4;
constexpr int kTensorRounds = 1024;
constexpr double kTileFlops = 2.0 * 16 * 16 * 16;

__global__ void tensor_cores(float x, float* out) {
#if __CUDA_ARCH__ >= 700
    using namespace nvcuda;
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> a;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> b;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> c[kTiles];
    wmma::fill_fragment(a, __float2half(x));
    wmma::fill_fragment(b, __float2half(x));
    for (int i = 0; i < kTiles; ++i) wmma::fill_fragment(c[i], x);
    for (int round = 0; round < kTensorRounds; ++round) {
#pragma unroll
        for (int i = 0; i < kTiles; ++i) wmma::mma_sync(c[i], a, b, c[i]);
    }
    float sum = 0.0f;
    for (int i = 0; i < kTiles; ++i) sum += c[i].x[0];
    if (sum == 1.2345f) *out = sum;
#endif
}

__global__ void nothing() {}

// The best seconds of one call in `batches` batches of `calls`, after one that warms up.
template <typename Call>
double best(const Call& call, int calls, int batches) {
    cudaEvent_t start, stop;
    CHECK(cudaEventCreate(&start));
    CHECK(cudaEventCreate(&stop));
    double least = 1e30;
    for (int batch = 0; batch <= batches; ++batch) {
        CHECK(cudaEventRecord(start));
        for (int i = 0; i < calls; ++i) call();
        CHECK(cudaEventRecord(stop));
        CHECK(cudaEventSynchronize(stop));
        CHECK(cudaGetLastError());
        float ms = 0.0f;
        CHECK(cudaEventElapsedTime(&ms, start, stop));
        if (batch) least = std::min(least, 1e-3 * ms / calls);
    }
    CHECK(cudaEventDestroy(start));
    CHECK(cudaEventDestroy(stop));
    return least;
}

}  // namespace

int main() {
    cudaDeviceProp properties;
    CHECK(cudaGetDeviceProperties(&properties, 0));
    const int blocks = properties.multiProcessorCount * 8;
    const size_t l2 = properties.l2CacheSize;
    const size_t large = std::min<size_t>(size_t{1} << 30, properties.totalGlobalMem / 8) / 2;
    float4 *from, *to;
    CHECK(cudaMalloc(&from, large));
    CHECK(cudaMalloc(&to, large));
    CHECK(cudaMemset(from, 0, large));
    CHECK(cudaMemset(to, 0, large));
    float* out = reinterpret_cast<float*>(to);

    // the GPU's clock rises under load
    best([&] { multiply_add<<<blocks, kThreads>>>(0.5f, out); }, 200, 2);

    const size_t count = large / sizeof(float4);
    const double read = best([&] { read_all<<<blocks, kThreads>>>(from, count, 1, out); }, 5, 5);
    const double copy = best([&] { copy_all<<<blocks, kThreads>>>(from, to, count, 1); }, 5, 5);
    const double dram = std::max(large / read, 2.0 * large / copy);

    double cached = 0.0;
    for (int part = 16; part >= 2; part /= 2) {  // some L2 caches are two halves, and a near half is faster
        const size_t small = std::max<size_t>(l2 / part, 1 << 18) / sizeof(float4);
        const int passes = static_cast<int>(std::max<size_t>(4, (size_t{256} << 20) / (small * sizeof(float4))));
        const double bytes = static_cast<double>(small) * sizeof(float4) * passes;
        cached = std::max(cached, bytes / best([&] { read_all<<<blocks, kThreads>>>(from, small, passes, out); }, 2, 4));
        cached = std::max(cached,
                          bytes / best([&] { copy_all<<<blocks, kThreads>>>(from, to, small / 2, passes); }, 2, 4));
    }

    const double lanes = static_cast<double>(blocks) * kThreads;
    const double fma = 2.0 * lanes * kChains * kRounds /
                       best([&] { multiply_add<<<blocks, kThreads>>>(0.5f, out); }, 4, 5);
    double tensor = 0.0;
    if (properties.major >= 7) {
        tensor = lanes / 32 * kTiles * kTensorRounds * kTileFlops /
                 best([&] { tensor_cores<<<blocks, kThreads>>>(0.5f, out); }, 4, 5);
    }
    const double launch = best([&] { nothing<<<1, 32>>>(); }, 2000, 5);

    std::printf("{\"l2_bytes\": %zu, \"dram\": %.6g, \"l2\": %.6g, \"fp32\": %.6g, \"tensor\": %.6g, \"launch\": %.6g}\n",
                l2, dram, cached, fma, tensor, launch);
    return 0;
}
