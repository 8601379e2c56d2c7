// Threads of a block wait for each other: bar.sync and its relatives (PTX ISA 9.0, section 9.7.13).
#include "case.cuh"

typedef unsigned u32;

__global__ void reverse_in_shared(int *data) {
    __shared__ int tile[256];
    u32 i = threadIdx.x;
    tile[i] = data[blockIdx.x * 256 + i];
    __syncthreads();
    data[blockIdx.x * 256 + i] = tile[255 - i];
}

CASE(syncthreads) {
    int host[1024];
    for (int i = 0; i < 1024; ++i) host[i] = i * 3;
    Buffer<int> data(host);
    reverse_in_shared<<<4, 256>>>(data);
    data.show_hash("reversed");
}

__global__ void tree_reduction(const int *in, int *out) {
    __shared__ int sums[128];
    u32 i = threadIdx.x;
    sums[i] = in[i];
    for (u32 half = 64; half > 0; half /= 2) {
        __syncthreads();
        if (i < half) sums[i] += sums[i + half];
    }
    if (i == 0) *out = sums[0];
}

CASE(barrier_in_a_loop) {
    int host[128];
    for (int i = 0; i < 128; ++i) host[i] = i * i - 1000;
    Buffer<int> in(host), out(1);
    tree_reduction<<<1, 128>>>(in, out);
    out.show("sum");
}

__global__ void barrier_reductions(int *out) {
    int i = static_cast<int>(threadIdx.x);
    int *row = out + i * 4;
    row[0] = __syncthreads_count(i % 3 == 0);
    row[1] = __syncthreads_and(i < 50) != 0;
    row[2] = __syncthreads_and(i < 70) != 0;
    row[3] = __syncthreads_or(i == 63) != 0;
}

CASE(barriers_that_reduce) {
    Buffer<int> out(70 * 4);
    barrier_reductions<<<1, 70>>>(out);
    out.show("count, and, and, or", 20);
}

__global__ void exit_before_barrier(int *out) {
    __shared__ int seen;
    if (threadIdx.x == 0) seen = 0;
    __syncthreads();
    if (threadIdx.x >= 40) return;
    atomicAdd(&seen, 1);
    __syncthreads();  // those that are gone count as arrived
    out[threadIdx.x] = seen;
}

CASE(exited_threads_count_as_arrived) {
    Buffer<int> out(40);
    exit_before_barrier<<<1, 128>>>(out);
    out.show("seen");
}

// Two halves of a block, each with a barrier of its own.
__global__ void named_barriers(int *out) {
    __shared__ int values[128];
    u32 half = threadIdx.x / 64, i = threadIdx.x % 64;
    for (u32 round = 0; round < 3 + half * 4; ++round) {
        values[threadIdx.x] = static_cast<int>(round * 100 + i);
        asm volatile("bar.sync %0, 64;" : : "r"(half + 1) : "memory");
        int other = values[half * 64 + 63 - i];
        asm volatile("bar.sync %0, 64;" : : "r"(half + 1) : "memory");
        out[threadIdx.x] += other;
    }
}

CASE(named_barriers_with_counts) {
    Buffer<int> out(128);
    named_barriers<<<1, 128>>>(out);
    out.show("sums", 16);
}

// Producers arrive and go on, consumers wait: bar.arrive and bar.sync on one barrier.
__global__ void producer_consumer(int *out) {
    __shared__ int slot[32];
    u32 lane = threadIdx.x % 32;
    if (threadIdx.x < 32) {
        for (int round = 0; round < 4; ++round) {
            slot[lane] = static_cast<int>(lane) * 10 + round;
            asm volatile("bar.arrive 3, 64;" : : : "memory");
            asm volatile("bar.sync 4, 64;" : : : "memory");
        }
    } else {
        int sum = 0;
        for (int round = 0; round < 4; ++round) {
            asm volatile("bar.sync 3, 64;" : : : "memory");
            sum = sum * 2 + slot[31 - lane];
            asm volatile("bar.arrive 4, 64;" : : : "memory");
        }
        out[lane] = sum;
    }
}

CASE(arrive_without_waiting) {
    Buffer<int> out(32);
    producer_consumer<<<1, 64>>>(out);
    out.show("sums", 16);
}

__global__ void reductions_of_some(int *out) {
    if (threadIdx.x < 64) {
        u32 i = threadIdx.x, count, both;
        asm volatile("{ .reg .pred p; setp.lt.u32 p, %1, 20; barrier.red.popc.u32 %0, 5, 64, p; }"
                     : "=r"(count)
                     : "r"(i)
                     : "memory");
        asm volatile(
            "{ .reg .pred p, q; setp.lt.u32 p, %1, 64; barrier.red.and.pred q, 6, 64, p; selp.u32 %0, 1, 0, q; }"
            : "=r"(both)
            : "r"(i)
            : "memory");
        out[i] = static_cast<int>(count * 10 + both);
    }
    __syncthreads();
    out[threadIdx.x] += 1000;
}

CASE(reductions_of_part_of_a_block) {
    Buffer<int> out(96);
    reductions_of_some<<<1, 96>>>(out);
    out.show("values", 16);
}

// Lanes of one warp reach the same barrier from two places in the code.
__global__ void barrier_in_both_branches(int *out) {
    __shared__ int values[64];
    u32 i = threadIdx.x;
    if (i % 2) {
        values[i] = static_cast<int>(i);
        __syncthreads();
        out[i] = values[i ^ 1] + 1;
    } else {
        values[i] = static_cast<int>(i) * 100;
        __syncthreads();
        out[i] = values[i ^ 1] + 2;
    }
}

CASE(one_barrier_from_two_branches) {
    Buffer<int> out(64);
    barrier_in_both_branches<<<1, 64>>>(out);
    out.show("values", 16);
}

__global__ void in_a_called_function(int *out);
static __device__ __noinline__ int exchange(int *place, int value, u32 i) {
    place[i] = value;
    __syncthreads();
    int other = place[i ^ 33];
    __syncthreads();
    return other;
}
__global__ void in_a_called_function(int *out) {
    __shared__ int values[64];
    int x = static_cast<int>(threadIdx.x);
    for (int i = 0; i < 3; ++i) x = exchange(values, x * 2 + 1, threadIdx.x);
    out[threadIdx.x] = x;
}

CASE(barrier_in_a_called_function) {
    Buffer<int> out(64);
    in_a_called_function<<<1, 64>>>(out);
    out.show("values", 16);
}

__global__ void fences(int *out) {
    __shared__ volatile int ready;
    __shared__ volatile int value;
    if (threadIdx.x == 0) ready = 0;
    __syncthreads();
    if (threadIdx.x == 32) {  // another warp: no barrier, only order
        value = 77;
        __threadfence_block();
        ready = 1;
    } else if (threadIdx.x == 0) {
        while (!ready) {
        }
        __threadfence_block();
        out[0] = value;
    }
}

CASE(spin_on_shared_memory) {
    Buffer<int> out(1);
    fences<<<1, 64>>>(out);
    out.show("value");
}
