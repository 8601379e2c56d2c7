// Matrix fragments: mma.sync, ldmatrix, stmatrix and movmatrix (PTX ISA 9.0, section 9.7.14). Elements are small
// integers and fractions whose products and sums are exact, so that the order of summation does not show.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "case.cuh"

typedef unsigned u32;

static __device__ u32 shared_address(const void *pointer) {
    return static_cast<u32>(__cvta_generic_to_shared(pointer));
}

// The registers of lane l are filled with elements of known numbers; where they lie in the matrix is mma's own
// business.
static __device__ float element(u32 lane, u32 i, u32 salt) {
    return static_cast<float>(static_cast<int>((lane * 13 + i * 7 + salt) % 17) - 8) * 0.25f;
}
static __device__ u32 two_halves(u32 lane, u32 i, u32 salt) {
    __half2 pair = __floats2half2_rn(element(lane, 2 * i, salt), element(lane, 2 * i + 1, salt));
    return *reinterpret_cast<u32 *>(&pair);
}
static __device__ u32 two_brains(u32 lane, u32 i, u32 salt) {
    __nv_bfloat162 pair = __floats2bfloat162_rn(element(lane, 2 * i, salt), element(lane, 2 * i + 1, salt));
    return *reinterpret_cast<u32 *>(&pair);
}
static __device__ u32 four_bytes(u32 lane, u32 i, u32 salt) {
    return (lane * 0x01030507u + i * 0x11213141u + salt * 0x9e3779b9u);
}

// 16-bit inputs, k 16: four registers of A, two of B.
#define MMA_K16(name, instruction, fill)                                                                     \
    static __global__ void name##_kernel(float *out) {                                                       \
        u32 l = threadIdx.x;                                                                                 \
        float *d = out + l * 4;                                                                              \
        asm volatile(instruction " {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%10,%11,%12,%13};"                \
                     : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])                                        \
                     : "r"(fill(l, 0, 1)), "r"(fill(l, 1, 1)), "r"(fill(l, 2, 1)), "r"(fill(l, 3, 1)),       \
                       "r"(fill(l, 0, 5)), "r"(fill(l, 1, 5)), "f"(element(l, 0, 9)), "f"(element(l, 1, 9)), \
                       "f"(element(l, 2, 9)), "f"(element(l, 3, 9)));                                        \
    }                                                                                                        \
    CASE(name) {                                                                                             \
        Buffer<float> out(128);                                                                              \
        name##_kernel<<<1, 32>>>(out);                                                                       \
        out.show("d", 16);                                                                                   \
    }
// k 8: two registers of A, one of B.
#define MMA_K8(name, instruction, fill)                                                                   \
    static __global__ void name##_kernel(float *out) {                                                    \
        u32 l = threadIdx.x;                                                                              \
        float *d = out + l * 4;                                                                           \
        asm volatile(instruction " {%0,%1,%2,%3}, {%4,%5}, {%6}, {%7,%8,%9,%10};"                         \
                     : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])                                     \
                     : "r"(fill(l, 0, 1)), "r"(fill(l, 1, 1)), "r"(fill(l, 0, 5)), "f"(element(l, 0, 9)), \
                       "f"(element(l, 1, 9)), "f"(element(l, 2, 9)), "f"(element(l, 3, 9)));              \
    }                                                                                                     \
    CASE(name) {                                                                                          \
        Buffer<float> out(128);                                                                           \
        name##_kernel<<<1, 32>>>(out);                                                                    \
        out.show("d", 16);                                                                                \
    }
static __device__ u32 one_float(u32 lane, u32 i, u32 salt) { return __float_as_uint(element(lane, i, salt)); }

MMA_K16(f16_k16, "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", two_halves)
MMA_K16(bf16_k16, "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32", two_brains)
MMA_K16(tf32_k8, "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32", one_float)
MMA_K8(f16_k8, "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32", two_halves)
MMA_K8(bf16_k8, "mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32", two_brains)
MMA_K8(tf32_k4, "mma.sync.aligned.m16n8k4.row.col.f32.tf32.tf32.f32", one_float)

