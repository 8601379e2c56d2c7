// Lanes of a warp exchange values: shuffles, votes, matches, reductions (PTX ISA 9.0, sections 9.7.9.6 and 9.7.13).
#include "case.cuh"

typedef unsigned u32;
typedef unsigned long long u64;

static __device__ u32 lane_id() {
    u32 lane;
    asm("mov.u32 %0, %%laneid;" : "=r"(lane));
    return lane;
}

// A row a width: 32, 16, 8, 4, 2, 1.
__global__ void shuffle_down(u32 *out) {
    u32 value = threadIdx.x * 7 + 3;
    for (int row = 0, width = 32; width; ++row, width /= 2)
        out[row * 32 + threadIdx.x] = __shfl_down_sync(~0u, value, 3, width);
}
__global__ void shuffle_up(u32 *out) {
    u32 value = threadIdx.x * 7 + 3;
    for (int row = 0, width = 32; width; ++row, width /= 2)
        out[row * 32 + threadIdx.x] = __shfl_up_sync(~0u, value, 5, width);
}
__global__ void shuffle_xor(u32 *out) {
    u32 value = threadIdx.x * 7 + 3;
    for (int row = 0, width = 32; width; ++row, width /= 2)
        out[row * 32 + threadIdx.x] = __shfl_xor_sync(~0u, value, 6, width);
}
__global__ void shuffle_index(u32 *out) {
    u32 value = threadIdx.x * 7 + 3;
    for (int row = 0, width = 32; width; ++row, width /= 2)
        out[row * 32 + threadIdx.x] = __shfl_sync(~0u, value, static_cast<int>(threadIdx.x * 5 + 40), width);
}

#define SHUFFLE(name)             \
    CASE(name) {                  \
        Buffer<u32> out(6 * 32);  \
        name<<<1, 32>>>(out);     \
        out.show("by width", 32); \
    }
SHUFFLE(shuffle_down)
SHUFFLE(shuffle_up)
SHUFFLE(shuffle_xor)
SHUFFLE(shuffle_index)

// The predicate says whether the source lane was in range; c holds the segment mask and the clamp.
__global__ void shuffle_predicates(u32 *out) {
    u32 value = threadIdx.x + 100, lane = threadIdx.x, r, ok;
#define ONE(row, mode, b, c)                                                                                  \
    asm volatile("{ .reg .pred p; shfl.sync." mode ".b32 %0|p, %2, " b ", " c ", -1; selp.u32 %1, 1, 0, p; }" \
                 : "=r"(r), "=r"(ok)                                                                          \
                 : "r"(value));                                                                               \
    out[row * 32 + lane] = r * 2 + ok;
    ONE(0, "up", "3", "0")
    ONE(1, "down", "9", "31")
    ONE(2, "bfly", "17", "0x0f1f")
    ONE(3, "idx", "37", "0x181f")
    ONE(4, "up", "2", "0x1c00")
    ONE(5, "down", "1", "0x1803")
#undef ONE
}
SHUFFLE(shuffle_predicates)

__global__ void shuffle_wide(u64 *out) {
    double d = threadIdx.x * 0.1;
    u64 l = 0x100000001ull * threadIdx.x;
    u64 *row = out + threadIdx.x * 2;
    row[0] = static_cast<u64>(__double_as_longlong(__shfl_xor_sync(~0u, d, 1)));
    row[1] = __shfl_down_sync(~0u, l, 2) + static_cast<u64>(__float_as_uint(__shfl_sync(~0u, threadIdx.x * 1.5f, 9)));
}

CASE(shuffles_of_64_bits_and_floats) {
    Buffer<u64> out(64);
    shuffle_wide<<<1, 32>>>(out);
    out.show("f64, u64 + f32", 8);
}

__global__ void shuffle_in_halves(u32 *out) {
    u32 lane = threadIdx.x % 32, value = threadIdx.x;
    if (lane < 12)
        value = __shfl_sync(0x00000fff, value, static_cast<int>((lane + 1) % 12)) + 1000;
    else
        value = __shfl_sync(0xfffff000, value, static_cast<int>(43 - lane)) + 2000;
    out[threadIdx.x] = value;
}

CASE(shuffle_in_divergent_branches) {
    Buffer<u32> out(64);
    shuffle_in_halves<<<1, 64>>>(out);
    out.show("values", 16);
}

__global__ void warp_sums(const int *in, int *out) {
    int sum = in[blockIdx.x * blockDim.x + threadIdx.x];
    for (int offset = 16; offset; offset /= 2) sum += __shfl_down_sync(~0u, sum, static_cast<u32>(offset));
    if (threadIdx.x % 32 == 0) atomicAdd(out + blockIdx.x, sum);
}

CASE(warp_reduction) {
    int host[512];
    for (int i = 0; i < 512; ++i) host[i] = i * i % 1009;
    Buffer<int> in(host), out(2);
    warp_sums<<<2, 256>>>(in, out);
    out.show("sums");
}

