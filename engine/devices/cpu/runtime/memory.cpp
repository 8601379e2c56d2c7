#include "memory.hpp"

#include <algorithm>
#include <cstdlib>
#include <deque>
#include <map>
#include <mutex>
#include <shared_mutex>
#include <unordered_map>

#include "device_figures.h"
#include "initcheck.hpp"
#include "options.hpp"
#include "report.hpp"
#include "rounding.hpp"
#include "tools.hpp"
#include "window.hpp"

namespace beaver {

std::atomic<std::uint64_t> releases{0};

namespace {

// cudaMalloc hands out steps of 512 bytes; a kernel's malloc() is finer.
constexpr std::uint64_t granularity = 512, heap_granularity = 32;
constexpr std::uint64_t largest_small = chunk_bytes / 2;
constexpr std::size_t remembered = 65536;

// Filling fresh memory is bounded: GiBs that nobody touches must cost nothing.
constexpr std::uint64_t filled_bytes = 64ull << 20;

// The chunk that small allocations are cut from, front to back: what was freed is not handed out again.
struct Slab {
    std::uint64_t cursor = 0, end = 0;
};

std::shared_mutex lock;
std::map<std::uint64_t, Allocation> live, freed;
std::deque<std::uint64_t> freed_order;
std::unordered_map<std::uint64_t, unsigned> tenants;  // live small allocations by the address of their chunk
Slab slabs[2];
std::uint64_t used = 0;

bool for_host(MemoryKind kind) { return kind == MemoryKind::managed || kind == MemoryKind::pinned; }
Mapping mapping_of(MemoryKind kind) { return for_host(kind) ? Mapping::both : Mapping::device; }
Slab &slab_of(MemoryKind kind) { return slabs[for_host(kind)]; }
std::uint64_t step_of(MemoryKind kind) { return kind == MemoryKind::heap ? heap_granularity : granularity; }
// cudaMalloc(0) has been answered already; a variable may be empty and needs an address all the same.
std::uint64_t extent(const Allocation &allocation) { return std::max<std::uint64_t>(allocation.size, 1); }
bool is_large(std::uint64_t size) { return size > largest_small; }

std::uint64_t footprint(const Allocation &allocation) {
    return round_up(extent(allocation), is_large(allocation.size) ? chunk_bytes : step_of(allocation.kind));
}

bool is_limited(MemoryKind kind) { return !for_host(kind) && kind != MemoryKind::registered; }

std::uint8_t state_of_chunks() {
    // racecheck looks at shared memory alone.
    return options().tool == Tool::none || options().tool == Tool::racecheck ? BEAVER_OPEN : BEAVER_WATCHED;
}

// memcheck wants to see the accesses near an allocation's ends, and those to no allocation: pages that one fills can be open.
bool opens_whole_pages() { return options().tool == Tool::memcheck; }

// Bytes that stay free behind an allocation. Under memcheck an overrun must not land in a neighbour unseen.
std::uint64_t gap_behind(std::uint64_t size) {
    if (options().tool != Tool::memcheck) return 0;
    return std::max(options().padding, std::clamp<std::uint64_t>(size, granularity, largest_small / 2));
}

using Registry = std::map<std::uint64_t, Allocation>;

// The allocation of a registry that holds the address, or its end.
Registry::const_iterator holder(const Registry &registry, std::uint64_t address) {
    auto after = registry.upper_bound(address);
    if (after == registry.begin()) return registry.end();
    --after;
    return address - after->first < extent(after->second) ? after : registry.end();
}

void forget_freed(std::uint64_t start, std::uint64_t end) {
    auto first = freed.upper_bound(start);
    if (first != freed.begin() && std::prev(first)->first + extent(std::prev(first)->second) > start) --first;
    freed.erase(first, freed.lower_bound(end));
}

void remember(const Allocation &allocation) {
    freed[allocation.address] = allocation;
    freed_order.push_back(allocation.address);
    if (freed_order.size() > remembered) {
        freed.erase(freed_order.front());
        freed_order.pop_front();
    }
}

std::optional<std::uint64_t> place_large(std::uint64_t size, MemoryKind kind) {
    const std::uint64_t chunks = round_up(size, chunk_bytes) / chunk_bytes;
    const std::uint64_t guards = round_up(gap_behind(size), chunk_bytes) / chunk_bytes;
    const auto address = map_chunks(chunks, guards, mapping_of(kind), state_of_chunks());
    if (address) forget_freed(*address, *address + chunks * chunk_bytes);
    return address;
}

void close_if_empty(std::uint64_t chunk) {
    const auto found = tenants.find(chunk);
    if (found == tenants.end() || found->second != 0) return;
    tenants.erase(found);
    unmap_chunks(chunk, 1);
    forget_written(chunk, chunk_bytes);
}

std::optional<std::uint64_t> place_small(std::uint64_t size, std::uint64_t align, MemoryKind kind) {
    Slab &slab = slab_of(kind);
    std::uint64_t start = round_up(slab.cursor, align);
    if (start + size > slab.end) {
        const auto chunk = map_chunks(1, 0, mapping_of(kind), state_of_chunks());
        if (!chunk) return std::nullopt;
        forget_freed(*chunk, *chunk + chunk_bytes);
        const std::uint64_t left = slab.end;
        slab = {*chunk, *chunk + chunk_bytes};
        tenants[*chunk] = 0;
        if (left) close_if_empty(left - chunk_bytes);
        start = *chunk;
    }
    slab.cursor = std::min(slab.end, round_up(start + size + gap_behind(size), step_of(kind)));
    ++tenants[start & ~(chunk_bytes - 1)];
    return start;
}

void fill_fresh(std::uint64_t address, std::uint64_t size) {
    auto *halves = reinterpret_cast<std::uint16_t *>(alias_of(address));
    std::fill_n(halves, round_up(std::min(size, filled_bytes), 2) / 2, fresh_pattern);
}

bool holds_pattern(MemoryKind kind) {
    return kind == MemoryKind::device || kind == MemoryKind::pool || kind == MemoryKind::heap;
}

}  // namespace

void open_memory() {
    if (!reserve_window()) give_up("the address ranges of device memory are taken or not to be had", Exit::broken);
    if (options().tool == Tool::initcheck) open_initcheck();
    open_reports();
    start_tools();
}

cudaError_t allocate(std::uint64_t size, std::uint64_t align, MemoryKind kind, const std::string &name,
                     std::uint64_t *address) {
    if (align > chunk_bytes || (align & (align - 1)) != 0 || kind == MemoryKind::registered) return cudaErrorInvalidValue;
    if (size > BEAVER_WINDOW_SIZE) return cudaErrorMemoryAllocation;
    Allocation made{0, size, kind, name};
    const std::uint64_t needed = footprint(made);
    {
        const std::unique_lock<std::shared_mutex> writing(lock);
        if (is_limited(kind) && needed > options().memory - std::min(used, options().memory)) return cudaErrorMemoryAllocation;
        const auto placed = is_large(size) ? place_large(size, kind)
                                           : place_small(extent(made), std::max(align, step_of(kind)), kind);
        if (!placed) return cudaErrorMemoryAllocation;
        made.address = *placed;
        live[made.address] = made;
        if (opens_whole_pages()) set_pages(made.address, size, BEAVER_OPEN);
        if (is_limited(kind)) used += needed;
    }
    // What holds the pattern is what initcheck follows; everything else begins with a value.
    if (!holds_pattern(kind)) mark_written(made.address, size);
    if (holds_pattern(kind)) fill_fresh(made.address, size);
    *address = made.address;
    return cudaSuccess;
}

cudaError_t release(std::uint64_t address) {
    const std::unique_lock<std::shared_mutex> writing(lock);
    const auto found = live.find(address);
    if (found == live.end() || found->second.kind == MemoryKind::registered) return cudaErrorInvalidValue;
    const Allocation gone = found->second;
    live.erase(found);
    remember(gone);
    releases.fetch_add(1, std::memory_order_release);
    if (is_limited(gone.kind)) used -= footprint(gone);
    if (is_large(gone.size)) {
        unmap_chunks(address, footprint(gone) / chunk_bytes);
        forget_written(address, footprint(gone));
        return cudaSuccess;
    }
    if (opens_whole_pages()) set_pages(address, gone.size, BEAVER_WATCHED);
    const std::uint64_t chunk = address & ~(chunk_bytes - 1);
    --tenants[chunk];
    if (slab_of(gone.kind).end != chunk + chunk_bytes) close_if_empty(chunk);
    return cudaSuccess;
}

void register_host(void *pointer, std::uint64_t size) {
    const std::unique_lock<std::shared_mutex> writing(lock);
    const auto address = reinterpret_cast<std::uint64_t>(pointer);
    live[address] = Allocation{address, size, MemoryKind::registered, ""};
}

bool unregister_host(void *pointer) {
    const std::unique_lock<std::shared_mutex> writing(lock);
    const auto found = live.find(reinterpret_cast<std::uint64_t>(pointer));
    if (found == live.end() || found->second.kind != MemoryKind::registered) return false;
    live.erase(found);
    releases.fetch_add(1, std::memory_order_release);
    return true;
}

std::uint64_t memory_total() { return options().memory; }

std::uint64_t memory_free() {
    const std::shared_lock<std::shared_mutex> reading(lock);
    return options().memory - std::min(used, options().memory);
}

std::optional<Allocation> find_allocation(std::uint64_t address) {
    const std::shared_lock<std::shared_mutex> reading(lock);
    const auto found = holder(live, address);
    return found == live.end() ? std::nullopt : std::optional<Allocation>(found->second);
}

bool in_window(std::uint64_t address) { return in_window_range(address); }

std::uint8_t *storage(std::uint64_t address, std::uint64_t size) {
    const std::shared_lock<std::shared_mutex> reading(lock);
    const auto found = holder(live, address);
    if (found == live.end()) return nullptr;
    if (size > extent(found->second) - (address - found->first)) return nullptr;
    return in_window_range(address) ? alias_of(address) : reinterpret_cast<std::uint8_t *>(address);
}

std::optional<Nearest> nearest_allocation(std::uint64_t address) {
    const std::shared_lock<std::shared_mutex> reading(lock);
    if (const auto inside = holder(live, address); inside != live.end()) return Nearest{inside->second, false, 0};
    if (const auto inside = holder(freed, address); inside != freed.end()) return Nearest{inside->second, true, 0};
    std::optional<Nearest> nearest;
    const auto after = live.upper_bound(address);
    if (after != live.end())
        nearest = Nearest{after->second, false, -static_cast<std::int64_t>(after->first - address)};
    if (after != live.begin()) {
        const Allocation &before = std::prev(after)->second;
        // The first byte behind an allocation is 1 byte after it.
        const auto distance = static_cast<std::int64_t>(address - before.address - extent(before) + 1);
        if (!nearest || distance < -nearest->distance) nearest = Nearest{before, false, distance};
    }
    return nearest;
}

void for_each_allocation(void (*visit)(const Allocation &, void *), void *context) {
    std::map<std::uint64_t, Allocation> seen;
    {
        const std::shared_lock<std::shared_mutex> reading(lock);
        seen = live;
    }
    for (const auto &[address, allocation] : seen)
        if (allocation.name.empty() && (allocation.kind == MemoryKind::device || allocation.kind == MemoryKind::pool ||
                                        allocation.kind == MemoryKind::managed))
            visit(allocation, context);
}

}  // namespace beaver
