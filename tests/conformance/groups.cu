// Cooperative groups: blocks, tiles and coalesced threads, with the collectives of cooperative_groups/reduce.h and
// scan.h.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>

#include "case.cuh"

namespace cg = cooperative_groups;
typedef unsigned u32;

__global__ void block_group(u32 *out) {
    __shared__ u32 values[48];
    cg::thread_block block = cg::this_thread_block();
    values[block.thread_rank()] = block.thread_rank() * 2;
    block.sync();
    out[blockIdx.x * 48 + block.thread_rank()] =
        values[block.size() - 1 - block.thread_rank()] + block.group_index().x * 1000 + block.dim_threads().y;
}

CASE(thread_block) {
    Buffer<u32> out(96);
    block_group<<<2, dim3(16, 3)>>>(out);
    out.show("values", 16);
}

template <int N>
__global__ void tiles(u32 *out) {
    auto tile = cg::tiled_partition<N>(cg::this_thread_block());
    u32 *row = out + threadIdx.x * 6;
    row[0] = tile.thread_rank() + tile.meta_group_rank() * 100 + tile.meta_group_size() * 10000;
    row[1] = tile.shfl_down(threadIdx.x, 1);
    row[2] = tile.shfl_xor(threadIdx.x, N / 2);
    row[3] = tile.ballot(threadIdx.x % 3 == 0);
    row[4] = static_cast<u32>(tile.any(threadIdx.x == 21)) * 2 + static_cast<u32>(tile.all(threadIdx.x < 32));
    tile.sync();
    row[5] = tile.match_any(threadIdx.x % 2);
}

CASE(tiles_of_4) {
    Buffer<u32> out(64 * 6);
    tiles<4><<<1, 64>>>(out);
    out.show("rank, down, xor, ballot, vote, match", 12);
}
CASE(tiles_of_8) {
    Buffer<u32> out(64 * 6);
    tiles<8><<<1, 64>>>(out);
    out.show("rank, down, xor, ballot, vote, match", 12);
}
CASE(tiles_of_16) {
    Buffer<u32> out(64 * 6);
    tiles<16><<<1, 64>>>(out);
    out.show("rank, down, xor, ballot, vote, match", 12);
}
CASE(tiles_of_32) {
    Buffer<u32> out(64 * 6);
    tiles<32><<<1, 64>>>(out);
    out.show("rank, down, xor, ballot, vote, match", 12);
}

__global__ void tile_reductions(int *out) {
    auto block = cg::this_thread_block();
    auto warp = cg::tiled_partition<32>(block);
    auto eight = cg::tiled_partition<8>(block);
    int value = static_cast<int>(threadIdx.x * 37 % 50) - 20;
    int *row = out + threadIdx.x * 5;
    row[0] = cg::reduce(warp, value, cg::plus<int>());
    row[1] = cg::reduce(eight, value, cg::greater<int>());
    row[2] = cg::reduce(eight, value, cg::less<int>());
    row[3] = cg::reduce(warp, value, cg::bit_xor<int>());
    row[4] = cg::reduce(eight, value, [](int a, int b) { return a * 2 + b; }) & 1;
}

CASE(reduce_over_tiles) {
    Buffer<int> out(64 * 5);
    tile_reductions<<<1, 64>>>(out);
    out.show("plus, greater, less, xor, lambda", 10);
}

__global__ void float_reductions(float *out) {
    auto warp = cg::tiled_partition<32>(cg::this_thread_block());
    out[threadIdx.x] = cg::reduce(warp, 1.0f / static_cast<float>(threadIdx.x + 1), cg::plus<float>());
}

CASE(reduce_floats_in_a_fixed_order) {
    Buffer<float> out(32);
    float_reductions<<<1, 32>>>(out);
    out.show("sum", 8);
}

__global__ void tile_scans(int *out) {
    auto warp = cg::tiled_partition<32>(cg::this_thread_block());
    auto four = cg::tiled_partition<4>(warp);
    int value = static_cast<int>(threadIdx.x * 29 % 17) - 8;
    int *row = out + threadIdx.x * 4;
    row[0] = cg::inclusive_scan(warp, value);
    row[1] = cg::exclusive_scan(warp, value);
    row[2] = cg::inclusive_scan(four, value, cg::greater<int>());
    row[3] = cg::exclusive_scan(four, value, cg::plus<int>());
}

CASE(scan_over_tiles) {
    Buffer<int> out(32 * 4);
    tile_scans<<<1, 32>>>(out);
    out.show("inclusive, exclusive, greater, plus", 8);
}

