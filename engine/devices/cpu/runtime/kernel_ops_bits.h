/* Values and their bits. */
#ifndef BEAVER_KERNEL_OPS_BITS_H
#define BEAVER_KERNEL_OPS_BITS_H

#define CANONICAL_NAN_F32 0x7fffffffu /* the NaN that a GPU's f32 arithmetic makes */

INLINE float as_f32(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

INLINE double as_f64(uint64_t bits)
{
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

INLINE uint32_t bits_f32(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

INLINE uint64_t bits_f64(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

INLINE uint32_t canonical_bits_f32(float value) { return value != value ? CANONICAL_NAN_F32 : bits_f32(value); }

/* f64 arithmetic hands a source's NaN on, as x86 does */
INLINE uint64_t canonical_bits_f64(double value) { return bits_f64(value); }

INLINE uint32_t pack_x2(uint16_t low, uint16_t high) { return low | (uint32_t)high << 16; }

/* ftz: subnormal numbers become zeros of their sign */
INLINE float flush_f32(float value)
{
    uint32_t bits = bits_f32(value);
    return (bits & 0x7f800000u) == 0 ? as_f32(bits & 0x80000000u) : value;
}

#define FLUSH_HALF(type, exponent)                                                                                      \
    INLINE uint16_t flush_##type(uint16_t bits) { return (bits & exponent) == 0 ? bits & 0x8000u : bits; }              \
    INLINE uint32_t flush_##type##x2(uint32_t bits) { return pack_x2(flush_##type((uint16_t)bits), flush_##type((uint16_t)(bits >> 16))); }
FLUSH_HALF(f16, 0x7c00u)
FLUSH_HALF(bf16, 0x7f80u)

INLINE uint64_t flush_f32x2(uint64_t bits)
{
    return bits_f32(flush_f32(as_f32((uint32_t)bits))) | (uint64_t)bits_f32(flush_f32(as_f32((uint32_t)(bits >> 32)))) << 32;
}

#endif
