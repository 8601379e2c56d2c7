// Cases that apply one operation to values where it is likely to go wrong: zeros, extremes, denormals, ties, NaNs with
// payloads.
//
// PTX1..3(case, result, argument, opcode) test an instruction as it is written, MAP1..3 an expression in a, b and c.
// Unary operations see the whole table of their argument type, binary ones all pairs of its first 10 values, ternary
// ones all triples of its first 5: the tables below are ordered for that. Types are PTX's: their values travel as bits.
#pragma once

#include "case.cuh"

typedef int8_t s8;
typedef uint8_t u8;
typedef int16_t s16;
typedef uint16_t u16, f16, bf16;
typedef int32_t s32;
typedef uint32_t u32, f16x2, bf16x2, fp8x2x2;
typedef int64_t s64;
typedef uint64_t u64;
typedef float f32;
typedef double f64;

#define CONSTRAINT_s16 "h"
#define CONSTRAINT_u16 "h"
#define CONSTRAINT_f16 "h"
#define CONSTRAINT_bf16 "h"
#define CONSTRAINT_s32 "r"
#define CONSTRAINT_u32 "r"
#define CONSTRAINT_f16x2 "r"
#define CONSTRAINT_bf16x2 "r"
#define CONSTRAINT_s64 "l"
#define CONSTRAINT_u64 "l"
#define CONSTRAINT_f32 "f"
#define CONSTRAINT_f64 "d"

static const uint16_t values_u16[] = {0, 1, 0x7fff, 0x8000, 0xffff, 3, 0x1234, 0xfffe, 15, 16, 17, 0x00ff, 0x0100};
static const uint32_t values_u32[] = {
    0,    1,    0x7fffffff, 0x80000000, 0xffffffff, 7,          31,         32,         0x12345678, 0xfedcba98, 33,
    0x80, 0xff, 0x7fff,     0xffff8000, 0x10000,    0xffffff7f, 0x00ffffff, 0x01000001, 0x7fffffbf, 0xdeadbeef};
static const uint64_t values_u64[] = {0,
                                      1,
                                      0x7fffffffffffffff,
                                      0x8000000000000000,
                                      0xffffffffffffffff,
                                      63,
                                      64,
                                      0xfedcba9876543210,
                                      0x00000000ffffffff,
                                      0xffffffff80000000,
                                      7,
                                      0x123456789abcdef0,
                                      0x0020000000000001,
                                      0xffdffffffffffffd,
                                      0x7ffffffffffffdff,
                                      0x0000008000000001};
static const uint32_t values_f32[] = {
    // 1 + ulp, -pi, smallest denormal, largest, infinity; NaN, smallest normal, zeros, 1/3
    0x3f800001, 0xc0490fdb, 0x80000001, 0x7f7fffff, 0x7f800000,  //
    0x7fc12345, 0x00800000, 0x00000000, 0x80000000, 0x3eaaaaab,
    // ties of rounding to integers; -infinity, a signalling NaN, largest denormal, next to 1
    0x3f000000, 0xbf000000, 0x3fc00000, 0x40200000, 0xc0200000,  //
    0xff800000, 0xffa00001, 0x007fffff, 0x3f7fffff, 0xbf7fffff,
    // around 2^23, 2^31, 2^32, 2^63 and 2^64
    0x4b000001, 0x4effffff, 0x4f000000, 0xcf000000, 0x4f7fffff, 0x4f800000,  //
    0x5effffff, 0x5f000000, 0xdf000000, 0x5f7fffff, 0x5f800000,
    // f16: largest, overflow, denormals; ties of f16 and bf16
    0x477fe000, 0x477ff000, 0xc7800000, 0x33000000, 0x33000001, 0x387fe000,  //
    0x3f801000, 0x3f803000, 0x3f808000, 0x3f818000,
    // fp8: largest of e4m3, overflow, denormals; around 127, 255 and 32767
    0x43e00000, 0x43e80000, 0x43f00000, 0x3b000000, 0x3a800000, 0x47600000,  //
    0x42fe0000, 0x42ff0000, 0xc3008000, 0x437f0000, 0x437f8000, 0x46fffe00,
    // 0.1, -123.456, log(2), a quarter of the largest, e
    0x3dcccccd, 0xc2f6e979, 0x3f317218, 0x7effffff, 0x402df854};
static const uint64_t values_f64[] = {
    0x3ff0000000000001, 0xc00921fb54442d18, 0x8000000000000001, 0x7fefffffffffffff, 0x7ff0000000000000,
    0x7ff8000012345678, 0x0010000000000000, 0x0000000000000000, 0x8000000000000000, 0x3fd5555555555555,
    0x3fe0000000000000, 0xbfe0000000000000, 0x3ff8000000000000, 0x4004000000000000, 0xc004000000000000,
    0xfff0000000000000, 0xfff4000000000001, 0x000fffffffffffff, 0x3fefffffffffffff, 0xbfefffffffffffff,
    0x4330000000000001, 0x41dfffffffc00000, 0x41dfffffffe00000, 0x41e0000000000000, 0xc1e0000000200000,
    0x41efffffffe00000, 0x43dfffffffffffff, 0x43e0000000000000, 0xc3e0000000000000, 0x43efffffffffffff,
    0x43f0000000000000, 0x3ff0000010000000, 0x3ff0000030000000, 0x36a0000000000000, 0x369fffffffffffff,
    0x47efffffe0000000, 0x47effffff0000000, 0x3810000000000000, 0x380fffffc0000000, 0x40f0000000000000,
    0x3fb999999999999a, 0xc05ec00000000000};
