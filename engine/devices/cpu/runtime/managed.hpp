// Managed memory: hints about it change nothing here and are kept for those who ask.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

namespace beaver {

// The address of the managed allocation that holds all these bytes, at least one; 0 if there is none.
std::uint64_t managed_allocation(const void *pointer, std::size_t size);
// ``location``: a device or cudaCpuDeviceId.
void remember_prefetch(std::uint64_t allocation, int location);

}  // namespace beaver
