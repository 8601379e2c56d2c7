#include "pools.hpp"

#include <algorithm>
#include <map>
#include <mutex>
#include <utility>

#include "errors.hpp"
#include "handles.hpp"
#include "streams.hpp"

namespace beaver {
namespace {

constexpr std::uint64_t alignment = 256;

struct Pool {
    std::uint64_t release_threshold = 0;  // kept, without effect: memory goes back at once
    int reuse_follow_events = 1, reuse_opportunistic = 1, reuse_internal = 1;
    std::uint64_t used = 0, used_high = 0;
};

struct Block {
    std::shared_ptr<Pool> pool;
    std::uint64_t size;
};

struct Accounts {
    std::mutex mutex;
    Handles<cudaMemPool_t, Pool> pools;
    cudaMemPool_t device_default, current;
    std::map<std::uint64_t, Block> blocks;
    std::map<std::uint64_t, Reservation *> reservations;

    Accounts() : device_default(pools.add(std::make_shared<Pool>())), current(device_default) {}
};

Accounts &accounts() {
    static auto *const all = new Accounts;
    return *all;
}

// Pool memory holds as many bytes as its blocks: what an H200 keeps in reserve in steps of 32 MiB is not modelled.
cudaError_t get(const Pool &pool, cudaMemPoolAttr attribute, void *value) {
    const auto as_int = [&](int number) { *static_cast<int *>(value) = number; };
    const auto as_bytes = [&](std::uint64_t number) { *static_cast<std::uint64_t *>(value) = number; };
    switch (attribute) {
    case cudaMemPoolReuseFollowEventDependencies: as_int(pool.reuse_follow_events); break;
    case cudaMemPoolReuseAllowOpportunistic: as_int(pool.reuse_opportunistic); break;
    case cudaMemPoolReuseAllowInternalDependencies: as_int(pool.reuse_internal); break;
    case cudaMemPoolAttrReleaseThreshold: as_bytes(pool.release_threshold); break;
    case cudaMemPoolAttrReservedMemCurrent:
    case cudaMemPoolAttrUsedMemCurrent: as_bytes(pool.used); break;
    case cudaMemPoolAttrReservedMemHigh:
    case cudaMemPoolAttrUsedMemHigh: as_bytes(pool.used_high); break;
    default: return cudaErrorInvalidValue;
    }
    return cudaSuccess;
}

cudaError_t set(Pool &pool, cudaMemPoolAttr attribute, const void *value) {
    switch (attribute) {
    case cudaMemPoolReuseFollowEventDependencies: pool.reuse_follow_events = *static_cast<const int *>(value); break;
    case cudaMemPoolReuseAllowOpportunistic: pool.reuse_opportunistic = *static_cast<const int *>(value); break;
    case cudaMemPoolReuseAllowInternalDependencies: pool.reuse_internal = *static_cast<const int *>(value); break;
    case cudaMemPoolAttrReleaseThreshold: pool.release_threshold = *static_cast<const std::uint64_t *>(value); break;
    case cudaMemPoolAttrReservedMemHigh:
    case cudaMemPoolAttrUsedMemHigh:  // can only be reset
        if (*static_cast<const std::uint64_t *>(value) != 0) return cudaErrorInvalidValue;
        pool.used_high = pool.used;
        break;
    default: return cudaErrorInvalidValue;
    }
    return cudaSuccess;
}

bool is_device(int device) {
    return device == 0;
}

}  // namespace

Reservation::~Reservation() {
    Accounts &all = accounts();
    {
        const std::lock_guard lock(all.mutex);
        all.reservations.erase(address);
    }
    release(address);
}

std::shared_ptr<Reservation> reserve(std::uint64_t size) {
    std::uint64_t address;
    if (allocate(size, alignment, MemoryKind::pool, "", &address)) return nullptr;
    auto reservation = std::make_shared<Reservation>();
    reservation->address = address;
    reservation->size = size;
    Accounts &all = accounts();
    const std::lock_guard lock(all.mutex);
    all.reservations[address] = reservation.get();
    return reservation;
}

cudaError_t begin_use(Reservation &reservation) {
    const std::lock_guard lock(accounts().mutex);
    return std::exchange(reservation.in_use, true) ? cudaErrorInvalidValue : cudaSuccess;
}

cudaError_t allocate_from_pool(cudaMemPool_t handle, std::size_t size, void **pointer) {
    *pointer = nullptr;
    Accounts &all = accounts();
    const std::lock_guard lock(all.mutex);
    const auto pool = all.pools.find(handle ? handle : all.current);
    if (!pool) return cudaErrorInvalidValue;
    if (size == 0) return cudaSuccess;
    std::uint64_t address;
    if (const cudaError_t error = allocate(size, alignment, MemoryKind::pool, "", &address)) return error;
    all.blocks[address] = {pool, size};
    pool->used += size;
    pool->used_high = std::max(pool->used_high, pool->used);
    *pointer = reinterpret_cast<void *>(address);
    return cudaSuccess;
}

cudaError_t release_device_memory(void *pointer) {
    if (!pointer) return cudaSuccess;
    const auto address = reinterpret_cast<std::uint64_t>(pointer);
    Accounts &all = accounts();
    const std::lock_guard lock(all.mutex);
    if (const auto found = all.reservations.find(address); found != all.reservations.end())
        return std::exchange(found->second->in_use, false) ? cudaSuccess : cudaErrorInvalidValue;
    const auto allocation = find_allocation(address);
    const bool freeable = allocation && allocation->name.empty() &&
                          (allocation->kind == MemoryKind::device || allocation->kind == MemoryKind::pool ||
                           allocation->kind == MemoryKind::managed);
    if (!freeable) return cudaErrorInvalidValue;
    if (const cudaError_t error = release(address)) return error;
    if (const auto block = all.blocks.find(address); block != all.blocks.end()) {
        block->second.pool->used -= block->second.size;
        all.blocks.erase(block);
    }
    return cudaSuccess;
}

}  // namespace beaver

