/* Integer arithmetic, bit fields, shifts: what C leaves undefined is what the PTX manual or the hardware says. */
#ifndef BEAVER_KERNEL_OPS_INTEGER_H
#define BEAVER_KERNEL_OPS_INTEGER_H

/* T: C type, U: its unsigned one, W: one of twice the width */
#define INTEGER_OPERATIONS(name, T, U, W, width)                                                                        \
    INLINE T mul_hi_##name(T a, T b) { return (T)((W)a * (W)b >> width); }                                              \
    INLINE T min_##name(T a, T b) { return a < b ? a : b; }                                                             \
    INLINE T max_##name(T a, T b) { return a > b ? a : b; }                                                             \
    INLINE T sad_##name(T a, T b, T c) { return (T)((a < b ? (U)b - (U)a : (U)a - (U)b) + (U)c); }                      \
    /* an H200 divides by zero without a fault: quotient and remainder are all ones */                                  \
    INLINE T div_##name(T a, T b)                                                                                       \
    {                                                                                                                   \
        if (UNLIKELY(b == 0)) return (T)-1;                                                                             \
        return (T)-1 < 1 && b == (T)-1 ? (T)-(U)a : (T)(a / b);                                                         \
    }                                                                                                                   \
    INLINE T rem_##name(T a, T b)                                                                                       \
    {                                                                                                                   \
        if (UNLIKELY(b == 0)) return (T)-1;                                                                             \
        return (T)-1 < 1 && b == (T)-1 ? 0 : (T)(a % b);                                                                \
    }                                                                                                                   \
    INLINE T shr_##name(T a, uint32_t count) { return (T)-1 < 1 ? a >> (count < width ? count : width - 1)              \
                                                                : count < width ? (T)(a >> count) : 0; }
INTEGER_OPERATIONS(u16, uint16_t, uint16_t, uint32_t, 16)
INTEGER_OPERATIONS(s16, int16_t, uint16_t, int32_t, 16)
INTEGER_OPERATIONS(u32, uint32_t, uint32_t, uint64_t, 32)
INTEGER_OPERATIONS(s32, int32_t, uint32_t, int64_t, 32)
INTEGER_OPERATIONS(u64, uint64_t, uint64_t, unsigned __int128, 64)
INTEGER_OPERATIONS(s64, int64_t, uint64_t, __int128, 64)

#define BIT_OPERATIONS(name, T, width)                                                                                  \
    INLINE T shl_##name(T a, uint32_t count) { return count < width ? (T)(a << count) : 0; }                            \
    INLINE T shr_##name(T a, uint32_t count) { return count < width ? (T)(a >> count) : 0; }
BIT_OPERATIONS(b16, uint16_t, 16)
BIT_OPERATIONS(b32, uint32_t, 32)
BIT_OPERATIONS(b64, uint64_t, 64)

INLINE int16_t abs_s16(int16_t a) { return a < 0 ? -a : a; }
INLINE int32_t abs_s32(int32_t a) { return a < 0 ? -a : a; }
INLINE int64_t abs_s64(int64_t a) { return a < 0 ? -a : a; }

INLINE int32_t clamp_s32(int64_t value) { return value > INT32_MAX ? INT32_MAX : value < INT32_MIN ? INT32_MIN : (int32_t)value; }
INLINE int32_t add_sat_s32(int32_t a, int32_t b) { return clamp_s32((int64_t)a + b); }
INLINE int32_t sub_sat_s32(int32_t a, int32_t b) { return clamp_s32((int64_t)a - b); }
INLINE int32_t relu_s32(int32_t a) { return a < 0 ? 0 : a; }

/* Carry chains. As in the hardware, a - b is a + ~b + 1, and what it leaves is a carry, not a borrow: the manual says otherwise, but
 * compilers mix the two (128-bit division does), and an H200 then gives what this does. */
