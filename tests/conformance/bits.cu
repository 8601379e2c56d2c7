// Logic, shifts, bit fields, permutes and dot products of bytes (PTX ISA 9.0, sections 9.7.1.14 to 9.7.1.24 and 9.7.8).
#include "elementwise.cuh"

PTX2(logic, u32, u32, "and.b32")
PTX2(logic, u32, u32, "or.b32")
PTX2(logic, u64, u64, "xor.b64")
PTX1(logic, u32, u32, "not.b32")
PTX1(logic, u16, u16, "cnot.b16")
PTX1(logic, u64, u64, "cnot.b64")

MAP_STEP(logic_of_three, "", "lop3.b32 0x1b", u32, u32, 3, 5,
         asm("lop3.b32 %0, %1, %2, %3, 0x1b;" : "=r"(r) : "r"(a), "r"(b), "r"(c)))
MAP_STEP(logic_of_three, "", "lop3.b32 0xe8", u32, u32, 3, 5,
         asm("lop3.b32 %0, %1, %2, %3, 0xe8;" : "=r"(r) : "r"(a), "r"(b), "r"(c)))
MAP_STEP(logic_of_three, "", "lop3.b32 0x42", u32, u32, 3, 5,
         asm("lop3.b32 %0, %1, %2, %3, 0x42;" : "=r"(r) : "r"(a), "r"(b), "r"(c)))

// Amounts at and beyond the width are among the pairs: PTX clamps, C++ does not define, x86 wraps.
#define SHIFT(name, T, op, letter) \
    MAP_STEP(name, "", op, T, T, 2, 10, asm(op " %0, %1, %2;" : "=" letter(r) : letter(a), "r"(static_cast<u32>(b))))
SHIFT(shift, u32, "shl.b32", "r")
SHIFT(shift, u32, "shr.u32", "r")
SHIFT(shift, s32, "shr.s32", "r")
SHIFT(shift, u64, "shl.b64", "l")
SHIFT(shift, u64, "shr.u64", "l")
SHIFT(shift, s64, "shr.s64", "l")
SHIFT(shift, u16, "shl.b16", "h")
SHIFT(shift, u16, "shr.u16", "h")
SHIFT(shift, s16, "shr.s16", "h")
MAP_STEP(funnel_shift, "", "shf.l.wrap.b32", u32, u32, 2, 10,
         asm("shf.l.wrap.b32 %0, %1, %2, %2;" : "=r"(r) : "r"(a), "r"(b)))
MAP_STEP(funnel_shift, "", "shf.r.wrap.b32", u32, u32, 2, 10,
         asm("shf.r.wrap.b32 %0, %1, %2, %2;" : "=r"(r) : "r"(a), "r"(b)))
MAP_STEP(funnel_shift, "", "shf.l.clamp.b32", u32, u32, 2, 10,
         asm("shf.l.clamp.b32 %0, %1, %2, %2;" : "=r"(r) : "r"(a), "r"(b)))
MAP_STEP(funnel_shift, "", "shf.r.clamp.b32", u32, u32, 2, 10,
         asm("shf.r.clamp.b32 %0, %1, %2, %2;" : "=r"(r) : "r"(a), "r"(b)))

