// The address ranges of kernel_abi.h, and the chunks of 2 MiB that are mapped in the window. Not thread-safe: memory.cpp locks.
#pragma once

#include <cstdint>
#include <optional>

#include "kernel_abi.h"

namespace beaver {

constexpr std::uint64_t chunk_bytes = 1ull << BEAVER_CHUNK_SHIFT;
constexpr std::uint64_t chunk_count = BEAVER_WINDOW_SIZE >> BEAVER_CHUNK_SHIFT;
constexpr std::uint64_t page_bytes = 1ull << BEAVER_PAGE_SHIFT;

enum class Mapping {
    device,  // at the alias only: host code that dereferences the address faults
    both     // at the device address and at the alias: managed and pinned memory
};

// Reserves the window, the alias, the table of pages and the control page. Returns false when an address is taken.
bool reserve_window();

// Maps ``count`` neighbouring chunks that read as zeros, and leaves ``guards`` chunks behind them closed. Chunks that were
// closed come last: the search goes on from where the previous one ended. All of their pages get ``state``, which is not closed.
// Nothing when no such gap is left, or no memory.
std::optional<std::uint64_t> map_chunks(std::uint64_t count, std::uint64_t guards, Mapping mapping, std::uint8_t state);
void unmap_chunks(std::uint64_t address, std::uint64_t count);

// Gives ``state`` to the pages that lie wholly in ``size`` bytes of mapped chunks.
void set_pages(std::uint64_t address, std::uint64_t size, std::uint8_t state);

inline bool in_window_range(std::uint64_t address) { return address - BEAVER_WINDOW < BEAVER_WINDOW_SIZE; }
inline std::uint8_t *alias_of(std::uint64_t address) { return reinterpret_cast<std::uint8_t *>(address + BEAVER_ALIAS); }
// ``address`` lies in the window.
inline std::uint8_t page_state(std::uint64_t address) {
    const std::uint64_t page = (address - BEAVER_WINDOW) >> BEAVER_PAGE_SHIFT;
    return __atomic_load_n(reinterpret_cast<std::uint8_t *>(BEAVER_PAGES) + page, __ATOMIC_ACQUIRE);
}

}  // namespace beaver
