// Integer arithmetic of 16, 32 and 64 bits (PTX ISA 9.0, sections 9.7.1 and 9.7.2).
#include "elementwise.cuh"

PTX2(add_and_subtract, s32, s32, "add.s32")
PTX2(add_and_subtract, s32, s32, "sub.s32")
PTX2(add_and_subtract, u64, u64, "add.u64")
PTX2(add_and_subtract, u16, u16, "sub.u16")
PTX2(add_saturated, s32, s32, "add.sat.s32")
PTX2(add_saturated, s32, s32, "sub.sat.s32")
PTX2(add_packed_16, u32, u32, "add.u16x2")

PTX2(multiply_32, s32, s32, "mul.lo.s32")
PTX2(multiply_32, s32, s32, "mul.hi.s32")
PTX2(multiply_32, u32, u32, "mul.hi.u32")
PTX2(multiply_64, s64, s64, "mul.lo.s64")
PTX2(multiply_64, s64, s64, "mul.hi.s64")
PTX2(multiply_64, u64, u64, "mul.hi.u64")
PTX2(multiply_16, s16, s16, "mul.lo.s16")
PTX2(multiply_16, s16, s16, "mul.hi.s16")
PTX2(multiply_16, u16, u16, "mul.hi.u16")
PTX2(multiply_wide, s64, s32, "mul.wide.s32")
PTX2(multiply_wide, u64, u32, "mul.wide.u32")
PTX2(multiply_wide, s32, s16, "mul.wide.s16")
PTX2(multiply_wide, u32, u16, "mul.wide.u16")
PTX2(multiply_24, s32, s32, "mul24.lo.s32")
PTX2(multiply_24, s32, s32, "mul24.hi.s32")
PTX2(multiply_24, u32, u32, "mul24.lo.u32")
PTX2(multiply_24, u32, u32, "mul24.hi.u32")

PTX3(multiply_add, s32, s32, "mad.lo.s32")
PTX3(multiply_add, s32, s32, "mad.hi.s32")
PTX3(multiply_add, u32, u32, "mad.hi.u32")
PTX3(multiply_add, u64, u64, "mad.hi.u64")
PTX3(multiply_add_saturated, s32, s32, "mad.hi.sat.s32")
PTX3(multiply_add_24, s32, s32, "mad24.lo.s32")
PTX3(multiply_add_24, s32, s32, "mad24.hi.sat.s32")
MAP_STEP(multiply_add_wide, "", "mad.wide.s32", s64, s32, 3, 5,
         asm("mad.wide.s32 %0, %1, %2, %3;" : "=l"(r) : "r"(a), "r"(b), "l"(static_cast<s64>(c) << 3)))
MAP_STEP(multiply_add_wide, "", "mad.wide.u16", u32, u16, 3, 5,
         asm("mad.wide.u16 %0, %1, %2, %3;" : "=r"(r) : "h"(a), "h"(b), "r"(static_cast<u32>(c) << 9)))
PTX3(sum_of_differences, s32, s32, "sad.s32")
PTX3(sum_of_differences, u32, u32, "sad.u32")
PTX3(sum_of_differences, s64, s64, "sad.s64")
PTX3(sum_of_differences, u16, u16, "sad.u16")

// All pairs: x / 0 and INT_MIN / -1 are among them. A CPU traps there, a GPU does not.
PTX2(divide_32, s32, s32, "div.s32")
PTX2(divide_32, u32, u32, "div.u32")
PTX2(divide_64, s64, s64, "div.s64")
PTX2(divide_64, u64, u64, "div.u64")
PTX2(divide_16, s16, s16, "div.s16")
PTX2(divide_16, u16, u16, "div.u16")
PTX2(remainder_32, s32, s32, "rem.s32")
PTX2(remainder_32, u32, u32, "rem.u32")
PTX2(remainder_64, s64, s64, "rem.s64")
PTX2(remainder_64, u64, u64, "rem.u64")
PTX2(remainder_16, s16, s16, "rem.s16")
PTX2(remainder_16, u16, u16, "rem.u16")
MAP1(divide_by_constants, s32, s32, a / 7 ^ a % 10 ^ a / -3)
MAP1(divide_by_constants, u64, u64, a / 1000 ^ a % 641)