#define CARRY_OPERATIONS(name, T)                                                                                       \
    INLINE T addc_cc_##name(T a, T b, uint32_t *carry)                                                                  \
    {                                                                                                                   \
        T part, sum;                                                                                                    \
        uint32_t first = __builtin_add_overflow(a, b, &part), second = __builtin_add_overflow(part, (T)*carry, &sum);   \
        *carry = first | second;                                                                                        \
        return sum;                                                                                                     \
    }                                                                                                                   \
    INLINE T add_cc_##name(T a, T b, uint32_t *carry) { return *carry = 0, addc_cc_##name(a, b, carry); }               \
    INLINE T subc_cc_##name(T a, T b, uint32_t *carry) { return addc_cc_##name(a, ~b, carry); }                         \
    INLINE T sub_cc_##name(T a, T b, uint32_t *carry) { return *carry = 1, addc_cc_##name(a, ~b, carry); }              \
    INLINE T addc_##name(T a, T b, uint32_t carry) { return a + b + carry; }                                            \
    INLINE T subc_##name(T a, T b, uint32_t carry) { return a + ~b + carry; }
CARRY_OPERATIONS(b32, uint32_t)
CARRY_OPERATIONS(b64, uint64_t)

/* 24-bit factors give 48 bits: lo is the lower 32 of them, hi the upper 32 */
INLINE uint64_t product24_u32(uint32_t a, uint32_t b) { return (uint64_t)(a & 0xffffffu) * (b & 0xffffffu); }
INLINE int64_t product24_s32(int32_t a, int32_t b) { return (int64_t)((int32_t)((uint32_t)a << 8) >> 8) * ((int32_t)((uint32_t)b << 8) >> 8); }
INLINE uint32_t mul24_lo_u32(uint32_t a, uint32_t b) { return (uint32_t)product24_u32(a, b); }
INLINE uint32_t mul24_hi_u32(uint32_t a, uint32_t b) { return (uint32_t)(product24_u32(a, b) >> 16); }
INLINE int32_t mul24_lo_s32(int32_t a, int32_t b) { return (int32_t)product24_s32(a, b); }
INLINE int32_t mul24_hi_s32(int32_t a, int32_t b) { return (int32_t)(product24_s32(a, b) >> 16); }

/* Two 16-bit integers in a word */
#define SHORTS(name, T, choose)                                                                                         \
    INLINE uint32_t name(uint32_t a, uint32_t b)                                                                        \
    {                                                                                                                   \
        return pack_x2((uint16_t)choose((T)a, (T)b), (uint16_t)choose((T)(a >> 16), (T)(b >> 16)));                     \
    }
SHORTS(min_u16x2, uint16_t, min_u16)
SHORTS(max_u16x2, uint16_t, max_u16)
SHORTS(min_s16x2, int16_t, min_s16)
SHORTS(max_s16x2, int16_t, max_s16)
INLINE uint32_t add_x2(uint32_t a, uint32_t b) { return pack_x2((uint16_t)(a + b), (uint16_t)((a >> 16) + (b >> 16))); }
INLINE uint32_t relu_s16x2(uint32_t a) { return max_s16x2(a, 0); }

INLINE uint32_t popc_b32(uint32_t a) { return (uint32_t)__builtin_popcount(a); }
INLINE uint32_t popc_b64(uint64_t a) { return (uint32_t)__builtin_popcountll(a); }
INLINE uint32_t clz_b32(uint32_t a) { return a == 0 ? 32u : (uint32_t)__builtin_clz(a); }
INLINE uint32_t clz_b64(uint64_t a) { return a == 0 ? 64u : (uint32_t)__builtin_clzll(a); }

/* The position of the highest bit that is not a sign, all ones where there is none; shiftamt: how far to shift it to the top */
INLINE uint32_t bfind_u32(uint32_t a) { return 31u - clz_b32(a); }
INLINE uint32_t bfind_u64(uint64_t a) { return 63u - clz_b64(a); }
INLINE uint32_t bfind_s32(int32_t a) { return bfind_u32((uint32_t)(a < 0 ? ~a : a)); }
INLINE uint32_t bfind_s64(int64_t a) { return bfind_u64((uint64_t)(a < 0 ? ~a : a)); }
#define SHIFT_AMOUNT(name, T, top)                                                                                      \
    INLINE uint32_t bfind_shiftamt_##name(T a)                                                                          \
    {                                                                                                                   \
        uint32_t position = bfind_##name(a);                                                                            \
        return position == 0xffffffffu ? position : top - position;                                                     \
    }
