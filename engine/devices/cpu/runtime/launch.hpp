// Launches: what is checked before a kernel runs.
#pragma once

#include <cuda_runtime_api.h>

#include "work.hpp"

namespace beaver {

// What a launch with a bad shape is told. An H200 says the first from runtime 13.0 on, and said the second before.
constexpr cudaError_t bad_shape = CUDART_VERSION >= 13000 ? cudaErrorInvalidValue : cudaErrorInvalidConfiguration;

// As the launching calls of the API take it.
struct LaunchRequest {
    const void *function;  // a kernel's stub or its handle
    dim3 grid, block;
    void **arguments;
    std::size_t dynamic_size;  // bytes
    bool cooperative;
};

// Looks the kernel up. cudaErrorInvalidDeviceFunction for null, cudaErrorInvalidResourceHandle for what is no kernel.
cudaError_t lookup(const void *function, Kernel **kernel);

// Checks the request in the order in which a GPU's driver does and copies the arguments. cudaErrorInvalidValue (shape, shared
// memory, no arguments), cudaErrorLaunchOutOfResources (registers), cudaErrorCooperativeLaunchTooLarge.
cudaError_t prepare(const LaunchRequest &request, KernelWork *work);

// Takes over what an attribute of a launch or of a kernel node changes. Gives up for clusters of blocks.
// cudaErrorInvalidClusterSize, cudaErrorNotSupported, cudaErrorInvalidValue (unknown).
cudaError_t apply(const cudaLaunchAttribute &attribute, LaunchRequest *request);

// prepare() and submit(). A request that is refused invalidates the stream's capture.
cudaError_t launch(cudaStream_t stream, const LaunchRequest &request);
cudaError_t launch(cudaStream_t stream, const cudaLaunchConfig_t *config, const void *function, void **arguments);

// Limits of a kernel. Bytes, threads.
std::uint64_t dynamic_shared_limit(const Kernel &kernel);
unsigned thread_limit(const Kernel &kernel);

}  // namespace beaver
