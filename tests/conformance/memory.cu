// Loads, stores and the spaces they go to: global, constant, shared, local, parameters, and generic addresses of each.
#include "elementwise.cuh"

// Vector loads and stores of every element type move the bytes as they are.
template <class V>
__global__ void copy_vectors(const V *in, V *out) {
    out[threadIdx.x] = in[blockDim.x - 1 - threadIdx.x];
}

template <class V>
static void vectors_of(const char *label) {
    V host[4];
    unsigned char bytes[sizeof host];
    for (size_t i = 0; i < sizeof bytes; ++i) bytes[i] = static_cast<unsigned char>(i * 37 + 11);
    memcpy(host, bytes, sizeof bytes);
    Buffer<V> in(host), out(4);
    copy_vectors<<<1, 4>>>(in.data, out.data);
    out.show(label, 16);
}

CASE(vectors_of_bytes) {
    vectors_of<char2>("char2");
    vectors_of<uchar4>("uchar4");
}
CASE(vectors_of_16_bits) {
    vectors_of<short2>("short2");
    vectors_of<ushort4>("ushort4");
}
CASE(vectors_of_32_bits) {
    vectors_of<int2>("int2");
    vectors_of<float3>("float3");
    vectors_of<float4>("float4");
}
CASE(vectors_of_64_bits) {
    vectors_of<longlong2>("longlong2");
    vectors_of<double2>("double2");
    vectors_of<ulonglong4_16a>("ulonglong4_16a");
}

__global__ void widen(const signed char *s, const unsigned char *u, const short *h, s64 *out) {
    int i = static_cast<int>(threadIdx.x);
    s64 *row = out + i * 4;
    row[0] = s[i];
    row[1] = u[i];
    row[2] = h[i];
    row[3] = s[i] * u[i];
}

CASE(narrow_loads_are_extended) {
    const signed char bytes[] = {0, 1, 127, -128, -1, 100, -100, 64};
    const short halves[] = {0, 1, 32767, -32768, -1, 128, 255, -129};
    Buffer<signed char> s(bytes);
    Buffer<unsigned char> u(reinterpret_cast<const unsigned char *>(bytes), 8);
    Buffer<short> h(halves);
    Buffer<s64> out(32);
    widen<<<1, 8>>>(s, u, h, out);
    out.show("s8, u8, s16, s8 * u8", 4);
}

__global__ void narrow(const int *in, unsigned char *bytes, unsigned short *halves) {
    bytes[threadIdx.x] = static_cast<unsigned char>(in[threadIdx.x]);
    halves[threadIdx.x] = static_cast<unsigned short>(in[threadIdx.x]);
}

CASE(stores_cut_off) {
    Buffer<s32> in(reinterpret_cast<const s32 *>(values_u32), 16);
    Buffer<unsigned char> bytes(16);
    Buffer<unsigned short> halves(16);
    narrow<<<1, 16>>>(in, bytes, halves);
    bytes.show("u8", 16);
    halves.show("u16", 16);
}

__global__ void cache_operators(const u32 *in, u32 *out) {
    u32 i = threadIdx.x, a, b, c, d, e;
    asm volatile("ld.global.ca.u32 %0, [%1];" : "=r"(a) : "l"(in + i));
    asm volatile("ld.global.cg.u32 %0, [%1+4];" : "=r"(b) : "l"(in + i));
    asm volatile("ld.global.nc.L1::no_allocate.u32 %0, [%1+8];" : "=r"(c) : "l"(in + i));
    asm volatile("ld.volatile.global.u32 %0, [%1+-4];" : "=r"(d) : "l"(in + i + 4));
    asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(e) : "l"(in + i + 4));
    asm volatile("prefetch.global.L2 [%0];" : : "l"(in + i));
    asm volatile("st.global.wt.u32 [%0], %1;" : : "l"(out + i), "r"(a * 5 + b * 7 + c * 11 + d * 13 + e * 17) : "memory");
    asm volatile("st.release.sys.global.u32 [%0+32], %1;" : : "l"(out + i), "r"(__ldg(in + i) + __ldcs(in + i)) : "memory");
}

CASE(cache_operators_change_no_value) {
    Buffer<u32> in(values_u32), out(16);
    cache_operators<<<1, 8>>>(in, out);
    out.show("all", 8);
}

// ---- variables of modules

__constant__ int constant_table[8] = {1, -2, 3, -4, 5, -6, 7, -8};
__constant__ double constant_pair[2];
__device__ int counter = 41;
__device__ float untouched[3];
__device__ const char *const words[] = {"beaver", "dam", "lodge"};
struct Node {
    int value;
    const Node *next;
    const int *table;
};
__device__ int pointed_at[4] = {10, 20, 30, 40};
__device__ Node last[2] = {{2, nullptr, constant_table}, {3, nullptr, pointed_at + 3}};
__device__ Node middle = {4, last + 1, pointed_at + 2};
__device__ Node chain = {1, &middle, pointed_at + 1};