PTX1(count_bits, u32, u32, "popc.b32")
PTX1(count_bits, u32, u64, "popc.b64")
PTX1(count_bits, u32, u32, "clz.b32")
PTX1(count_bits, u32, u64, "clz.b64")
MAP1(count_bits, s32, s32, __ffs(a))
MAP1(count_bits, s32, s64, __ffsll(a))
PTX1(reverse_bits, u32, u32, "brev.b32")
PTX1(reverse_bits, u64, u64, "brev.b64")
PTX1(find_leading_bit, u32, u32, "bfind.u32")
PTX1(find_leading_bit, u32, s32, "bfind.s32")
PTX1(find_leading_bit, u32, s64, "bfind.s64")
PTX1(find_leading_bit, u32, u64, "bfind.shiftamt.u64")
PTX1(find_leading_bit, u32, s32, "bfind.shiftamt.s32")
MAP_STEP(find_nth_bit, "", "fns.b32", u32, u32, 2, 10,
         asm("fns.b32 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b & 31), "r"(static_cast<s32>(b >> 28) - 4)))

// Position and length count modulo 256, and fields may reach beyond the top.
#define BIT_FIELD(name, T, op, letter)                                                                \
    MAP_STEP(name, "", op, T, T, 2, 10,                                                               \
             asm(op " %0, %1, %2, %3;" : "=" letter(r) : letter(a), "r"(static_cast<u32>(b) & 0x1ff), \
                 "r"(static_cast<u32>(b >> 3) & 0x1ff)))
BIT_FIELD(extract_bits, u32, "bfe.u32", "r")
BIT_FIELD(extract_bits, s32, "bfe.s32", "r")
BIT_FIELD(extract_bits, u64, "bfe.u64", "l")
BIT_FIELD(extract_bits, s64, "bfe.s64", "l")
MAP_STEP(insert_bits, "", "bfi.b32", u32, u32, 2, 10,
         asm("bfi.b32 %0, %1, %2, %3, %4;" : "=r"(r) : "r"(a), "r"(~a), "r"(b & 0x1ff), "r"((b >> 2) & 0x1ff)))
MAP_STEP(insert_bits, "", "bfi.b64", u64, u64, 2, 10,
         asm("bfi.b64 %0, %1, %2, %3, %4;" : "=l"(r) : "l"(a), "l"(~a), "r"(static_cast<u32>(b) & 0x1ff),
             "r"(static_cast<u32>(b >> 2) & 0x1ff)))
PTX2(mask_of_bits, u32, u32, "bmsk.clamp.b32")
PTX2(mask_of_bits, u32, u32, "bmsk.wrap.b32")
PTX2(extend_sign, s32, s32, "szext.clamp.s32")
PTX2(extend_sign, s32, s32, "szext.wrap.s32")
PTX2(extend_sign, u32, u32, "szext.wrap.u32")

#define PERMUTE(mode)                                             \
    MAP_STEP(permute_bytes, "", "prmt.b32" mode, u32, u32, 2, 10, \
             asm("prmt.b32" mode " %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(0x8091a2b3), "r"(b)))
PERMUTE("")
PERMUTE(".f4e")
PERMUTE(".b4e")
PERMUTE(".rc8")
PERMUTE(".ecl")
PERMUTE(".ecr")
PERMUTE(".rc16")
MAP_STEP(permute_bytes, "", "sign of bytes", u32, u32, 2, 10, r = __byte_perm(a, b, 0x3210) ^ __byte_perm(a, b, 0xba98))

PTX3(dot_product, s32, s32, "dp4a.s32.s32")
PTX3(dot_product, u32, u32, "dp4a.u32.u32")
PTX3(dot_product, s32, s32, "dp4a.s32.u32")
PTX3(dot_product, s32, s32, "dp2a.lo.s32.s32")
PTX3(dot_product, s32, s32, "dp2a.hi.s32.u32")
PTX3(dot_product, u32, u32, "dp2a.hi.u32.u32")

MAP2(packed_bytes, u32, u32, __vadd4(a, b))
MAP2(packed_bytes, u32, u32, __vsubss4(a, b))
MAP2(packed_bytes, u32, u32, __vabsdiffu4(a, b))
MAP2(packed_bytes, u32, u32, __vmaxs4(a, b))
MAP2(packed_bytes, u32, u32, __vcmpgtu4(a, b))
MAP2(packed_halves, u32, u32, __vaddus2(a, b))
MAP2(packed_halves, u32, u32, __vavgs2(a, b))
MAP2(packed_halves, u32, u32, __vseteq2(a, b))
MAP2(packed_halves, u32, u32, __vsadu2(a, b))

// Scalar video instructions: halves and bytes picked out of registers, with saturation and a second operation.
PTX3(video, s32, s32, "vadd.s32.s32.s32.sat.min")
MAP_STEP(video, "", "vsub.s32.s32.s32 b1 h0", s32, s32, 3, 5,
         asm("vsub.s32.s32.s32.add %0, %1.b1, %2.h0, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(c)))
MAP_STEP(video, "", "vabsdiff.u32.s32.s32 h1 b3", u32, u32, 3, 5,
         asm("vabsdiff.u32.s32.s32.max %0, %1.h1, %2.b3, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(c)))
