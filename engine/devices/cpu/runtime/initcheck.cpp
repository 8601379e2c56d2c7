#include "initcheck.hpp"

#include <sys/mman.h>

#include <cstring>

#include "memory.hpp"
#include "report.hpp"
#include "window.hpp"

namespace beaver {
namespace {

std::uint8_t *written = nullptr;  // bit i of byte j is for byte 8 * j + i of the window

// The bits of the byte of the table that belong to [start, end), which count from the window's start.
std::uint8_t bits_within(std::uint64_t byte, std::uint64_t start, std::uint64_t end) {
    unsigned bits = 0xff;
    if (byte == start / 8) bits &= 0xffu << (start % 8);
    if (end - byte * 8 < 8) bits &= 0xffu >> (8 - (end - byte * 8));
    return static_cast<std::uint8_t>(bits);
}

bool is_tracked(std::uint64_t address, std::uint64_t size) {
    return written && in_window_range(address) && size <= BEAVER_WINDOW + BEAVER_WINDOW_SIZE - address;
}

}  // namespace

void open_initcheck() {
    void *bits = mmap(nullptr, BEAVER_WINDOW_SIZE / 8, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (bits == MAP_FAILED) give_up("no address space for initcheck's table", Exit::broken);
    written = static_cast<std::uint8_t *>(bits);
}

void forget_written(std::uint64_t address, std::uint64_t size) {
    if (is_tracked(address, size)) madvise(written + (address - BEAVER_WINDOW) / 8, size / 8, MADV_DONTNEED);
}

void mark_written(std::uint64_t address, std::uint64_t size) {
    if (!is_tracked(address, size) || size == 0) return;
    if (size >= 64) {
        // Only the ends share a byte with neighbours, which other threads may be marking.
        const std::uint64_t first = (address + 7) & ~7ull, last = (address + size) & ~7ull;
        std::memset(written + (first - BEAVER_WINDOW) / 8, 0xff, (last - first) / 8);
        mark_written(address, first - address);
        mark_written(last, address + size - last);
        return;
    }
    const std::uint64_t start = address - BEAVER_WINDOW, end = start + size;
    for (std::uint64_t byte = start / 8; byte * 8 < end; ++byte) {
        const std::uint8_t bits = bits_within(byte, start, end);
        if ((__atomic_load_n(written + byte, __ATOMIC_RELAXED) & bits) != bits)
            __atomic_fetch_or(written + byte, bits, __ATOMIC_RELAXED);
    }
}

std::optional<std::uint64_t> first_unwritten(std::uint64_t address, std::uint64_t size) {
    if (!is_tracked(address, size) || size == 0) return std::nullopt;
    const std::uint64_t start = address - BEAVER_WINDOW, end = start + size;
    for (std::uint64_t byte = start / 8; byte * 8 < end; ++byte) {
        const unsigned missing = bits_within(byte, start, end) & ~__atomic_load_n(written + byte, __ATOMIC_RELAXED);
        if (missing) return BEAVER_WINDOW + byte * 8 + static_cast<unsigned>(__builtin_ctz(missing));
    }
    return std::nullopt;
}

bool is_written(std::uint64_t address, std::uint64_t size) {
    // What kernels ask for nearly always lies in one byte of the table.
    const std::uint64_t start = address - BEAVER_WINDOW, end = start + size;
    if (written && end <= BEAVER_WINDOW_SIZE && size != 0 && size <= 8 && start / 8 == (end - 1) / 8) {
        const std::uint8_t bits = bits_within(start / 8, start, end);
        return (__atomic_load_n(written + start / 8, __ATOMIC_RELAXED) & bits) == bits;
    }
    return !first_unwritten(address, size);
}

}  // namespace beaver