__global__ void read_constants(int *out, double *pair) {
    out[threadIdx.x] = constant_table[threadIdx.x] * constant_table[7 - threadIdx.x];
    if (threadIdx.x < 2) pair[threadIdx.x] = constant_pair[threadIdx.x];
}

CASE(constant_memory) {
    const double pair[] = {0.5, -2.25};
    Buffer<int> out(8);
    Buffer<double> doubles(2);
    CHECK(cudaMemcpyToSymbol(constant_pair, pair, sizeof pair));
    read_constants<<<1, 8>>>(out, doubles);
    out.show("initialised");
    doubles.show("copied");
    const int replacement[] = {100, 200};
    CHECK(cudaMemcpyToSymbol(constant_table, replacement, sizeof replacement, 3 * sizeof(int)));
    read_constants<<<1, 8>>>(out, doubles);
    out.show("overwritten from 3");
}

__global__ void count() { atomicAdd(&counter, 1); }

CASE(device_variables) {
    int value = 0;
    float zeros[3] = {1, 1, 1};
    void *address = nullptr;
    size_t size = 0;
    count<<<2, 16>>>();
    CHECK(cudaMemcpyFromSymbol(&value, counter, sizeof value));
    print("counter", &value, 1);
    CHECK(cudaMemcpyFromSymbol(zeros, untouched, sizeof zeros));
    print("zeros", zeros, 3);
    CHECK(cudaGetSymbolSize(&size, untouched));
    printf("size %zu\n", size);
    CHECK(cudaGetSymbolAddress(&address, counter));
    CHECK(cudaMemcpy(&value, address, sizeof value, cudaMemcpyDeviceToHost));
    print("by address", &value, 1);
}

__global__ void follow(int *out) {
    int i = 0;
    for (const Node *node = &chain; node; node = node->next) {
        out[i++] = node->value;
        out[i++] = *node->table;
    }
    for (const char *word : words)
        for (const char *c = word; *c; ++c) out[6] = out[6] * 31 + *c;
    out[7] = static_cast<int>(sizeof(Node));
}

CASE(initialisers_hold_addresses) {
    Buffer<int> out(8);
    follow<<<1, 1>>>(out);
    out.show("chain, words");
}

