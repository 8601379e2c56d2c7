// Hands the pairs back as they were, and says that it needs no workspace.
#include "solution.h"

namespace {

cudaError_t copy(const void* keys, const void* values, void* sorted_keys, void* sorted_values, size_t count,
                 cudaStream_t stream) {
    const size_t bytes = count * sizeof(unsigned);
    if (const cudaError_t error = cudaMemcpyAsync(sorted_keys, keys, bytes, cudaMemcpyDeviceToDevice, stream)) {
        return error;
    }
    return cudaMemcpyAsync(sorted_values, values, bytes, cudaMemcpyDeviceToDevice, stream);
}

}  // namespace

std::size_t radix_sort_workspace(std::size_t) { return 0; }

cudaError_t radix_sort_pairs(const unsigned* keys, const unsigned* values, unsigned* sorted_keys,
                             unsigned* sorted_values, std::size_t count, void*, cudaStream_t stream) {
    return copy(keys, values, sorted_keys, sorted_values, count, stream);
}

cudaError_t radix_sort_pairs(const float* keys, const unsigned* values, float* sorted_keys, unsigned* sorted_values,
                             std::size_t count, void*, cudaStream_t stream) {
    return copy(keys, values, sorted_keys, sorted_values, count, stream);
}
