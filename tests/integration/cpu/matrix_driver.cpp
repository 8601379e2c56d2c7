// Runs one case of tests/integration/test_cpu_matrix.py: matrix instructions on random elements, compared with sums in plain
// loops. Where an element is, is written here as the PTX manual does: from lane and element index to row and column.
#include <cmath>
#include <random>
#include <vector>

#include "driver.hpp"

using namespace beaver;

namespace {

const beaver_site site{"/home/user/solution.cu", "_Z5storePii", 5, 7};

unsigned bits_of(int type) {
    switch (type) {
        case BEAVER_F64: return 64;
        case BEAVER_F32:
        case BEAVER_TF32:
        case BEAVER_S32: return 32;
        case BEAVER_F16:
        case BEAVER_BF16: return 16;
        case BEAVER_S4:
        case BEAVER_U4: return 4;
        case BEAVER_B1: return 1;
        default: return 8;
    }
}

// ---- values of elements, one by one
double power(int exponent) { return std::ldexp(1.0, exponent); }

double small_float(std::uint64_t bits, int exponent_bits, int mantissa_bits) {
    const int bias = (1 << (exponent_bits - 1)) - 1;
    const auto mantissa = static_cast<double>(bits & ((1u << mantissa_bits) - 1));
    const int exponent = static_cast<int>(bits >> mantissa_bits & ((1u << exponent_bits) - 1));
    const double magnitude = exponent ? (1 + mantissa / (1 << mantissa_bits)) * power(exponent - bias)
                                      : mantissa / (1 << mantissa_bits) * power(1 - bias);
    return bits >> (exponent_bits + mantissa_bits) & 1 ? -magnitude : magnitude;
}

double value(int type, std::uint64_t bits) {
    switch (type) {
        case BEAVER_F64: {
            double number;
            std::memcpy(&number, &bits, 8);
            return number;
        }
        case BEAVER_TF32: bits &= 0xffffe000; [[fallthrough]];
        case BEAVER_F32: {
            float number;
            std::memcpy(&number, &bits, 4);
            return number;
        }
        case BEAVER_F16: return small_float(bits, 5, 10);
        case BEAVER_BF16: return small_float(bits, 8, 7);
        case BEAVER_E4M3: return small_float(bits, 4, 3);
        case BEAVER_E5M2: return small_float(bits, 5, 2);
        case BEAVER_S32: return static_cast<std::int32_t>(bits);
        case BEAVER_S8: return static_cast<std::int8_t>(bits);
        case BEAVER_S4: return static_cast<double>(bits & 7) - static_cast<double>(bits & 8);
        default: return static_cast<double>(bits);
    }
}

// Random elements whose sums stay within every accumulator's range.
std::mt19937 generator(1);
std::uint64_t element(int type) {
    const std::uint64_t any = generator();
    const double number = (static_cast<double>(any % 4001) - 2000) / 1000;
    switch (type) {
        case BEAVER_F64: {
            std::uint64_t bits;
            const double wide = number + static_cast<double>(generator()) * 1e-17;
            std::memcpy(&bits, &wide, 8);
            return bits;
        }
        case BEAVER_F32:
        case BEAVER_TF32: {
            std::uint32_t bits;
            const auto single = static_cast<float>(number);
            std::memcpy(&bits, &single, 4);
            return bits;
        }
        case BEAVER_F16: return (any & 0x83ff) | (12 + any / 65536 % 4) << 10;  // magnitudes from 1/8 to 2
        case BEAVER_BF16: return (any & 0x807f) | (124 + any / 65536 % 4) << 7;
        case BEAVER_E4M3: return (any & 0x87) | (4 + any / 65536 % 4) << 3;
        case BEAVER_E5M2: return (any & 0x83) | (12 + any / 65536 % 4) << 2;
        case BEAVER_S32: return any % 20001 + 4294957296u;
        default: return any & ((1u << bits_of(type)) - 1);
    }
}

// ---- fragments of mma, as the manual's tables give them: group = lane >> 2, member = lane % 4, i counts a lane's elements
struct Place {
    unsigned row, column;
};

Place place_of_a(const beaver_mma_shape &shape, unsigned lane, unsigned i) {
    const unsigned packed = bits_of(shape.a) > 32 ? 1 : 32 / bits_of(shape.a);  // elements side by side
    const unsigned group = lane >> 2, member = lane % 4, run = i / packed;
    if (shape.m == 8) return {group, member * packed + i % packed};
    return {run % 2 ? group + 8 : group, member * packed + i % packed + (run / 2 ? packed * 4 * (run / 2) : 0)};
}

Place place_of_b(const beaver_mma_shape &shape, unsigned lane, unsigned i) {
    const unsigned packed = bits_of(shape.b) > 32 ? 1 : 32 / bits_of(shape.b);
    return {(lane % 4) * packed + i % packed + i / packed * packed * 4, lane >> 2};
}

Place place_of_c(const beaver_mma_shape &, unsigned lane, unsigned i) {
    return {i < 2 ? lane >> 2 : (lane >> 2) + 8, (lane % 4) * 2 + (i & 1)};
}

using Fragments = std::vector<std::vector<std::uint32_t>>;  // of 32 lanes

std::uint64_t get(const std::vector<std::uint32_t> &words, int type, unsigned i) {
    const unsigned bits = bits_of(type);
    if (bits == 64) return words[2 * i] | static_cast<std::uint64_t>(words[2 * i + 1]) << 32;
    return bits == 32 ? words[i] : words[i * bits / 32] >> i * bits % 32 & ((1u << bits) - 1);
}

void put(std::vector<std::uint32_t> &words, int type, unsigned i, std::uint64_t element_bits) {
    const unsigned bits = bits_of(type);
    if (bits == 64) words[2 * i + 1] = static_cast<std::uint32_t>(element_bits >> 32);
    words[bits == 64 ? 2 * i : i * bits / 32] |= static_cast<std::uint32_t>(element_bits << i * bits % 32);
}

struct Operands {
    const beaver_mma_shape *shape;
    Fragments *a, *b, *c, *d;
};

void multiply(beaver_thread *thread) {
    const auto with = param<Operands>(thread);
    const std::uint32_t lane = thread->lane;
    beaver_mma(thread, with.shape, (*with.d)[lane].data(), (*with.a)[lane].data(), (*with.b)[lane].data(), (*with.c)[lane].data(), &site);
}

struct Matrices {
    std::vector<std::uint64_t> a, b, c;
};

// The result of one element: exact for integers, rounded once from double for the rest (a sum of at most 33 terms: its error is
// far below what the comparison allows).
double expected(const beaver_mma_shape &shape, const Matrices &with, unsigned row, unsigned column) {
    double sum = value(shape.c, with.c[row * shape.n + column]);
    for (unsigned k = 0; k < shape.k; ++k) {
        const std::uint64_t a = with.a[row * shape.k + k], b = with.b[k * shape.n + column];
        if (shape.a == BEAVER_B1)
            sum += static_cast<double>(shape.bit_op ? (a & b) : (a ^ b));
        else
            sum += value(shape.a, a) * value(shape.b, b);
    }
    return shape.satfinite ? std::fmin(std::fmax(sum, INT32_MIN), INT32_MAX) : sum;
}

double allowed(int type) {
    switch (type) {
        case BEAVER_F16: return 1.0 / 2048;
        case BEAVER_F32: return 1e-6;
        case BEAVER_F64: return 1e-15;
        default: return 0;
    }
}

bool check(const beaver_mma_shape &shape) {
    const auto random_matrix = [](int type, unsigned count) {
        std::vector<std::uint64_t> made(count);
        for (auto &bits : made) bits = element(type);
        return made;
    };
    Matrices with{random_matrix(shape.a, shape.m * shape.k), random_matrix(shape.b, shape.k * shape.n),
                  random_matrix(shape.c, shape.m * shape.n)};
    if (shape.satfinite)
        for (auto &bits : with.c) bits = generator() % 2 ? 0x7ffffff0 : 0x80000010;
    Fragments a(32, std::vector<std::uint32_t>(32)), b = a, c = a, d = a;
    for (unsigned lane = 0; lane < 32; ++lane) {
        for (unsigned i = 0; i < shape.m * shape.k / 32; ++i) {
            const Place at = place_of_a(shape, lane, i);
            put(a[lane], shape.a, i, with.a[at.row * shape.k + at.column]);
        }
        for (unsigned i = 0; i < shape.k * shape.n / 32; ++i) {
            const Place at = place_of_b(shape, lane, i);
            put(b[lane], shape.b, i, with.b[at.row * shape.n + at.column]);
        }
        for (unsigned i = 0; i < shape.m * shape.n / 32u; ++i) {
            const Place at = place_of_c(shape, lane, i);
            put(c[lane], shape.c, i, with.c[at.row * shape.n + at.column]);
        }
    }
    const Operands operands{&shape, &a, &b, &c, &d};
    if (launch(multiply, operands, 1, 32)) return false;
    for (unsigned lane = 0; lane < 32; ++lane)
        for (unsigned i = 0; i < shape.m * shape.n / 32u; ++i) {
            const Place at = place_of_c(shape, lane, i);
            const double want = expected(shape, with, at.row, at.column), got = value(shape.d, get(d[lane], shape.d, i));
            if (std::fabs(got - want) > allowed(shape.d) * std::fmax(8, std::fabs(want))) {
                std::printf("row %u, column %u: %.17g instead of %.17g\n", at.row, at.column, got, want);
                return false;
            }
        }
    return true;
}

beaver_mma_shape shape(std::uint8_t m, std::uint8_t n, std::uint16_t k, int d, int a, int b, int c) {
    const auto type = [](int which) { return static_cast<std::uint8_t>(which); };
    return {m, n, k, type(d), type(a), type(b), type(c), 0, 0, 0, 0, 0};
}

void check_all(const std::vector<beaver_mma_shape> &shapes) {
    for (const beaver_mma_shape &each : shapes) {
        std::printf("m%un%uk%u types %u %u %u %u", each.m, each.n, each.k, each.d, each.a, each.b, each.c);
        std::printf("=%d\n", check(each));
    }
}

std::vector<beaver_mma_shape> integer_shapes() {
    std::vector<beaver_mma_shape> shapes;
    for (const int a : {BEAVER_S8, BEAVER_U8})
        for (const int b : {BEAVER_S8, BEAVER_U8})
            for (const auto &[m, k] : {std::pair{8, 16}, {16, 16}, {16, 32}})
                shapes.push_back(shape(static_cast<std::uint8_t>(m), 8, static_cast<std::uint8_t>(k), BEAVER_S32, a, b, BEAVER_S32));
    for (const int a : {BEAVER_S4, BEAVER_U4})
        for (const int b : {BEAVER_S4, BEAVER_U4})
            for (const auto &[m, k] : {std::pair{8, 32}, {16, 32}, {16, 64}})
                shapes.push_back(shape(static_cast<std::uint8_t>(m), 8, static_cast<std::uint8_t>(k), BEAVER_S32, a, b, BEAVER_S32));
    auto saturating = shape(16, 8, 32, BEAVER_S32, BEAVER_S8, BEAVER_S8, BEAVER_S32);
    saturating.satfinite = 1;
    shapes.push_back(saturating);
    return shapes;
}

std::vector<beaver_mma_shape> bit_shapes() {
    std::vector<beaver_mma_shape> shapes;
    for (const std::uint8_t op : {0, 1})
        for (const auto &[m, k] : {std::pair{8, 128}, {16, 128}, {16, 256}}) {
            shapes.push_back(shape(static_cast<std::uint8_t>(m), 8, static_cast<std::uint16_t>(k), BEAVER_S32, BEAVER_B1, BEAVER_B1, BEAVER_S32));
            shapes.back().bit_op = op;
        }
    return shapes;
}

// ---- ldmatrix, stmatrix and movmatrix
struct Moves {
    int count, transposed;
    Fragments *seen;
};

void load_and_store(beaver_thread *thread) {
    const auto with = param<Moves>(thread);
    auto *halves = reinterpret_cast<std::uint16_t *>(thread->shared);
    for (unsigned index = thread->lane; index < 512; index += 32) halves[index] = static_cast<std::uint16_t>(index);
    beaver_warp_sync(thread, ~0u, &site);
    // Rows lie backwards, so that a wrong lane's address shows.
    const std::uint32_t row = BEAVER_SHARED_BASE + 16 * (31 - thread->lane);
    std::uint32_t *words = (*with.seen)[thread->lane].data();
    beaver_ldmatrix(thread, row, with.count, with.transposed, words, &site);
    words[8] = beaver_movmatrix(thread, words[0], &site);
    beaver_stmatrix(thread, row, with.count, !with.transposed, words, &site);
    for (unsigned index = 0; index < 16; ++index) words[16 + index] = halves[thread->lane * 16 + index];
}

void show_moves(int count, int transposed) {
    Fragments seen(32, std::vector<std::uint32_t>(32));
    const Moves moves{count, transposed, &seen};
    show("error", launch(load_and_store, moves, 1, 32));
    bool right = true;
    for (unsigned lane = 0; lane < 32; ++lane)
        for (unsigned half = 0; half < 2; ++half) {
            // Element (row, column) of matrix m was 8 * (31 - (8 * m + row)) + column.
            const auto original = [](unsigned matrix, unsigned row, unsigned column) { return 8 * (31 - (8 * matrix + row)) + column; };
            const unsigned line = lane / 4, position = lane % 4 * 2 + half;
            for (unsigned matrix = 0; matrix < static_cast<unsigned>(count); ++matrix) {
                const unsigned got = seen[lane][matrix] >> 16 * half & 0xffff;
                right &= got == (transposed ? original(matrix, position, line) : original(matrix, line, position));
            }
            right &= (seen[lane][8] >> 16 * half & 0xffff) == (transposed ? original(0, line, position) : original(0, position, line));
        }
    show("loaded", right);
    bool stored = true;  // what was loaded, transposed
    for (unsigned address = 0; address < 512; ++address) {
        const unsigned lane = 31 - address / 8 % 32, matrix = lane / 8, row = lane % 8, column = address % 8;
        const unsigned now = seen[address / 16][16 + address % 16];
        const bool moved = address < 256 && matrix < static_cast<unsigned>(count);
        stored &= now == (moved ? 8 * (31 - (8 * matrix + column)) + row : address);
    }
    show("stored", stored);
}

// ---- wmma: loaded, multiplied and stored, the fragments opaque
struct Tiles {
    beaver_mma_shape shape;
    beaver_wmma_tile a, b, c, d;
    std::uint64_t addresses[4];
    std::uint32_t strides[4];
};

void multiply_tiles(beaver_thread *thread) {
    const auto with = param<Tiles>(thread);
    std::uint32_t a[8], b[8], c[8], d[8];
    beaver_wmma_load(thread, &with.a, a, with.addresses[0], with.strides[0], &site);
    beaver_wmma_load(thread, &with.b, b, with.addresses[1], with.strides[1], &site);
    beaver_wmma_load(thread, &with.c, c, with.addresses[2], with.strides[2], &site);
    beaver_mma(thread, &with.shape, d, a, b, c, &site);
    beaver_wmma_store(thread, &with.d, d, with.addresses[3], with.strides[3], &site);
}

struct Stored {
    std::uint64_t address;
    std::uint32_t stride;
    bool row_major;
    int type;

