// Atomic operations by operation, type, width and space (PTX ISA 9.0, section 9.7.13.14). Each returns the old value;
// where many threads meet, what is printed does not depend on their order.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "case.cuh"

typedef unsigned u32;
typedef unsigned long long u64;

// One thread, so that the old values are known too.
__global__ void each_operation_32(int *cells, int *old) {
    for (int i = 0; i < 4; ++i) {
        int x = (i - 1) * 1000000007, *row = old + i * 10;
        u32 *bits = reinterpret_cast<u32 *>(cells);
        row[0] = atomicAdd(cells, x);
        row[1] = atomicSub(cells + 1, x);
        row[2] = atomicMin(cells + 2, x);
        row[3] = atomicMax(cells + 3, x);
        row[4] = static_cast<int>(atomicMin(bits + 4, static_cast<u32>(x)));
        row[5] = static_cast<int>(atomicMax(bits + 5, static_cast<u32>(x)));
        row[6] = atomicAnd(cells + 6, x | 0xff);
        row[7] = atomicOr(cells + 7, x);
        row[8] = atomicXor(cells + 8, x);
        row[9] = atomicExch(cells + 9, x);
    }
}

CASE(integers_of_32_bits) {
    Buffer<int> cells(10), old(40);
    CHECK(cudaMemset(cells, 0x55, 10 * sizeof(int)));
    each_operation_32<<<1, 1>>>(cells, old);
    cells.show("cells: add, sub, min, max, umin, umax, and, or, xor, exch");
    old.show("old");
}

__global__ void each_operation_64(long long *cells, long long *old) {
    for (int i = 0; i < 4; ++i) {
        long long x = (i - 1) * 4000000000000000037ll, *row = old + i * 9;
        u64 *bits = reinterpret_cast<u64 *>(cells), *olds = reinterpret_cast<u64 *>(row);
        olds[0] = atomicAdd(bits, static_cast<u64>(x));
        row[1] = atomicMin(cells + 1, x);
        row[2] = atomicMax(cells + 2, x);
        olds[3] = atomicMin(bits + 3, static_cast<u64>(x));
        olds[4] = atomicMax(bits + 4, static_cast<u64>(x));
        row[5] = atomicAnd(cells + 5, x | 0xff);
        row[6] = atomicOr(cells + 6, x);
        row[7] = atomicXor(cells + 7, x);
        olds[8] = atomicExch(bits + 8, static_cast<u64>(x));
    }
}

CASE(integers_of_64_bits) {
    Buffer<long long> cells(9), old(36);
    CHECK(cudaMemset(cells, 0x55, 9 * sizeof(long long)));
    each_operation_64<<<1, 1>>>(cells, old);
    cells.show("cells: add, min, max, umin, umax, and, or, xor, exch", 9);
    old.show("old", 9);
}

__global__ void wrap_around(u32 *cells, u32 *old) {
    for (int i = 0; i < 8; ++i) {
        old[i * 2] = atomicInc(cells, 4);
        old[i * 2 + 1] = atomicDec(cells + 1, 4);
    }
}

CASE(increment_and_decrement_wrap) {
    const u32 start[] = {3, 2};
    Buffer<u32> cells(start), old(16);
    wrap_around<<<1, 1>>>(cells, old);
    cells.show("cells");
    old.show("old", 16);
    const u32 beyond[] = {9, 9};
    Buffer<u32> more(beyond), olds(16);
    wrap_around<<<1, 1>>>(more, olds);
    more.show("cells");
    olds.show("old", 16);
}

__global__ void compare_and_swap(u32 *words, u64 *longs, unsigned short *shorts, u64 *old) {
    old[0] = atomicCAS(words, 0u, 5u);
    old[1] = atomicCAS(words, 0u, 6u);
    old[2] = atomicCAS(longs, 0ull, 1ull << 40);
    old[3] = atomicCAS(longs, 1ull << 40, 3ull);
    old[4] = atomicCAS(shorts + 1, static_cast<unsigned short>(0), static_cast<unsigned short>(0xbeef));
    old[5] = atomicCAS(shorts + 1, static_cast<unsigned short>(0xbeef), static_cast<unsigned short>(7));
    old[6] = atomicCAS(shorts, static_cast<unsigned short>(1), static_cast<unsigned short>(2));
}

CASE(compare_and_swap_16_32_64) {
    Buffer<u32> words(1);
    Buffer<u64> longs(1), old(7);
    Buffer<unsigned short> shorts(2);
    compare_and_swap<<<1, 1>>>(words, longs, shorts, old);
    words.show("u32");
    longs.show("u64");
    shorts.show("u16");
    old.show("old", 7);
}