static const uint16_t values_f16[] = {0x3c01, 0xc248, 0x8001, 0x7bff, 0x7c00, 0x7e55, 0x0400, 0x0000,
                                      0x8000, 0x3555, 0x3800, 0xb800, 0x4100, 0xc100, 0xfc00, 0xfd01,
                                      0x03ff, 0x3bff, 0x5bff, 0x5fff, 0x6401, 0xd81f};
static const uint16_t values_bf16[] = {0x3f81, 0xc049, 0x8001, 0x7f7f, 0x7f80, 0x7fd1, 0x0080, 0x0000, 0x8000, 0x3eab,
                                       0x3f00, 0xbf00, 0x4020, 0xc020, 0xff80, 0xffa1, 0x007f, 0x3f7f, 0x4eff, 0x4f00};
static const uint32_t values_f16x2[] = {0x3c01c248, 0x80017bff, 0x7c007e55, 0x04003c00, 0x80003555,
                                        0x0001bc01, 0xfc00fd01, 0x7bff0000, 0x38004100, 0xc1005bff};
static const uint32_t values_bf16x2[] = {0x3f81c049, 0x80017f7f, 0x7f807fd1, 0x00803f80, 0x80003eab,
                                         0x0001bf81, 0xff80ffa1, 0x7f7f0000, 0x3f004020, 0xc0204eff};
#define values_s16 values_u16
#define values_s32 values_u32
#define values_s64 values_u64

#define COUNT(array) static_cast<int>(sizeof(array) / sizeof(array[0]))

// Index of an argument among ``n`` values: with two arguments a row of results holds one a and all b.
#define MAP_STEP_(id, name, tolerance, label, R, T, arity, most, ...)                 \
    static __global__ void JOIN(id, kernel)(R *out, const T *in, int n, int total) {  \
        int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);              \
        if (i >= total) return;                                                       \
        [[maybe_unused]] T a = in[arity == 1 ? i : arity == 2 ? i / n : i / n / n];   \
        [[maybe_unused]] T b = in[arity == 1 ? 0 : arity == 2 ? i % n : i / n % n];   \
        [[maybe_unused]] T c = in[arity == 3 ? i % n : 0];                            \
        R r;                                                                          \
        __VA_ARGS__;                                                                  \
        out[i] = r;                                                                   \
    }                                                                                 \
    static void JOIN(id, run)() {                                                     \
        int n = COUNT(values_##T) < most ? COUNT(values_##T) : most;                  \
        int total = arity == 1 ? n : arity == 2 ? n * n : n * n * n;                  \
        Buffer<T> in(reinterpret_cast<const T *>(values_##T), n);                     \
        Buffer<R> out(total);                                                         \
        JOIN(id, kernel)<<<(total + 63) / 64, 64>>>(out, in, n, total);               \
        out.show(label, n < 10 ? n * n : 10);                                         \
    }                                                                                 \
    static Step JOIN(id, step)(#name, tolerance, JOIN(id, run));
#define MAP_STEP(name, tolerance, label, R, T, arity, most, ...) \
    MAP_STEP_(JOIN(name, __LINE__), name, tolerance, label, R, T, arity, most, __VA_ARGS__)

#define PTX1(name, R, T, op) PTX1_WITHIN(name, "", R, T, op)
#define PTX1_WITHIN(name, tolerance, R, T, op) \
    MAP_STEP(name, tolerance, op, R, T, 1, 99, asm(op " %0, %1;" : "=" CONSTRAINT_##R(r) : CONSTRAINT_##T(a)))
#define PTX2(name, R, T, op) PTX2_WITHIN(name, "", R, T, op)
#define PTX2_WITHIN(name, tolerance, R, T, op) \
    MAP_STEP(name, tolerance, op, R, T, 2, 10, \
             asm(op " %0, %1, %2;" : "=" CONSTRAINT_##R(r) : CONSTRAINT_##T(a), CONSTRAINT_##T(b)))
#define PTX3(name, R, T, op)      \
    MAP_STEP(                     \
        name, "", op, R, T, 3, 5, \
        asm(op " %0, %1, %2, %3;" : "=" CONSTRAINT_##R(r) : CONSTRAINT_##T(a), CONSTRAINT_##T(b), CONSTRAINT_##T(c)))
#define MAP1(name, R, T, ...) MAP1_WITHIN(name, "", R, T, __VA_ARGS__)
#define MAP1_WITHIN(name, tolerance, R, T, ...) MAP_STEP(name, tolerance, #__VA_ARGS__, R, T, 1, 99, r = (__VA_ARGS__))
#define MAP2(name, R, T, ...) MAP2_WITHIN(name, "", R, T, __VA_ARGS__)
#define MAP2_WITHIN(name, tolerance, R, T, ...) MAP_STEP(name, tolerance, #__VA_ARGS__, R, T, 2, 10, r = (__VA_ARGS__))
#define MAP3(name, R, T, ...) MAP_STEP(name, "", #__VA_ARGS__, R, T, 3, 5, r = (__VA_ARGS__))