__global__ void inclusive_scan(u32 *out) {
    u32 value = threadIdx.x ^ 21;
    for (u32 offset = 1; offset < 32; offset *= 2) {
        u32 other = __shfl_up_sync(~0u, value, offset);
        if (threadIdx.x >= offset) value += other;
    }
    out[threadIdx.x] = value;
}

CASE(warp_scan) {
    Buffer<u32> out(32);
    inclusive_scan<<<1, 32>>>(out);
    out.show("sums", 16);
}

// The last warp of a block may hold fewer than 32 threads.
__global__ void last_warp(u32 *out) {
    u32 mask = threadIdx.x < 32 ? ~0u : 0xffu;
    u32 *row = out + threadIdx.x * 4;
    row[0] = __ballot_sync(mask, threadIdx.x & 1);
    row[1] = __shfl_xor_sync(mask, threadIdx.x, 1);
    row[2] = __activemask();
    row[3] = __reduce_add_sync(mask, threadIdx.x);
}

CASE(partial_warps) {
    Buffer<u32> out(40 * 4);
    last_warp<<<1, 40>>>(out);
    out.show("ballot, shuffle, active, sum", 8);
}

__global__ void lanes_that_are_gone(u32 *out) {
    if (threadIdx.x % 4 == 3) return;
    u32 mask = __activemask();
    out[threadIdx.x * 2] = __ballot_sync(mask, threadIdx.x > 9);
    out[threadIdx.x * 2 + 1] = __reduce_max_sync(mask, threadIdx.x);
}

CASE(exited_lanes) {
    Buffer<u32> out(64);
    lanes_that_are_gone<<<1, 32>>>(out);
    out.show("ballot, max", 16);
}

__global__ void votes(u32 *out) {
    u32 *row = out + threadIdx.x * 6, uniform;
    row[0] = static_cast<u32>(__all_sync(~0u, threadIdx.x < 32));
    row[1] = static_cast<u32>(__all_sync(~0u, threadIdx.x < 31));
    row[2] = static_cast<u32>(__any_sync(~0u, threadIdx.x == 17));
    row[3] = static_cast<u32>(__any_sync(~0u, threadIdx.x == 32));
    row[4] = __ballot_sync(~0u, threadIdx.x % 5 == 2);
    asm volatile("{ .reg .pred p, q; setp.lt.u32 p, %1, 40; vote.sync.uni.pred q, p, -1; selp.u32 %0, 1, 0, q; }"
                 : "=r"(uniform)
                 : "r"(threadIdx.x));
    row[5] = uniform;
}

CASE(votes_of_all_lanes) {
    Buffer<u32> out(32 * 6);
    votes<<<1, 32>>>(out);
    out.show("all, all, any, any, ballot, uniform", 12);
}

__global__ void votes_of_groups(u32 *out) {
    u32 lane = threadIdx.x, r;
    if (lane % 3 == 0)
        r = __ballot_sync(0x49249249, lane > 12);
    else if (lane % 3 == 1)
        r = static_cast<u32>(__all_sync(0x92492492, lane != 13)) + 100;
    else
        r = static_cast<u32>(__any_sync(0x24924924, lane == 14)) + 200;
    out[lane] = r;
}

CASE(votes_in_divergent_branches) {
    Buffer<u32> out(32);
    votes_of_groups<<<1, 32>>>(out);
    out.show("values", 16);
}

__global__ void matches(u32 *out) {
    u32 *row = out + threadIdx.x * 5;
    int same = -1, other = -1;
    row[0] = __match_any_sync(~0u, threadIdx.x % 5);
    row[1] = __match_any_sync(~0u, (threadIdx.x % 3) * 0x100000001ull);
    row[2] = __match_all_sync(~0u, threadIdx.x / 32, &same);
    row[3] = __match_all_sync(~0u, threadIdx.x / 31, &other);
    row[4] = static_cast<u32>(same * 2 + other);
}

CASE(matching_lanes) {
    Buffer<u32> out(32 * 5);
    matches<<<1, 32>>>(out);
    out.show("any, any64, all, all, same", 10);
}

__global__ void matches_of_groups(u32 *out) {
    if (threadIdx.x % 2)
        out[threadIdx.x] = __match_any_sync(0xaaaaaaaa, threadIdx.x / 6);
    else
        out[threadIdx.x] = __match_any_sync(0x55555555, threadIdx.x & 4);
}

CASE(matching_in_divergent_branches) {
    Buffer<u32> out(32);
    matches_of_groups<<<1, 32>>>(out);
    out.show("masks", 8);
}

__global__ void reductions(u32 *out) {
    u32 value = (threadIdx.x + 3) * 2654435761u;
    int number = static_cast<int>(value);
    u32 *row = out + threadIdx.x * 9;
    row[0] = __reduce_add_sync(~0u, value);
    row[1] = static_cast<u32>(__reduce_add_sync(~0u, number));
    row[2] = __reduce_min_sync(~0u, value);
    row[3] = __reduce_max_sync(~0u, value);
    row[4] = static_cast<u32>(__reduce_min_sync(~0u, number));
    row[5] = static_cast<u32>(__reduce_max_sync(~0u, number));
    row[6] = __reduce_and_sync(~0u, value | 0x10);
    row[7] = __reduce_or_sync(~0u, value & 0xff00);
    row[8] = __reduce_xor_sync(~0u, value);
}

