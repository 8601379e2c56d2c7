// The slow paths of memory: every access that the table of pages does not settle. Order of the checks: alignment, the window,
// shared memory, local memory, parameters, registered host memory; what is left is a fault.
#include <cstdio>
#include <cstring>

#include "execution.hpp"
#include "kernel_abi.h"
#include "memory.hpp"
#include "options.hpp"
#include "report.hpp"
#include "tools.hpp"
#include "window.hpp"

namespace beaver {
namespace {

constexpr std::uint64_t shared_window_size = 1ull << 24, local_window_size = 1ull << 24;

enum class Space { global, shared, local };

struct Access {
    std::uint64_t address;
    std::uint32_t size, flags;
    const beaver_site *site;
};

const char *name_of(Space space) {
    return space == Space::global ? "global" : space == Space::shared ? "shared" : "local";
}

std::string headline(const Access &access, Space space) {
    const char *verb = access.flags & BEAVER_ATOMIC ? "atomic" : access.flags & BEAVER_WRITE ? "write" : "read";
    char text[96];
    std::snprintf(text, sizeof text, "Invalid __%s__ %s of size %u bytes", name_of(space), verb, access.size);
    return text;
}

// Local memory has host addresses; reports show the place in a thread's window of 16 MiB, which ends where its memory ends.
std::uint64_t shown_address(const beaver_thread *thread, std::uint64_t address, Space space) {
    if (space != Space::local) return address;
    return local_window_size + address - reinterpret_cast<std::uint64_t>(thread->local_end);
}

// compute-sanitizer names the nearest allocation alone. That memory was freed is what a reader most needs to know.
std::string where(std::uint64_t address) {
    const auto nearest = nearest_allocation(address);
    if (!nearest) return "";
    char place[64] = "is inside";
    const auto distance = static_cast<long long>(nearest->distance);
    if (distance) std::snprintf(place, sizeof place, "is %lld bytes %s", std::llabs(distance), distance > 0 ? "after" : "before");
    char text[192];
    std::snprintf(text, sizeof text, "\nand %s the %s allocation at 0x%llx of size %llu bytes", place,
                  nearest->freed ? "freed" : "nearest", static_cast<unsigned long long>(nearest->allocation.address),
                  static_cast<unsigned long long>(nearest->allocation.size));
    return text;
}

// Under memcheck a program sees the tool's error for every fault, as with compute-sanitizer.
[[noreturn]] void fault(beaver_thread *thread, const Access &access, Space space, cudaError_t error) {
    if (options().tool == Tool::memcheck) {
        char text[64];
        std::snprintf(text, sizeof text, "Access to 0x%llx is %s",
                      static_cast<unsigned long long>(shown_address(thread, access.address, space)),
                      error == cudaErrorMisalignedAddress ? "misaligned" : "out of bounds");
        report_fault(thread, access.site, headline(access, space), text + (space == Space::global ? where(access.address) : ""));
        error = cudaErrorLaunchFailure;
    }
    end_thread(thread, error);
}

bool within(std::uint64_t address, std::uint64_t size, const std::uint8_t *start, const std::uint8_t *end) {
    const auto first = reinterpret_cast<std::uint64_t>(start), last = reinterpret_cast<std::uint64_t>(end);
    return address >= first && address <= last && size <= last - address;
}

bool is_misaligned(const Access &access) { return (access.address & (access.size - 1)) != 0; }

bool is_near_local(const beaver_thread *thread, std::uint64_t address) {
    return address - reinterpret_cast<std::uint64_t>(thread->local_end) + local_window_size < 2 * local_window_size;
}

// ---- memcheck: the bounds of recently accessed allocations, by page of addresses, so that most accesses need no lock.
struct Bounds {
    std::uint64_t start = 0, end = 0, releases = 0;
};
constexpr unsigned cache_bits = 6;
thread_local Bounds cache[1 << cache_bits];

// Arrays have round sizes and are accessed at the same index: the golden ratio keeps their pages apart.
Bounds &cached_bounds(std::uint64_t address) {
    return cache[(address >> 12) * 0x9e3779b97f4a7c15ull >> (64 - cache_bits)];
}

bool is_allocated(std::uint64_t address, std::uint64_t size) {
    Bounds &known = cached_bounds(address);
    const std::uint64_t now = releases.load(std::memory_order_acquire);
    if (known.releases != now || address < known.start || address + size > known.end) {
        const auto found = find_allocation(address);
        if (!found) return false;
        known = {found->address, found->address + found->size, now};
    }
    return address + size <= known.end;
}

// ---- initcheck: the access goes on, as with compute-sanitizer.
void check_written(const beaver_thread *thread, const Access &access) {
    if ((access.flags & BEAVER_READ) && !is_written(access.address, access.size) && find_allocation(access.address)) {
        char what[96], details[64];
        std::snprintf(what, sizeof what, "Uninitialized __global__ memory read of size %u bytes", access.size);
        std::snprintf(details, sizeof details, "Address 0x%llx", static_cast<unsigned long long>(access.address));
        report_fault(thread, access.site, what, details);
    }
    if (access.flags & BEAVER_WRITE) mark_written(access.address, access.size);
}

std::uint8_t *watched_access(beaver_thread *thread, const Access &access) {
    switch (options().tool) {
        case Tool::initcheck: check_written(thread, access); break;
        case Tool::synccheck: note_site(thread, access.site); break;
        default:
            if (!is_allocated(access.address, access.size)) fault(thread, access, Space::global, cudaErrorIllegalAddress);
    }
    return alias_of(access.address);
}

std::uint8_t *shared_access(beaver_thread *thread, const Access &access) {
    const std::uint64_t offset = access.address - BEAVER_SHARED_BASE;  // wraps for what lies below: far out of bounds
    if (is_misaligned(access)) fault(thread, access, Space::shared, cudaErrorMisalignedAddress);
    if (offset >= thread->block->shared_size || access.size > thread->block->shared_size - offset)
        fault(thread, access, Space::shared, cudaErrorIllegalAddress);
    if (options().tool == Tool::racecheck && !(access.flags & BEAVER_ATOMIC))
        race_access(thread, static_cast<std::uint32_t>(access.address), access.size, access.flags & BEAVER_WRITE, access.site);
    return thread->shared + offset;
}

// An H200 has more local memory mapped than a thread uses: overruns of a local array, far ones too, were never seen to fault in
// a plain run. What is written there is lost, what is read is 0.
std::uint8_t *nowhere() {
    alignas(32) static thread_local std::uint8_t bytes[32];
    std::memset(bytes, 0, sizeof bytes);
    return bytes;
}

// A GPU lets a thread use its whole stack; memcheck knows how far its frames reach.
std::uint8_t *local_access(beaver_thread *thread, const Access &access) {
    const std::uint8_t *end = options().tool == Tool::memcheck ? thread->local_top : thread->local_end;
    if (is_misaligned(access)) fault(thread, access, Space::local, cudaErrorMisalignedAddress);
    if (within(access.address, access.size, thread->local, end)) return reinterpret_cast<std::uint8_t *>(access.address);
    if (options().tool == Tool::none) return nowhere();
    fault(thread, access, Space::local, cudaErrorIllegalAddress);
}

bool is_parameter(const beaver_thread *thread, std::uint64_t address, std::uint64_t size) {
    return within(address, size, thread->block->params, thread->block->params + thread->block->params_size);
}

}  // namespace
}  // namespace beaver

