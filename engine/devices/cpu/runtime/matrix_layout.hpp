// Which lane's which register holds which element (PTX ISA, "Matrix Fragments for mma").
//
// An operand is numbered here in units: registers of 32 bits, or pairs of them that hold a 64-bit element. Its units are stored
// line after line: rows of A, C and D, columns of B. All of mma's shapes follow one scheme of 8 x 4 lanes: ``group`` = lane / 4 picks
// the line and ``member`` = lane % 4 the unit in it; a lane's further units are in lines 8 further down (A, C and D) or behind the
// first four units of the line.
#pragma once

#include <cstdint>

namespace beaver {

// Where a lane's unit with some index is stored: first + group * group_step + member * member_step.
struct Placement {
    std::uint32_t first, group_step, member_step;
};

// ``line``: units in a line. ``rows``: 8 or 16.
constexpr Placement place_of_a(std::uint32_t index, std::uint32_t line, std::uint32_t rows) {
    return rows == 8 ? Placement{4 * index, line, 1} : Placement{8 * (index % 2) * line + 4 * (index / 2), line, 1};
}

constexpr Placement place_of_b(std::uint32_t index, std::uint32_t line) { return {4 * index, line, 1}; }

// Accumulators of 32 and 64 bits come in pairs of neighbours; two of f16 share a unit.
constexpr Placement place_of_c(std::uint32_t index, std::uint32_t line, bool is_half) {
    return is_half ? Placement{8 * index * line, line, 1} : Placement{8 * (index / 2) * line + index % 2, line, 2};
}

// The fragments of wmma are opaque to programs, but for this: element i of one accumulator is where element i of another of the
// same shape is. Here a tile is cut into 32 runs of its row-major order, and a fragment that has room for more than its run
// (the f16 operands of wmma: the hardware keeps them twice) repeats it.
constexpr std::uint32_t run_of_tile(std::uint32_t rows, std::uint32_t columns) { return rows * columns / 32; }

// ``units``: of a lane.
constexpr Placement place_in_tile(std::uint32_t index, std::uint32_t units) { return {index, 4 * units, units}; }

}  // namespace beaver
