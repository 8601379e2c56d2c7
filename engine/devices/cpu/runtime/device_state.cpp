// What can be set for the device, waiting for it, and starting afresh.
#include <algorithm>
#include <map>
#include <vector>

#include "errors.hpp"
#include "events.hpp"
#include "execution.hpp"
#include "memory.hpp"
#include "modules.hpp"
#include "options.hpp"
#include "report.hpp"
#include "streams.hpp"

namespace beaver {
namespace {

// Bytes of local memory that a thread can have (CUDA C++ Programming Guide, compute capabilities).
constexpr std::size_t max_stack = 512 << 10;

// Limits of the device runtime, of printf's buffer and of L2: kept for those who ask. First values of an H200.
std::map<cudaLimit, std::size_t> kept_limits = {
    {cudaLimitPrintfFifoSize, 8650752},
    {cudaLimitDevRuntimePendingLaunchCount, 2048},
    {cudaLimitMaxL2FetchGranularity, 64},
    {cudaLimitPersistingL2CacheSize, 0},
};

constexpr unsigned known_flags = cudaDeviceMask;
unsigned device_flags = 0;
cudaFuncCache cache_config = cudaFuncCachePreferNone;

std::uint64_t *own_limit(cudaLimit limit) {
    if (limit == cudaLimitStackSize) return &stack_limit;
    if (limit == cudaLimitMallocHeapSize) return &heap_limit;
    return nullptr;
}

void free_everything() {
    std::vector<std::uint64_t> addresses;
    for_each_allocation(
        [](const Allocation &allocation, void *list) {
            if (allocation.name.empty()) static_cast<std::vector<std::uint64_t> *>(list)->push_back(allocation.address);
        },
        &addresses);
    for (const std::uint64_t address : addresses) release(address);
}

// Runs when the library is unloaded, after the program's own exit handlers.
__attribute__((destructor)) void finish() {
    finish_reports();
}

}  // namespace
}  // namespace beaver

using namespace beaver;

extern "C" {

cudaError_t cudaDeviceSynchronize() {
    return after_work(__func__, [] { return refuse_waiting_for_device(); });
}

cudaError_t cudaDeviceReset() {
    return query(__func__, [] {
        if (options().leak_check) finish_reports();  // what is left is lost now
        lose_device();
        destroy_all_streams();
        events().clear();
        free_everything();
        reload_variables();
        return cudaSuccess;
    });
}

cudaError_t cudaDeviceGetLimit(size_t *value, cudaLimit limit) {
    return in_context(__func__, [&] {
        if (!value) return cudaErrorInvalidValue;
        if (const std::uint64_t *own = own_limit(limit)) {
            *value = *own;
            return cudaSuccess;
        }
        const auto kept = kept_limits.find(limit);
        if (kept == kept_limits.end()) return cudaErrorUnsupportedLimit;
        *value = kept->second;
        return cudaSuccess;
    });
}

cudaError_t cudaDeviceSetLimit(cudaLimit limit, size_t value) {
    return in_context(__func__, [&] {
        if (const cudaError_t error = refuse_unsafe_call()) return error;
        if (limit == cudaLimitDevRuntimeSyncDepth) return cudaErrorUnsupportedLimit;
        if (limit == cudaLimitStackSize && value > max_stack) return cudaErrorInvalidValue;
        if (std::uint64_t *own = own_limit(limit)) {
            *own = limit == cudaLimitStackSize ? (value + 15) / 16 * 16 : value;  // as a GPU answers when it is asked
            return cudaSuccess;
        }
        if (!kept_limits.count(limit)) return cudaErrorInvalidValue;
        kept_limits[limit] = value;
        return cudaSuccess;
    });
}

cudaError_t cudaDeviceGetCacheConfig(cudaFuncCache *config) {
    return in_context(__func__, [&] {
        if (!config) return cudaErrorInvalidValue;
        *config = cache_config;
        return cudaSuccess;
    });
}

cudaError_t cudaDeviceSetCacheConfig(cudaFuncCache config) {
    return in_context(__func__, [&] {
        cache_config = config;
        return cudaSuccess;
    });
}

cudaError_t cudaGetDeviceFlags(unsigned *flags) {
    return query(__func__, [&] {
        if (!flags) return cudaErrorInvalidValue;
        *flags = device_flags | cudaDeviceMapHost;
        return cudaSuccess;
    });
}

cudaError_t cudaSetDeviceFlags(unsigned flags) {
    return query(__func__, [&] {
        if (flags & ~known_flags) return cudaErrorInvalidValue;
        device_flags = flags;
        return cudaSuccess;
    });
}

cudaError_t cudaCtxResetPersistingL2Cache() {
    return in_context(__func__, [] { return cudaSuccess; });
}

cudaError_t cudaProfilerStart() {
    return in_context(__func__, [] { return cudaSuccess; });
}

cudaError_t cudaProfilerStop() {
    return in_context(__func__, [] { return cudaSuccess; });
}

}
