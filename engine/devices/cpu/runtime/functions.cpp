// What can be asked and set about a kernel, and the call configuration of <<<>>>.
#include <algorithm>
#include <cstring>
#include <vector>

#include "errors.hpp"
#include "launch.hpp"

namespace beaver {
namespace {

struct Configuration {
    dim3 grid, block;
    std::size_t dynamic_size;
    void *stream;
};

// <<<>>> pushes its configuration, evaluates the arguments, which may launch kernels themselves, and pops it in the kernel's stub.
thread_local std::vector<Configuration> configurations;

cudaFuncAttributes describe(const Kernel &kernel) {
    constexpr int version = 90;  // of PTX and binary code: the device shows compute capability 9.0
    const beaver_kernel &code = *kernel.code;
    cudaFuncAttributes attributes{};
    attributes.sharedSizeBytes = code.static_shared;
    attributes.localSizeBytes = code.local_bytes;
    attributes.maxThreadsPerBlock = static_cast<int>(thread_limit(kernel));
    attributes.numRegs = static_cast<int>(code.registers);
    attributes.ptxVersion = attributes.binaryVersion = version;
    attributes.maxDynamicSharedSizeBytes = static_cast<int>(dynamic_shared_limit(kernel));
    attributes.preferredShmemCarveout = kernel.carveout;
    return attributes;
}

cudaError_t set(Kernel &kernel, cudaFuncAttribute attribute, int value) {
    switch (attribute) {
    case cudaFuncAttributeMaxDynamicSharedMemorySize:
        if (value < 0 || static_cast<std::uint64_t>(value) + kernel.code->static_shared > shared_per_block_optin)
            return cudaErrorInvalidValue;
        kernel.dynamic_shared_limit = value;
        return cudaSuccess;
    case cudaFuncAttributePreferredSharedMemoryCarveout:
        if (value < cudaSharedmemCarveoutDefault || value > cudaSharedmemCarveoutMaxShared) return cudaErrorInvalidValue;
        kernel.carveout = value;
        return cudaSuccess;
    case cudaFuncAttributeNonPortableClusterSizeAllowed:
        return cudaSuccess;  // clusters are refused at their launch
    default:
        return cudaErrorInvalidValue;
    }
}

}  // namespace
}  // namespace beaver

using namespace beaver;

extern "C" {

unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t dynamic_size, void *stream) {
    configurations.push_back({grid, block, dynamic_size, stream});
    return 0;
}

cudaError_t __cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *dynamic_size, void *stream) {
    if (configurations.empty()) return cudaErrorMissingConfiguration;
    const Configuration last = configurations.back();
    configurations.pop_back();
    *grid = last.grid;
    *block = last.block;
    *dynamic_size = last.dynamic_size;
    std::memcpy(stream, &last.stream, sizeof last.stream);
    return cudaSuccess;
}

#if CUDART_VERSION >= 12010
// Called once by each kernel's stub, before its first launch, which is the one to have errors.
cudaError_t __cudaGetKernel(cudaKernel_t *handle, const void *stub) {
    *handle = reinterpret_cast<cudaKernel_t>(find_registered_kernel(stub));
    return *handle ? cudaSuccess : cudaErrorInvalidDeviceFunction;
}

cudaError_t cudaGetKernel(cudaKernel_t *handle, const void *stub) {
    return in_context(__func__, [&] {
        if (!handle) return cudaErrorInvalidValue;
        *handle = reinterpret_cast<cudaKernel_t>(find_kernel(stub));
        return *handle ? cudaSuccess : cudaErrorInvalidDeviceFunction;
    });
}
#endif

cudaError_t cudaGetFuncBySymbol(cudaFunction_t *handle, const void *stub) {
    return in_context(__func__, [&] {
        if (!handle) return cudaErrorInvalidValue;
        *handle = reinterpret_cast<cudaFunction_t>(find_kernel(stub));
        return *handle ? cudaSuccess : cudaErrorInvalidDeviceFunction;
    });
}

cudaError_t cudaFuncGetAttributes(cudaFuncAttributes *attributes, const void *function) {
    return in_context(__func__, [&] {
        if (!attributes) return cudaErrorInvalidValue;
        Kernel *kernel;
        if (const cudaError_t error = lookup(function, &kernel)) return error;
        *attributes = describe(*kernel);
        return cudaSuccess;
    });
}

cudaError_t cudaFuncSetAttribute(const void *function, cudaFuncAttribute attribute, int value) {
    return in_context(__func__, [&] {
        Kernel *kernel;
        if (const cudaError_t error = lookup(function, &kernel)) return error;
        return set(*kernel, attribute, value);
    });
}

// There are no caches and banks to be divided.
cudaError_t cudaFuncSetCacheConfig(const void *function, cudaFuncCache) {
    return in_context(__func__, [&] {
        Kernel *kernel;
        return lookup(function, &kernel);
    });
}

cudaError_t cudaFuncSetSharedMemConfig(const void *function, cudaSharedMemConfig) {
    return in_context(__func__, [&] {
        Kernel *kernel;
        return lookup(function, &kernel);
    });
}

#if CUDART_VERSION >= 12030
cudaError_t cudaFuncGetName(const char **name, const void *function) {
    return in_context(__func__, [&] {
        if (!name) return cudaErrorInvalidValue;
        Kernel *kernel;
        if (const cudaError_t error = lookup(function, &kernel)) return error;
        *name = kernel->name.c_str();
        return cudaSuccess;
    });
}
#endif

#if CUDART_VERSION >= 12040
cudaError_t cudaFuncGetParamInfo(const void *function, size_t index, size_t *offset, size_t *size) {
    return in_context(__func__, [&] {
        Kernel *kernel;
        if (const cudaError_t error = lookup(function, &kernel)) return error;
        if (index >= kernel->code->param_count) return cudaErrorInvalidValue;
        if (offset) *offset = kernel->code->params[index].offset;
        if (size) *size = kernel->code->params[index].size;
        return cudaSuccess;
    });
}
#endif

}
