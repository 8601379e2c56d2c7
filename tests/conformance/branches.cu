// Branches, what a thread knows of itself, printf, and the heap.
#include <cassert>

#include "case.cuh"

typedef unsigned u32;

__global__ void dense_switch(const int *in, int *out) {
    int x = in[threadIdx.x];
    switch (x) {  // a table of targets: brx.idx
        case 0: x = 17; break;
        case 1: x = x * 3 + in[0]; break;
        case 2: x ^= 0x55; [[fallthrough]];
        case 3: x += 1000; break;
        case 4: x = -x; break;
        case 5: x <<= 7; break;
        case 6: return;
        case 7: x = __popc(static_cast<u32>(x)); break;
        case 8: x = x / 3; break;
        default: x = -1;
    }
    out[threadIdx.x] = x;
}

CASE(switch_statement) {
    const int values[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, -1, 1 << 30, -2147483647 - 1, 4, 2, 6};
    Buffer<int> in(values), out(16);
    dense_switch<<<1, 16>>>(in, out);
    out.show("values", 16);
}

__global__ void nested_loops(int *out) {
    int n = static_cast<int>(threadIdx.x), steps = 0;
    for (int i = 0; i < n; ++i) {
        if (i % 7 == 3) continue;
        for (int j = i;; ++j) {
            if (j * j > n * 3) break;
            if (((i ^ j) & 5) == 5) goto next;
            steps += j;
        }
        steps -= 1;
    next:
        do {
            ++steps;
        } while (steps % 5);
    }
    out[n] = steps;
}

CASE(loops_of_different_lengths) {
    Buffer<int> out(64);
    nested_loops<<<1, 64>>>(out);
    out.show("steps", 16);
}

__global__ void predicated_exit(int *out) {
    out[threadIdx.x] = 1;
    if (threadIdx.x & 1) asm volatile("exit;");
    out[threadIdx.x] += 10;
    if (threadIdx.x < 4) return;
    out[threadIdx.x] += 100;
}

CASE(threads_exit_early) {
    Buffer<int> out(8);
    predicated_exit<<<1, 8>>>(out);
    out.show("values", 8);
}

__global__ void branches_in_assembly(int *out) {
    int x = static_cast<int>(threadIdx.x), r;
    asm("{ .reg .pred p; .reg .s32 t; mov.s32 t, %1; mov.s32 %0, 0;\n"
        "again: setp.le.s32 p, t, 0; @p bra done; add.s32 %0, %0, t; sub.s32 t, t, 2; bra.uni again;\n"
        "done: }"
        : "=&r"(r)
        : "r"(x));
    int s;
    asm("{ .reg .pred p; .reg .s32 t; mov.s32 t, %1; mov.s32 %0, 1;\n"
        "again: setp.le.s32 p, t, 0; @p bra done; mul.lo.s32 %0, %0, 3; sub.s32 t, t, 3; bra.uni again;\n"
        "done: }"
        : "=&r"(s)
        : "r"(x));
    out[x] = r * 1000 + s;
}

CASE(labels_in_assembly_scopes) {
    Buffer<int> out(8);
    branches_in_assembly<<<1, 8>>>(out);
    out.show("values", 8);
}

// ---- what a thread knows

__global__ void indices(u32 *out) {
    u32 block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
    u32 thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
    out[block * 24 + thread] =
        threadIdx.x | threadIdx.y << 4 | threadIdx.z << 8 | blockIdx.x << 12 | blockIdx.y << 16 | blockIdx.z << 20;
}

CASE(indices_in_three_dimensions) {
    Buffer<u32> out(24 * 12);
    indices<<<dim3(3, 2, 2), dim3(2, 3, 4)>>>(out);
    out.show_hash("all");
    out.show("all", 24);
}

__global__ void special_registers(u32 *out) {
    u32 *row = out + threadIdx.x * 6;
    asm("mov.u32 %0, %%laneid;" : "=r"(row[0]));
    asm("mov.u32 %0, %%lanemask_lt;" : "=r"(row[1]));
    asm("mov.u32 %0, %%lanemask_ge;" : "=r"(row[2]));
    asm("mov.u32 %0, %%lanemask_eq;" : "=r"(row[3]));
    asm("mov.u32 %0, WARP_SZ;" : "=r"(row[4]));
    asm("mov.u32 %0, %%nctaid.x;" : "=r"(row[5]));
}

