// mma.sync and wmma.mma: D = A * B + C for a warp, computed once, by the last lane to come.
//
// Registers are gathered into plain matrices, B with its rows along n so that the innermost loop runs over neighbours. Products
// of f16, bf16, tf32 and fp8 numbers are exact in float, so each sum is rounded once a step and nowhere else.
#include <algorithm>
#include <array>
#include <string>

#include "execution.hpp"
#include "matrix_elements.hpp"
#include "matrix_layout.hpp"
#include "warp.hpp"

namespace beaver {
namespace {

// What one lane brings, and where its part of D goes.
struct Part {
    const beaver_mma_shape *shape;
    std::uint32_t *d;
    const std::uint32_t *a, *b, *c;
};

using Parts = std::array<const Part *, BEAVER_WARP>;

// What one multiplication works on.
struct Product {
    const beaver_mma_shape &shape;
    const Parts &parts;
};

// Lanes that do not exist or have exited bring zeros.
constexpr std::uint32_t nothing[32] = {};

enum class Operand { a, b, c };

// Calls visit(lane, index of a unit in its registers, where the unit is stored): lines for mma, the row-major tile for wmma.
template <class Visit>
void for_each_unit(const beaver_mma_shape &shape, Operand operand, int type, Visit visit) {
    const std::uint32_t rows = operand == Operand::b ? shape.k : shape.m;
    const std::uint32_t columns = operand == Operand::a ? shape.k : shape.n;
    const std::uint32_t bits = element_bits(type), unit_bits = std::max(bits, 32u);
    const std::uint32_t units = run_of_tile(rows, columns) * bits / unit_bits;  // of a lane
    const std::uint32_t line = (operand == Operand::b ? rows : columns) * bits / unit_bits;
    for (std::uint32_t index = 0; index < units; ++index) {
        const Placement place = shape.fragments         ? place_in_tile(index, units)
                                : operand == Operand::a ? place_of_a(index, line, shape.m)
                                : operand == Operand::b ? place_of_b(index, line)
                                                        : place_of_c(index, line, bits == 16);
        for (std::uint32_t group = 0; group < 8; ++group)
            for (std::uint32_t member = 0; member < 4; ++member)
                visit(group * 4 + member, index, place.first + group * place.group_step + member * place.member_step);
    }
}

const std::uint32_t *registers_of(const Part *part, Operand operand) {
    if (!part) return nothing;
    return operand == Operand::a ? part->a : operand == Operand::b ? part->b : part->c;
}

template <class Word>
void gather(const Product &product, Operand operand, int type, Word *words) {
    for_each_unit(product.shape, operand, type, [&](std::uint32_t lane, std::uint32_t index, std::uint32_t at) {
        std::memcpy(words + at, registers_of(product.parts[lane], operand) + index * (sizeof(Word) / 4), sizeof(Word));
    });
}

template <class Word>
void scatter(const Product &product, int type, const Word *words) {
    for_each_unit(product.shape, Operand::c, type, [&](std::uint32_t lane, std::uint32_t index, std::uint32_t at) {
        if (const Part *part = product.parts[lane]) std::memcpy(part->d + index * (sizeof(Word) / 4), words + at, sizeof(Word));
    });
}

// B lies in columns for mma; the product wants rows.
template <class Value>
const Value *rows_of_b(const beaver_mma_shape &shape, const Value *lines, Value *rows) {
    if (shape.fragments) return lines;
    for (std::uint32_t n = 0; n < shape.n; ++n)
        for (std::uint32_t k = 0; k < shape.k; ++k) rows[k * shape.n + n] = lines[n * shape.k + k];
    return rows;
}

// ---- decoding packed words, ``count`` elements

std::int32_t extended(std::uint32_t word, std::uint32_t bits, bool is_signed) {
    const std::uint32_t shift = 32 - bits;
    return is_signed ? static_cast<std::int32_t>(word << shift) >> shift : static_cast<std::int32_t>(word << shift >> shift);
}

void decode(int type, const std::uint32_t *words, std::size_t count, std::int32_t *values) {
    const std::uint32_t bits = element_bits(type), in_word = 32 / bits;
    const bool is_signed = type == BEAVER_S8 || type == BEAVER_S4;
    for (std::size_t index = 0; index < count; ++index)
        values[index] = extended(words[index / in_word] >> index % in_word * bits, bits, is_signed);
}

struct Fp8Values {
    float e4m3[256], e5m2[256];
    Fp8Values() {
        for (unsigned bits = 0; bits < 256; ++bits) {
            e4m3[bits] = float_of_e4m3(static_cast<std::uint8_t>(bits));
            e5m2[bits] = float_of_e5m2(static_cast<std::uint8_t>(bits));
        }
    }
};

void decode(int type, const std::uint32_t *words, std::size_t count, float *values) {
    static const Fp8Values fp8;
    const auto *halves = reinterpret_cast<const std::uint16_t *>(words);
    const auto *bytes = reinterpret_cast<const std::uint8_t *>(words);
    switch (type) {
        case BEAVER_F16: return floats_of_halves(halves, values, count);
        case BEAVER_BF16:
            for (std::size_t index = 0; index < count; ++index) values[index] = float_of_bfloat(halves[index]);
            return;
        case BEAVER_E4M3:
            for (std::size_t index = 0; index < count; ++index) values[index] = fp8.e4m3[bytes[index]];
            return;
        case BEAVER_E5M2:
            for (std::size_t index = 0; index < count; ++index) values[index] = fp8.e5m2[bytes[index]];
            return;
        case BEAVER_TF32:
            for (std::size_t index = 0; index < count; ++index) values[index] = float_of_tf32(words[index]);
            return;
        default: std::memcpy(values, words, count * sizeof(float));
    }
}

void encode(int type, const float *values, std::size_t count, std::uint32_t *words) {
    auto *halves = reinterpret_cast<std::uint16_t *>(words);
    for (std::size_t index = 0; index < count; ++index) {
        const float value = values[index];
        if (type == BEAVER_F16)
            halves[index] = half_of_float(value);
        else
            words[index] = value != value ? float_nan : bits_of_float(value);
    }
}

// ---- products: D += A * B, rows of N

// Eight columns at a time, for as many rows as there are registers to hold their sums.
template <class Value>
void accumulate(const beaver_mma_shape &shape, const Value *a, const Value *b, Value *d) {
    typedef Value Columns __attribute__((vector_size(8 * sizeof(Value))));
    constexpr std::uint32_t rows = 4;  // M is a multiple of 8
    for (std::uint32_t n = 0; n < shape.n; n += 8)
        for (std::uint32_t m = 0; m < shape.m; m += rows) {
            Columns sums[rows];
            for (std::uint32_t row = 0; row < rows; ++row) std::memcpy(&sums[row], d + (m + row) * shape.n + n, sizeof(Columns));
            for (std::uint32_t k = 0; k < shape.k; ++k) {
                Columns line;
                std::memcpy(&line, b + k * shape.n + n, sizeof(Columns));
                for (std::uint32_t row = 0; row < rows; ++row) sums[row] += a[(m + row) * shape.k + k] * line;
            }
            for (std::uint32_t row = 0; row < rows; ++row) std::memcpy(d + (m + row) * shape.n + n, &sums[row], sizeof(Columns));
        }
}

void multiply_floats(const Product &product) {
    const beaver_mma_shape &shape = product.shape;
    constexpr std::size_t most = 32 * 16;  // elements of the largest tile
    alignas(32) std::uint32_t words[most];
    alignas(32) float a[most], lines[most], rows[most], d[most];
    gather(product, Operand::a, shape.a, words);
    decode(shape.a, words, shape.m * shape.k, a);
    gather(product, Operand::b, shape.b, words);
    decode(shape.b, words, shape.k * shape.n, lines);
    gather(product, Operand::c, shape.c, words);
    decode(shape.c, words, shape.m * shape.n, d);
    accumulate(shape, a, rows_of_b(shape, lines, rows), d);
    encode(shape.d, d, shape.m * shape.n, words);
    scatter(product, shape.d, words);
}

void multiply_doubles(const Product &product) {
    const beaver_mma_shape &shape = product.shape;
    constexpr std::size_t most = 16 * 16;
    alignas(64) double a[most], lines[most], rows[most], d[most];
    gather(product, Operand::a, shape.a, a);
    gather(product, Operand::b, shape.b, lines);
    gather(product, Operand::c, shape.c, d);
    const double *b = rows_of_b(shape, lines, rows);
    for (std::uint32_t m = 0; m < shape.m; ++m)
        for (std::uint32_t n = 0; n < shape.n; ++n)
            for (std::uint32_t k = 0; k < shape.k; ++k)
                d[m * shape.n + n] = std::fma(a[m * shape.k + k], b[k * shape.n + n], d[m * shape.n + n]);
    scatter(product, shape.d, d);
}

void multiply_integers(const Product &product) {
    const beaver_mma_shape &shape = product.shape;
    constexpr std::size_t most = 16 * 64;
    alignas(32) std::uint32_t words[most];
    alignas(32) std::int32_t a[most], lines[most], rows[most], c[most], d[most];
    gather(product, Operand::a, shape.a, words);
    decode(shape.a, words, shape.m * shape.k, a);
    gather(product, Operand::b, shape.b, words);
    decode(shape.b, words, shape.k * shape.n, lines);
    gather(product, Operand::c, shape.c, c);
    const std::uint32_t count = std::uint32_t{shape.m} * shape.n;
    std::fill_n(d, count, 0);
    accumulate(shape, a, rows_of_b(shape, lines, rows), d);
    for (std::uint32_t index = 0; index < count; ++index) {
        std::int64_t sum = std::int64_t{c[index]} + d[index];
        if (shape.satfinite) sum = std::clamp<std::int64_t>(sum, INT32_MIN, INT32_MAX);
        d[index] = static_cast<std::int32_t>(sum);
    }
    scatter(product, shape.d, d);
}

// A tile of wmma lies in rows; what is counted are bits of columns.
void columns_of_bits(const beaver_mma_shape &shape, const std::uint32_t *rows, std::uint32_t *columns) {
    for (std::uint32_t n = 0; n < shape.n; ++n)
        for (std::uint32_t k = 0; k < shape.k; ++k) {
            const std::uint32_t from = k * shape.n + n, to = n * shape.k + k;
            columns[to / 32] |= (rows[from / 32] >> from % 32 & 1) << to % 32;
        }
}

void multiply_bits(const Product &product) {
    const beaver_mma_shape &shape = product.shape;
    const std::uint32_t depth = shape.k / 32;  // words
    std::uint32_t a[16 * 8], gathered[8 * 8], columns[8 * 8] = {}, d[16 * 8];
    gather(product, Operand::a, shape.a, a);
    gather(product, Operand::b, shape.b, gathered);
    gather(product, Operand::c, shape.c, d);
    if (shape.fragments) columns_of_bits(shape, gathered, columns);
    const std::uint32_t *lines = shape.fragments ? columns : gathered;
    for (std::uint32_t m = 0; m < shape.m; ++m)
        for (std::uint32_t n = 0; n < shape.n; ++n)
            for (std::uint32_t k = 0; k < depth; ++k) {
                const std::uint32_t x = a[m * depth + k], y = lines[n * depth + k];
                d[m * shape.n + n] += static_cast<std::uint32_t>(__builtin_popcount(shape.bit_op ? x & y : x ^ y));
            }
    scatter(product, shape.d, d);
}

void complete_mma(Warp &, const Meeting &meeting) {
    Parts parts{};
    for_each_bit(meeting.arrived,
                 [&](std::uint32_t lane) { parts[lane] = reinterpret_cast<const Part *>(meeting.operands[lane]); });
    const Product product{*parts[static_cast<std::uint32_t>(__builtin_ctz(meeting.arrived))]->shape, parts};
    switch (product.shape.a) {
        case BEAVER_F64: return multiply_doubles(product);
        case BEAVER_S8:
        case BEAVER_U8:
        case BEAVER_S4:
        case BEAVER_U4: return multiply_integers(product);
        case BEAVER_B1: return multiply_bits(product);
        default: return multiply_floats(product);
    }
}

const Operation mma{"mma.sync", complete_mma};
const Operation wmma{"wmma.mma.sync", complete_mma};

// The form for Volta, in which quarter-warps multiply on their own.
bool is_supported(const beaver_mma_shape &shape) { return shape.fragments || shape.a != BEAVER_F16 || shape.m == 16; }

}  // namespace
}  // namespace beaver

using namespace beaver;

void beaver_mma(beaver_thread *thread, const beaver_mma_shape *shape, std::uint32_t *d, const std::uint32_t *a,
                const std::uint32_t *b, const std::uint32_t *c, const beaver_site *site) {
    if (!is_supported(*shape)) beaver_unsupported(thread, "mma.sync.m8n8k4 of f16", site);
    const Part part{shape, d, a, b, c};
    meet(thread_of(thread), shape->fragments ? wmma : mma, ~0u, reinterpret_cast<std::uintptr_t>(&part), site);
}