using namespace beaver;

extern "C" {

cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t *pool, int device) {
    return query(__func__, [&] {
        if (!pool) return cudaErrorInvalidValue;
        if (!is_device(device)) return cudaErrorInvalidDevice;
        *pool = accounts().device_default;
        return cudaSuccess;
    });
}

cudaError_t cudaDeviceGetMemPool(cudaMemPool_t *pool, int device) {
    return query(__func__, [&] {
        if (!pool) return cudaErrorInvalidValue;
        if (!is_device(device)) return cudaErrorInvalidDevice;
        const std::lock_guard lock(accounts().mutex);
        *pool = accounts().current;
        return cudaSuccess;
    });
}

cudaError_t cudaDeviceSetMemPool(int device, cudaMemPool_t pool) {
    return in_context(__func__, [&] {
        if (!is_device(device)) return cudaErrorInvalidDevice;
        const std::lock_guard lock(accounts().mutex);
        if (!accounts().pools.find(pool)) return cudaErrorInvalidValue;
        accounts().current = pool;
        return cudaSuccess;
    });
}

cudaError_t cudaMemPoolCreate(cudaMemPool_t *pool, const cudaMemPoolProps *properties) {
    return in_context(__func__, [&] {
        if (!pool || !properties || properties->allocType != cudaMemAllocationTypePinned ||
            properties->location.type != cudaMemLocationTypeDevice)
            return cudaErrorInvalidValue;
        if (!is_device(properties->location.id)) return cudaErrorInvalidDevice;
        *pool = accounts().pools.add(std::make_shared<Pool>());
        return cudaSuccess;
    });
}

cudaError_t cudaMemPoolDestroy(cudaMemPool_t pool) {
    return in_context(__func__, [&] {
        Accounts &all = accounts();
        const std::lock_guard lock(all.mutex);
        if (pool == all.device_default || !all.pools.remove(pool)) return cudaErrorInvalidValue;
        if (all.current == pool) all.current = all.device_default;
        return cudaSuccess;
    });
}

cudaError_t cudaMemPoolTrimTo(cudaMemPool_t pool, size_t) {
    return in_context(__func__, [&] { return accounts().pools.find(pool) ? cudaSuccess : cudaErrorInvalidValue; });
}

cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t handle, cudaMemPoolAttr attribute, void *value) {
    return in_context(__func__, [&] {
        const auto pool = accounts().pools.find(handle);
        if (!pool || !value) return cudaErrorInvalidValue;
        const std::lock_guard lock(accounts().mutex);
        return get(*pool, attribute, value);
    });
}

cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t handle, cudaMemPoolAttr attribute, void *value) {
    return in_context(__func__, [&] {
        const auto pool = accounts().pools.find(handle);
        if (!pool || !value) return cudaErrorInvalidValue;
        const std::lock_guard lock(accounts().mutex);
        return set(*pool, attribute, value);
    });
}

// One device: it has access to all pools, and nobody can take that away.
cudaError_t cudaMemPoolSetAccess(cudaMemPool_t pool, const cudaMemAccessDesc *list, size_t count) {
    return in_context(__func__, [&] {
        if (!accounts().pools.find(pool) || (count && !list)) return cudaErrorInvalidValue;
        for (size_t i = 0; i < count; ++i) {
            if (list[i].location.type != cudaMemLocationTypeDevice) return cudaErrorInvalidValue;
            if (!is_device(list[i].location.id)) return cudaErrorInvalidDevice;
        }
        return cudaSuccess;
    });
}

cudaError_t cudaMemPoolGetAccess(cudaMemAccessFlags *flags, cudaMemPool_t pool, cudaMemLocation *location) {
    return in_context(__func__, [&] {
        if (!flags || !location || !accounts().pools.find(pool)) return cudaErrorInvalidValue;
        if (location->type != cudaMemLocationTypeDevice) return cudaErrorInvalidValue;
        if (!is_device(location->id)) return cudaErrorInvalidDevice;
        *flags = cudaMemAccessFlagsProtReadWrite;
        return cudaSuccess;
    });
}

}