SHIFT_AMOUNT(u32, uint32_t, 31u)
SHIFT_AMOUNT(s32, int32_t, 31u)
SHIFT_AMOUNT(u64, uint64_t, 63u)
SHIFT_AMOUNT(s64, int64_t, 63u)

/* The place of the n-th set bit, counted upward (n > 0) or downward (n < 0) from base; n = 0 asks whether base itself is set */
INLINE uint32_t fns_b32(uint32_t mask, uint32_t base, int32_t n)
{
    if (n == 0) return base < 32 && (mask >> base & 1) ? base : 0xffffffffu;
    int step = n > 0 ? 1 : -1;
    uint32_t wanted = n > 0 ? (uint32_t)n : -(uint32_t)n;
    for (int64_t position = base; position >= 0 && position < 32; position += step)
        if ((mask >> position & 1) && --wanted == 0) return (uint32_t)position;
    return 0xffffffffu;
}

INLINE uint32_t brev_b32(uint32_t a)
{
    a = (a >> 1 & 0x55555555u) | (a & 0x55555555u) << 1;
    a = (a >> 2 & 0x33333333u) | (a & 0x33333333u) << 2;
    a = (a >> 4 & 0x0f0f0f0fu) | (a & 0x0f0f0f0fu) << 4;
    return __builtin_bswap32(a);
}
INLINE uint64_t brev_b64(uint64_t a) { return (uint64_t)brev_b32((uint32_t)a) << 32 | brev_b32((uint32_t)(a >> 32)); }

INLINE uint64_t low_ones(uint32_t count) { return count < 64 ? (1ull << count) - 1 : ~0ull; }

/* Bit fields. A signed one that runs past the top is filled with the value's sign. Of position and length the low bytes count, but
 * an H200 sees all of them in the forms of 64 bits. */
INLINE uint64_t bfe_u64(uint64_t a, uint32_t position, uint32_t length)
{
    return position < 64 ? a >> position & low_ones(length) : 0;
}
INLINE int64_t bfe_s64(int64_t a, uint32_t position, uint32_t length)
{
    if (length == 0) return 0;
    int64_t field = a >> (position < 64 ? position : 63);
    return length < 64 ? (int64_t)((uint64_t)field << (64 - length)) >> (64 - length) : field;
}
INLINE uint32_t bfe_u32(uint32_t a, uint32_t position, uint32_t length) { return (uint32_t)bfe_u64(a, position & 255, length & 255); }
INLINE int32_t bfe_s32(int32_t a, uint32_t position, uint32_t length) { return (int32_t)bfe_s64(a, position & 255, length & 255); }

INLINE uint64_t bfi_b64(uint64_t a, uint64_t b, uint32_t position, uint32_t length)
{
    if (position >= 64) return b;
    uint64_t mask = low_ones(length) << position;
    return (b & ~mask) | (a << position & mask);
}
INLINE uint32_t bfi_b32(uint32_t a, uint32_t b, uint32_t position, uint32_t length)
{
    return (uint32_t)bfi_b64(a, b, position & 255, length & 255);
}

/* Extend from the low ``count`` bits */
INLINE uint32_t szext_wrap_u32(uint32_t a, uint32_t count) { return a & (uint32_t)low_ones(count & 31); }
INLINE uint32_t szext_clamp_u32(uint32_t a, uint32_t count) { return count < 32 ? szext_wrap_u32(a, count) : a; }
INLINE int32_t szext_wrap_s32(int32_t a, uint32_t count) { return (int32_t)bfe_s64(a, 0, count & 31); }
INLINE int32_t szext_clamp_s32(int32_t a, uint32_t count) { return count < 32 ? szext_wrap_s32(a, count) : a; }

/* ``count`` ones from bit ``start`` */
INLINE uint32_t bmsk_clamp_b32(uint32_t start, uint32_t count) { return start < 32 ? (uint32_t)(low_ones(count) << start) : 0; }
INLINE uint32_t bmsk_wrap_b32(uint32_t start, uint32_t count) { return (uint32_t)(low_ones(count & 31) << (start & 31)); }

INLINE uint32_t lop3_b32(uint32_t a, uint32_t b, uint32_t c, uint32_t table)
{
    uint32_t result = 0;
    for (uint32_t row = 0; row < 8; row++)
        if (table >> row & 1) result |= (row & 4 ? a : ~a) & (row & 2 ? b : ~b) & (row & 1 ? c : ~c);
    return result;
}

