/* Narrow floating-point formats: f16 and bf16 arithmetic, singly and in pairs; rounding to any of them.
 *
 * Every operation rounds once. Sums and products of two f16 or two bf16 are exact in f64, and so is one step of an fma; where the
 * sum is not, it is rounded to odd: a result with more than twice the precision whose last bit says that something is missing
 * rounds on to the narrow format as the exact value would (Boldo and Melquiond, "Emulation of FMA and correctly rounded sums").
 */
#ifndef BEAVER_KERNEL_OPS_HALF_H
#define BEAVER_KERNEL_OPS_HALF_H

#define CANONICAL_NAN_16 0x7fffu

enum narrow_rounding { NARROW_rn, NARROW_rz, NARROW_rm, NARROW_rp, NARROW_rna };

/* The magnitude of a finite f32 in a format of ``exponent_bits`` and ``mantissa_bits``, by its bits. A result above the format's
 * largest number is one that a wider exponent would need. */
INLINE uint32_t narrow_magnitude(uint32_t bits, int exponent_bits, int mantissa_bits, enum narrow_rounding mode)
{
    const int bias = (1 << (exponent_bits - 1)) - 1, negative = bits >> 31;
    int exponent = bits >> 23 & 0xff;
    uint32_t significand = (bits & 0x7fffffu) | (exponent != 0 ? 0x800000u : 0);
    exponent += (exponent == 0) - 127 + bias;
    int shift = 23 - mantissa_bits;
    if (exponent < 1) { /* subnormal in the narrow format: fewer bits are kept */
        shift += 1 - exponent;
        exponent = 1;
        if (shift > 25) shift = 25; /* all 24 bits lie below half of the last place */
    }
    const uint32_t rest = significand & ((1u << shift) - 1), half = 1u << (shift - 1);
    uint32_t kept = significand >> shift;
    switch (mode) {
    case NARROW_rn: kept += rest > half || (rest == half && (kept & 1)); break;
    case NARROW_rna: kept += rest >= half; break;
    case NARROW_rm: kept += negative && rest != 0; break;
    case NARROW_rp: kept += !negative && rest != 0; break;
    case NARROW_rz: break;
    }
    return ((uint32_t)(exponent - 1) << mantissa_bits) + kept; /* the leading bit of ``kept`` counts the exponent up by one */
}

/* What a format with infinities makes of an f32: all its bits */
INLINE uint32_t narrow(float value, int exponent_bits, int mantissa_bits, enum narrow_rounding mode)
{
    const uint32_t bits = bits_f32(value), sign = bits >> 31 << (exponent_bits + mantissa_bits);
    const uint32_t infinity = ((1u << exponent_bits) - 1) << mantissa_bits;
    if (value != value) return infinity | ((1u << mantissa_bits) - 1); /* the canonical NaN of every format: all ones */
    if (fabsf(value) == INFINITY) return sign | infinity;
    const uint32_t magnitude = narrow_magnitude(bits, exponent_bits, mantissa_bits, mode);
    if (magnitude < infinity) return sign | magnitude;
    const int outward = mode == NARROW_rn || mode == NARROW_rna || mode == (bits >> 31 ? NARROW_rm : NARROW_rp);
    return sign | (outward ? infinity : infinity - 1);
}

/* f64 to f32 rounded to odd: what it lost shows in its last bit */
INLINE float odd_f32(double value)
{
    float nearest = (float)value;
    if (value != value || (double)nearest == value) return nearest;
    uint32_t bits = bits_f32(nearest);
    if (fabs((double)nearest) > fabs(value)) bits -= 1; /* towards zero: an infinity becomes the largest number */
    return as_f32(bits | 1);
}

INLINE float f32_from_f16(uint16_t bits)
{
    _Float16 value;
    memcpy(&value, &bits, sizeof value);
    return (float)value;
}
INLINE float f32_from_bf16(uint16_t bits) { return as_f32((uint32_t)bits << 16); }

INLINE uint16_t cvt_rn_f16(float value)
{
    _Float16 half = (_Float16)value;
    uint16_t bits;
    memcpy(&bits, &half, sizeof bits);
    return value != value ? CANONICAL_NAN_16 : bits;
}
INLINE uint16_t cvt_rn_bf16(float value)
{
    uint32_t bits = bits_f32(value);
    return value != value ? CANONICAL_NAN_16 : (uint16_t)((bits + 0x7fffu + (bits >> 16 & 1)) >> 16);
}
#define NARROWED(mode)                                                                                                  \
    INLINE uint16_t cvt_##mode##_f16(float value) { return (uint16_t)narrow(value, 5, 10, NARROW_##mode); }             \
    INLINE uint16_t cvt_##mode##_bf16(float value) { return (uint16_t)narrow(value, 8, 7, NARROW_##mode); }
NARROWED(rz)
NARROWED(rm)
NARROWED(rp)
NARROWED(rna)

