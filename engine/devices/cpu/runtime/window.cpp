#include "window.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <cstring>

namespace beaver {
namespace {

std::uint64_t next_chunk = 0;

std::uint8_t *page_table() { return reinterpret_cast<std::uint8_t *>(BEAVER_PAGES); }

bool is_mapped(std::uint64_t chunk) { return page_table()[chunk << (BEAVER_CHUNK_SHIFT - BEAVER_PAGE_SHIFT)] != BEAVER_CLOSED; }

bool reserve(std::uint64_t address, std::uint64_t size, int protection) {
    void *wanted = reinterpret_cast<void *>(address);
    void *got = mmap(wanted, size, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
    // Kernels before 4.17 take the address as a mere hint.
    if (got != wanted && got != MAP_FAILED) munmap(got, size);
    return got == wanted;
}

void close_range(void *start, std::uint64_t size) {
    mmap(start, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
}

bool open_range(std::uint64_t address, std::uint64_t size, Mapping mapping) {
    std::uint8_t *alias = alias_of(address);
    if (mapping == Mapping::device) {
        if (mprotect(alias, size, PROT_READ | PROT_WRITE) != 0) return false;
        // A first touch of 64 MiB takes 15 ms by huge pages and 70 ms by small ones.
        madvise(alias, size, MADV_HUGEPAGE);
        return true;
    }
    const int shared = MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED;
    if (mmap(alias, size, PROT_READ | PROT_WRITE, shared, -1, 0) == MAP_FAILED) return false;
    // An old size of 0 makes a second mapping of the same pages.
    void *second = mremap(alias, 0, size, MREMAP_MAYMOVE | MREMAP_FIXED, reinterpret_cast<void *>(address));
    if (second != MAP_FAILED) return true;
    close_range(alias, size);
    return false;
}

// The first chunk of a gap of ``count`` closed chunks in [from, to).
std::optional<std::uint64_t> find_gap(std::uint64_t from, std::uint64_t to, std::uint64_t count) {
    std::uint64_t run = 0;
    for (std::uint64_t chunk = from; chunk < to; ++chunk) {
        run = is_mapped(chunk) ? 0 : run + 1;
        if (run == count) return chunk + 1 - count;
    }
    return std::nullopt;
}

}  // namespace

bool reserve_window() {
    return reserve(BEAVER_WINDOW, BEAVER_WINDOW_SIZE, PROT_NONE) &&
           reserve(BEAVER_WINDOW + BEAVER_ALIAS, BEAVER_WINDOW_SIZE, PROT_NONE) &&
           reserve(BEAVER_PAGES, BEAVER_WINDOW_SIZE >> BEAVER_PAGE_SHIFT, PROT_READ | PROT_WRITE) &&
           reserve(BEAVER_CONTROL, static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE)), PROT_READ | PROT_WRITE);
}

std::optional<std::uint64_t> map_chunks(std::uint64_t count, std::uint64_t guards, Mapping mapping, std::uint8_t state) {
    if (count > chunk_count) return std::nullopt;
    std::optional<std::uint64_t> found = find_gap(next_chunk, chunk_count, count + guards);
    if (!found) found = find_gap(0, chunk_count, count + guards);
    if (!found) return std::nullopt;
    const std::uint64_t address = BEAVER_WINDOW + (*found << BEAVER_CHUNK_SHIFT);
    if (!open_range(address, count << BEAVER_CHUNK_SHIFT, mapping)) return std::nullopt;
    next_chunk = *found + count + guards;
    set_pages(address, count << BEAVER_CHUNK_SHIFT, state);
    return address;
}

void unmap_chunks(std::uint64_t address, std::uint64_t count) {
    set_pages(address, count << BEAVER_CHUNK_SHIFT, BEAVER_CLOSED);
    close_range(alias_of(address), count << BEAVER_CHUNK_SHIFT);
    close_range(reinterpret_cast<void *>(address), count << BEAVER_CHUNK_SHIFT);
}

void set_pages(std::uint64_t address, std::uint64_t size, std::uint8_t state) {
    const std::uint64_t first = (address - BEAVER_WINDOW + page_bytes - 1) >> BEAVER_PAGE_SHIFT;
    const std::uint64_t end = (address - BEAVER_WINDOW + size) >> BEAVER_PAGE_SHIFT;
    if (first >= end) return;
    __atomic_thread_fence(__ATOMIC_RELEASE);
    std::memset(page_table() + first, state, end - first);
    __atomic_thread_fence(__ATOMIC_RELEASE);
}

}  // namespace beaver
