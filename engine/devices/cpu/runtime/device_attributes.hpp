// What the device says of itself.
#pragma once

#include <cuda_runtime_api.h>

#include <optional>

namespace beaver {

// nullopt: not an attribute.
std::optional<int> device_attribute(cudaDeviceAttr attribute);

// There is one device: 0. cudaErrorInvalidDevice for any other.
inline cudaError_t check_device(int device) {
    return device == 0 ? cudaSuccess : cudaErrorInvalidDevice;
}

}  // namespace beaver
