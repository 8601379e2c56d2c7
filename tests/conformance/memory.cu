// Loads and stores: element types, widths, cache operators, unaligned members.
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
    asm volatile("st.global.wt.u32 [%0], %1;"
                 :
                 : "l"(out + i), "r"(a * 5 + b * 7 + c * 11 + d * 13 + e * 17)
                 : "memory");
    asm volatile("st.release.sys.global.u32 [%0+32], %1;"
                 :
                 : "l"(out + i), "r"(__ldg(in + i) + __ldcs(in + i))
                 : "memory");
}

CASE(cache_operators_change_no_value) {
    Buffer<u32> in(values_u32), out(16);
    cache_operators<<<1, 8>>>(in, out);
    out.show("all", 8);
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
