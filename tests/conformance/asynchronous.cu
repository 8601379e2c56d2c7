// mbarrier, and asynchronous copies into and out of shared memory (PTX ISA 9.0, sections 9.7.9.25 and 9.7.13.15).
#include "case.cuh"

typedef unsigned u32;
typedef unsigned long long u64;

static __device__ u32 shared_address(const void *pointer) {
    return static_cast<u32>(__cvta_generic_to_shared(pointer));
}

__global__ void mbarrier_phases(int *out) {
    __shared__ u64 barrier;
    __shared__ int values[64];
    u32 i = threadIdx.x, address = shared_address(&barrier);
    if (i == 0) asm volatile("mbarrier.init.shared.b64 [%0], 64;" : : "r"(address) : "memory");
    __syncthreads();
    int x = static_cast<int>(i);
    for (int phase = 0; phase < 3; ++phase) {
        values[i] = x + phase;
        u64 state;
        asm volatile("mbarrier.arrive.shared.b64 %0, [%1];" : "=l"(state) : "r"(address) : "memory");
        u32 done = 0;
        while (!done)
            asm volatile("{ .reg .pred p; mbarrier.test_wait.shared.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
                         : "=r"(done)
                         : "r"(address), "l"(state)
                         : "memory");
        x += values[63 - i];
        __syncthreads();
    }
    out[i] = x;
}

CASE(mbarrier_arrive_and_test) {
    Buffer<int> out(64);
    mbarrier_phases<<<1, 64>>>(out);
    out.show("values", 16);
}

__global__ void mbarrier_parity(int *out) {
    __shared__ u64 full, empty;
    __shared__ int slot[32];
    u32 lane = threadIdx.x % 32, filled = shared_address(&full), emptied = shared_address(&empty);
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.init.shared.b64 [%0], 32;" : : "r"(filled) : "memory");
        asm volatile("mbarrier.init.shared.b64 [%0], 32;" : : "r"(emptied) : "memory");
    }
    __syncthreads();
    int sum = 0;
    for (u32 round = 0; round < 4; ++round) {
        bool producer = threadIdx.x < 32;
        u32 wait_for = producer ? emptied : filled, parity = producer ? (round & 1) ^ 1 : round & 1, done = 0;
        while (!done)
            asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
                         : "=r"(done)
                         : "r"(wait_for), "r"(parity)
                         : "memory");
        if (producer)
            slot[lane] = static_cast<int>(lane * 7 + round);
        else
            sum = sum * 3 + slot[lane ^ 5];
        asm volatile("{ .reg .b64 s; mbarrier.arrive.shared.b64 s, [%0]; }"
                     :
                     : "r"(producer ? filled : emptied)
                     : "memory");
    }
    if (threadIdx.x >= 32) out[lane] = sum;
}

CASE(mbarrier_full_and_empty) {
    Buffer<int> out(32);
    mbarrier_parity<<<1, 64>>>(out);
    out.show("sums", 16);
}

__global__ void mbarrier_counts(u32 *out) {
    __shared__ u64 barrier;
    u32 address = shared_address(&barrier), pending;
    u64 state, before;
    asm volatile("mbarrier.init.shared.b64 [%0], 5;" : : "r"(address) : "memory");
    asm volatile("mbarrier.arrive.shared.b64 %0, [%1], 2;" : "=l"(before) : "r"(address) : "memory");
    asm volatile("mbarrier.arrive.noComplete.shared.b64 %0, [%1], 1;" : "=l"(state) : "r"(address) : "memory");
    asm volatile("mbarrier.pending_count.b64 %0, %1;" : "=r"(pending) : "l"(state));
    out[0] = pending;
    asm volatile("mbarrier.pending_count.b64 %0, %1;" : "=r"(pending) : "l"(before));
    out[1] = pending;
    asm volatile("mbarrier.arrive_drop.shared.b64 %0, [%1];" : "=l"(state) : "r"(address) : "memory");
    u32 done;
    asm volatile("{ .reg .pred p; mbarrier.test_wait.shared.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
                 : "=r"(done)
                 : "r"(address), "l"(before)
                 : "memory");
    out[2] = done;
    asm volatile("mbarrier.arrive.shared.b64 %0, [%1];" : "=l"(state) : "r"(address) : "memory");
    asm volatile("{ .reg .pred p; mbarrier.test_wait.shared.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
                 : "=r"(done)
                 : "r"(address), "l"(before)
                 : "memory");
    out[3] = done;
    // one participant has left for good: the next phase expects 4
    asm volatile("mbarrier.arrive.shared.b64 %0, [%1];" : "=l"(state) : "r"(address) : "memory");
    asm volatile("mbarrier.pending_count.b64 %0, %1;" : "=r"(pending) : "l"(state));
    out[4] = pending;
    asm volatile("mbarrier.inval.shared.b64 [%0];" : : "r"(address) : "memory");
}

CASE(mbarrier_pending_counts) {
    Buffer<u32> out(5);
    mbarrier_counts<<<1, 1>>>(out);
    out.show("pending, pending, done, done, pending");
}

// ---- asynchronous copies