static __global__ void f16_to_f16(u32 *out) {
    u32 l = threadIdx.x, *d = out + l * 2;
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%0,%1}, {%2,%3,%4,%5}, {%6,%7}, {%8,%9};"
                 : "=r"(d[0]), "=r"(d[1])
                 : "r"(two_halves(l, 0, 1)), "r"(two_halves(l, 1, 1)), "r"(two_halves(l, 2, 1)),
                   "r"(two_halves(l, 3, 1)), "r"(two_halves(l, 0, 5)), "r"(two_halves(l, 1, 5)),
                   "r"(two_halves(l, 0, 9)), "r"(two_halves(l, 1, 9)));
}

CASE(f16_accumulator) {
    Buffer<u32> out(64);
    f16_to_f16<<<1, 32>>>(out);
    out.show("d", 16);
}

#define MMA_INTEGER(name, instruction, operands)     \
    static __global__ void name##_kernel(int *out) { \
        u32 l = threadIdx.x;                         \
        int *d = out + l * 4;                        \
        int c = static_cast<int>(l * 1000);          \
        operands(instruction)                        \
    }                                                \
    CASE(name) {                                     \
        Buffer<int> out(128);                        \
        name##_kernel<<<1, 32>>>(out);               \
        out.show("d", 16);                           \
    }
#define FOUR_AND_TWO(instruction)                                                                \
    asm volatile(instruction " {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%10,%10,%10,%10};"        \
                 : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3])                                \
                 : "r"(four_bytes(l, 0, 1)), "r"(four_bytes(l, 1, 1)), "r"(four_bytes(l, 2, 1)), \
                   "r"(four_bytes(l, 3, 1)), "r"(four_bytes(l, 0, 5)), "r"(four_bytes(l, 1, 5)), "r"(c));
#define TWO_AND_ONE(instruction)                                             \
    asm volatile(instruction " {%0,%1,%2,%3}, {%4,%5}, {%6}, {%7,%7,%7,%7};" \
                 : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3])            \
                 : "r"(four_bytes(l, 0, 1)), "r"(four_bytes(l, 1, 1)), "r"(four_bytes(l, 0, 5)), "r"(c));
MMA_INTEGER(s8_k32, "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32", FOUR_AND_TWO)
MMA_INTEGER(u8_s8_k32, "mma.sync.aligned.m16n8k32.row.col.s32.u8.s8.s32", FOUR_AND_TWO)
MMA_INTEGER(s8_k16, "mma.sync.aligned.m16n8k16.row.col.s32.s8.s8.s32", TWO_AND_ONE)
MMA_INTEGER(s8_saturated, "mma.sync.aligned.m16n8k32.row.col.satfinite.s32.s8.s8.s32", FOUR_AND_TWO)
MMA_INTEGER(s4_k64, "mma.sync.aligned.m16n8k64.row.col.s32.s4.s4.s32", FOUR_AND_TWO)
MMA_INTEGER(b1_k256, "mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.and.popc", FOUR_AND_TWO)

static __global__ void f64_m8n8k4(double *out) {
    u32 l = threadIdx.x;
    double *d = out + l * 2, a = element(l, 0, 1), b = element(l, 0, 5), c0 = element(l, 0, 9), c1 = element(l, 1, 9);
    asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0,%1}, {%2}, {%3}, {%4,%5};"
                 : "=d"(d[0]), "=d"(d[1])
                 : "d"(a), "d"(b), "d"(c0), "d"(c1));
}

CASE(f64_k4) {
    Buffer<double> out(64);
    f64_m8n8k4<<<1, 32>>>(out);
    out.show("d", 8);
}