PTX2(minimum, s32, s32, "min.s32")
PTX2(minimum, u32, u32, "min.u32")
PTX2(minimum, s64, s64, "min.s64")
PTX2(minimum, s16, s16, "min.s16")
PTX2(minimum, u32, u32, "min.s16x2")
PTX2(maximum, s32, s32, "max.s32")
PTX2(maximum, u32, u32, "max.u32")
PTX2(maximum, u64, u64, "max.u64")
PTX2(maximum, u16, u16, "max.u16")
PTX2(maximum, u32, u32, "max.u16x2")
PTX2(minimum_relu, s32, s32, "min.relu.s32")
PTX2(minimum_relu, s32, s32, "max.relu.s32")
PTX2(minimum_relu, u32, u32, "max.relu.s16x2")

PTX1(absolute_and_negative, s32, s32, "abs.s32")
PTX1(absolute_and_negative, s64, s64, "abs.s64")
PTX1(absolute_and_negative, s16, s16, "abs.s16")
PTX1(absolute_and_negative, s32, s32, "neg.s32")
PTX1(absolute_and_negative, s64, s64, "neg.s64")
PTX1(absolute_and_negative, s16, s16, "neg.s16")

// The carry flag is no operand: it passes from one instruction to the next, asm statement or not.
struct Wide {
    u32 word[4];
};

__global__ void carry_chain(const u32 *in, int n, Wide *out) {
    int i = static_cast<int>(threadIdx.x) / n, j = static_cast<int>(threadIdx.x) % n;
    u32 a = in[i], b = in[j];
    Wide r;
    asm("{ add.cc.u32 %0, %4, %5; addc.cc.u32 %1, %5, %4; addc.cc.u32 %2, %4, %4; addc.u32 %3, 0, 0; }"
        : "=r"(r.word[0]), "=r"(r.word[1]), "=r"(r.word[2]), "=r"(r.word[3])
        : "r"(a), "r"(b));
    out[threadIdx.x] = r;
}

CASE(add_with_carry) {
    const int n = 8;
    Buffer<u32> in(values_u32, n);
    Buffer<Wide> out(n * n);
    carry_chain<<<1, n * n>>>(in, n, out);
    out.show("add.cc, addc.cc, addc", 8);
}

__global__ void borrow_chain(const u32 *in, int n, Wide *out) {
    int i = static_cast<int>(threadIdx.x) / n, j = static_cast<int>(threadIdx.x) % n;
    u32 a = in[i], b = in[j];
    Wide r;
    asm("{ sub.cc.u32 %0, %4, %5; subc.cc.u32 %1, %5, %4; subc.cc.u32 %2, %4, %4; subc.u32 %3, 0, 0; }"
        : "=r"(r.word[0]), "=r"(r.word[1]), "=r"(r.word[2]), "=r"(r.word[3])
        : "r"(a), "r"(b));
    out[threadIdx.x] = r;
}

CASE(subtract_with_borrow) {
    const int n = 8;
    Buffer<u32> in(values_u32, n);
    Buffer<Wide> out(n * n);
    borrow_chain<<<1, n * n>>>(in, n, out);
    out.show("sub.cc, subc.cc, subc", 8);
}

__global__ void carry_chain_64(const u64 *in, int n, u64 *out) {
    int i = static_cast<int>(threadIdx.x) / n, j = static_cast<int>(threadIdx.x) % n;
    u64 a = in[i], b = in[j], low, high, under;
    asm("{ add.cc.u64 %0, %2, %3; addc.u64 %1, %2, 0; }" : "=l"(low), "=l"(high) : "l"(a), "l"(b));
    asm("{ .reg .u64 t; sub.cc.u64 t, %1, %2; subc.u64 %0, %2, 0; }" : "=l"(under) : "l"(a), "l"(b));
    out[threadIdx.x * 3] = low;
    out[threadIdx.x * 3 + 1] = high;
    out[threadIdx.x * 3 + 2] = under;
}