CASE(lanes_and_masks) {
    Buffer<u32> out(40 * 6);
    special_registers<<<1, 40>>>(out);
    out.show("lane, lt, ge, eq, size, blocks", 6);
}

__global__ void clocks(int *out) {
    long long before = clock64();
    unsigned long long timer, later;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(timer));
    __nanosleep(1000);
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(later));
    out[0] = clock64() > before;
    out[1] = later >= timer;
}

CASE(clocks_run_forward) {
    Buffer<int> out(2);
    clocks<<<1, 1>>>(out);
    out.show("clock, timer");
}

// ---- printf and assert

__global__ void formats(const char *unused) {
    printf("%d %i %u %x %X %o %c|\n", -5, 7, 4000000000u, 255, 48879, 8, 'k');
    printf("%5d|%-5d|%05d|%+d|% d|%#x|%#o|%.3d\n", 42, 42, 42, 42, 42, 42, 42, 42);
    printf("%f %e %g %.2f %10.4f %-10.1e| %G\n", 1.5, 12345.678, 0.0001, 2.675, 3.14159265, 123.456, 1e20);
    printf("%lld %llu %llx %ld %hd\n", -1234567890123ll, 18446744073709551615ull, 0xfedcba9876543210ull, 99l, 70000);
    printf("%s|%10s|%-10s|%.2s|%%\n", "text", "right", "left", "cut");
    printf("%*d|%-*d|%.*f\n", 6, 7, 6, 8, 3, 2.0 / 3);
    printf("%a %g %g %g\n", 1.0, 1.0 / 0.0, -1.0 / 0.0, 0.0f);
    printf("no arguments\n");
    printf("%d\n", printf("%d %d\n", 1, 2));
    printf("%p|\n", static_cast<const void *>(unused));
}

CASE(printf_formats) {
    formats<<<1, 1>>>(nullptr);
    CHECK(cudaDeviceSynchronize());
}

__global__ void one_line(int base) {
    if (threadIdx.x % 4 == 1)
        printf("block %d thread %d value %.1f\n", blockIdx.x + base, threadIdx.x, threadIdx.x * 0.5);
}

CASE_WITHIN(printf_of_many_threads, "any order") {
    one_line<<<1, 16>>>(0);
    CHECK(cudaDeviceSynchronize());
    one_line<<<1, 8>>>(10);
    CHECK(cudaDeviceSynchronize());
}

__global__ void passing_assertions(int *out) {
    assert(threadIdx.x < 8 && "never printed");
    out[threadIdx.x] = 3;
}

CASE(assertions_that_hold) {
    Buffer<int> out(8);
    passing_assertions<<<1, 8>>>(out);
    out.show("values", 8);
}

// ---- the heap

__global__ void allocate(int *out) {
    int n = static_cast<int>(threadIdx.x) * 3 + 1;
    int *list = static_cast<int *>(malloc(static_cast<size_t>(n) * sizeof(int)));
    for (int i = 0; i < n; ++i) list[i] = i * n;
    int sum = 0;
    for (int i = 0; i < n; ++i) sum += list[i];
    out[threadIdx.x] = sum + (reinterpret_cast<size_t>(list) % 16 == 0);
    free(list);
    double *more = new double[3];
    more[2] = n;
    out[threadIdx.x] += static_cast<int>(more[2]);
    delete[] more;
    free(nullptr);
}

CASE(malloc_and_new) {
    Buffer<int> out(16);
    allocate<<<1, 16>>>(out);
    out.show("sums", 16);
}

__device__ int *kept[4];
__global__ void keep() {
    kept[threadIdx.x] = static_cast<int *>(malloc(64));
    kept[threadIdx.x][5] = static_cast<int>(threadIdx.x) + 50;
}
__global__ void use_kept(int *out) {
    out[threadIdx.x] = kept[3 - threadIdx.x][5];
    __syncthreads();
    free(kept[threadIdx.x]);
}

CASE(heap_outlives_a_kernel) {
    Buffer<int> out(4);
    keep<<<1, 4>>>();
    use_kept<<<1, 4>>>(out);
    out.show("values");
}

__global__ void exhaust(int *out) {
    void *huge = malloc(1ull << 40);
    out[0] = huge == nullptr;
}

CASE(malloc_of_too_much_gives_null) {
    Buffer<int> out(1);
    exhaust<<<1, 1>>>(out);
    out.show("null");
}