__global__ void coalesced(u32 *out) {
    if (threadIdx.x % 3 == 1) {
        cg::coalesced_group group = cg::coalesced_threads();
        u32 *row = out + threadIdx.x * 4;
        row[0] = group.thread_rank() + group.size() * 100;
        row[1] = group.shfl(threadIdx.x, 2);
        row[2] = group.ballot(threadIdx.x > 10);
        row[3] = cg::reduce(group, threadIdx.x, cg::plus<u32>());
    }
}

CASE(coalesced_threads) {
    Buffer<u32> out(32 * 4);
    coalesced<<<1, 32>>>(out);
    out.show("rank, shuffle, ballot, sum", 12);
}

// One atomic a warp instead of one a thread.
static __device__ u32 aggregated_increment(u32 *counter) {
    cg::coalesced_group active = cg::coalesced_threads();
    u32 first = 0;
    if (active.thread_rank() == 0) first = atomicAdd(counter, active.size());
    return active.shfl(first, 0) + active.thread_rank();
}

__global__ void filter(const int *in, int n, u32 *counter, u32 *seen) {
    int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < n && in[i] % 3 == 0) seen[aggregated_increment(counter)] = 1;
}

CASE(aggregated_atomics) {
    int host[300];
    for (int i = 0; i < 300; ++i) host[i] = i * 7 % 101;
    Buffer<int> in(host);
    Buffer<u32> counter(1), seen(300);
    filter<<<3, 128>>>(in, 300, counter, seen);
    counter.show("count");
    seen.show_hash("dense");
}

__global__ void partitions(u32 *out) {
    auto warp = cg::tiled_partition<32>(cg::this_thread_block());
    auto even = cg::binary_partition(warp, threadIdx.x % 5 < 2);
    auto labelled = cg::labeled_partition(warp, threadIdx.x % 4);
    u32 *row = out + threadIdx.x * 3;
    row[0] = even.thread_rank() + even.size() * 100;
    row[1] = labelled.thread_rank() + labelled.size() * 100;
    row[2] = labelled.shfl(threadIdx.x, 1);
}

CASE(binary_and_labelled_partitions) {
    Buffer<u32> out(32 * 3);
    partitions<<<1, 32>>>(out);
    out.show("even, labelled, shuffle", 12);
}

__global__ void run_time_tiles(u32 *out) {
    cg::thread_group four = cg::tiled_partition(cg::this_thread_block(), 4);
    out[threadIdx.x] = four.thread_rank() + four.size() * 100;
    four.sync();
}

CASE(tiles_of_a_size_known_at_run_time) {
    Buffer<u32> out(32);
    run_time_tiles<<<1, 32>>>(out);
    out.show("rank", 16);
}

__global__ void single_thread_work(u32 *out) {
    auto block = cg::this_thread_block();
    cg::invoke_one(block, [&] { atomicAdd(out, 1u); });
    block.sync();
    auto warp = cg::tiled_partition<32>(block);
    u32 told = cg::invoke_one_broadcast(warp, [&] { return atomicAdd(out + 1, 1u) * 0 + 5; });
    out[2 + threadIdx.x] = told;
}

CASE(invoke_one) {
    Buffer<u32> out(66);
    single_thread_work<<<1, 64>>>(out);
    out.show("values", 22);
}

__global__ void grid_group(u32 *data, u32 rounds) {
    cg::grid_group grid = cg::this_grid();
    u32 i = static_cast<u32>(grid.thread_rank()), n = static_cast<u32>(grid.size());
    for (u32 round = 0; round < rounds; ++round) {
        u32 value = data[(round & 1) * n + (i * 5 + 3) % n];
        data[(~round & 1) * n + i] = value + i;
        grid.sync();
    }
}

CASE(grid_sync) {
    Buffer<u32> data(2 * 4 * 64);
    u32 rounds = 5;
    u32 *pointer = data;
    void *arguments[] = {&pointer, &rounds};
    CHECK(cudaLaunchCooperativeKernel(grid_group, 4, 64, arguments));
    data.show_hash("both halves");
    data.show("values", 16);
}

__global__ void grid_facts(unsigned long long *out) {
    cg::grid_group grid = cg::this_grid();
    if (grid.thread_rank() == grid.size() - 1) {
        out[0] = grid.size();
        out[1] = grid.block_rank();
        out[2] = grid.num_blocks();
        out[3] = grid.is_valid();
    }
}

CASE(grid_group_of_a_plain_launch) {
    Buffer<unsigned long long> out(4);
    grid_facts<<<dim3(2, 3), 32>>>(out);
    out.show("size, block, blocks, valid");
}