struct alignas(16) Pair {
    u64 low, high;
};

__global__ void compare_and_swap_128(Pair *cell, Pair *old) {
    Pair expected = {0, 0}, desired = {1, 2}, next = {3, 4};
    asm volatile(
        "{ .reg .b128 d, c, n; mov.b128 c, {%3, %4}; mov.b128 n, {%5, %6}; atom.global.cas.b128 d, [%2], c, n; "
        "mov.b128 {%0, %1}, d; }"
        : "=l"(old[0].low), "=l"(old[0].high)
        : "l"(cell), "l"(expected.low), "l"(expected.high), "l"(desired.low), "l"(desired.high)
        : "memory");
    asm volatile("{ .reg .b128 d, n; mov.b128 n, {%3, %4}; atom.global.exch.b128 d, [%2], n; mov.b128 {%0, %1}, d; }"
                 : "=l"(old[1].low), "=l"(old[1].high)
                 : "l"(cell), "l"(next.low), "l"(next.high)
                 : "memory");
}

CASE(compare_and_swap_128_bits) {
    Buffer<Pair> cell(1), old(2);
    compare_and_swap_128<<<1, 1>>>(cell, old);
    cell.show("cell");
    old.show("old");
}

__global__ void floats(float *singles, double *doubles, float *old) {
    for (int i = 0; i < 6; ++i) {
        float x = i == 5 ? __int_as_float(0x7f800000) : 1.0f / (i + 1);
        old[i] = atomicAdd(singles, x);
        atomicAdd(doubles, static_cast<double>(x));
        old[6 + i] = atomicExch(singles + 1, x);
    }
    atomicAdd(singles + 2, __int_as_float(0x00000001));  // denormals are kept in global memory
    atomicAdd(singles + 2, __int_as_float(0x00000003));
}

CASE(floating_point) {
    Buffer<float> singles(3), old(12);
    Buffer<double> doubles(1);
    floats<<<1, 1>>>(singles, doubles, old);
    singles.show("f32");
    doubles.show("f64");
    old.show("old", 6);
}

__global__ void halves(__half *h, __half2 *h2, __nv_bfloat16 *b, __nv_bfloat162 *b2) {
    for (int i = 1; i < 5; ++i) {
        float x = 1.0f / static_cast<float>(i);
        atomicAdd(h, __float2half(x));
        atomicAdd(h2, __floats2half2_rn(x, -2 * x));
        atomicAdd(b + 1, __float2bfloat16(x));
        atomicAdd(b2, __floats2bfloat162_rn(x, 100 * x));
    }
}

CASE(half_precision) {
    Buffer<__half> h(2);
    Buffer<__half2> h2(1);
    Buffer<__nv_bfloat16> b(2);
    Buffer<__nv_bfloat162> b2(1);
    halves<<<1, 1>>>(h, h2, b, b2);
    h.show("f16");
    h2.show("f16x2");
    b.show("bf16");
    b2.show("bf16x2");
}

__global__ void vector_atomics(float *cells, float *old) {
    asm volatile("atom.global.v4.f32.add {%0, %1, %2, %3}, [%4], {%5, %6, %7, %8};"
                 : "=f"(old[0]), "=f"(old[1]), "=f"(old[2]), "=f"(old[3])
                 : "l"(cells), "f"(1.0f), "f"(2.0f), "f"(3.5f), "f"(-4.0f)
                 : "memory");
    asm volatile("red.global.add.v2.f32 [%0], {%1, %2};" : : "l"(cells + 2), "f"(10.0f), "f"(20.0f) : "memory");
}

CASE(vectors_of_floats) {
    Buffer<float> cells(4), old(4);
    vector_atomics<<<1, 1>>>(cells, old);
    cells.show("cells");
    old.show("old");
}

// ---- many threads

__global__ void histogram(const unsigned char *in, int n, u32 *bins) {
    __shared__ u32 local[16];
    if (threadIdx.x < 16) local[threadIdx.x] = 0;
    __syncthreads();
    for (int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x); i < n;
         i += static_cast<int>(gridDim.x * blockDim.x))
        atomicAdd(local + in[i] % 16, 1u);
    __syncthreads();
    if (threadIdx.x < 16) atomicAdd(bins + threadIdx.x, local[threadIdx.x]);
}

CASE(histogram_in_shared_memory) {
    unsigned char host[5000];
    for (int i = 0; i < 5000; ++i) host[i] = static_cast<unsigned char>(i * i / 7);
    Buffer<unsigned char> in(host);
    Buffer<u32> bins(16);
    histogram<<<4, 128>>>(in, 5000, bins);
    bins.show("bins", 16);
}

