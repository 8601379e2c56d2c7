#include "initcheck.hpp"

#include <sys/mman.h>

#include <cstring>

#include "memory.hpp"
#include "report.hpp"
#include "window.hpp"

namespace beaver {
namespace {

std::uint8_t *written = nullptr;  // bit i of byte j is for byte 8 * j + i of the window

// Calls visit(byte of the table, its bits that belong to the range) until it returns false.
template <typename Visit>
bool each_byte(std::uint64_t address, std::uint64_t size, Visit visit) {
    const std::uint64_t start = address - BEAVER_WINDOW, end = start + size;
    for (std::uint64_t byte = start / 8; byte * 8 < end; ++byte) {
        unsigned bits = 0xff;
        if (byte == start / 8) bits &= 0xffu << (start % 8);
        if (end - byte * 8 < 8) bits &= 0xffu >> (8 - (end - byte * 8));
        if (!visit(written + byte, static_cast<std::uint8_t>(bits))) return false;
    }
    return true;
}

bool is_tracked(std::uint64_t address, std::uint64_t size) {
    return written && in_window_range(address) && size <= BEAVER_WINDOW + BEAVER_WINDOW_SIZE - address;
}

}  // namespace

void open_initcheck() {
    void *bits = mmap(nullptr, BEAVER_WINDOW_SIZE / 8, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (bits == MAP_FAILED) give_up("no address space for initcheck's table", 126);
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
    each_byte(address, size, [](std::uint8_t *byte, std::uint8_t bits) {
        __atomic_fetch_or(byte, bits, __ATOMIC_RELAXED);
        return true;
    });
}

bool is_written(std::uint64_t address, std::uint64_t size) {
    if (!is_tracked(address, size)) return true;
    return each_byte(address, size, [](std::uint8_t *byte, std::uint8_t bits) {
        return (__atomic_load_n(byte, __ATOMIC_RELAXED) & bits) == bits;
    });
}

}  // namespace beaver
