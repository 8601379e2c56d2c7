#include "managed.hpp"

#include <map>
#include <mutex>

#include "errors.hpp"
#include "memory.hpp"

namespace beaver {
namespace {

struct Hints {
    bool read_mostly = false;
    int preferred_location = cudaInvalidDeviceId;
    int last_prefetch = cudaInvalidDeviceId;
};

std::mutex mutex;
std::map<std::uint64_t, Hints> hints;  // by the address of the allocation

cudaError_t advise(const void *pointer, std::size_t size, cudaMemoryAdvise advice, bool is_host, int device) {
    if (!is_host && device != 0) return cudaErrorInvalidDevice;
    const std::uint64_t address = managed_allocation(pointer, size);
    if (!address) return cudaErrorInvalidValue;
    const std::lock_guard lock(mutex);
    switch (advice) {
    case cudaMemAdviseSetReadMostly: hints[address].read_mostly = true; break;
    case cudaMemAdviseUnsetReadMostly: hints[address].read_mostly = false; break;
    case cudaMemAdviseSetPreferredLocation: hints[address].preferred_location = is_host ? cudaCpuDeviceId : device; break;
    case cudaMemAdviseUnsetPreferredLocation: hints[address].preferred_location = cudaInvalidDeviceId; break;
    case cudaMemAdviseSetAccessedBy:
    case cudaMemAdviseUnsetAccessedBy: break;
    default: return cudaErrorInvalidValue;
    }
    return cudaSuccess;
}

cudaError_t look_up(void *data, std::size_t data_size, cudaMemRangeAttribute attribute, const void *pointer, std::size_t size) {
    const std::uint64_t address = managed_allocation(pointer, size);
    if (!address || !data || data_size != sizeof(int)) return cudaErrorInvalidValue;
    const std::lock_guard lock(mutex);
    const Hints &found = hints[address];
    int *const value = static_cast<int *>(data);
    switch (attribute) {
    case cudaMemRangeAttributeReadMostly: *value = found.read_mostly; return cudaSuccess;
    case cudaMemRangeAttributePreferredLocation: *value = found.preferred_location; return cudaSuccess;
    case cudaMemRangeAttributeLastPrefetchLocation: *value = found.last_prefetch; return cudaSuccess;
    default: return cudaErrorNotSupported;
    }
}

}  // namespace

std::uint64_t managed_allocation(const void *pointer, std::size_t size) {
    const auto address = reinterpret_cast<std::uint64_t>(pointer);
    const auto found = find_allocation(address);
    const bool inside = found && size > 0 && size <= found->size - (address - found->address);
    return inside && found->kind == MemoryKind::managed ? found->address : 0;
}

void remember_prefetch(std::uint64_t allocation, int location) {
    const std::lock_guard lock(mutex);
    hints[allocation].last_prefetch = location;
}

}  // namespace beaver

using namespace beaver;

extern "C" {

#if CUDART_VERSION >= 13000
cudaError_t cudaMemAdvise(const void *pointer, size_t size, cudaMemoryAdvise advice, cudaMemLocation location) {
    return in_context(__func__, [&] {
        return advise(pointer, size, advice, location.type != cudaMemLocationTypeDevice, location.id);
    });
}
#else
cudaError_t cudaMemAdvise(const void *pointer, size_t size, cudaMemoryAdvise advice, int device) {
    return in_context(__func__, [&] { return advise(pointer, size, advice, device == cudaCpuDeviceId, device); });
}
#endif

cudaError_t cudaMemRangeGetAttribute(void *data, size_t data_size, cudaMemRangeAttribute attribute, const void *pointer,
                                     size_t size) {
    return in_context(__func__, [&] { return look_up(data, data_size, attribute, pointer, size); });
}

cudaError_t cudaMemRangeGetAttributes(void **data, size_t *data_sizes, cudaMemRangeAttribute *attributes, size_t count,
                                      const void *pointer, size_t size) {
    return in_context(__func__, [&] {
        if (!data || !data_sizes || !attributes || !count) return cudaErrorInvalidValue;
        for (size_t i = 0; i < count; ++i)
            if (const cudaError_t error = look_up(data[i], data_sizes[i], attributes[i], pointer, size)) return error;
        return cudaSuccess;
    });
}

}