__global__ void shared_operations(u32 *out, float *sums) {
    __shared__ u32 cells[6];
    __shared__ float sum;
    __shared__ double wide;
    __shared__ u64 longs[2];
    u32 i = threadIdx.x;
    if (i < 6) cells[i] = i == 1 || i == 3 ? ~0u : 0;
    if (i == 0) {
        sum = 0;
        wide = 0;
        longs[0] = longs[1] = 0;
    }
    __syncthreads();
    atomicAdd(cells, i);
    atomicMin(cells + 1, i + 5);
    atomicMax(cells + 2, i * 2);
    atomicAnd(cells + 3, ~(1u << (i % 20)));
    atomicXor(cells + 4, i);
    atomicInc(cells + 5, 9);
    atomicAdd(&sum, 0.5f);
    atomicAdd(&wide, 0.25);
    atomicAdd(longs, 1ull << i % 40);
    atomicMax(longs + 1, static_cast<u64>(i) << 33);
    __syncthreads();
    if (i < 6) out[i] = cells[i];
    if (i < 2) out[6 + i] = static_cast<u32>(longs[i] >> 20);
    if (i == 0) {
        sums[0] = sum;
        sums[1] = static_cast<float>(wide);
    }
}

CASE(shared_memory) {
    Buffer<u32> out(8);
    Buffer<float> sums(2);
    shared_operations<<<1, 200>>>(out, sums);
    out.show("cells");
    sums.show("f32, f64");
}

__global__ void sum_of_fractions(float *out) {
    atomicAdd(out + threadIdx.x % 2, 1.0f / static_cast<float>(blockIdx.x * blockDim.x + threadIdx.x + 1));
}

CASE_WITHIN(float_sums_in_any_order, "f32 relative 1e-5") {
    Buffer<float> out(2);
    sum_of_fractions<<<16, 128>>>(out);
    out.show("sums");
}

__global__ void through_generic(int *global, int *out) {
    __shared__ int shared[2];
    if (threadIdx.x < 2) shared[threadIdx.x] = 0;
    __syncthreads();
    int *place = threadIdx.x % 2 ? shared : global;
    atomicAdd(place, 3);
    atomicMax(place + 1, static_cast<int>(threadIdx.x));
    __syncthreads();
    if (threadIdx.x < 2) out[threadIdx.x] = shared[threadIdx.x];
}

CASE(generic_addresses) {
    Buffer<int> global(2), out(2);
    through_generic<<<1, 64>>>(global, out);
    global.show("global");
    out.show("shared");
}

__global__ void scopes(int *cells, int *old) {
    atomicAdd_block(cells, 1);
    atomicAdd_system(cells + 1, 1);
    asm volatile("atom.acq_rel.gpu.global.add.s32 %0, [%1], 2;" : "=r"(old[threadIdx.x]) : "l"(cells + 2) : "memory");
    asm volatile("atom.release.cta.global.max.s32 %0, [%1], %2;"
                 : "=r"(old[threadIdx.x])
                 : "l"(cells + 3), "r"(threadIdx.x)
                 : "memory");
    asm volatile("red.relaxed.sys.global.add.s32 [%0], 5;" : : "l"(cells + 4) : "memory");
    asm volatile("fence.acq_rel.gpu;" : : : "memory");
    asm volatile("fence.sc.sys;" : : : "memory");
}

CASE(scopes_and_orders) {
    Buffer<int> cells(5), old(96);
    scopes<<<1, 96>>>(cells, old);
    cells.show("cells");
}

// What the header makes of a compare-and-swap loop.
__global__ void maximum_of_floats(const float *in, int n, u32 *out) {
    int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i >= n) return;
    u32 seen = *out;
    while (__uint_as_float(seen) < in[i]) {
        u32 before = atomicCAS(out, seen, __float_as_uint(in[i]));
        if (before == seen) break;
        seen = before;
    }
}

CASE(compare_and_swap_loop) {
    float host[1000];
    for (int i = 0; i < 1000; ++i) host[i] = static_cast<float>(i * 7919 % 1000) * 0.37f;
    Buffer<float> in(host);
    Buffer<u32> out(1);
    maximum_of_floats<<<8, 128>>>(in, 1000, out);
    out.show("maximum");
}

// Every thread gets a ticket of its own.
__global__ void tickets(u32 *counter, u32 *taken) { taken[atomicAdd(counter, 1u)] = 1; }

CASE(tickets_are_unique) {
    Buffer<u32> counter(1), taken(2048);
    tickets<<<8, 256>>>(counter, taken);
    counter.show("count");
    taken.show_hash("taken");
}
