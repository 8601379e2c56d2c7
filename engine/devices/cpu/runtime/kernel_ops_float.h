/* Arithmetic of f32 and f64. Plain operators round to nearest even; the other roundings are here, with min, max and the rest. */
#ifndef BEAVER_KERNEL_OPS_FLOAT_H
#define BEAVER_KERNEL_OPS_FLOAT_H

/* x86's control word for SSE: all exceptions masked, and the rounding in two bits. The word is set and restored within one asm
 * statement, between which the compiler can move nothing. */
#define MXCSR_rn 0x1f80u
#define MXCSR_rm 0x3f80u
#define MXCSR_rp 0x5f80u
#define MXCSR_rz 0x7f80u

#define WITH_MXCSR(instruction, mode, result, operand)                                                                  \
    do {                                                                                                                \
        const uint32_t rounding = MXCSR_##mode, usual = MXCSR_rn;                                                       \
        __asm__("ldmxcsr %2\n\t" instruction " %1, %0\n\tldmxcsr %3" : "+x"(result) : "x"(operand), "m"(rounding), "m"(usual)); \
    } while (0)

#define ROUNDED_BINARY(name, operation, mode, T, type, suffix)                                                          \
    INLINE T name##_##mode##_##type(T a, T b)                                                                           \
    {                                                                                                                   \
        WITH_MXCSR(#operation suffix, mode, a, b);                                                                      \
        return a;                                                                                                       \
    }

/* fma in software where the host has no instruction for it: libm's obeys the rounding mode */
#ifdef __FMA__
#define ROUNDED_FMA(mode, T, type, suffix, c_fma)                                                                       \
    INLINE T fma_##mode##_##type(T a, T b, T c)                                                                         \
    {                                                                                                                   \
        const uint32_t rounding = MXCSR_##mode, usual = MXCSR_rn;                                                       \
        __asm__("ldmxcsr %3\n\tvfmadd231" suffix " %2, %1, %0\n\tldmxcsr %4"                                            \
                : "+x"(c)                                                                                               \
                : "x"(a), "x"(b), "m"(rounding), "m"(usual));                                                           \
        return c;                                                                                                       \
    }
#else
#include <fenv.h>
#define FE_rz FE_TOWARDZERO
#define FE_rm FE_DOWNWARD
#define FE_rp FE_UPWARD
#define ROUNDED_FMA(mode, T, type, suffix, c_fma)                                                                       \
    static __attribute__((noinline)) T fma_##mode##_##type(T a, T b, T c)                                               \
    {                                                                                                                   \
        volatile T result;                                                                                              \
        fesetround(FE_##mode);                                                                                          \
        T (*volatile in_libm)(T, T, T) = c_fma;                                                                         \
        result = in_libm(a, b, c);                                                                                      \
        fesetround(FE_TONEAREST);                                                                                       \
        return result;                                                                                                  \
    }
#endif

#define ROUNDED(mode, T, type, suffix, c_fma)                                                                           \
    ROUNDED_BINARY(add, add, mode, T, type, suffix)                                                                     \
    ROUNDED_BINARY(sub, sub, mode, T, type, suffix)                                                                     \
    ROUNDED_BINARY(mul, mul, mode, T, type, suffix)                                                                     \
    ROUNDED_BINARY(div, div, mode, T, type, suffix)                                                                     \
    ROUNDED_FMA(mode, T, type, suffix, c_fma)                                                                           \
    INLINE T sqrt_##mode##_##type(T a)                                                                                  \
    {                                                                                                                   \
        WITH_MXCSR("sqrt" suffix, mode, a, a);                                                                          \
        return a;                                                                                                       \
    }
ROUNDED(rz, float, f32, "ss", fmaf)
ROUNDED(rm, float, f32, "ss", fmaf)
ROUNDED(rp, float, f32, "ss", fmaf)
ROUNDED(rz, double, f64, "sd", fma)
ROUNDED(rm, double, f64, "sd", fma)
ROUNDED(rp, double, f64, "sd", fma)

INLINE float fma_f32(float a, float b, float c) { return fmaf(a, b, c); }
INLINE double fma_f64(double a, double b, double c) { return fma(a, b, c); }

/* .ftz asks whether the exact result is subnormal: one that would round up to the smallest normal number is flushed too */
INLINE float mul_ftz_f32(float a, float b)
{
    const float product = a * b;
    if (UNLIKELY(fabsf(product) <= 0x1p-126f) && fabs((double)a * b) < 0x1p-126) return copysignf(0.0f, product);
    return product;
}
INLINE float fma_ftz_f32(float a, float b, float c)
{
    const float sum = fmaf(a, b, c);
    if (UNLIKELY(fabsf(sum) <= 0x1p-126f) && fabs(fma(a, b, c)) < 0x1p-126) return copysignf(0.0f, sum);
    return sum;
}

/* neg and abs are arithmetic: the sign of a NaN stays, a signalling one is quieted */
INLINE double neg_f64(double a) { return a != a ? a + a : -a; }
INLINE double abs_f64(double a) { return a != a ? a + a : fabs(a); }

/* .sat: into [0, 1], NaN becomes 0, and so does -0 */
INLINE float saturate_f32(float a) { return a > 0.0f ? (a < 1.0f ? a : 1.0f) : 0.0f; }
INLINE double saturate_f64(double a) { return a > 0.0 ? (a < 1.0 ? a : 1.0) : 0.0; }

/* min and max prefer a number to NaN and order -0 below +0 */
#define EXTREMES(T, type, bits_of, as)                                                                                  \
    INLINE T min_##type(T a, T b)                                                                                       \
    {                                                                                                                   \
        if (a == b) return as(bits_of(a) | bits_of(b)); /* equal, or zeros of which one may be negative */              \
        return a < b || b != b ? a : b;                                                                                 \
    }                                                                                                                   \
    INLINE T max_##type(T a, T b)                                                                                       \
    {                                                                                                                   \
        if (a == b) return as(bits_of(a) & bits_of(b));                                                                 \
        return a > b || b != b ? a : b;                                                                                 \
    }
EXTREMES(float, f32, bits_f32, as_f32)
EXTREMES(double, f64, bits_f64, as_f64)

INLINE float nan_f32(void) { return as_f32(CANONICAL_NAN_F32); }
INLINE float min_nan_f32(float a, float b) { return __builtin_isunordered(a, b) ? nan_f32() : min_f32(a, b); }
INLINE float max_nan_f32(float a, float b) { return __builtin_isunordered(a, b) ? nan_f32() : max_f32(a, b); }

/* .xorsign.abs: the smaller or larger magnitude, with the sign of the product; NaN keeps none */
INLINE float with_sign_of_product_f32(float value, float a, float b)
{
    return value != value ? value : as_f32(bits_f32(value) ^ ((bits_f32(a) ^ bits_f32(b)) & 0x80000000u));
}
INLINE float min_xorsign_abs_f32(float a, float b) { return with_sign_of_product_f32(min_f32(fabsf(a), fabsf(b)), a, b); }
INLINE float max_xorsign_abs_f32(float a, float b) { return with_sign_of_product_f32(max_f32(fabsf(a), fabsf(b)), a, b); }
INLINE float min_nan_xorsign_abs_f32(float a, float b) { return with_sign_of_product_f32(min_nan_f32(fabsf(a), fabsf(b)), a, b); }
INLINE float max_nan_xorsign_abs_f32(float a, float b) { return with_sign_of_product_f32(max_nan_f32(fabsf(a), fabsf(b)), a, b); }

/* testp */
#define CLASSES(T, type)                                                                                                \
    INLINE int testp_finite_##type(T a) { return __builtin_isfinite(a); }                                               \
    INLINE int testp_infinite_##type(T a) { return __builtin_isinf(a) != 0; }                                           \
    INLINE int testp_number_##type(T a) { return a == a; }                                                              \
    INLINE int testp_notanumber_##type(T a) { return a != a; }                                                          \
    INLINE int testp_normal_##type(T a) { return __builtin_isnormal(a) || a == 0; } /* zeros count as normal */         \
    INLINE int testp_subnormal_##type(T a) { return __builtin_isfinite(a) && !__builtin_isnormal(a) && a != 0; }
CLASSES(float, f32)
CLASSES(double, f64)

/* A divisor above 2^126 has a reciprocal that the approximation flushes: the quotient is 0, that of infinity NaN */
INLINE float div_approx_f32(float a, float b)
{
    if (UNLIKELY(fabsf(b) > 0x1p126f && fabsf(b) < INFINITY)) return a * (b > 0 ? 0.0f : -0.0f);
    return a / b;
}
INLINE float rsqrt_approx_f32(float a) { return (float)(1.0 / sqrt((double)a)); }

/* The f64 approximations see and give only the upper 32 bits of a value; so they take a NaN without upper bits for an infinity */
INLINE double upper_half_f64(double value)
{
    uint64_t bits = bits_f64(value) & 0xffffffff00000000ull;
    if ((bits & 0x7ff0000000000000ull) == 0) bits &= 0x8000000000000000ull;
    return (bits & 0x7fffffffffffffffull) > 0x7ff0000000000000ull ? as_f64(0x7fffffff00000000ull) : as_f64(bits);
}
INLINE double rcp_approx_ftz_f64(double a) { return upper_half_f64(1.0 / upper_half_f64(a)); }
INLINE double rsqrt_approx_ftz_f64(double a) { return upper_half_f64(1.0 / sqrt(upper_half_f64(a))); }

/* Two f32 in 64 bits */
#define BOTH(name, expression)                                                                                          \
    INLINE uint64_t name##_f32x2(uint64_t x, uint64_t y)                                                                \
    {                                                                                                                   \
        uint64_t result = 0;                                                                                            \
        for (int shift = 0; shift < 64; shift += 32) {                                                                  \
            float a = as_f32((uint32_t)(x >> shift)), b = as_f32((uint32_t)(y >> shift));                               \
            result |= (uint64_t)canonical_bits_f32(expression) << shift;                                                \
        }                                                                                                               \
        return result;                                                                                                  \
    }
#define BOTH_FUSED(name, function)                                                                                      \
    INLINE uint64_t name##_f32x2(uint64_t x, uint64_t y, uint64_t z)                                                    \
    {                                                                                                                   \
        uint64_t result = 0;                                                                                            \
        for (int shift = 0; shift < 64; shift += 32)                                                                    \
            result |= (uint64_t)canonical_bits_f32(function(as_f32((uint32_t)(x >> shift)), as_f32((uint32_t)(y >> shift)), \
                                                            as_f32((uint32_t)(z >> shift))))                            \
                      << shift;                                                                                         \
        return result;                                                                                                  \
    }
BOTH(add, a + b)
BOTH(sub, a - b)
BOTH(mul, a * b)
BOTH_FUSED(fma, fma_f32)
#define BOTH_ROUNDED(mode)                                                                                              \
    BOTH(add_##mode, add_##mode##_f32(a, b))                                                                            \
    BOTH(sub_##mode, sub_##mode##_f32(a, b))                                                                            \
    BOTH(mul_##mode, mul_##mode##_f32(a, b))                                                                            \
    BOTH_FUSED(fma_##mode, fma_##mode##_f32)
BOTH_ROUNDED(rz)
BOTH_ROUNDED(rm)
BOTH_ROUNDED(rp)

#endif
