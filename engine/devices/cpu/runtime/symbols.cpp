#include "symbols.hpp"

#include "copies.hpp"
#include "errors.hpp"
#include "modules.hpp"

namespace beaver {
namespace {

cudaError_t part_of_symbol(const void *symbol, std::size_t offset, std::size_t size, std::uint8_t **bytes) {
    const Variable *const variable = find_variable(symbol);
    if (!variable) return cudaErrorInvalidSymbol;
    if (offset > variable->size || size > variable->size - offset) return cudaErrorInvalidValue;
    *bytes = reinterpret_cast<std::uint8_t *>(variable->address) + offset;
    return cudaSuccess;
}

}  // namespace

cudaError_t copy_to_symbol(const void *symbol, std::size_t offset, const void *from, std::size_t size, cudaMemcpyKind kind,
                           CopyWork *copy) {
    std::uint8_t *to;
    if (const cudaError_t error = part_of_symbol(symbol, offset, size, &to)) return error;
    if (kind != cudaMemcpyHostToDevice && kind != cudaMemcpyDeviceToDevice && kind != cudaMemcpyDefault)
        return cudaErrorInvalidMemcpyDirection;
    *copy = copy_bytes(to, from, size, kind);
    return cudaSuccess;
}

cudaError_t copy_from_symbol(void *to, const void *symbol, std::size_t offset, std::size_t size, cudaMemcpyKind kind,
                             CopyWork *copy) {
    std::uint8_t *from;
    if (const cudaError_t error = part_of_symbol(symbol, offset, size, &from)) return error;
    if (kind != cudaMemcpyDeviceToHost && kind != cudaMemcpyDeviceToDevice && kind != cudaMemcpyDefault)
        return cudaErrorInvalidMemcpyDirection;
    *copy = copy_bytes(to, from, size, kind);
    return cudaSuccess;
}

}  // namespace beaver

using namespace beaver;

extern "C" {

cudaError_t cudaGetSymbolAddress(void **address, const void *symbol) {
    return in_context(__func__, [&] {
        if (!address) return cudaErrorInvalidValue;
        const Variable *const variable = find_variable(symbol);
        if (!variable) return cudaErrorInvalidSymbol;
        *address = reinterpret_cast<void *>(variable->address);
        return cudaSuccess;
    });
}

cudaError_t cudaGetSymbolSize(size_t *size, const void *symbol) {
    return in_context(__func__, [&] {
        if (!size) return cudaErrorInvalidValue;
        const Variable *const variable = find_variable(symbol);
        if (!variable) return cudaErrorInvalidSymbol;
        *size = variable->size;
        return cudaSuccess;
    });
}

}
