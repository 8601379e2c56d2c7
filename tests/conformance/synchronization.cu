// The synchronisation types of libcu++ and the pipeline primitives: cuda::barrier, cuda::pipeline, cuda::atomic.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cuda_pipeline.h>

#include <cuda/atomic>
#include <cuda/barrier>
#include <cuda/pipeline>

#include "case.cuh"

namespace cg = cooperative_groups;
typedef unsigned u32;
using Barrier = cuda::barrier<cuda::thread_scope_block>;

#pragma nv_diag_suppress static_var_with_dynamic_init

__global__ void barrier_object(u32 *out) {
    __shared__ Barrier barrier;
    __shared__ u32 values[64];
    u32 i = threadIdx.x;
    if (i == 0) init(&barrier, blockDim.x);
    __syncthreads();
    u32 x = i;
    for (u32 round = 0; round < 3; ++round) {
        values[i] = x * 2 + round;
        Barrier::arrival_token token = barrier.arrive();
        barrier.wait(static_cast<Barrier::arrival_token &&>(token));
        x += values[63 - i];
        barrier.arrive_and_wait();
    }
    out[i] = x;
}

CASE(barrier_arrive_and_wait) {
    Buffer<u32> out(64);
    barrier_object<<<1, 64>>>(out);
    out.show("values", 16);
}

__global__ void barrier_drop(u32 *out) {
    __shared__ Barrier barrier;
    __shared__ u32 count;
    if (threadIdx.x == 0) {
        init(&barrier, blockDim.x);
        count = 0;
    }
    __syncthreads();
    if (threadIdx.x % 3 == 0) {
        barrier.arrive_and_drop();
        return;
    }
    barrier.arrive_and_wait();
    atomicAdd(&count, 1u);
    barrier.arrive_and_wait();
    out[threadIdx.x] = count;
}

CASE(barrier_arrive_and_drop) {
    Buffer<u32> out(64);
    barrier_drop<<<1, 64>>>(out);
    out.show("values", 16);
}

__global__ void barrier_copy(const u32 *in, u32 *out) {
    __shared__ Barrier barrier;
    __shared__ alignas(16) u32 tile[256];
    auto block = cg::this_thread_block();
    if (threadIdx.x == 0) init(&barrier, blockDim.x);
    block.sync();
    cuda::memcpy_async(block, tile, in + blockIdx.x * 256, cuda::aligned_size_t<16>(sizeof tile), barrier);
    barrier.arrive_and_wait();
    for (u32 i = threadIdx.x; i < 256; i += blockDim.x) out[blockIdx.x * 256 + i] = tile[255 - i];
}

CASE(memcpy_async_on_a_barrier) {
    static u32 host[512];
    for (u32 i = 0; i < 512; ++i) host[i] = i * 17 + 3;
    Buffer<u32> in(host), out(512);
    barrier_copy<<<2, 64>>>(in, out);
    out.show_hash("copied");
}

__global__ void group_copy(const u32 *in, u32 *out) {
    __shared__ alignas(16) u32 tile[2][64];
    auto block = cg::this_thread_block();
    cg::memcpy_async(block, tile[0], in, 64 * sizeof(u32));
    for (u32 stage = 0; stage < 4; ++stage) {
        if (stage < 3) {
            cg::memcpy_async(block, tile[~stage & 1], in + (stage + 1) * 64, 64 * sizeof(u32));
            cg::wait_prior<1>(block);
        } else {
            cg::wait(block);
        }
        block.sync();
        out[stage * 64 + threadIdx.x] = tile[stage & 1][63 - threadIdx.x];
        block.sync();
    }
}

CASE(memcpy_async_of_a_group) {
    static u32 host[256];
    for (u32 i = 0; i < 256; ++i) host[i] = i * 31 + 1;
    Buffer<u32> in(host), out(256);
    group_copy<<<1, 64>>>(in, out);
    out.show_hash("copied");
}

