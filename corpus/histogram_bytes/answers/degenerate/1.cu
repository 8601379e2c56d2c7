// Byte histogram with one global atomic for every byte.
#include "solution.h"

namespace {

__global__ void histogram_kernel(const unsigned char* data, size_t count, unsigned int* bins) {
    const size_t stride = static_cast<size_t>(gridDim.x) * blockDim.x;
    for (size_t i = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < count; i += stride) {
        atomicAdd(&bins[data[i]], 1u);
    }
}

}  // namespace

cudaError_t histogram_bytes(const unsigned char* data, std::size_t count, unsigned int* bins, cudaStream_t stream) {
    if (const cudaError_t error = cudaMemsetAsync(bins, 0, 256 * sizeof(unsigned int), stream)) return error;
    histogram_kernel<<<1024, 256, 0, stream>>>(data, count, bins);
    return cudaGetLastError();
}
