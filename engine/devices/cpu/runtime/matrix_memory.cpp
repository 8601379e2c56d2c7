// Matrices between registers and memory: ldmatrix, stmatrix, movmatrix (PTX ISA, "Warp-level matrix load instruction" ff.), and
// wmma.load and wmma.store.
#include <cstring>

#include "matrix_elements.hpp"
#include "matrix_layout.hpp"
#include "warp.hpp"

namespace beaver {
namespace {

// Checks that settle almost every access at once; the rest is beaver_access()'s and beaver_shared_access()'s to judge.
std::uint8_t *shared_bytes(Thread *thread, std::uint64_t address, std::uint32_t size, std::uint32_t flags, const beaver_site *site) {
    const std::uint64_t offset = address - BEAVER_SHARED_BASE;
    if (offset < thread->shared_limit && offset + size <= thread->shared_limit && address % size == 0)
        return thread->shared + offset;
    return beaver_shared_access(thread, static_cast<std::uint32_t>(address), size, flags, site);
}

std::uint8_t *tile_bytes(Thread *thread, std::uint8_t space, std::uint64_t address, std::uint32_t size, std::uint32_t flags,
                         const beaver_site *site) {
    if (space == 's') return shared_bytes(thread, address, size, flags, site);
    const std::uint64_t offset = address - BEAVER_WINDOW;
    if (offset < BEAVER_WINDOW_SIZE && address % size == 0 &&
        reinterpret_cast<const std::uint8_t *>(BEAVER_PAGES)[offset >> BEAVER_PAGE_SHIFT] == BEAVER_OPEN)
        return reinterpret_cast<std::uint8_t *>(address + BEAVER_ALIAS);
    return beaver_access(thread, address, size, flags | (space ? 0 : BEAVER_GENERIC), site);
}

// ---- 8 x 8 matrices of 16-bit elements. Lane l holds elements 2 * (l % 4) and the next of row l / 4, and gives the address of
// row l % 8 of matrix l / 8.

constexpr std::uint32_t row_bytes = 16;

struct Rows {
    std::uint8_t *row;         // the one whose address this lane gave; nullptr for none
    std::uint32_t *registers;  // one for each matrix
    int count;
    bool transposed;
};

Rows &rows_of(const Meeting &meeting, std::uint32_t lane) { return *reinterpret_cast<Rows *>(meeting.operands[lane]); }

// Calls move(element in memory, half of a register) for each element that a lane that arrived holds.
template <class Move>
void for_each_element(const Meeting &meeting, Move move) {
    for_each_bit(meeting.arrived, [&](std::uint32_t lane) {
        Rows &own = rows_of(meeting, lane);
        for (int matrix = 0; matrix < own.count; ++matrix)
            for (std::uint32_t half = 0; half < 2; ++half) {
                const std::uint32_t line = lane / 4, position = lane % 4 * 2 + half;
                const std::uint32_t row = own.transposed ? position : line, column = own.transposed ? line : position;
                const std::uint32_t source = static_cast<std::uint32_t>(matrix) * 8 + row;
                if (!(meeting.arrived >> source & 1)) continue;  // nobody gave this row's address
                move(rows_of(meeting, source).row + column * 2, reinterpret_cast<std::uint8_t *>(own.registers + matrix) + half * 2);
            }
    });
}

void complete_ldmatrix(Warp &, const Meeting &meeting) {
    for_each_element(meeting, [](const std::uint8_t *element, std::uint8_t *half) { std::memcpy(half, element, 2); });
}

void complete_stmatrix(Warp &, const Meeting &meeting) {
    for_each_element(meeting, [](std::uint8_t *element, const std::uint8_t *half) { std::memcpy(element, half, 2); });
}

void complete_movmatrix(Warp &warp, const Meeting &meeting) {
    for_each_bit(meeting.arrived, [&](std::uint32_t lane) {
        std::uint32_t result = 0;
        for (std::uint32_t half = 0; half < 2; ++half) {
            const std::uint32_t row = lane % 4 * 2 + half, column = lane / 4;
            const auto word = static_cast<std::uint32_t>(meeting.operands[row * 4 + column / 2]);
            result |= (word >> column % 2 * 16 & 0xffff) << half * 16;
        }
        warp.lanes[lane].result = result;
    });
}

const Operation ldmatrix{"ldmatrix.sync", complete_ldmatrix};
const Operation stmatrix{"stmatrix.sync", complete_stmatrix};
const Operation movmatrix{"movmatrix.sync", complete_movmatrix};

void move_rows(Thread *self, const Operation &operation, std::uint32_t flags, std::uint32_t address, int count, int transposed,
               std::uint32_t *registers, const beaver_site *site) {
    Rows rows{nullptr, registers, count, transposed != 0};
    // Each lane answers for its own address.
    if (self->lane < static_cast<std::uint32_t>(count) * 8) rows.row = shared_bytes(self, address, row_bytes, flags, site);
    meet(self, operation, ~0u, reinterpret_cast<std::uintptr_t>(&rows), site);
}

// ---- tiles of wmma

// The lanes of a warp load and store as one: what they did before is done, and what they do after sees it.
const Operation wmma_load{"wmma.load.sync", [](Warp &, const Meeting &) {}};
const Operation wmma_store{"wmma.store.sync", [](Warp &, const Meeting &) {}};

// Calls move(memory, registers, first bit in both, bits) for every element of the lane's run.
template <class Move>
void for_each_of_run(Thread *self, const beaver_wmma_tile &tile, std::uint64_t address, std::uint32_t stride, std::uint32_t flags,
                     const beaver_site *site, Move move) {
    const std::uint32_t bits = element_bits(tile.type), run = run_of_tile(tile.rows, tile.cols);
    const std::uint32_t bytes = bits < 8 ? 1 : bits / 8;
    for (std::uint32_t index = 0; index < run; ++index) {
        const std::uint32_t flat = self->lane * run + index, row = flat / tile.cols, column = flat % tile.cols;
        const std::uint64_t at = (tile.row_major ? std::uint64_t{row} * stride + column : std::uint64_t{column} * stride + row) * bits;
        move(tile_bytes(self, tile.space, address + at / 8, bytes, flags, site), at % 8, index * bits, bits);
    }
}

}  // namespace
}  // namespace beaver