// ---- shared memory

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
    out[i] = static_cast<u64>(bytes[i % 3]) << 48 ^ static_cast<u64>(__double_as_longlong(doubles[i % 5] + quads[i % 2].y)) ^
             static_cast<u64>(halves[i % 7]);
    if (i == 0) {  // where the arrays lie must respect their alignment, and nothing may overlap
        out[8] = __cvta_generic_to_shared(quads) % 16 | __cvta_generic_to_shared(doubles) % 8 | __cvta_generic_to_shared(halves) % 2;
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

__global__ void large_dynamic(u32 *out, int words) {
    u32 *array = reinterpret_cast<u32 *>(dynamic);
    for (int i = static_cast<int>(threadIdx.x); i < words; i += static_cast<int>(blockDim.x)) array[i] = static_cast<u32>(i) * 2654435761u;
    __syncthreads();
    u32 sum = 0;
    for (int i = static_cast<int>(threadIdx.x); i < words; i += static_cast<int>(blockDim.x)) sum ^= array[words - 1 - i];
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

CASE(shared_of_100_kilobytes) {
    const int bytes = 100 * 1024;
    Buffer<u32> out(64);
    CHECK(cudaFuncSetAttribute(large_dynamic, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
    large_dynamic<<<2, 32, bytes>>>(out, bytes / 4);
    out.show("xor");
}

// ---- local memory

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
        out[i] = static_cast<u32>(__isGlobal(p)) | static_cast<u32>(__isShared(p)) << 1 | static_cast<u32>(__isLocal(p)) << 2 |
                 static_cast<u32>(__isConstant(p)) << 3;
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

// ---- parameters

struct Large {
    double scale;
    int table[100];
    char tag;
};
struct Odd {
    char bytes[7];
};
struct alignas(16) Aligned {
    float x, y, z;
};
struct Nothing {};

__global__ void by_value(Odd odd, Large large, Nothing, bool flag, Aligned aligned, short small, u64 *out) {
    u32 i = threadIdx.x;
    large.table[i] += 5;  // the parameter is this thread's own copy
    out[i] = static_cast<u64>(large.table[(i * 3) % 100]) + static_cast<u64>(odd.bytes[i % 7]) * 1000 + static_cast<u64>(large.tag) * 100000;
    if (i == 0) out[16] = static_cast<u64>(__double_as_longlong(large.scale * aligned.z + flag + small));
}

CASE(parameters_by_value) {
    Large large = {2.5, {}, 'x'};
    for (int i = 0; i < 100; ++i) large.table[i] = i * i;
    Odd odd = {{1, 2, 3, 4, 5, 6, 7}};
    Aligned aligned = {1, 2, 3};
    Buffer<u64> out(17);
    by_value<<<1, 16>>>(odd, large, Nothing{}, true, aligned, -9, out);
    out.show("fields");
}

struct Four {
    int words[1000];
};

__global__ void four_kilobytes(const __grid_constant__ Four four, int *out) {
    const int *address = four.words;  // the address of a parameter, without a copy
    int sum = 0;
    for (int i = static_cast<int>(threadIdx.x); i < 1000; i += 32) sum += address[i];
    out[threadIdx.x] = sum;
}

CASE(parameters_of_4_kilobytes) {
    Four four;
    for (int i = 0; i < 1000; ++i) four.words[i] = i * 7 - 500;
    Buffer<int> out(32);
    four_kilobytes<<<1, 32>>>(four, out);
    out.show("sums");
}

#pragma pack(push, 1)
struct Packed {
    char tag;
    int number;
    short half;
    double value;
};
#pragma pack(pop)
struct Fields {
    unsigned low : 3;
    int signed_field : 5;
    unsigned wide : 20;
    unsigned top : 4;
};

__global__ void unaligned_members(const Packed *in, double *out) {
    const Packed &p = in[threadIdx.x];
    out[threadIdx.x] = p.value * p.number + p.half + p.tag;
}

CASE(packed_structures) {
    const Packed host[] = {{1, 2, 3, 4.5}, {-1, -20000, 300, 0.125}, {0, 1 << 30, -32768, -1e10}};
    Buffer<Packed> in(reinterpret_cast<const Packed *>(host), 3);
    Buffer<double> out(3);
    unaligned_members<<<1, 3>>>(in, out);
    out.show("sums");
}

__global__ void bit_field_members(const u32 *in, Fields *fields, int *out) {
    Fields f = fields[threadIdx.x];
    f.low += in[threadIdx.x] & 7;
    f.signed_field = static_cast<int>(in[threadIdx.x] >> 3);
    f.wide ^= in[threadIdx.x] >> 8;
    f.top = f.low + 1;
    fields[threadIdx.x] = f;
    out[threadIdx.x] = f.signed_field;
}

CASE(bit_fields) {
    Buffer<u32> in(values_u32, 8);
    Buffer<Fields> fields(8);
    Buffer<int> out(8);
    bit_field_members<<<1, 8>>>(in, fields, out);
    fields.show("fields");
    out.show("signed");
}

__global__ void copy_in_kernel(const unsigned char *in, unsigned char *out) {
    memcpy(out, in + 1, 13);
    memset(out + 13, 0xa5, 6);
    unsigned char local[32];
    memcpy(local, in, 32);
    memcpy(out + 19, local + 3 + threadIdx.x, 11);
}

CASE(memcpy_in_a_kernel) {
    Buffer<unsigned char> in(reinterpret_cast<const unsigned char *>(values_u32), 64), out(32);
    copy_in_kernel<<<1, 1>>>(in, out);
    out.show("bytes", 16);
}

__global__ void variable_length(u32 *out, u32 n) {
    u32 *array = static_cast<u32 *>(alloca(n * sizeof(u32)));
    for (u32 i = 0; i < n; ++i) array[i] = i * threadIdx.x;
    u32 sum = 0;
    for (u32 i = 0; i < n; ++i) sum += array[(i * 7) % n];
    out[threadIdx.x] = sum;
}

CASE(alloca_in_a_kernel) {
    Buffer<u32> out(16);
    variable_length<<<1, 16>>>(out, 19);
    out.show("sums");
}

__managed__ int managed_variable = 5;
__global__ void change_managed(int *more) {
    managed_variable += 37;
    more[threadIdx.x] += static_cast<int>(threadIdx.x);
}

CASE(managed_memory) {
    int *more = nullptr;
    CHECK(cudaMallocManaged(&more, 4 * sizeof(int)));
    for (int i = 0; i < 4; ++i) more[i] = 100 * i;
    managed_variable += 1;
    change_managed<<<1, 4>>>(more);
    CHECK(cudaDeviceSynchronize());
    printf("%d: %d %d %d %d\n", managed_variable, more[0], more[1], more[2], more[3]);
    CHECK(cudaFree(more));
}

__global__ void add_mapped(const int *in, int *out) { out[threadIdx.x] = in[threadIdx.x] + 1; }

CASE(host_memory_in_kernels) {
    int *pinned = nullptr, *mapped = nullptr, *address = nullptr;
    CHECK(cudaMallocHost(&pinned, 8 * sizeof(int)));
    CHECK(cudaHostAlloc(&mapped, 8 * sizeof(int), cudaHostAllocMapped));
    CHECK(cudaHostGetDevicePointer(&address, mapped, 0));
    for (int i = 0; i < 8; ++i) pinned[i] = i * i;
    add_mapped<<<1, 8>>>(pinned, address);
    CHECK(cudaDeviceSynchronize());
    print("mapped", mapped, 8);
    CHECK(cudaFreeHost(pinned));
    CHECK(cudaFreeHost(mapped));
}