using namespace beaver;

std::uint8_t *beaver_access(beaver_thread *thread, std::uint64_t address, std::uint32_t size, std::uint32_t flags,
                            const beaver_site *site) {
    const Access access{address, size, flags, site};
    if (in_window_range(address)) {
        if (is_misaligned(access)) fault(thread, access, Space::global, cudaErrorMisalignedAddress);
        switch (page_state(address)) {
            case BEAVER_OPEN: return alias_of(address);
            case BEAVER_WATCHED: return watched_access(thread, access);
            default: fault(thread, access, Space::global, cudaErrorIllegalAddress);
        }
    }
    if (flags & BEAVER_GENERIC) {
        if (address - BEAVER_SHARED_WINDOW < shared_window_size)
            return shared_access(thread, {address - BEAVER_SHARED_WINDOW, size, flags, site});
        if (within(address, size, thread->local, thread->local_end)) return local_access(thread, access);
        if (!(flags & BEAVER_WRITE) && is_parameter(thread, address, size)) return reinterpret_cast<std::uint8_t *>(address);
    }
    if (is_misaligned(access)) fault(thread, access, Space::global, cudaErrorMisalignedAddress);
    if (std::uint8_t *host = storage(address, size)) return host;
    const bool local = (flags & BEAVER_GENERIC) && is_near_local(thread, address);
    if (local && options().tool == Tool::none) return nowhere();
    fault(thread, access, local ? Space::local : Space::global, cudaErrorIllegalAddress);
}

std::uint8_t *beaver_shared_access(beaver_thread *thread, std::uint32_t address, std::uint32_t size, std::uint32_t flags,
                                   const beaver_site *site) {
    return shared_access(thread, {address, size, flags, site});
}

std::uint8_t *beaver_local_access(beaver_thread *thread, std::uint64_t address, std::uint32_t size, std::uint32_t flags,
                                  const beaver_site *site) {
    return local_access(thread, {address, size, flags, site});
}

int beaver_space(beaver_thread *thread, std::uint64_t address) {
    if (address - BEAVER_SHARED_WINDOW < shared_window_size) return 's';
    if (within(address, 1, thread->local, thread->local_end)) return 'l';
    if (is_parameter(thread, address, 1)) return 'p';
    return 'g';
}