using namespace beaver;

void beaver_ldmatrix(beaver_thread *thread, std::uint32_t address, int count, int transposed, std::uint32_t *d,
                     const beaver_site *site) {
    move_rows(thread_of(thread), ldmatrix, BEAVER_READ, address, count, transposed, d, site);
}

void beaver_stmatrix(beaver_thread *thread, std::uint32_t address, int count, int transposed, const std::uint32_t *s,
                     const beaver_site *site) {
    move_rows(thread_of(thread), stmatrix, BEAVER_WRITE, address, count, transposed, const_cast<std::uint32_t *>(s), site);
}

std::uint32_t beaver_movmatrix(beaver_thread *thread, std::uint32_t value, const beaver_site *site) {
    meet(thread_of(thread), movmatrix, ~0u, value, site);
    return thread_of(thread)->result;
}

void beaver_wmma_load(beaver_thread *thread, const beaver_wmma_tile *tile, std::uint32_t *d, std::uint64_t address,
                      std::uint32_t stride, const beaver_site *site) {
    Thread *self = thread_of(thread);
    meet(self, wmma_load, ~0u, 0, site);
    auto *registers = reinterpret_cast<std::uint8_t *>(d);
    const std::uint32_t size = tile->words * 4u;
    const std::uint32_t run = run_of_tile(tile->rows, tile->cols) * element_bits(tile->type) / 8;  // bytes
    std::memset(registers, 0, size);
    for_each_of_run(self, *tile, address, stride, BEAVER_READ, site,
                    [&](const std::uint8_t *memory, std::uint32_t from, std::uint32_t to, std::uint32_t bits) {
                        if (bits >= 8)
                            std::memcpy(registers + to / 8, memory, bits / 8);
                        else
                            registers[to / 8] |= static_cast<std::uint8_t>((*memory >> from & ((1u << bits) - 1)) << to % 8);
                    });
    for (std::uint32_t copied = run; copied < size; ++copied) registers[copied] = registers[copied - run];
}

void beaver_wmma_store(beaver_thread *thread, const beaver_wmma_tile *tile, const std::uint32_t *s, std::uint64_t address,
                       std::uint32_t stride, const beaver_site *site) {
    Thread *self = thread_of(thread);
    meet(self, wmma_store, ~0u, 0, site);
    const auto *registers = reinterpret_cast<const std::uint8_t *>(s);
    // Accumulators alone are stored, and none of them is narrower than a byte.
    for_each_of_run(self, *tile, address, stride, BEAVER_WRITE, site,
                    [&](std::uint8_t *memory, std::uint32_t, std::uint32_t from, std::uint32_t bits) {
                        std::memcpy(memory, registers + from / 8, bits / 8);
                    });
    meet(self, wmma_store, ~0u, 0, site);
}
