// Device variables as the API's symbols.
#pragma once

#include <cuda_runtime_api.h>

#include "work.hpp"

namespace beaver {

// Copies to and from the bytes [offset, offset + size) of a symbol. cudaErrorInvalidSymbol, cudaErrorInvalidValue (they are not all
// in it), cudaErrorInvalidMemcpyDirection (``kind`` does not fit).
cudaError_t copy_to_symbol(const void *symbol, std::size_t offset, const void *from, std::size_t size, cudaMemcpyKind kind,
                           CopyWork *copy);
cudaError_t copy_from_symbol(void *to, const void *symbol, std::size_t offset, std::size_t size, cudaMemcpyKind kind,
                             CopyWork *copy);

}  // namespace beaver
