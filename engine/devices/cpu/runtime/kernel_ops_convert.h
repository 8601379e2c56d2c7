/* cvt: between numbers of all kinds. */
#ifndef BEAVER_KERNEL_OPS_CONVERT_H
#define BEAVER_KERNEL_OPS_CONVERT_H

/* Float to integer: toward zero (other roundings happen before), clamped to the integer's range. NaN becomes 0, or the value with
 * only the top bit set where either side has 64 bits. PTX ISA 9.7.9.21. */
#define TO_INTEGER(name, T, F, type, low, above, nan)                                                                   \
    INLINE T cvt_##name##_##type(F value)                                                                               \
    {                                                                                                                   \
        if (UNLIKELY(!(value >= (F)(low) && value < (F)(above))))                                                       \
            return value != value ? (T)(nan) : value < (F)(low) ? (T)(low) : (T)((uint64_t)(above)-1);                  \
        return (T)value;                                                                                                \
    }
#define TO_INTEGERS(F, type, nan)                                                                                       \
    TO_INTEGER(u8, uint8_t, F, type, 0, 1u << 8, nan(8))                                                                \
    TO_INTEGER(s8, int8_t, F, type, INT8_MIN, 1 << 7, nan(8))                                                           \
    TO_INTEGER(u16, uint16_t, F, type, 0, 1u << 16, nan(16))                                                            \
    TO_INTEGER(s16, int16_t, F, type, INT16_MIN, 1 << 15, nan(16))                                                      \
    TO_INTEGER(u32, uint32_t, F, type, 0, 1ull << 32, nan(32))                                                          \
    TO_INTEGER(s32, int32_t, F, type, INT32_MIN, 1ull << 31, nan(32))                                                   \
    TO_INTEGER(s64, int64_t, F, type, INT64_MIN, 1ull << 63, TOP_BIT(64))                                               \
    INLINE uint64_t cvt_u64_##type(F value)                                                                             \
    {                                                                                                                   \
        if (UNLIKELY(!(value >= 0 && value < 0x1p64f))) return value != value ? TOP_BIT(64) : value < 0 ? 0 : UINT64_MAX; \
        return (uint64_t)value;                                                                                         \
    }
#define TOP_BIT(width) (1ull << ((width)-1))
#define ZERO(width) 0
TO_INTEGERS(float, f32, ZERO)
TO_INTEGERS(double, f64, TOP_BIT)

/* Integer to a narrower integer with .sat */
#define SATURATED(name, T, low, high)                                                                                   \
    INLINE T cvt_sat_##name##_s64(int64_t value) { return value < (low) ? (low) : value > (high) ? (high) : (T)value; } \
    INLINE T cvt_sat_##name##_u64(uint64_t value) { return value > (high) ? (high) : (T)value; }
SATURATED(u8, uint8_t, 0, UINT8_MAX)
SATURATED(s8, int8_t, INT8_MIN, INT8_MAX)
SATURATED(u16, uint16_t, 0, UINT16_MAX)
SATURATED(s16, int16_t, INT16_MIN, INT16_MAX)
SATURATED(u32, uint32_t, 0, (int64_t)UINT32_MAX)
SATURATED(s32, int32_t, INT32_MIN, INT32_MAX)
SATURATED(s64, int64_t, INT64_MIN, INT64_MAX)
INLINE uint64_t cvt_sat_u64_s64(int64_t value) { return value < 0 ? 0 : (uint64_t)value; }
INLINE uint64_t cvt_sat_u64_u64(uint64_t value) { return value; }

/* Integer to float with a directed rounding. An unsigned value with its top bit set is halved first: the bit that is lost stays
 * in the last place, where it matters to no rounding. */
