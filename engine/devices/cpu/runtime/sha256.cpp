#include "sha256.hpp"

#include <cstdint>
#include <cstring>

namespace beaver {
namespace {

std::uint32_t rotate(std::uint32_t x, int n) {
    return x >> n | x << (32 - n);
}

// FIPS 180-4, 4.2.2: the first 32 bits of the fractional parts of the cube roots of the first 64 primes.
constexpr std::uint32_t round_constants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01,
    0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc,
    0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147,
    0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116, 0x1e376c08,
    0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208,
    0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

struct State {
    std::uint32_t h[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};

    void block(const std::uint8_t *bytes) {
        std::uint32_t w[64];
        for (int t = 0; t < 16; ++t) {
            const std::uint8_t *b = bytes + 4 * t;
            w[t] = std::uint32_t{b[0]} << 24 | std::uint32_t{b[1]} << 16 | std::uint32_t{b[2]} << 8 | b[3];
        }
        for (int t = 16; t < 64; ++t) {
            const std::uint32_t s0 = rotate(w[t - 15], 7) ^ rotate(w[t - 15], 18) ^ w[t - 15] >> 3;
            const std::uint32_t s1 = rotate(w[t - 2], 17) ^ rotate(w[t - 2], 19) ^ w[t - 2] >> 10;
            w[t] = w[t - 16] + s0 + w[t - 7] + s1;
        }
        std::uint32_t v[8];
        std::memcpy(v, h, sizeof v);
        auto &[a, b, c, d, e, f, g, last] = v;
        for (int t = 0; t < 64; ++t) {
            const std::uint32_t t1 = last + (rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)) + ((e & f) ^ (~e & g)) +
                                     round_constants[t] + w[t];
            const std::uint32_t t2 = (rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
            last = g, g = f, f = e, e = d + t1, d = c, c = b, b = a, a = t1 + t2;
        }
        for (int i = 0; i < 8; ++i) h[i] += v[i];
    }
};

}  // namespace

std::string sha256(const void *data, std::size_t size) {
    const auto *bytes = static_cast<const std::uint8_t *>(data);
    State state;
    std::size_t done = 0;
    for (; size - done >= 64; done += 64) state.block(bytes + done);

    std::uint8_t tail[128] = {};  // the rest, a one bit, zeros, and the length in bits as the last 8 bytes
    const std::size_t rest = size - done;
    if (rest) std::memcpy(tail, bytes + done, rest);
    tail[rest] = 0x80;
    const std::size_t padded = rest < 56 ? 64 : 128;
    for (int i = 0; i < 8; ++i) tail[padded - 1 - i] = static_cast<std::uint8_t>(std::uint64_t{size} * 8 >> 8 * i);
    for (std::size_t at = 0; at < padded; at += 64) state.block(tail + at);

    static const char digits[] = "0123456789abcdef";
    std::string text;
    for (std::uint32_t word : state.h)
        for (int shift = 28; shift >= 0; shift -= 4) text += digits[word >> shift & 15];
    return text;
}

}  // namespace beaver