__global__ void copy_groups(const int *in, int *out) {
    __shared__ alignas(16) int tile[4][128];
    u32 i = threadIdx.x;
    for (int stage = 0; stage < 4; ++stage) {
        asm volatile("cp.async.ca.shared.global [%0], [%1], 4;"
                     :
                     : "r"(shared_address(&tile[stage][i])), "l"(in + stage * 128 + i)
                     : "memory");
        asm volatile("cp.async.commit_group;" : : : "memory");
    }
    asm volatile("cp.async.wait_group 2;" : : : "memory");
    __syncthreads();
    int sum = tile[0][127 - i] + tile[1][i ^ 1];
    asm volatile("cp.async.wait_all;" : : : "memory");
    __syncthreads();
    out[i] = sum * 3 + tile[2][127 - i] + tile[3][i ^ 3];
}

CASE(cp_async_groups) {
    int host[512];
    for (int i = 0; i < 512; ++i) host[i] = i * 11 - 7;
    Buffer<int> in(host), out(128);
    copy_groups<<<1, 128>>>(in, out);
    out.show("values", 16);
}

__global__ void partial_copies(const int *in, int *out) {
    __shared__ alignas(16) int tile[32 * 4];
    u32 i = threadIdx.x;
    for (u32 j = 0; j < 4; ++j) tile[i * 4 + j] = -1;
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;"  // the rest of the 16 bytes becomes zero
                 :
                 : "r"(shared_address(tile + i * 4)), "l"(in + i * 4), "r"(i % 5 * 4)
                 : "memory");
    asm volatile("cp.async.wait_all;" : : : "memory");
    for (u32 j = 0; j < 4; ++j) out[i * 4 + j] = tile[i * 4 + j];
}

CASE(cp_async_fills_with_zeros) {
    int host[128];
    for (int i = 0; i < 128; ++i) host[i] = i + 1;
    Buffer<int> in(host), out(128);
    partial_copies<<<1, 32>>>(in, out);
    out.show("values", 16);
}

__global__ void copies_that_arrive(const int *in, int *out) {
    __shared__ u64 barrier;
    __shared__ int tile[64];
    u32 i = threadIdx.x, address = shared_address(&barrier);
    if (i == 0) asm volatile("mbarrier.init.shared.b64 [%0], 64;" : : "r"(address) : "memory");
    __syncthreads();
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" : : "r"(shared_address(tile + i)), "l"(in + i) : "memory");
    asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" : : "r"(address) : "memory");
    u32 done = 0;
    while (!done)
        asm volatile("{ .reg .pred p; mbarrier.test_wait.parity.shared.b64 p, [%1], 0; selp.u32 %0, 1, 0, p; }"
                     : "=r"(done)
                     : "r"(address)
                     : "memory");
    out[i] = tile[63 - i];
}

CASE(cp_async_arrives_on_mbarrier) {
    int host[64];
    for (int i = 0; i < 64; ++i) host[i] = i * i;
    Buffer<int> in(host), out(64);
    copies_that_arrive<<<1, 64>>>(in, out);
    out.show("values", 16);
}

// ---- bulk copies: one thread asks for many bytes, and the barrier counts them

__global__ void bulk_into_shared(const int *in, int *out) {
    __shared__ alignas(128) int tile[256];
    __shared__ u64 barrier;
    u32 address = shared_address(&barrier), bytes = sizeof tile, done = 0;
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.init.shared.b64 [%0], 1;" : : "r"(address) : "memory");
        asm volatile("fence.proxy.async.shared::cta;" : : : "memory");
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" : : "r"(address), "r"(bytes) : "memory");
        asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
                     :
                     : "r"(shared_address(tile)), "l"(in), "r"(bytes), "r"(address)
                     : "memory");
    }
    while (!done)
        asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], 0; selp.u32 %0, 1, 0, p; }"
                     : "=r"(done)
                     : "r"(address)
                     : "memory");
    for (u32 i = threadIdx.x; i < 256; i += blockDim.x) out[i] = tile[255 - i];
}

CASE(cp_async_bulk_into_shared) {
    int host[256];
    for (int i = 0; i < 256; ++i) host[i] = i * 13 - 100;
    Buffer<int> in(host), out(256);
    bulk_into_shared<<<1, 64>>>(in, out);
    out.show("values", 16);
}

__global__ void bulk_out_of_shared(int *out) {
    __shared__ alignas(128) int tile[64];
    tile[threadIdx.x] = static_cast<int>(threadIdx.x) * 9;
    asm volatile("fence.proxy.async.shared::cta;" : : : "memory");
    __syncthreads();
    if (threadIdx.x == 0) {
        asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;"
                     :
                     : "l"(out + 4), "r"(shared_address(tile)), "r"(static_cast<u32>(sizeof tile))
                     : "memory");
        asm volatile("cp.async.bulk.commit_group;" : : : "memory");
        asm volatile("cp.async.bulk.wait_group 0;" : : : "memory");
    }
}

CASE(cp_async_bulk_out_of_shared) {
    Buffer<int> out(72);
    bulk_out_of_shared<<<1, 64>>>(out);
    out.show("values", 12);
}