#define FROM_INTEGER(mode, F, type, suffix)                                                                             \
    INLINE F cvt_##mode##_##type##_s64(int64_t value)                                                                   \
    {                                                                                                                   \
        const uint32_t rounding = MXCSR_##mode, usual = MXCSR_rn;                                                       \
        F result = 0;                                                                                                   \
        __asm__("ldmxcsr %2\n\tcvtsi2" suffix "q %1, %0\n\tldmxcsr %3" : "+x"(result) : "r"(value), "m"(rounding), "m"(usual)); \
        return result;                                                                                                  \
    }                                                                                                                   \
    INLINE F cvt_##mode##_##type##_u64(uint64_t value)                                                                  \
    {                                                                                                                   \
        if (value <= INT64_MAX) return cvt_##mode##_##type##_s64((int64_t)value);                                       \
        return 2 * cvt_##mode##_##type##_s64((int64_t)(value >> 1 | (value & 1)));                                      \
    }
#define DIRECTED(mode)                                                                                                  \
    FROM_INTEGER(mode, float, f32, "ss")                                                                                \
    FROM_INTEGER(mode, double, f64, "sd")                                                                               \
    INLINE float cvt_##mode##_f32_f64(double value)                                                                     \
    {                                                                                                                   \
        const uint32_t rounding = MXCSR_##mode, usual = MXCSR_rn;                                                       \
        float result = 0;                                                                                               \
        __asm__("ldmxcsr %2\n\tcvtsd2ss %1, %0\n\tldmxcsr %3" : "+x"(result) : "x"(value), "m"(rounding), "m"(usual));  \
        return result;                                                                                                  \
    }
DIRECTED(rz)
DIRECTED(rm)
DIRECTED(rp)

/* Integer to a half format: by an f32 rounded to odd */
INLINE float odd_f32_from_u64(uint64_t value)
{
    if (value < 1u << 24) return (float)value;
    const int shift = 40 - __builtin_clzll(value);
    const uint64_t kept = value >> shift | ((value & ((1ull << shift) - 1)) != 0);
    return (float)kept * as_f32((uint32_t)(127 + shift) << 23);
}
INLINE float odd_f32_from_s64(int64_t value)
{
    return value < 0 ? -odd_f32_from_u64(-(uint64_t)value) : odd_f32_from_u64((uint64_t)value);
}
#define HALF_FROM_INTEGER(mode)                                                                                         \
    INLINE uint16_t cvt_##mode##_f16_s64(int64_t value) { return cvt_##mode##_f16(odd_f32_from_s64(value)); }           \
    INLINE uint16_t cvt_##mode##_f16_u64(uint64_t value) { return cvt_##mode##_f16(odd_f32_from_u64(value)); }          \
    INLINE uint16_t cvt_##mode##_bf16_s64(int64_t value) { return cvt_##mode##_bf16(odd_f32_from_s64(value)); }         \
    INLINE uint16_t cvt_##mode##_bf16_u64(uint64_t value) { return cvt_##mode##_bf16(odd_f32_from_u64(value)); }
HALF_FROM_INTEGER(rn)
HALF_FROM_INTEGER(rz)
HALF_FROM_INTEGER(rm)
HALF_FROM_INTEGER(rp)

/* f64 to a half format. Unlike f32's, a NaN keeps its sign and upper bits. */
#define HALF_FROM_F64(mode)                                                                                             \
    INLINE uint16_t cvt_##mode##_f16_f64(double value)                                                                  \
    {                                                                                                                   \
        const uint64_t bits = bits_f64(value);                                                                          \
        if (value != value) return (uint16_t)((bits >> 48 & 0x8000u) | 0x7e00u | (bits >> 42 & 0x3ffu));                \
        return cvt_##mode##_f16(odd_f32(value));                                                                        \
    }                                                                                                                   \
    INLINE uint16_t cvt_##mode##_bf16_f64(double value)                                                                 \
    {                                                                                                                   \
        return value != value ? (uint16_t)(bits_f32((float)value) >> 16) : cvt_##mode##_bf16(odd_f32(value));           \
    }
HALF_FROM_F64(rn)
HALF_FROM_F64(rz)
HALF_FROM_F64(rm)
HALF_FROM_F64(rp)

