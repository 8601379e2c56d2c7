#include "copies.hpp"

#include <cstring>
#include <optional>

#include "memory.hpp"
#include "options.hpp"

namespace beaver {
namespace {

// One side of a copy.
struct Box {
    std::uint8_t *bytes;    // where the runtime can touch them
    std::uint64_t address;  // what the program calls them
    std::size_t pitch, slice;
};

std::size_t span(cudaExtent extent, std::size_t pitch, std::size_t slice) {
    return (extent.depth - 1) * slice + (extent.height - 1) * pitch + extent.width;
}

bool is_empty(cudaExtent extent) {
    return extent.width == 0 || extent.height == 0 || extent.depth == 0;
}

std::uint64_t address_of(const void *pointer) {
    return reinterpret_cast<std::uint64_t>(pointer);
}

bool is_known(const void *pointer) {
    return in_window(address_of(pointer)) || find_allocation(address_of(pointer)).has_value();
}

// The bytes [pointer, pointer + size), or nullptr.
std::uint8_t *bytes_of(const void *pointer, std::size_t size, bool any_host_memory) {
    if (is_known(pointer)) return storage(address_of(pointer), size);
    return any_host_memory ? static_cast<std::uint8_t *>(const_cast<void *>(pointer)) : nullptr;
}

std::optional<Box> locate(cudaPitchedPtr pointer, cudaPos at, cudaExtent extent, bool any_host_memory) {
    if (!pointer.ptr) return std::nullopt;
    const std::size_t slice = pointer.pitch * pointer.ysize;
    void *const first = static_cast<std::uint8_t *>(pointer.ptr) + at.z * slice + at.y * pointer.pitch + at.x;
    std::uint8_t *const bytes = bytes_of(first, span(extent, pointer.pitch, slice), any_host_memory);
    if (!bytes) return std::nullopt;
    return Box{bytes, address_of(first), pointer.pitch, slice};
}

bool from_host(cudaMemcpyKind kind) {
    return kind == cudaMemcpyHostToHost || kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDefault;
}

bool to_host(cudaMemcpyKind kind) {
    return kind == cudaMemcpyHostToHost || kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDefault;
}

std::optional<Box> source(const cudaMemcpy3DParms &box) {
    return locate(box.srcPtr, box.srcPos, box.extent, from_host(box.kind));
}

std::optional<Box> target(const cudaMemcpy3DParms &box) {
    return locate(box.dstPtr, box.dstPos, box.extent, to_host(box.kind));
}

// For initcheck: what was never written stays so when it is copied.
void carry_over_written(std::uint64_t to, std::uint64_t from, std::size_t size) {
    if (!in_window(to)) return;
    if (!in_window(from) || is_written(from, size)) {
        mark_written(to, size);
    } else if (size > 1) {
        carry_over_written(to, from, size / 2);
        carry_over_written(to + size / 2, from + size / 2, size - size / 2);
    }
}

void copy_row(const Box &to, const Box &from, std::size_t to_offset, std::size_t from_offset, std::size_t size) {
    std::memmove(to.bytes + to_offset, from.bytes + from_offset, size);
    if (options().tool == Tool::initcheck) carry_over_written(to.address + to_offset, from.address + from_offset, size);
}

void fill_row(std::uint8_t *bytes, unsigned value, unsigned element_size, std::size_t count) {
    if (element_size == 1) {
        std::memset(bytes, static_cast<int>(value), count);
        return;
    }
    for (std::size_t i = 0; i < count; ++i) std::memcpy(bytes + i * element_size, &value, element_size);
}

cudaExtent in_bytes(const FillWork &fill) {
    return {fill.extent.width * fill.element_size, fill.extent.height, fill.extent.depth};
}

bool is_host_visible(const void *pointer) {
    const auto allocation = find_allocation(address_of(pointer));
    return !allocation || allocation->kind == MemoryKind::managed || allocation->kind == MemoryKind::pinned ||
           allocation->kind == MemoryKind::registered;
}

}  // namespace

CopyWork copy_bytes(void *to, const void *from, std::size_t size, cudaMemcpyKind kind) {
    return copy_rows(to, size, from, size, size, size ? 1 : 0, kind);
}

CopyWork copy_rows(void *to, std::size_t to_pitch, const void *from, std::size_t from_pitch, std::size_t width,
                   std::size_t height, cudaMemcpyKind kind) {
    CopyWork copy{};
    copy.box.dstPtr = {to, to_pitch, width, height};
    copy.box.srcPtr = {const_cast<void *>(from), from_pitch, width, height};
    copy.box.extent = {width, height, 1};
    copy.box.kind = kind;
    return copy;
}

CopyWork copy_box(const cudaMemcpy3DPeerParms &peers) {
    CopyWork copy{};
    copy.box.srcArray = peers.srcArray;
    copy.box.srcPos = peers.srcPos;
    copy.box.srcPtr = peers.srcPtr;
    copy.box.dstArray = peers.dstArray;
    copy.box.dstPos = peers.dstPos;
    copy.box.dstPtr = peers.dstPtr;
    copy.box.extent = peers.extent;
    copy.box.kind = cudaMemcpyDeviceToDevice;
    return copy;
}

FillWork fill_bytes(void *to, int value, std::size_t size) {
    return {to, size, size, static_cast<unsigned char>(value), 1, {size, 1, 1}};
}

FillWork fill_rows(void *to, std::size_t pitch, int value, std::size_t width, std::size_t height) {
    return {to, pitch, pitch * height, static_cast<unsigned char>(value), 1, {width, height, 1}};
}

FillWork fill_box(cudaPitchedPtr to, int value, cudaExtent extent) {
    return {to.ptr, to.pitch, to.pitch * to.ysize, static_cast<unsigned char>(value), 1, extent};
}

cudaError_t check(const CopyWork &copy) {
    const cudaMemcpy3DParms &box = copy.box;
    if (is_empty(box.extent)) return cudaSuccess;
    if (box.kind < cudaMemcpyHostToHost || box.kind > cudaMemcpyDefault) return cudaErrorInvalidMemcpyDirection;
    if (box.srcArray || box.dstArray) return cudaErrorNotSupported;
    const bool rows = box.extent.height > 1 || box.extent.depth > 1;
    if (rows && (box.extent.width + box.srcPos.x > box.srcPtr.pitch || box.extent.width + box.dstPos.x > box.dstPtr.pitch))
        return cudaErrorInvalidPitchValue;
    const bool fits = box.extent.depth == 1 || (box.extent.height + box.srcPos.y <= box.srcPtr.ysize &&
                                                box.extent.height + box.dstPos.y <= box.dstPtr.ysize);
    return fits && source(box) && target(box) ? cudaSuccess : cudaErrorInvalidValue;
}

cudaError_t check(const FillWork &fill) {
    const cudaExtent extent = in_bytes(fill);
    if (is_empty(extent)) return cudaSuccess;
    if (fill.element_size != 1 && fill.element_size != 2 && fill.element_size != 4) return cudaErrorInvalidValue;
    const bool rows = extent.height > 1 || extent.depth > 1;
    if (rows && extent.width > fill.pitch) return cudaErrorInvalidValue;
    if (extent.depth > 1 && extent.height * fill.pitch > fill.slice) return cudaErrorInvalidValue;
    return bytes_of(fill.address, span(extent, fill.pitch, fill.slice), false) ? cudaSuccess : cudaErrorInvalidValue;
}

cudaError_t perform(const CopyWork &copy) {
    const cudaExtent extent = copy.box.extent;
    if (is_empty(extent)) return cudaSuccess;
    const auto from = source(copy.box), to = target(copy.box);
    if (!from || !to) return cudaErrorInvalidValue;
    for (std::size_t z = 0; z < extent.depth; ++z)
        for (std::size_t y = 0; y < extent.height; ++y)
            copy_row(*to, *from, z * to->slice + y * to->pitch, z * from->slice + y * from->pitch, extent.width);
    return cudaSuccess;
}

cudaError_t perform(const FillWork &fill) {
    const cudaExtent extent = in_bytes(fill);
    if (is_empty(extent)) return cudaSuccess;
    std::uint8_t *const bytes = bytes_of(fill.address, span(extent, fill.pitch, fill.slice), false);
    if (!bytes) return cudaErrorInvalidValue;
    for (std::size_t z = 0; z < extent.depth; ++z)
        for (std::size_t y = 0; y < extent.height; ++y) {
            const std::size_t offset = z * fill.slice + y * fill.pitch;
            fill_row(bytes + offset, fill.value, fill.element_size, fill.extent.width);
            mark_written(address_of(fill.address) + offset, extent.width);
        }
    return cudaSuccess;
}

Needs needs(const CopyWork &copy) {
    if (is_empty(copy.box.extent)) return Needs::nothing;
    return is_host_visible(copy.box.srcPtr.ptr) || is_host_visible(copy.box.dstPtr.ptr) ? Needs::work : Needs::context;
}

Needs needs(const FillWork &fill) {
    if (is_empty(fill.extent)) return Needs::nothing;
    return is_host_visible(fill.address) ? Needs::work : Needs::context;
}

Needs needs_asynchronous(const CopyWork &copy) {
    if (is_empty(copy.box.extent)) return Needs::nothing;
    const bool pageable = !is_known(copy.box.dstPtr.ptr);
    return pageable && to_host(copy.box.kind) ? Needs::work : Needs::context;
}

}  // namespace beaver
