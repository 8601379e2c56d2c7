// Half precision and bfloat16, single and in pairs (PTX ISA 9.0, section 9.7.4), and the intrinsics of cuda_fp16.h and
// cuda_bf16.h.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "elementwise.cuh"

PTX2(add_f16, f16, f16, "add.f16")
PTX2(add_f16, f16, f16, "add.ftz.sat.f16")
PTX2(add_f16, f16, f16, "sub.f16")
PTX2(multiply_f16, f16, f16, "mul.f16")
PTX2(multiply_f16, f16, f16, "mul.ftz.f16")
PTX3(fma_f16, f16, f16, "fma.rn.f16")
PTX3(fma_f16, f16, f16, "fma.rn.ftz.sat.f16")
PTX3(fma_f16, f16, f16, "fma.rn.relu.f16")
PTX2(minimum_f16, f16, f16, "min.f16")
PTX2(minimum_f16, f16, f16, "min.NaN.f16")
PTX2(minimum_f16, f16, f16, "max.xorsign.abs.f16")
PTX1(sign_f16, f16, f16, "neg.f16")
PTX1(sign_f16, f16, f16, "abs.f16")
PTX2(add_f16x2, f16x2, f16x2, "add.f16x2")
PTX2(add_f16x2, f16x2, f16x2, "mul.sat.f16x2")
PTX3(fma_f16x2, f16x2, f16x2, "fma.rn.f16x2")
PTX3(fma_f16x2, f16x2, f16x2, "fma.rn.relu.f16x2")
PTX2(minimum_f16x2, f16x2, f16x2, "min.f16x2")
PTX2(minimum_f16x2, f16x2, f16x2, "max.ftz.NaN.f16x2")
PTX1(sign_f16x2, f16x2, f16x2, "neg.f16x2")
PTX1(sign_f16x2, f16x2, f16x2, "abs.f16x2")

PTX2(add_bf16, bf16, bf16, "add.rn.bf16")
PTX2(add_bf16, bf16, bf16, "sub.rn.bf16")
PTX2(add_bf16, bf16, bf16, "mul.rn.bf16")
PTX2(add_bf16x2, bf16x2, bf16x2, "add.rn.bf16x2")
PTX2(add_bf16x2, bf16x2, bf16x2, "mul.rn.bf16x2")
PTX3(fma_bf16, bf16, bf16, "fma.rn.bf16")
PTX3(fma_bf16, bf16, bf16, "fma.rn.relu.bf16")
PTX3(fma_bf16x2, bf16x2, bf16x2, "fma.rn.bf16x2")
PTX2(minimum_bf16, bf16, bf16, "min.bf16")
PTX2(minimum_bf16, bf16, bf16, "max.NaN.bf16")
PTX2(minimum_bf16x2, bf16x2, bf16x2, "min.NaN.bf16x2")
PTX2(minimum_bf16x2, bf16x2, bf16x2, "max.xorsign.abs.bf16x2")
PTX1(sign_bf16, bf16, bf16, "neg.bf16")
PTX1(sign_bf16, bf16, bf16, "abs.bf16")
PTX1(sign_bf16x2, bf16x2, bf16x2, "neg.bf16x2")

#define COMPARE_F16(op)                                    \
    MAP_STEP(compare_f16, "", "setp." op, u32, f16, 2, 10, \
             asm("{ .reg .pred p; setp." op " p, %1, %2; selp.u32 %0, 1, 0, p; }" : "=r"(r) : "h"(a), "h"(b)))
COMPARE_F16("lt.f16")
COMPARE_F16("neu.ftz.f16")
COMPARE_F16("ge.bf16")
MAP_STEP(compare_f16x2, "", "setp.le.f16x2 p|q", u32, f16x2, 2, 10,
         asm("{ .reg .pred p, q; setp.le.f16x2 p|q, %1, %2; selp.u32 %0, 1, 0, p; @q add.u32 %0, %0, 2; }" : "=r"(
                 r) : "r"(a),
             "r"(b)))