CASE(reductions_of_all_lanes) {
    Buffer<u32> out(32 * 9);
    reductions<<<1, 32>>>(out);
    out.show("add, add, min, max, min, max, and, or, xor", 9);
}

__global__ void reductions_of_groups(u32 *out) {
    u32 third = threadIdx.x % 3, mask = __match_any_sync(~0u, third);
    if (third == 0)
        out[threadIdx.x] = __reduce_add_sync(mask, threadIdx.x);
    else if (third == 1)
        out[threadIdx.x] = __reduce_xor_sync(mask, threadIdx.x);
    else
        out[threadIdx.x] = static_cast<u32>(__reduce_min_sync(mask, -static_cast<int>(threadIdx.x)));
}

CASE(reductions_in_divergent_branches) {
    Buffer<u32> out(32);
    reductions_of_groups<<<1, 32>>>(out);
    out.show("values", 16);
}

__global__ void active_lanes(u32 *out) {
    u32 *row = out + threadIdx.x * 3;
    row[0] = __activemask();
    if (threadIdx.x < 10) row[1] = __activemask();
    __syncwarp();
    row[2] = __activemask();
}

CASE(active_mask_of_branches) {
    Buffer<u32> out(32 * 3);
    active_lanes<<<1, 32>>>(out);
    out.show("all, branch, all", 12);
}

__global__ void election(u32 *out) {
    u32 leader, elected;
    asm volatile("{ .reg .pred p; elect.sync %0|p, 0xffffffff; selp.u32 %1, 1, 0, p; }" : "=r"(leader), "=r"(elected));
    out[threadIdx.x] = leader * 2 + elected;
    if (threadIdx.x % 2) {
        asm volatile("{ .reg .pred p; elect.sync %0|p, 0xaaaaaaaa; selp.u32 %1, 1, 0, p; }"
                     : "=r"(leader), "=r"(elected));
        out[threadIdx.x] += (leader * 2 + elected) * 1000;
    }
}

CASE(elected_lane) {
    Buffer<u32> out(32);
    election<<<1, 32>>>(out);
    out.show("leader, elected", 16);
}

__global__ void ballots_until_done(u32 *out) {
    u32 rest = threadIdx.x * 3 % 11 + 1, rounds = 0, seen = 0;
    while (u32 working = __ballot_sync(~0u, rest != 0)) {
        seen += static_cast<u32>(__popc(working));
        if (rest) --rest;
        ++rounds;
    }
    out[threadIdx.x] = rounds * 1000 + seen;
}

CASE(ballot_in_a_loop) {
    Buffer<u32> out(32);
    ballots_until_done<<<1, 32>>>(out);
    out.show("rounds, seen", 16);
}

__global__ void peers_one_by_one(u32 *out) {
    u32 key = threadIdx.x * 5 % 7, todo = ~0u, order = 0;
    for (u32 round = 0; todo; ++round) {  // one key after the other, all lanes voting
        u32 leader = static_cast<u32>(__ffs(static_cast<int>(todo)) - 1);
        u32 wanted = __shfl_sync(~0u, key, static_cast<int>(leader));
        u32 same = __ballot_sync(~0u, key == wanted);
        if (key == wanted) order = round * 100 + static_cast<u32>(__popc(same & ((1u << lane_id()) - 1)));
        todo &= ~same;
    }
    out[threadIdx.x] = order;
}

CASE(lanes_by_key) {
    Buffer<u32> out(32);
    peers_one_by_one<<<1, 32>>>(out);
    out.show("round, rank", 16);
}

// Shared memory between lanes, ordered by __syncwarp alone; half of the warp in another branch.
__global__ void warp_barriers(u32 *out) {
    __shared__ u32 slots[64];
    u32 lane = threadIdx.x % 32;
    slots[threadIdx.x] = threadIdx.x * 3;
    __syncwarp();
    u32 value = slots[threadIdx.x ^ 1];
    if (lane < 16) {
        __syncwarp(0x0000ffff);
        slots[threadIdx.x] = value + 1;
        __syncwarp(0x0000ffff);
        value = slots[threadIdx.x ^ 8];
    } else {
        value += 500;
    }
    __syncwarp();
    out[threadIdx.x] = value;
}

CASE(syncwarp) {
    Buffer<u32> out(64);
    warp_barriers<<<1, 64>>>(out);
    out.show("values", 16);
}

// A warp spans threads of two rows when the block is not 32 wide: lanes follow x, then y, then z.
__global__ void warps_of_a_cuboid(u32 *out) {
    u32 linear = threadIdx.x + 5 * (threadIdx.y + 4 * threadIdx.z);
    out[linear] = __shfl_sync(__activemask(), linear * 10 + lane_id(),
                              static_cast<int>((lane_id() + 7) % (linear < 32 ? 32 : 28)));
}

CASE(warps_in_three_dimensions) {
    Buffer<u32> out(60);
    warps_of_a_cuboid<<<1, dim3(5, 4, 3)>>>(out);
    out.show("values", 20);
}