static __global__ void f64_m16n8k16(double *out) {
    u32 l = threadIdx.x;
    double *d = out + l * 4, a[8], b[4];
    for (u32 i = 0; i < 8; ++i) a[i] = element(l, i, 1);
    for (u32 i = 0; i < 4; ++i) b[i] = element(l, i, 5);
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64 {%0,%1,%2,%3}, {%4,%5,%6,%7,%8,%9,%10,%11}, "
        "{%12,%13,%14,%15}, {%16,%16,%16,%16};"
        : "=d"(d[0]), "=d"(d[1]), "=d"(d[2]), "=d"(d[3])
        : "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(a[4]), "d"(a[5]), "d"(a[6]), "d"(a[7]), "d"(b[0]), "d"(b[1]),
          "d"(b[2]), "d"(b[3]), "d"(0.5));
}

CASE(f64_k16) {
    Buffer<double> out(128);
    f64_m16n8k16<<<1, 32>>>(out);
    out.show("d", 8);
}

// Values that do not add up exactly: the tensor core truncates, the CPU device does not.
static __global__ void inexact_sums(float *out) {
    u32 l = threadIdx.x;
    float *d = out + l * 4;
    u32 a[4], b[2];
    for (u32 i = 0; i < 4; ++i) {
        __half2 pair = __floats2half2_rn(0.1f * static_cast<float>(l + i), 1.0f / static_cast<float>(l + i + 1));
        a[i] = *reinterpret_cast<u32 *>(&pair);
        b[i / 2] = a[i] ^ 0x00010001u;
    }
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%10,%10,%10,%10};"
        : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "f"(0.3f));
}

CASE_WITHIN(f16_inexact, "f32 relative 1e-5") {
    Buffer<float> out(128);
    inexact_sums<<<1, 32>>>(out);
    out.show("d", 16);
}

// A product of whole matrices, checked element by element: the layout of all three fragments.
static __global__ void known_product(const __half *a, const __half *b, float *d) {
    u32 l = threadIdx.x, row = l / 4, column = l % 4 * 2;  // PTX ISA 9.0, figure of the m16n8k16 fragments
    auto pair = [](const __half *from, u32 stride) {
        return static_cast<u32>(__half_as_ushort(from[0])) | static_cast<u32>(__half_as_ushort(from[stride])) << 16;
    };
    u32 a0 = pair(a + row * 16 + column, 1), a1 = pair(a + (row + 8) * 16 + column, 1),
        a2 = pair(a + row * 16 + column + 8, 1), a3 = pair(a + (row + 8) * 16 + column + 8, 1),
        b0 = pair(b + column * 8 + row, 8), b1 = pair(b + (column + 8) * 8 + row, 8);
    float r[4];
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%10,%10,%10,%10};"
        : "=f"(r[0]), "=f"(r[1]), "=f"(r[2]), "=f"(r[3])
        : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1), "f"(0.0f));
    d[row * 8 + column] = r[0];
    d[row * 8 + column + 1] = r[1];
    d[(row + 8) * 8 + column] = r[2];
    d[(row + 8) * 8 + column + 1] = r[3];
}

CASE(product_equals_the_hosts) {
    __half a[256], b[128];
    float expected[128], got[128];
    for (int i = 0; i < 256; ++i) a[i] = __float2half(static_cast<float>(i * 7 % 13 - 6));
    for (int i = 0; i < 128; ++i) b[i] = __float2half(static_cast<float>(i * 5 % 11 - 5));
    for (int i = 0; i < 16; ++i)
        for (int j = 0; j < 8; ++j) {
            float sum = 0;
            for (int k = 0; k < 16; ++k) sum += __half2float(a[i * 16 + k]) * __half2float(b[k * 8 + j]);
            expected[i * 8 + j] = sum;
        }
    Buffer<__half> in_a(a), in_b(b);
    Buffer<float> out(128);
    known_product<<<1, 32>>>(in_a, in_b, out);
    CHECK(cudaMemcpy(got, out, sizeof got, cudaMemcpyDeviceToHost));
    printf("%s\n", memcmp(got, expected, sizeof got) == 0 ? "equal" : "different");
}

// ---- matrices in shared memory