/* tf32: an f32 whose lower 13 bits are zero. NaN is canonical, but rna only cuts it. */
#define TO_TF32(mode)                                                                                                   \
    INLINE uint32_t cvt_##mode##_tf32(float value, int satfinite)                                                       \
    {                                                                                                                   \
        if (value != value) return (NARROW_##mode == NARROW_rna ? bits_f32(value) : CANONICAL_NAN_F32) & ~0x1fffu;      \
        const uint32_t bits = narrow(value, 8, 10, NARROW_##mode) << 13;                                                \
        return satfinite && (bits & 0x7fffffffu) == 0x7f800000u ? bits - 0x2000u : bits;                                \
    }
TO_TF32(rn)
TO_TF32(rna)
TO_TF32(rz)
INLINE uint32_t relu_tf32(uint32_t bits) { return bits >> 31 && (bits & 0x7fffffffu) <= 0x7f800000u ? 0 : bits; }

/* e4m3: no infinities, one NaN (all ones); e5m2: as IEEE has it. What is too large saturates. */
INLINE uint8_t e4m3_from_f32(float value, int relu)
{
    if (value != value) return 0x7f;
    if (relu && value <= 0) return 0;
    const uint8_t sign = (uint8_t)(bits_f32(value) >> 31 << 7);
    const uint32_t magnitude = fabsf(value) >= 448.0f ? 0x7e : narrow_magnitude(bits_f32(value), 4, 3, NARROW_rn);
    return sign | (uint8_t)magnitude;
}
INLINE uint8_t e5m2_from_f32(float value, int relu)
{
    if (value != value) return 0x7f;
    if (relu && value <= 0) return 0;
    const uint8_t sign = (uint8_t)(bits_f32(value) >> 31 << 7);
    const uint32_t magnitude = fabsf(value) >= 57344.0f ? 0x7b : narrow_magnitude(bits_f32(value), 5, 2, NARROW_rn);
    return sign | (uint8_t)magnitude;
}
INLINE float f32_from_e4m3(uint8_t bits)
{
    if ((bits & 0x7f) == 0x7f) return nan_f32();
    const int exponent = bits >> 3 & 15, mantissa = bits & 7;
    const float magnitude = exponent == 0 ? (float)mantissa * 0x1p-9f : (float)(8 + mantissa) * as_f32((uint32_t)(exponent - 10 + 127) << 23);
    return bits & 0x80 ? -magnitude : magnitude;
}
INLINE float f32_from_e5m2(uint8_t bits) { return f32_from_f16((uint16_t)(bits << 8)); }

#define EIGHT_BIT_FLOATS(type)                                                                                          \
    INLINE uint16_t cvt_##type##x2_f32(float upper, float lower, int relu)                                              \
    {                                                                                                                   \
        return (uint16_t)(type##_from_f32(upper, relu) << 8 | type##_from_f32(lower, relu));                            \
    }                                                                                                                   \
    INLINE uint16_t cvt_##type##x2_f16x2(uint32_t a, int relu)                                                          \
    {                                                                                                                   \
        return cvt_##type##x2_f32(f32_from_f16((uint16_t)(a >> 16)), f32_from_f16((uint16_t)a), relu);                  \
    }                                                                                                                   \
    INLINE uint16_t cvt_##type##x2_bf16x2(uint32_t a, int relu)                                                         \
    {                                                                                                                   \
        return cvt_##type##x2_f32(f32_from_bf16((uint16_t)(a >> 16)), f32_from_bf16((uint16_t)a), relu);                \
    }                                                                                                                   \
    INLINE uint32_t cvt_f16x2_##type##x2(uint16_t a)                                                                    \
    {                                                                                                                   \
        return pack_x2(cvt_rn_f16(f32_from_##type((uint8_t)a)), cvt_rn_f16(f32_from_##type((uint8_t)(a >> 8))));        \
    }                                                                                                                   \
    INLINE uint32_t cvt_bf16x2_##type##x2(uint16_t a)                                                                   \
    {                                                                                                                   \
        return pack_x2(cvt_rn_bf16(f32_from_##type((uint8_t)a)), cvt_rn_bf16(f32_from_##type((uint8_t)(a >> 8))));      \
    }
EIGHT_BIT_FLOATS(e4m3)
EIGHT_BIT_FLOATS(e5m2)

#endif