CASE(carry_of_64_bits) {
    const int n = 6;
    Buffer<u64> in(values_u64, n), out(n * n * 3);
    carry_chain_64<<<1, n * n>>>(in, n, out);
    out.show("add.cc.u64, addc.u64, subc.u64", 6);
}

// One flag serves both: what a subtraction leaves there, an addition reads, and the other way round.
__global__ void mixed_chain(const u32 *in, int n, Wide *out) {
    u32 a = in[threadIdx.x / n], b = in[threadIdx.x % n];
    Wide r;
    asm("{ .reg .u32 t; sub.cc.u32 t, %4, %5; addc.u32 %0, 0, 0; sub.cc.u32 t, %5, %4; subc.u32 %1, 0, 0;"
        "  add.cc.u32 t, %4, %5; subc.u32 %2, 0, 0; add.cc.u32 t, %4, %5; subc.cc.u32 t, %4, %5; addc.u32 %3, 10, 0; }"
        : "=r"(r.word[0]), "=r"(r.word[1]), "=r"(r.word[2]), "=r"(r.word[3])
        : "r"(a), "r"(b));
    out[threadIdx.x] = r;
}

CASE(carry_between_addition_and_subtraction) {
    const int n = 8;
    Buffer<u32> in(values_u32, n);
    Buffer<Wide> out(n * n);
    mixed_chain<<<1, n * n>>>(in, n, out);
    out.show("sub addc, sub subc, add subc, add subc addc", 8);
}

// 64 x 64 -> 128 bits out of 32-bit words, as big-number libraries do it.
__global__ void multiply_128(const u64 *in, int n, Wide *out) {
    u64 a = in[threadIdx.x / n], b = in[threadIdx.x % n];
    u32 a0 = static_cast<u32>(a), a1 = static_cast<u32>(a >> 32), b0 = static_cast<u32>(b),
        b1 = static_cast<u32>(b >> 32);
    Wide r;
    asm("{ mul.lo.u32 %0, %4, %6; mul.hi.u32 %1, %4, %6; mad.lo.cc.u32 %1, %4, %7, %1; madc.hi.u32 %2, %4, %7, 0;"
        "  mad.lo.cc.u32 %1, %5, %6, %1; madc.hi.cc.u32 %2, %5, %6, %2; madc.hi.u32 %3, %5, %7, 0;"
        "  mad.lo.cc.u32 %2, %5, %7, %2; addc.u32 %3, %3, 0; }"
        : "=&r"(r.word[0]), "=&r"(r.word[1]), "=&r"(r.word[2]), "=&r"(r.word[3])
        : "r"(a0), "r"(a1), "r"(b0), "r"(b1));
    out[threadIdx.x] = r;
}

CASE(multiply_with_carry) {
    const int n = 8;
    Buffer<u64> in(values_u64, n);
    Buffer<Wide> out(n * n);
    multiply_128<<<1, n * n>>>(in, n, out);
    out.show("mad.lo.cc, madc.hi.cc", 8);
}

__global__ void wide_integers(const u64 *in, int n, u64 *out) {
    __int128 a = (static_cast<__int128>(static_cast<s64>(in[threadIdx.x / n])) << 20) + 12345;
    __int128 b = static_cast<s64>(in[threadIdx.x % n]) | 1;
    __int128 quotient = a / b, product = a * b;
    u64 *row = out + threadIdx.x * 4;
    row[0] = static_cast<u64>(quotient);
    row[1] = static_cast<u64>(a % b);
    row[2] = static_cast<u64>(product >> 64);
    row[3] = static_cast<u64>(product >> 37);
}

CASE(int128) {
    const int n = 6;
    Buffer<u64> in(values_u64, n), out(n * n * 4);
    wide_integers<<<1, n * n>>>(in, n, out);
    out.show("quotient, remainder, product >> 64, product >> 37", 8);
}
