// Copies between devices, of which there is one. Their stream 0 is the legacy stream in every program.
#include "copies.hpp"
#include "errors.hpp"
#include "streams.hpp"

namespace beaver {
namespace {

cudaError_t copy_between(void *to, int to_device, const void *from, int from_device, std::size_t size, cudaStream_t stream) {
    if (to_device != 0 || from_device != 0) return cudaErrorInvalidDevice;
    if (!find_stream(stream)) return cudaErrorInvalidResourceHandle;
    const CopyWork copy = copy_bytes(to, from, size, cudaMemcpyDeviceToDevice);
    if (const cudaError_t error = check(copy)) return error;
    return submit(stream, copy);
}

}  // namespace
}  // namespace beaver

using namespace beaver;

extern "C" {

cudaError_t cudaMemcpyPeer(void *to, int to_device, const void *from, int from_device, size_t size) {
    return in_context(__func__, [&] { return copy_between(to, to_device, from, from_device, size, cudaStreamLegacy); });
}

cudaError_t cudaMemcpyPeerAsync(void *to, int to_device, const void *from, int from_device, size_t size, cudaStream_t stream) {
    return in_context(__func__, [&] { return copy_between(to, to_device, from, from_device, size, stream); });
}

}
