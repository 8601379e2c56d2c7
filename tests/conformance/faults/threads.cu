// Faults of threads that work together, and ends that a kernel chooses itself.
#include <cassert>

#include "case.cuh"
#include "ended.cuh"

__global__ void neighbours(const int *in, int *out) {
    __shared__ int tile[128];
    tile[threadIdx.x] = in[threadIdx.x];
    out[threadIdx.x] = tile[127 - threadIdx.x];  // FAULT missing_barrier
}

CASE(missing_barrier) {
    Buffer<int> in(128), out(128);
    neighbours<<<1, 128>>>(in, out);
    ended();
}

__global__ void all_write(int *out) {
    __shared__ int last;
    last = static_cast<int>(threadIdx.x);  // FAULT everyone_writes_one_word
    __syncthreads();
    out[threadIdx.x] = last;
}

CASE(everyone_writes_one_word) {
    Buffer<int> out(128);
    all_write<<<1, 128>>>(out);
    ended();
}

__global__ void tree_without_barrier(int *out) {
    __shared__ int sums[128];
    sums[threadIdx.x] = static_cast<int>(threadIdx.x);
    __syncthreads();
    for (unsigned half = 64; half; half /= 2)
        if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];  // FAULT reduction_without_barrier
    if (threadIdx.x == 0) *out = sums[0];
}

CASE(reduction_without_barrier) {
    Buffer<int> out(1);
    tree_without_barrier<<<1, 128>>>(out);
    ended();
}

__global__ void barrier_for_some(int *out) {
    __shared__ int tile[64];
    tile[threadIdx.x] = 1;
    if (threadIdx.x % 2 == 0) __syncthreads();  // FAULT divergent_barrier
    out[threadIdx.x] = tile[63 - threadIdx.x];
}

CASE(divergent_barrier) {
    Buffer<int> out(64);
    barrier_for_some<<<1, 64>>>(out);
    ended();
}

__global__ void wrong_mask(int *out) {
    int value = static_cast<int>(threadIdx.x);
    if (threadIdx.x < 16) value = __shfl_sync(0x0000ff00, value, 8);  // FAULT lane_not_in_its_mask
    out[threadIdx.x] = value;
}

CASE(lane_not_in_its_mask) {
    Buffer<int> out(32);
    wrong_mask<<<1, 32>>>(out);
    ended();
}

// Both halves wait for 64 threads at different barriers, and there are only 64 in all.
__global__ void two_barriers(int *out) {
    if (threadIdx.x < 32)
        asm volatile("bar.sync 1, 64;" : : : "memory");  // FAULT deadlock
    else
        asm volatile("bar.sync 2, 64;" : : : "memory");
    out[threadIdx.x] = 1;
}

CASE(deadlock) {
    Buffer<int> out(64);
    two_barriers<<<1, 64>>>(out);
    ended();
}

__global__ void wait_for_nobody(volatile int *flag) {
    while (*flag == 0) {  // FAULT flag_that_nobody_sets
    }
}

CASE(flag_that_nobody_sets) {
    Buffer<int> flag(1);
    wait_for_nobody<<<1, 32>>>(flag);
    ended();
}

__global__ void endless(unsigned *out, unsigned step) {
    unsigned x = threadIdx.x;
    for (unsigned i = 0; i != 101; i += step) x = x * 1664525u + 1013904223u + i;  // FAULT endless_loop
    *out = x;
}

CASE(endless_loop) {
    Buffer<unsigned> out(1);
    endless<<<1, 32>>>(out, 2);
    ended();
}

__global__ void check_values(const int *in) {
    assert(in[threadIdx.x] == 0);  // FAULT failed_assertion
}

CASE(failed_assertion) {
    int host[32] = {};
    host[13] = 1;
    Buffer<int> in(host);
    check_values<<<1, 32>>>(in);
    ended();
}

__global__ void give_up(int code) {
    if (code == 3) __trap();  // FAULT trap
}

CASE(trap) {
    give_up<<<1, 32>>>(3);
    ended();
}
