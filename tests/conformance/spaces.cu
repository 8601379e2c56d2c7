// Shared and local memory, and generic addresses of every space.
#include "elementwise.cuh"

__constant__ int constant_table[8] = {1, -2, 3, -4, 5, -6, 7, -8};

__global__ void several_arrays(u64 *out) {
    __shared__ char bytes[3];
    __shared__ alignas(16) float4 quads[2];
    __shared__ double doubles[5];
    __shared__ short halves[7];
    u32 i = threadIdx.x;
    if (i < 3) bytes[i] = static_cast<char>('a' + i);
    if (i < 2) quads[i] = make_float4(i, i + .5f, -1.f * i, 9);
    if (i < 5) doubles[i] = i * .125;
    if (i < 7) halves[i] = static_cast<short>(-3 * static_cast<int>(i));
    __syncthreads();
    out[i] = static_cast<u64>(bytes[i % 3]) << 48 ^
             static_cast<u64>(__double_as_longlong(doubles[i % 5] + quads[i % 2].y)) ^ static_cast<u64>(halves[i % 7]);
    if (i == 0) {  // where the arrays lie must respect their alignment, and nothing may overlap
        out[8] = __cvta_generic_to_shared(quads) % 16 | __cvta_generic_to_shared(doubles) % 8 |
                 __cvta_generic_to_shared(halves) % 2;
        out[9] = __isShared(bytes);
    }
}

CASE(static_shared) {
    Buffer<u64> out(10);
    several_arrays<<<1, 8>>>(out);
    out.show("mixed");
}

extern __shared__ unsigned char dynamic[];

__global__ void dynamic_after_static(u32 *out) {
    __shared__ int fixed[4];
    float *floats = reinterpret_cast<float *>(dynamic);
    u16 *halves = reinterpret_cast<u16 *>(floats + 8);
    u32 i = threadIdx.x;
    if (i < 4) fixed[i] = static_cast<int>(i) + 1000;
    floats[i] = i * 1.5f;
    halves[i] = static_cast<u16>(i * 257);
    __syncthreads();
    u32 size, total;
    asm("mov.u32 %0, %%dynamic_smem_size;" : "=r"(size));
    asm("mov.u32 %0, %%total_smem_size;" : "=r"(total));
    out[i] = __float_as_uint(floats[7 - i]) ^ halves[7 - i] ^ static_cast<u32>(fixed[i % 4]);
    out[8] = size;
    out[9] = total >= 16 + size;
}

CASE(dynamic_shared) {
    Buffer<u32> out(10);
    dynamic_after_static<<<1, 8, 8 * sizeof(float) + 8 * sizeof(u16)>>>(out);
    out.show("mixed");
}

extern __shared__ __align__(1024) unsigned char swizzled[];

__global__ void strictly_aligned(u32 *out) {
    __shared__ int fixed[5];
    fixed[threadIdx.x] = 1;
    out[threadIdx.x] = static_cast<u32>(__cvta_generic_to_shared(swizzled)) % 1024 * fixed[threadIdx.x];
    swizzled[threadIdx.x] = 0;
}

CASE(dynamic_shared_at_a_multiple_of_1024) {
    Buffer<u32> out(5);
    strictly_aligned<<<1, 5, 64>>>(out);
    out.show("beyond it");
}

__global__ void large_dynamic(u32 *out, int words) {
    u32 *array = reinterpret_cast<u32 *>(dynamic);
    for (int i = static_cast<int>(threadIdx.x); i < words; i += static_cast<int>(blockDim.x))
        array[i] = static_cast<u32>(i) * 2654435761u;
    __syncthreads();
    u32 sum = 0;
    for (int i = static_cast<int>(threadIdx.x); i < words; i += static_cast<int>(blockDim.x))
        sum ^= array[words - 1 - i];
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

CASE(shared_of_100_kilobytes) {
    const int bytes = 100 * 1024;
    Buffer<u32> out(64);
    CHECK(cudaFuncSetAttribute(large_dynamic, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
    large_dynamic<<<2, 32, bytes>>>(out, bytes / 4);
    out.show("xor");
}

// ---- local memory and generic addresses

__global__ void local_array(const u32 *in, u32 *out) {
    u32 history[16];
    for (int i = 0; i < 16; ++i) history[i] = in[i] + threadIdx.x;
    for (int i = 0; i < 40; ++i) {
        u32 place = history[(i * 5 + threadIdx.x) & 15] & 15;
        history[place] = history[place] * 3 + history[i & 15];
    }
    u32 sum = 0;
    for (int i = 0; i < 16; ++i) sum = sum * 7 + history[i];
    out[threadIdx.x] = sum;
}

CASE(local_array_with_dynamic_index) {
    Buffer<u32> in(values_u32), out(32);
    local_array<<<1, 32>>>(in, out);
    out.show("sum");
}

static __device__ __noinline__ u32 sum_through(const u32 *values, int n) {
    u32 sum = 0;
    for (int i = 0; i < n; ++i) sum = sum * 3 + values[i];
    return sum;
}

__global__ void generic_pointers(const u32 *in, u32 *out) {
    __shared__ u32 shared[4];
    u32 local[4];
    if (threadIdx.x < 4) shared[threadIdx.x] = threadIdx.x + 5;
    for (u32 i = 0; i < 4; ++i) local[i] = threadIdx.x * i + 1;
    __syncthreads();
    const u32 *places[4] = {in, shared, local, reinterpret_cast<const u32 *>(constant_table)};
    out[threadIdx.x] = sum_through(places[threadIdx.x & 3], 4);
}

CASE(generic_pointers_to_each_space) {
    Buffer<u32> in(values_u32), out(8);
    generic_pointers<<<1, 8>>>(in, out);
    out.show("global, shared, local, constant");
}

__global__ void which_space(const u32 *in, u32 *out, u32 parameter) {
    __shared__ u32 shared[1];
    u32 local[2] = {parameter, threadIdx.x};
    shared[0] = 1;
    const void *places[] = {in, shared, local, constant_table, &parameter};
    for (u32 i = 0; i < 5; ++i) {
        const void *p = places[(i + local[threadIdx.x & 1] * 5) % 5];
        out[i] = static_cast<u32>(__isGlobal(p)) | static_cast<u32>(__isShared(p)) << 1 |
                 static_cast<u32>(__isLocal(p)) << 2 | static_cast<u32>(__isConstant(p)) << 3;
    }
}

CASE(address_space_queries) {
    Buffer<u32> in(values_u32), out(5);
    which_space<<<1, 1>>>(in, out, 7);
    out.show("global 1, shared 2, local 4, constant 8");
}

__global__ void through_shared_address(u32 *out) {
    __shared__ u32 array[32];
    u32 address = static_cast<u32>(__cvta_generic_to_shared(array + threadIdx.x)), back;
    asm volatile("st.shared.u32 [%0], %1;" : : "r"(address), "r"(threadIdx.x * 3) : "memory");
    __syncthreads();
    asm volatile("ld.shared.u32 %0, [%1];" : "=r"(back) : "r"(address ^ 4) : "memory");
    out[threadIdx.x] = back + *static_cast<u32 *>(__cvta_shared_to_generic(address));
}

CASE(converted_addresses) {
    Buffer<u32> out(32);
    through_shared_address<<<1, 32>>>(out);
    out.show("shared");
}
