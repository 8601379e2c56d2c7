// Memory that streams and graphs allocate: pools are accounts, the memory itself comes from memory.hpp.
#pragma once

#include <cuda_runtime_api.h>

#include <memory>

#include "memory.hpp"

namespace beaver {

// Memory of a graph's allocation node. Its address is fixed when the node is made; it is in use from the node to what frees it.
struct Reservation {
    std::uint64_t address = 0;
    std::uint64_t size = 0;
    bool in_use = false;
    ~Reservation();
};

std::shared_ptr<Reservation> reserve(std::uint64_t size);  // nullptr: out of memory
// cudaErrorInvalidValue: it is in use already.
cudaError_t begin_use(Reservation &reservation);

// cudaMallocAsync and cudaMallocFromPoolAsync; a null pool is the current one of the device.
cudaError_t allocate_from_pool(cudaMemPool_t pool, std::size_t size, void **pointer);

// cudaFree and cudaFreeAsync: device, pool and managed memory, and what graphs have allocated.
cudaError_t release_device_memory(void *pointer);

}  // namespace beaver
