// The one device: choosing it, and asking about it.
#include <cstring>

#include "device_attributes.hpp"
#include "errors.hpp"

namespace beaver {
namespace {

constexpr char bus_id[] = "0000:00:00.0";

}  // namespace
}  // namespace beaver

using namespace beaver;

extern "C" {

cudaError_t cudaGetDeviceCount(int *count) {
    return query(__func__, [&] {
        if (!count) return cudaErrorInvalidValue;
        *count = 1;
        return cudaSuccess;
    });
}

cudaError_t cudaGetDevice(int *device) {
    return query(__func__, [&] {
        if (!device) return cudaErrorInvalidValue;
        *device = 0;
        return cudaSuccess;
    });
}

cudaError_t cudaSetDevice(int device) {
    return query(__func__, [&] { return check_device(device); });
}

cudaError_t cudaInitDevice(int device, unsigned, unsigned) {
    return query(__func__, [&] { return check_device(device); });
}

cudaError_t cudaSetValidDevices(int *devices, int count) {
    return query(__func__, [&] {
        for (int i = 0; devices && i < count; ++i)
            if (const cudaError_t error = check_device(devices[i])) return error;
        return cudaSuccess;
    });
}

cudaError_t cudaChooseDevice(int *device, const cudaDeviceProp *wanted) {
    return query(__func__, [&] {
        if (!device || !wanted) return cudaErrorInvalidValue;
        *device = 0;
        return cudaSuccess;
    });
}

cudaError_t cudaDeviceGetAttribute(int *value, cudaDeviceAttr attribute, int device) {
    return query(__func__, [&] {
        if (!value) return cudaErrorInvalidValue;
        if (const cudaError_t error = check_device(device)) return error;
        const auto found = device_attribute(attribute);
        if (!found) return cudaErrorInvalidValue;
        *value = *found;
        return cudaSuccess;
    });
}

cudaError_t cudaDeviceGetPCIBusId(char *text, int size, int device) {
    return query(__func__, [&] {
        if (!text || size < static_cast<int>(sizeof bus_id)) return cudaErrorInvalidValue;
        if (const cudaError_t error = check_device(device)) return error;
        std::memcpy(text, bus_id, sizeof bus_id);
        return cudaSuccess;
    });
}

cudaError_t cudaDeviceGetByPCIBusId(int *device, const char *text) {
    return query(__func__, [&] {
        if (!device || !text) return cudaErrorInvalidValue;
        if (std::strcmp(text, bus_id) != 0) return cudaErrorInvalidDevice;
        *device = 0;
        return cudaSuccess;
    });
}

// The versions are those of the toolkit that the runtime was built with: a program may compare the two.
cudaError_t cudaDriverGetVersion(int *version) {
    return query(__func__, [&] {
        if (!version) return cudaErrorInvalidValue;
        *version = CUDART_VERSION;
        return cudaSuccess;
    });
}

cudaError_t cudaRuntimeGetVersion(int *version) {
    return query(__func__, [&] {
        if (!version) return cudaErrorInvalidValue;
        *version = CUDART_VERSION;
        return cudaSuccess;
    });
}

// ---- peers: a device has none but itself, and is not its own

cudaError_t cudaDeviceCanAccessPeer(int *can, int device, int peer) {
    return query(__func__, [&] {
        if (!can) return cudaErrorInvalidValue;
        *can = 0;
        return device == 0 ? check_device(peer) : cudaErrorInvalidDevice;
    });
}

cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned) {
    return in_context(__func__, [&] { return peer == 0 ? cudaErrorPeerAccessUnsupported : cudaErrorInvalidDevice; });
}

cudaError_t cudaDeviceDisablePeerAccess(int peer) {
    return in_context(__func__, [&] { return peer == 0 ? cudaErrorPeerAccessNotEnabled : cudaErrorInvalidDevice; });
}

cudaError_t cudaDeviceGetP2PAttribute(int *, cudaDeviceP2PAttr, int, int) {
    return query(__func__, [] { return cudaErrorInvalidDevice; });
}

}
