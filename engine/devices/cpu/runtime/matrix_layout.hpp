// Which lane's which register holds which element (PTX ISA, "Matrix Fragments for mma").
//
// A register holds `1 / fraction` elements of a row of A, a column of B or a row of C and D; what is numbered here are registers,
// called units, in a matrix of units. All of mma's shapes follow one scheme of 8 x 4 lanes: ``group`` = lane / 4 picks the row of
// A and C and the column of B, ``member`` = lane % 4 the unit in it; further registers are the same 8 rows lower (A and C) or four
// units on.
#pragma once

#include <cstdint>

namespace beaver {

struct Unit {
    std::uint32_t line;      // row of A, C and D; column of B
    std::uint32_t position;  // in the line
};

// ``rows``: 8 or 16.
constexpr Unit unit_of_a(std::uint32_t lane, std::uint32_t index, std::uint32_t rows) {
    const std::uint32_t halves = rows / 8;
    return {lane / 4 + 8 * (index % halves), lane % 4 + 4 * (index / halves)};
}

constexpr Unit unit_of_b(std::uint32_t lane, std::uint32_t index) { return {lane / 4, lane % 4 + 4 * index}; }

// 32- and 64-bit accumulators come in pairs of neighbours, as if they were one unit of two registers; f16 ones are one.
constexpr Unit unit_of_c(std::uint32_t lane, std::uint32_t index, bool is_half) {
    if (is_half) return {lane / 4 + 8 * index, lane % 4};
    return {lane / 4 + 8 * (index / 2), lane % 4 * 2 + index % 2};
}

// The fragments of wmma are opaque to programs, but for this: element i of one accumulator is where element i of another of the
// same shape is. Here a tile is cut into 32 runs of its row-major order, and a fragment that has room for more than its run
// (the f16 operands of wmma: the hardware keeps them twice) repeats it.
constexpr std::uint32_t run_of_tile(std::uint32_t rows, std::uint32_t columns) { return rows * columns / 32; }

}  // namespace beaver
