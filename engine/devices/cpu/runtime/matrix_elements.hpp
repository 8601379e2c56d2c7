// The element types of matrix instructions: their sizes, and their values as float.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>

#if defined(__F16C__) && defined(__AVX__)
#include <immintrin.h>
#endif

#include "kernel_abi.h"

namespace beaver {

constexpr unsigned element_bits(int type) {
    switch (type) {
        case BEAVER_F64: return 64;
        case BEAVER_TF32:
        case BEAVER_F32:
        case BEAVER_S32: return 32;
        case BEAVER_F16:
        case BEAVER_BF16: return 16;
        case BEAVER_S4:
        case BEAVER_U4: return 4;
        case BEAVER_B1: return 1;
        default: return 8;  // s8, u8, e4m3, e5m2
    }
}

inline float float_of_bits(std::uint32_t bits) {
    float value;
    std::memcpy(&value, &bits, sizeof value);
    return value;
}

inline std::uint32_t bits_of_float(float value) {
    std::uint32_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    return bits;
}

// What matrix instructions give for every NaN.
constexpr std::uint32_t float_nan = 0x7fffffff;
constexpr std::uint16_t half_nan = 0x7fff;

// The exponent is moved to float's by a product, which normalises subnormal numbers on the way.
inline float float_of_half(std::uint16_t half) {
    const std::uint32_t magnitude = half & 0x7fffu;
    const std::uint32_t sign = (half & 0x8000u) << 16;
    if (magnitude >= 0x7c00) return float_of_bits(sign | 0x7f800000 | (magnitude & 0x3ff) << 13);
    return float_of_bits(sign | bits_of_float(float_of_bits(magnitude << 13) * 0x1p112f));
}

// Rounds to the nearest, ties to even.
inline std::uint16_t half_of_float(float value) {
    const std::uint32_t bits = bits_of_float(value);
    const auto sign = static_cast<std::uint16_t>(bits >> 16 & 0x8000);
    const std::uint32_t magnitude = bits & 0x7fffffff;
    if (magnitude > 0x7f800000) return half_nan;
    if (magnitude >= 0x477ff000) return sign | 0x7c00;  // 65520 and above round to infinity
    if (magnitude < 0x38800000)  // below 2^-14: the sum's last bit weighs what a subnormal half's does, so the sum rounds
        return sign | static_cast<std::uint16_t>(bits_of_float(float_of_bits(magnitude) + 0.5f) - bits_of_float(0.5f));
    const std::uint32_t odd = magnitude >> 13 & 1;
    return sign | static_cast<std::uint16_t>((magnitude - 0x38000000 + 0xfff + odd) >> 13);
}

inline void floats_of_halves(const std::uint16_t *halves, float *floats, std::size_t count) {
    std::size_t index = 0;
#if defined(__F16C__) && defined(__AVX__)
    for (; index + 8 <= count; index += 8)
        _mm256_storeu_ps(floats + index, _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i *>(halves + index))));
#endif
    for (; index < count; ++index) floats[index] = float_of_half(halves[index]);
}

inline float float_of_bfloat(std::uint16_t bfloat) { return float_of_bits(std::uint32_t{bfloat} << 16); }

// The low 13 bits of a register are not part of a tf32 number.
inline float float_of_tf32(std::uint32_t bits) { return float_of_bits(bits & 0xffffe000); }

// Four exponent bits with bias 7, three of mantissa, no infinities; all ones is NaN.
inline float float_of_e4m3(std::uint8_t bits) {
    const int exponent = bits >> 3 & 15, mantissa = bits & 7;
    float value = exponent == 15 && mantissa == 7 ? NAN
                  : exponent                      ? std::ldexp(static_cast<float>(8 + mantissa), exponent - 10)
                                                  : std::ldexp(static_cast<float>(mantissa), -9);
    return bits & 0x80 ? -value : value;
}

// A half without its low byte.
inline float float_of_e5m2(std::uint8_t bits) { return float_of_half(static_cast<std::uint16_t>(bits << 8)); }

}  // namespace beaver