MAP_STEP(compare_f16x2, "", "set.gtu.f16x2.f16x2", f16x2, f16x2, 2, 10,
         asm("set.gtu.f16x2.f16x2 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b)))

PTX1_WITHIN(approximate_f16, "f16 ulp 2", f16, f16, "ex2.approx.f16")
PTX1_WITHIN(approximate_f16, "f16 ulp 2", f16, f16, "tanh.approx.f16")
PTX1_WITHIN(approximate_bf16, "bf16 ulp 2", bf16, bf16, "ex2.approx.ftz.bf16")
PTX1_WITHIN(approximate_bf16, "bf16 ulp 2", bf16, bf16, "tanh.approx.bf16")

static __device__ __half half_of(f16 bits) { return __ushort_as_half(bits); }
static __device__ __half2 halves_of(f16x2 bits) { return *reinterpret_cast<__half2 *>(&bits); }
static __device__ f16x2 bits_of(__half2 value) { return *reinterpret_cast<f16x2 *>(&value); }
static __device__ __nv_bfloat16 brain_of(bf16 bits) { return __ushort_as_bfloat16(bits); }
static __device__ __nv_bfloat162 brains_of(bf16x2 bits) { return *reinterpret_cast<__nv_bfloat162 *>(&bits); }
static __device__ bf16x2 bits_of(__nv_bfloat162 value) { return *reinterpret_cast<bf16x2 *>(&value); }

MAP2(half_operators, f16, f16, __half_as_ushort(half_of(a) * half_of(b) + half_of(a)))
MAP2(half_operators, f16, f16, __half_as_ushort(half_of(a) / half_of(b)))
MAP2(half_operators, u32, f16, half_of(a) < half_of(b) || __hequ(half_of(a), half_of(b)))
MAP1(half_rounding, f16, f16, __half_as_ushort(hrint(half_of(a))))
MAP1(half_rounding, f16, f16, __half_as_ushort(hfloor(half_of(a))))
MAP1(half_rounding, s32, f16, __half2int_rd(half_of(a)))
MAP1_WITHIN(half_functions, "f16 ulp 1", f16, f16, __half_as_ushort(hsqrt(half_of(a))))
MAP1_WITHIN(half_functions, "f16 ulp 1", f16, f16, __half_as_ushort(hexp(half_of(a))))
MAP1_WITHIN(half_functions, "f16 ulp 1", f16, f16, __half_as_ushort(hlog(half_of(a))))
MAP1_WITHIN(half_functions, "f16 ulp 1", f16, f16, __half_as_ushort(hrcp(half_of(a))))
MAP2(half2_intrinsics, f16x2, f16x2, bits_of(__hfma2(halves_of(a), halves_of(b), halves_of(a))))
MAP2(half2_intrinsics, f16x2, f16x2, bits_of(__hmax2(halves_of(a), halves_of(b))))
MAP2(half2_intrinsics, f16x2, f16x2, bits_of(__hle2(halves_of(a), halves_of(b))))
MAP2(half2_intrinsics, f16x2, f16x2, bits_of(__lowhigh2highlow(__lows2half2(halves_of(a), halves_of(b)))))
MAP2(half2_intrinsics, u32, f16x2, __hbeq2(halves_of(a), halves_of(b)))
MAP2(bfloat_operators, bf16, bf16, __bfloat16_as_ushort(brain_of(a) * brain_of(b) + brain_of(a)))
MAP2(bfloat_operators, bf16, bf16, __bfloat16_as_ushort(brain_of(a) / brain_of(b)))
MAP2(bfloat_operators, u32, bf16, brain_of(a) > brain_of(b))
MAP2(bfloat2_intrinsics, bf16x2, bf16x2, bits_of(__hfma2(brains_of(a), brains_of(b), brains_of(b))))
MAP2(bfloat2_intrinsics, bf16x2, bf16x2, bits_of(__hmin2_nan(brains_of(a), brains_of(b))))
MAP1(bfloat_conversions, bf16, f64, __bfloat16_as_ushort(__double2bfloat16(a)))
MAP1(bfloat_conversions, f32, bf16, __bfloat162float(brain_of(a)))
MAP1(bfloat_conversions, bf16, f32, __bfloat16_as_ushort(__float2bfloat16_rd(a)))