__global__ void pipeline_of_two(const u32 *in, u32 *out) {
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
    __shared__ alignas(16) u32 tile[2][64];
    auto block = cg::this_thread_block();
    auto pipe = cuda::make_pipeline(block, &state);
    for (u32 batch = 0, fetched = 0; batch < 5; ++batch) {
        for (; fetched < 5 && fetched < batch + 2; ++fetched) {
            pipe.producer_acquire();
            cuda::memcpy_async(block, tile[fetched % 2], in + fetched * 64, cuda::aligned_size_t<16>(64 * sizeof(u32)),
                               pipe);
            pipe.producer_commit();
        }
        pipe.consumer_wait();
        out[batch * 64 + threadIdx.x] = tile[batch % 2][threadIdx.x ^ 5] + batch;
        pipe.consumer_release();
    }
}

CASE(pipeline_with_two_stages) {
    static u32 host[320];
    for (u32 i = 0; i < 320; ++i) host[i] = i * i;
    Buffer<u32> in(host), out(320);
    pipeline_of_two<<<1, 64>>>(in, out);
    out.show_hash("values");
}

__global__ void pipeline_primitives(const u32 *in, u32 *out) {
    __shared__ alignas(16) u32 tile[4][32];
    for (int stage = 0; stage < 4; ++stage) {
        __pipeline_memcpy_async(&tile[stage][threadIdx.x], in + stage * 32 + threadIdx.x, sizeof(u32));
        __pipeline_commit();
    }
    __pipeline_wait_prior(2);
    __syncthreads();
    u32 sum = tile[0][31 - threadIdx.x] + tile[1][31 - threadIdx.x] * 3;
    __pipeline_wait_prior(0);
    __syncthreads();
    out[threadIdx.x] = sum + tile[2][31 - threadIdx.x] * 5 + tile[3][31 - threadIdx.x] * 7;
}

CASE(pipeline_primitives_of_the_header) {
    static u32 host[128];
    for (u32 i = 0; i < 128; ++i) host[i] = i * 3 + 1;
    Buffer<u32> in(host), out(32);
    pipeline_primitives<<<1, 32>>>(in, out);
    out.show("values", 16);
}

__device__ cuda::atomic<int, cuda::thread_scope_device> ready;
__device__ int message;
__global__ void release_and_acquire(int *out) {
    if (blockIdx.x == 0 && threadIdx.x == 0) {
        message = 99;
        ready.store(1, cuda::memory_order_release);
    } else if (blockIdx.x == 1 && threadIdx.x == 0) {
        while (ready.load(cuda::memory_order_acquire) == 0) {
        }
        *out = message;
    }
}

CASE(atomic_release_and_acquire) {
    Buffer<int> out(1);
    release_and_acquire<<<2, 32>>>(out);
    out.show("message");
}

__global__ void references(int *cells, unsigned long long *wide, float *real) {
    cuda::atomic_ref<int, cuda::thread_scope_device> cell(cells[0]);
    cell.fetch_add(2);
    cuda::atomic_ref<int, cuda::thread_scope_device>(cells[2]).fetch_max(static_cast<int>(threadIdx.x),
                                                                         cuda::std::memory_order_relaxed);
    cuda::atomic_ref<unsigned long long, cuda::thread_scope_block> big(*wide);
    big.fetch_xor(1ull << (threadIdx.x & 63));
    cuda::atomic_ref<float, cuda::thread_scope_system> number(*real);
    number.fetch_add(0.25f);
    int expected = cells[1];
    cuda::atomic_ref<int> counter(cells[1]);
    while (!counter.compare_exchange_weak(expected, expected + 3)) {
    }
}

CASE(atomic_references) {
    Buffer<int> cells(3);
    Buffer<unsigned long long> wide(1);
    Buffer<float> real(1);
    references<<<1, 96>>>(cells, wide, real);
    cells.show("add, compare_exchange, max");
    wide.show("xor");
    real.show("f32");
}