#define LOAD_MATRIX(name, count, suffix, registers, ...)                                              \
    static __global__ void name##_kernel(u32 *out) {                                                  \
        __shared__ alignas(16) unsigned short tile[32 * 8];                                           \
        for (u32 i = threadIdx.x; i < 256; i += 32) tile[i] = static_cast<unsigned short>(i * 3 + 1); \
        __syncthreads();                                                                              \
        u32 *d = out + threadIdx.x * count;                                                           \
        asm volatile("ldmatrix.sync.aligned.m8n8." suffix ".shared.b16 " registers ";"                \
                     : __VA_ARGS__                                                                    \
                     : "r"(shared_address(tile + (threadIdx.x * 5 + 2) % 32 * 8))                     \
                     : "memory");                                                                     \
    }                                                                                                 \
    CASE(name) {                                                                                      \
        Buffer<u32> out(32 * count);                                                                  \
        name##_kernel<<<1, 32>>>(out);                                                                \
        out.show(suffix, 16);                                                                         \
    }
LOAD_MATRIX(ldmatrix_x1, 1, "x1", "{%0}, [%1]", "=r"(d[0]))
LOAD_MATRIX(ldmatrix_x2, 2, "x2", "{%0,%1}, [%2]", "=r"(d[0]), "=r"(d[1]))
LOAD_MATRIX(ldmatrix_x4, 4, "x4", "{%0,%1,%2,%3}, [%4]", "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3]))
LOAD_MATRIX(ldmatrix_x1_transposed, 1, "x1.trans", "{%0}, [%1]", "=r"(d[0]))
LOAD_MATRIX(ldmatrix_x4_transposed, 4, "x4.trans", "{%0,%1,%2,%3}, [%4]", "=r"(d[0]), "=r"(d[1]), "=r"(d[2]),
            "=r"(d[3]))

#define STORE_MATRIX(name, suffix, registers, ...)                                           \
    static __global__ void name##_kernel(u32 *out) {                                         \
        __shared__ alignas(16) u32 tile[32 * 4];                                             \
        for (u32 i = threadIdx.x; i < 128; i += 32) tile[i] = 0;                             \
        __syncthreads();                                                                     \
        u32 v = threadIdx.x * 0x00010003u;                                                   \
        asm volatile("stmatrix.sync.aligned.m8n8." suffix ".shared.b16 [%0], " registers ";" \
                     :                                                                       \
                     : "r"(shared_address(tile + threadIdx.x * 4)), __VA_ARGS__              \
                     : "memory");                                                            \
        __syncthreads();                                                                     \
        for (u32 i = threadIdx.x; i < 128; i += 32) out[i] = tile[i];                        \
    }                                                                                        \
    CASE(name) {                                                                             \
        Buffer<u32> out(128);                                                                \
        name##_kernel<<<1, 32>>>(out);                                                       \
        out.show(suffix, 16);                                                                \
    }
STORE_MATRIX(stmatrix_x1, "x1", "{%1}", "r"(v))
STORE_MATRIX(stmatrix_x2_transposed, "x2.trans", "{%1,%2}", "r"(v), "r"(v + 7))
STORE_MATRIX(stmatrix_x4, "x4", "{%1,%2,%3,%4}", "r"(v), "r"(v + 7), "r"(~v), "r"(v * 5))

static __global__ void transpose_registers(u32 *out) {
    asm volatile("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;"
                 : "=r"(out[threadIdx.x])
                 : "r"(threadIdx.x * 0x00020001u + 0x01000000u));
}

CASE(movmatrix) {
    Buffer<u32> out(32);
    transpose_registers<<<1, 32>>>(out);
    out.show("d", 16);
}

// Each warp of a block has matrices of its own.
static __global__ void by_warp(float *out) {
    u32 l = threadIdx.x;
    float *d = out + l * 4;
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5}, {%6}, {%7,%7,%7,%7};"
                 : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])
                 : "r"(two_halves(l, 0, 1)), "r"(two_halves(l, 1, 1)), "r"(two_halves(l, 0, 5)), "f"(0.0f));
}

CASE(several_warps) {
    Buffer<float> out(96 * 4);
    by_warp<<<1, 96>>>(out);
    out.show("d", 16);
}
