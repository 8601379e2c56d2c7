// Attention by tiles of keys in shared memory. A query belongs to eight threads: in the scores of a tile each has
// every eighth key, in the weighted sum each has four elements of the head. A running softmax ties the tiles together.
#include "solution.h"

namespace {

constexpr int kQueries = 16;                 // per block
constexpr int kLanes = 8;                    // threads per query
constexpr int kThreads = kQueries * kLanes;
constexpr int kKeys = 32;                    // per tile
constexpr int kKeysEach = kKeys / kLanes;
constexpr int kQuads = kHeadSize / 4;
constexpr unsigned kAll = 0xFFFFFFFFu;

static_assert(kQuads == kLanes, "a thread has four elements of the head");

__device__ float dot(float4 a, float4 b) { return a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w; }

__global__ void attention_kernel(const float4* __restrict__ q, const float4* __restrict__ k,
                                 const float4* __restrict__ v, float4* __restrict__ y, int tokens) {
    __shared__ float4 keys[kKeys][kQuads + 1];  // the padding spreads the keys of eight lanes over the banks
    __shared__ float4 values[kKeys][kQuads];
    __shared__ float weights[kQueries][kKeys + 1];

    const int lane = threadIdx.x % kLanes;
    const int slot = threadIdx.x / kLanes;
    const int token = blockIdx.x * kQueries + slot;
    const size_t head = static_cast<size_t>(blockIdx.y) * tokens * kQuads;

    float4 query[kQuads];
    const float scale = rsqrtf(static_cast<float>(kHeadSize));
#pragma unroll
    for (int d = 0; d < kQuads; ++d) {
        const float4 part = q[head + static_cast<size_t>(min(token, tokens - 1)) * kQuads + d];
        query[d] = make_float4(part.x * scale, part.y * scale, part.z * scale, part.w * scale);
    }

    float largest = -INFINITY;
    float total = 0.0f;
    float4 sum = {};
    for (int first = 0; first < tokens; first += kKeys) {
        const int count = min(kKeys, tokens - first);
        for (int i = threadIdx.x; i < kKeys * kQuads; i += kThreads) {
            const int key = i / kQuads;
            const size_t place = head + static_cast<size_t>(first) * kQuads + i;
            keys[key][i % kQuads] = key < count ? k[place] : float4{};
            values[key][i % kQuads] = key < count ? v[place] : float4{};
        }
        __syncthreads();

        float scores[kKeysEach];
        float tile_largest = -INFINITY;
#pragma unroll
        for (int j = 0; j < kKeysEach; ++j) {
            const int key = j * kLanes + lane;
            float score = 0.0f;
#pragma unroll
            for (int d = 0; d < kQuads; ++d) score += dot(query[d], keys[key][d]);
            scores[j] = key < count ? score : -INFINITY;
            tile_largest = fmaxf(tile_largest, scores[j]);
        }
        for (int offset = kLanes / 2; offset > 0; offset /= 2) {
            tile_largest = fmaxf(tile_largest, __shfl_xor_sync(kAll, tile_largest, offset));
        }

        const float before = largest;
        largest = fmaxf(largest, tile_largest);
        const float shrink = expf(before - largest);
        total *= shrink;
        sum = make_float4(sum.x * shrink, sum.y * shrink, sum.z * shrink, sum.w * shrink);
#pragma unroll
        for (int j = 0; j < kKeysEach; ++j) {
            const float weight = expf(scores[j] - largest);
            total += weight;
            weights[slot][j * kLanes + lane] = weight;
        }
        __syncwarp();  // the eight threads of a query are in one warp
#pragma unroll 8
        for (int key = 0; key < kKeys; ++key) {
            const float weight = weights[slot][key];
            const float4 value = values[key][lane];
            sum.x += weight * value.x;
            sum.y += weight * value.y;
            sum.z += weight * value.z;
            sum.w += weight * value.w;
        }
        __syncthreads();  // the next tile overwrites this one
    }

    for (int offset = kLanes / 2; offset > 0; offset /= 2) total += __shfl_xor_sync(kAll, total, offset);
    if (token < tokens) {
        const float part = 1.0f / total;
        y[head + static_cast<size_t>(token) * kQuads + lane] =
            make_float4(sum.x * part, sum.y * part, sum.z * part, sum.w * part);
    }
}

}  // namespace

cudaError_t flash_attention(const float* q, const float* k, const float* v, float* y, int heads, int tokens,
                            cudaStream_t stream) {
    const dim3 grid((tokens + kQueries - 1) / kQueries, heads);
    attention_kernel<<<grid, kThreads, 0, stream>>>(
        reinterpret_cast<const float4*>(q), reinterpret_cast<const float4*>(k), reinterpret_cast<const float4*>(v),
        reinterpret_cast<float4*>(y), tokens);
    return cudaGetLastError();
}