    void put(unsigned row, unsigned column, std::uint64_t bits) const {
        const unsigned width = bits_of(type), at = (row_major ? row * stride + column : column * stride + row) * width;
        std::uint8_t *bytes = storage(address, 1) + at / 8;
        if (width < 8)
            *bytes = static_cast<std::uint8_t>(*bytes | bits << at % 8);
        else
            std::memcpy(bytes, &bits, width / 8);
    }
    std::uint64_t get(unsigned row, unsigned column) const {
        std::uint64_t bits = 0;
        std::memcpy(&bits, storage(address, 1) + (row_major ? row * stride + column : column * stride + row) * bits_of(type) / 8, bits_of(type) / 8);
        return bits;
    }
};

bool check_tiles(beaver_mma_shape with, bool rows_a, bool rows_b, bool rows_c, std::uint8_t words_of_inputs) {
    with.fragments = 1;
    const auto stored = [](unsigned rows, unsigned columns, bool row_major, int type) {
        const std::uint32_t stride = (row_major ? columns : rows) + (bits_of(type) < 8 ? 0 : 16);
        const std::uint64_t bytes = std::uint64_t{stride} * (row_major ? rows : columns) * bits_of(type) / 8 + 64;
        const Stored made_matrix{made(bytes), stride, row_major, type};
        std::memset(storage(made_matrix.address, bytes), 0, bytes);
        return made_matrix;
    };
    const Stored a = stored(with.m, with.k, rows_a, with.a), b = stored(with.k, with.n, rows_b, with.b),
                 c = stored(with.m, with.n, rows_c, with.c), d = stored(with.m, with.n, !rows_c, with.d);
    Matrices matrices;
    const auto fill = [](const Stored &target, unsigned rows, unsigned columns, std::vector<std::uint64_t> &kept) {
        for (unsigned row = 0; row < rows; ++row)
            for (unsigned column = 0; column < columns; ++column) {
                kept.push_back(element(target.type));
                target.put(row, column, kept.back());
            }
    };
    fill(a, with.m, with.k, matrices.a);
    fill(b, with.k, with.n, matrices.b);
    fill(c, with.m, with.n, matrices.c);
    const auto tile = [](unsigned rows, unsigned columns, const Stored &of, unsigned words) {
        return beaver_wmma_tile{static_cast<std::uint8_t>(rows), static_cast<std::uint8_t>(columns), of.row_major,
                                static_cast<std::uint8_t>(of.type), static_cast<std::uint8_t>(words), 'g'};
    };
    const auto words = [](unsigned rows, unsigned columns, int type) { return rows * columns * bits_of(type) / 32 / 32; };
    const Tiles tiles{with,
                      tile(with.m, with.k, a, words_of_inputs ? words_of_inputs : words(with.m, with.k, with.a)),
                      tile(with.k, with.n, b, words_of_inputs ? words_of_inputs : words(with.k, with.n, with.b)),
                      tile(with.m, with.n, c, words(with.m, with.n, with.c)),
                      tile(with.m, with.n, d, words(with.m, with.n, with.d)),
                      {a.address, b.address, c.address, d.address},
                      {a.stride, b.stride, c.stride, d.stride}};
    if (launch(multiply_tiles, tiles, 1, 32)) return false;
    for (unsigned row = 0; row < with.m; ++row)
        for (unsigned column = 0; column < with.n; ++column) {
            const double want = expected(with, matrices, row, column), got = value(with.d, d.get(row, column));
            if (std::fabs(got - want) > allowed(with.d) * std::fmax(8, std::fabs(want))) {
                std::printf("row %u, column %u: %.17g instead of %.17g\n", row, column, got, want);
                return false;
            }
        }
    return true;
}

void check_wmma() {
    const auto all_layouts = [](const char *name, const beaver_mma_shape &with, std::uint8_t words) {
        bool right = true;
        for (int layouts = 0; layouts < 8; ++layouts) right &= check_tiles(with, layouts & 1, layouts & 2, layouts & 4, words);
        show(name, right);
    };
    for (const auto &[m, n] : {std::pair{16, 16}, {32, 8}, {8, 32}}) {
        const auto rows = static_cast<std::uint8_t>(m), columns = static_cast<std::uint8_t>(n);
        all_layouts("f16", shape(rows, columns, 16, BEAVER_F16, BEAVER_F16, BEAVER_F16, BEAVER_F16), 8);
        all_layouts("f16_f32", shape(rows, columns, 16, BEAVER_F32, BEAVER_F16, BEAVER_F16, BEAVER_F32), 8);
        all_layouts("f32_of_f16", shape(rows, columns, 16, BEAVER_F32, BEAVER_F16, BEAVER_F16, BEAVER_F16), 8);
        all_layouts("bf16", shape(rows, columns, 16, BEAVER_F32, BEAVER_BF16, BEAVER_BF16, BEAVER_F32), 0);
        all_layouts("s8", shape(rows, columns, 16, BEAVER_S32, BEAVER_S8, BEAVER_S8, BEAVER_S32), 0);
        all_layouts("u8", shape(rows, columns, 16, BEAVER_S32, BEAVER_U8, BEAVER_U8, BEAVER_S32), 0);
    }
    all_layouts("tf32", shape(16, 16, 8, BEAVER_F32, BEAVER_TF32, BEAVER_TF32, BEAVER_F32), 0);
    all_layouts("f64", shape(8, 8, 4, BEAVER_F64, BEAVER_F64, BEAVER_F64, BEAVER_F64), 0);
    // Elements narrower than a byte: rows of A, columns of B
    show("s4", check_tiles(shape(8, 8, 32, BEAVER_S32, BEAVER_S4, BEAVER_S4, BEAVER_S32), true, false, true, 0));
    show("u4", check_tiles(shape(8, 8, 32, BEAVER_S32, BEAVER_U4, BEAVER_U4, BEAVER_S32), true, false, false, 0));
    show("b1", check_tiles(shape(8, 8, 128, BEAVER_S32, BEAVER_B1, BEAVER_B1, BEAVER_S32), true, false, true, 0));
}

// ---- numbers that are none
struct Special {
    std::uint32_t a, c, got_f32, got_f16;
};

void multiply_special(beaver_thread *thread) {
    auto *with = reinterpret_cast<Special *>(param<std::uint64_t>(thread) + BEAVER_ALIAS);
    static const beaver_mma_shape to_f32 = shape(16, 8, 8, BEAVER_F32, BEAVER_F16, BEAVER_F16, BEAVER_F32);
    static const beaver_mma_shape to_f16 = shape(16, 8, 8, BEAVER_F16, BEAVER_F16, BEAVER_F16, BEAVER_F16);
    const std::uint32_t a[2] = {with->a, 0}, one[1] = {0x3c00}, c[4] = {with->c, 0, 0, 0};
    std::uint32_t wide[4], narrow[2];
    beaver_mma(thread, &to_f32, wide, a, one, c, &site);
    const std::uint32_t zero[2] = {0, 0};
    beaver_mma(thread, &to_f16, narrow, a, one, zero, &site);
    if (thread->lane == 0) {
        with->got_f32 = wide[0];
        with->got_f16 = narrow[0] & 0xffff;
    }
}

void show_special(const char *name, std::uint32_t a, std::uint32_t c) {
    const std::uint64_t address = made(sizeof(Special));
    auto *with = reinterpret_cast<Special *>(address + BEAVER_ALIAS);
    *with = {a, c, 0, 0};
    launch(multiply_special, address, 1, 32);
    std::printf("%s=%08x %04x\n", name, with->got_f32, with->got_f16);
}

const Cases cases = {
    {"floats",
     [] {
         std::vector<beaver_mma_shape> shapes;
         for (const std::uint8_t k : {8, 16}) {
             shapes.push_back(shape(16, 8, k, BEAVER_F32, BEAVER_F16, BEAVER_F16, BEAVER_F32));
             shapes.push_back(shape(16, 8, k, BEAVER_F32, BEAVER_BF16, BEAVER_BF16, BEAVER_F32));
         }
         for (const std::uint8_t k : {4, 8}) shapes.push_back(shape(16, 8, k, BEAVER_F32, BEAVER_TF32, BEAVER_TF32, BEAVER_F32));
         for (const int a : {BEAVER_E4M3, BEAVER_E5M2})
             for (const int b : {BEAVER_E4M3, BEAVER_E5M2})
                 for (const std::uint8_t k : {16, 32}) shapes.push_back(shape(16, 8, k, BEAVER_F32, a, b, BEAVER_F32));
         check_all(shapes);
     }},
    {"halves",
     [] {
         // Accumulators of f16: two elements a register, whose places are those of f32.
         check_all({shape(16, 8, 8, BEAVER_F16, BEAVER_F16, BEAVER_F16, BEAVER_F16), shape(16, 8, 16, BEAVER_F16, BEAVER_F16, BEAVER_F16, BEAVER_F16),
                    shape(16, 8, 32, BEAVER_F16, BEAVER_E4M3, BEAVER_E5M2, BEAVER_F16)});
     }},
    {"doubles",
     [] {
         std::vector<beaver_mma_shape> shapes = {shape(8, 8, 4, BEAVER_F64, BEAVER_F64, BEAVER_F64, BEAVER_F64)};
         for (const std::uint8_t k : {4, 8, 16}) shapes.push_back(shape(16, 8, k, BEAVER_F64, BEAVER_F64, BEAVER_F64, BEAVER_F64));
         check_all(shapes);
     }},
    {"integers", [] { check_all(integer_shapes()); }},
    {"bits", [] { check_all(bit_shapes()); }},
    {"special",
     [] {
         show_special("nan", 0x7e01, 0);
         show_special("infinity", 0xfc00, 0);
         show_special("opposite_infinities", 0x7c00, 0xff800000);
         show_special("subnormal", 0x0001, 0);  // four times 2^-24: each of the four lanes of a row holds one
     }},
    {"moves",
     [] {
         for (const int count : {1, 2, 4})
             for (const int transposed : {0, 1}) show_moves(count, transposed);
     }},
    {"wmma", check_wmma},
    {"volta",
     [] {
         const beaver_mma_shape with = shape(8, 8, 4, BEAVER_F32, BEAVER_F16, BEAVER_F16, BEAVER_F32);
         check(with);
     }},
};

}  // namespace

int main(int count, char **arguments) { return run_case(cases, count, arguments); }
