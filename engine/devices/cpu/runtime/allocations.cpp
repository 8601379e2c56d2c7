// cudaMalloc and its kin, and what can be asked about memory.
#include <algorithm>

#include "errors.hpp"
#include "memory.hpp"
#include "pools.hpp"
#include "rounding.hpp"
#include "streams.hpp"

namespace beaver {
namespace {

constexpr std::uint64_t alignment = 256;        // of cudaMalloc, bytes
constexpr std::uint64_t pitch_alignment = 512;  // of the rows of cudaMallocPitch: what an H200 gives

constexpr unsigned host_flags = cudaHostAllocPortable | cudaHostAllocMapped | cudaHostAllocWriteCombined;
constexpr unsigned register_flags =
    cudaHostRegisterPortable | cudaHostRegisterMapped | cudaHostRegisterIoMemory | cudaHostRegisterReadOnly;

std::uint64_t address_of(const void *pointer) {
    return reinterpret_cast<std::uint64_t>(pointer);
}

// ``*pointer`` is null after an error and for no bytes.
cudaError_t allocate_into(void **pointer, std::size_t size, MemoryKind kind) {
    if (!pointer) return cudaErrorInvalidValue;
    if (const cudaError_t error = refuse_unsafe_call()) return error;
    *pointer = nullptr;
    if (size == 0) return cudaSuccess;
    std::uint64_t address;
    if (const cudaError_t error = allocate(size, alignment, kind, "", &address)) return error;
    *pointer = reinterpret_cast<void *>(address);
    return cudaSuccess;
}

cudaError_t allocate_pitched(void **pointer, std::size_t *pitch, std::size_t width, std::size_t rows) {
    if (!pointer || !pitch) return cudaErrorInvalidValue;
    const bool empty = width == 0 || rows == 0;
    *pitch = empty ? 0 : round_up(width, pitch_alignment);
    std::size_t size;
    if (__builtin_mul_overflow(*pitch, rows, &size)) return cudaErrorMemoryAllocation;
    return allocate_into(pointer, size, MemoryKind::device);
}

bool is_host_memory(const Allocation &allocation) {
    return allocation.kind == MemoryKind::pinned || allocation.kind == MemoryKind::registered;
}

std::optional<Allocation> find_host_memory(const void *pointer) {
    auto allocation = find_allocation(address_of(pointer));
    return allocation && is_host_memory(*allocation) ? allocation : std::nullopt;
}

cudaPointerAttributes describe_pointer(const void *pointer) {
    cudaPointerAttributes attributes{};
    void *const same = const_cast<void *>(pointer);
    const auto allocation = find_allocation(address_of(pointer));
    if (!allocation) {
        attributes.type = cudaMemoryTypeUnregistered;
        attributes.device = cudaInvalidDeviceId;
        attributes.hostPointer = same;
        return attributes;
    }
    attributes.devicePointer = same;
    if (is_host_memory(*allocation)) {
        attributes.type = cudaMemoryTypeHost;
        attributes.hostPointer = same;
    } else if (allocation->kind == MemoryKind::managed) {
        attributes.type = cudaMemoryTypeManaged;
        attributes.hostPointer = same;
    } else {
        attributes.type = cudaMemoryTypeDevice;
    }
    return attributes;
}

}  // namespace
}  // namespace beaver

using namespace beaver;

extern "C" {

cudaError_t cudaMalloc(void **pointer, size_t size) {
    return call(__func__, size ? Needs::context : Needs::nothing,
                [&] { return allocate_into(pointer, size, MemoryKind::device); });
}

cudaError_t cudaMallocManaged(void **pointer, size_t size, unsigned flags) {
    return in_context(__func__, [&] {
        if (flags != cudaMemAttachGlobal && flags != cudaMemAttachHost) return cudaErrorInvalidValue;
        return allocate_into(pointer, size, MemoryKind::managed);
    });
}

cudaError_t cudaMallocPitch(void **pointer, size_t *pitch, size_t width, size_t height) {
    return in_context(__func__, [&] { return allocate_pitched(pointer, pitch, width, height); });
}

cudaError_t cudaMalloc3D(cudaPitchedPtr *pointer, cudaExtent extent) {
    return in_context(__func__, [&] {
        if (!pointer) return cudaErrorInvalidValue;
        std::size_t rows;
        if (__builtin_mul_overflow(extent.height, extent.depth, &rows)) return cudaErrorMemoryAllocation;
        pointer->xsize = extent.width;
        pointer->ysize = extent.height;
        return allocate_pitched(&pointer->ptr, &pointer->pitch, extent.width, rows);
    });
}

cudaError_t cudaFree(void *pointer) {
    return call(__func__, pointer ? Needs::work : Needs::context, [&] {
        if (const cudaError_t error = refuse_unsafe_call()) return error;
        return release_device_memory(pointer);
    });
}

cudaError_t cudaHostAlloc(void **pointer, size_t size, unsigned flags) {
    return in_context(__func__, [&] {
        if (flags & ~host_flags) return cudaErrorInvalidValue;
        return allocate_into(pointer, size, MemoryKind::pinned);
    });
}

cudaError_t cudaMallocHost(void **pointer, size_t size) {
    return in_context(__func__, [&] { return allocate_into(pointer, size, MemoryKind::pinned); });
}

cudaError_t cudaFreeHost(void *pointer) {
    return call(__func__, pointer ? Needs::work : Needs::context, [&] {
        if (const cudaError_t error = refuse_unsafe_call()) return error;
        if (!pointer) return cudaSuccess;
        const auto memory = find_allocation(address_of(pointer));
        if (!memory || memory->kind != MemoryKind::pinned) return cudaErrorInvalidValue;
        return release(address_of(pointer));
    });
}

cudaError_t cudaHostRegister(void *pointer, size_t size, unsigned flags) {
    return in_context(__func__, [&] {
        if (!pointer || !size || (flags & ~register_flags) || in_window(address_of(pointer))) return cudaErrorInvalidValue;
        const auto first = find_allocation(address_of(pointer)), last = find_allocation(address_of(pointer) + size - 1);
        if (first || last) return cudaErrorHostMemoryAlreadyRegistered;
        register_host(pointer, size);
        return cudaSuccess;
    });
}

cudaError_t cudaHostUnregister(void *pointer) {
    return after_work(__func__, [&] {
        const auto memory = find_allocation(address_of(pointer));
        if (!memory) return cudaErrorHostMemoryNotRegistered;
        return unregister_host(pointer) ? cudaSuccess : cudaErrorInvalidValue;
    });
}

cudaError_t cudaHostGetDevicePointer(void **device, void *host, unsigned flags) {
    return in_context(__func__, [&] {
        if (!device || flags || !find_host_memory(host)) return cudaErrorInvalidValue;
        *device = host;
        return cudaSuccess;
    });
}

cudaError_t cudaHostGetFlags(unsigned *flags, void *pointer) {
    return in_context(__func__, [&] {
        if (!flags || !find_host_memory(pointer)) return cudaErrorInvalidValue;
        *flags = cudaHostAllocMapped;  // all of it is
        return cudaSuccess;
    });
}

cudaError_t cudaMemGetInfo(size_t *free, size_t *total) {
    return in_context(__func__, [&] {
        if (free) *free = memory_free();
        if (total) *total = memory_total();
        return cudaSuccess;
    });
}

cudaError_t cudaPointerGetAttributes(cudaPointerAttributes *attributes, const void *pointer) {
    return query(__func__, [&] {
        if (!attributes) return cudaErrorInvalidValue;
        *attributes = describe_pointer(pointer);
        return cudaSuccess;
    });
}

}