/* Funnel shifts: 32 bits of the pair high:low */
INLINE uint32_t shf_l_clamp_b32(uint32_t low, uint32_t high, uint32_t count)
{
    return count >= 32 ? low : (uint32_t)(((uint64_t)high << 32 | low) << count >> 32);
}
INLINE uint32_t shf_r_clamp_b32(uint32_t low, uint32_t high, uint32_t count)
{
    return count >= 32 ? high : (uint32_t)(((uint64_t)high << 32 | low) >> count);
}
INLINE uint32_t shf_l_wrap_b32(uint32_t low, uint32_t high, uint32_t count) { return shf_l_clamp_b32(low, high, count & 31); }
INLINE uint32_t shf_r_wrap_b32(uint32_t low, uint32_t high, uint32_t count) { return shf_r_clamp_b32(low, high, count & 31); }

/* prmt: each nibble of the selector names one of the eight bytes b:a; its high bit asks for that byte's sign */
INLINE uint32_t prmt_b32(uint32_t a, uint32_t b, uint32_t selector)
{
    uint64_t bytes = (uint64_t)b << 32 | a;
    uint32_t result = 0;
    for (int i = 0; i < 4; i++) {
        uint32_t nibble = selector >> 4 * i & 15;
        uint8_t byte = (uint8_t)(bytes >> 8 * (nibble & 7));
        result |= (uint32_t)(uint8_t)(nibble & 8 ? (int8_t)byte >> 7 : byte) << 8 * i;
    }
    return result;
}
/* prmt's modes as selectors, by the low two bits of c */
INLINE uint32_t prmt_by(const uint16_t *selectors, uint32_t a, uint32_t b, uint32_t c) { return prmt_b32(a, b, selectors[c & 3]); }
#define PRMT_MODE(mode, ...)                                                                                            \
    INLINE uint32_t prmt_##mode##_b32(uint32_t a, uint32_t b, uint32_t c) { return prmt_by((const uint16_t[4]){__VA_ARGS__}, a, b, c); }
PRMT_MODE(f4e, 0x3210, 0x4321, 0x5432, 0x6543)
PRMT_MODE(b4e, 0x5670, 0x6701, 0x7012, 0x0123)
PRMT_MODE(rc8, 0x0000, 0x1111, 0x2222, 0x3333)
PRMT_MODE(ecl, 0x3210, 0x3211, 0x3222, 0x3333)
PRMT_MODE(ecr, 0x0000, 0x1110, 0x2210, 0x3210)
PRMT_MODE(rc16, 0x1010, 0x3232, 0x1010, 0x3232)

/* Dot products of bytes, or of the shorts of a with two bytes of b, added to c */
#define DOT(name_a, A, name_b, B)                                                                                       \
    INLINE uint32_t dp4a_##name_a##_##name_b(uint32_t a, uint32_t b, uint32_t c)                                        \
    {                                                                                                                   \
        for (int i = 0; i < 32; i += 8) c += (uint32_t)((A##8_t)(a >> i) * (B##8_t)(b >> i));                           \
        return c;                                                                                                       \
    }                                                                                                                   \
    INLINE uint32_t dp2a_lo_##name_a##_##name_b(uint32_t a, uint32_t b, uint32_t c)                                     \
    {                                                                                                                   \
        return c + (uint32_t)((A##16_t)a * (B##8_t)b) + (uint32_t)((A##16_t)(a >> 16) * (B##8_t)(b >> 8));              \
    }                                                                                                                   \
    INLINE uint32_t dp2a_hi_##name_a##_##name_b(uint32_t a, uint32_t b, uint32_t c)                                     \
    {                                                                                                                   \
        return dp2a_lo_##name_a##_##name_b(a, b >> 16, c);                                                              \
    }
DOT(u32, uint, u32, uint)
DOT(u32, uint, s32, int)
DOT(s32, int, u32, uint)
DOT(s32, int, s32, int)

/* Video instructions that write a part of d: the rest comes from c */
INLINE uint32_t merge_part(int64_t value, uint32_t c, uint32_t mask)
{
    return ((uint32_t)value << __builtin_ctz(mask) & mask) | (c & ~mask);
}

#endif