/* a * b + c in f64, rounded to odd; the product must be exact */
INLINE double odd_fma(double a, double b, double c)
{
    const double product = a * b, sum = product + c;
    if (!__builtin_isfinite(sum)) return sum;
    const double from_c = sum - product, error = (product - (sum - from_c)) + (c - from_c); /* Knuth's exact error of a sum */
    uint64_t bits = bits_f64(sum);
    if (error == 0 || (bits & 1)) return sum;
    return as_f64((error > 0) == (sum > 0) ? bits + 1 : bits - 1);
}

/* type: f16 or bf16. x and y are f32, exact. */
#define HALF_BINARY(type, name, expression)                                                                             \
    INLINE uint16_t name##_##type(uint16_t a, uint16_t b)                                                               \
    {                                                                                                                   \
        const float x = f32_from_##type(a), y = f32_from_##type(b);                                                     \
        return cvt_rn_##type(expression);                                                                               \
    }                                                                                                                   \
    INLINE uint32_t name##_##type##x2(uint32_t a, uint32_t b)                                                           \
    {                                                                                                                   \
        return pack_x2(name##_##type((uint16_t)a, (uint16_t)b), name##_##type((uint16_t)(a >> 16), (uint16_t)(b >> 16))); \
    }
#define HALF_UNARY(type, name, expression)                                                                              \
    INLINE uint16_t name##_##type(uint16_t a)                                                                           \
    {                                                                                                                   \
        const float x = f32_from_##type(a);                                                                             \
        return cvt_rn_##type(expression);                                                                               \
    }                                                                                                                   \
    INLINE uint32_t name##_##type##x2(uint32_t a) { return pack_x2(name##_##type((uint16_t)a), name##_##type((uint16_t)(a >> 16))); }
#define HALF_BITS(type, name, expression)                                                                               \
    INLINE uint16_t name##_##type(uint16_t a) { return (uint16_t)(expression); }                                        \
    INLINE uint32_t name##_##type##x2(uint32_t a) { return pack_x2(name##_##type((uint16_t)a), name##_##type((uint16_t)(a >> 16))); }

/* infinity: the bits of the format's; those of NaN lie above */
#define HALF_OPERATIONS(type, infinity)                                                                                 \
    HALF_BINARY(type, add, odd_f32((double)x + (double)y))                                                              \
    HALF_BINARY(type, sub, odd_f32((double)x - (double)y))                                                              \
    HALF_BINARY(type, mul, odd_f32((double)x * (double)y))                                                              \
    HALF_BINARY(type, min, min_f32(x, y))                                                                               \
    HALF_BINARY(type, max, max_f32(x, y))                                                                               \
    HALF_BINARY(type, min_nan, min_nan_f32(x, y))                                                                       \
    HALF_BINARY(type, max_nan, max_nan_f32(x, y))                                                                       \
    HALF_BINARY(type, min_xorsign_abs, min_xorsign_abs_f32(x, y))                                                       \
    HALF_BINARY(type, max_xorsign_abs, max_xorsign_abs_f32(x, y))                                                       \
    HALF_BINARY(type, min_nan_xorsign_abs, min_nan_xorsign_abs_f32(x, y))                                               \
    HALF_BINARY(type, max_nan_xorsign_abs, max_nan_xorsign_abs_f32(x, y))                                               \
    HALF_UNARY(type, ex2, odd_f32(exp2((double)x)))                                                                     \
    HALF_UNARY(type, tanh, odd_f32(tanh((double)x)))                                                                    \
    HALF_UNARY(type, saturate, saturate_f32(x))                                                                         \
    HALF_BITS(type, neg, (a & 0x7fffu) > infinity ? CANONICAL_NAN_16 : a ^ 0x8000u)                                     \
    HALF_BITS(type, abs, (a & 0x7fffu) > infinity ? CANONICAL_NAN_16 : a & 0x7fffu)                                     \
    HALF_BITS(type, relu, (a & 0x7fffu) > infinity ? CANONICAL_NAN_16 : a & 0x8000u ? 0 : a)                            \
    HALF_BITS(type, finite, (a & 0x7fffu) == infinity ? a - 1u : a)                                                     \
    INLINE uint16_t fma_##type(uint16_t a, uint16_t b, uint16_t c)                                                      \
    {                                                                                                                   \
        return cvt_rn_##type(odd_f32(odd_fma(f32_from_##type(a), f32_from_##type(b), f32_from_##type(c))));             \
    }                                                                                                                   \
    INLINE uint32_t fma_##type##x2(uint32_t a, uint32_t b, uint32_t c)                                                  \
    {                                                                                                                   \
        return pack_x2(fma_##type((uint16_t)a, (uint16_t)b, (uint16_t)c),                                               \
                       fma_##type((uint16_t)(a >> 16), (uint16_t)(b >> 16), (uint16_t)(c >> 16)));                      \
    }
HALF_OPERATIONS(f16, 0x7c00u)
HALF_OPERATIONS(bf16, 0x7f80u)

INLINE float flush_half(float value) { return fabsf(value) < 0x1p-14f ? copysignf(0.0f, value) : value; }

#endif
