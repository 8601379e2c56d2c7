// How many blocks fit.
#include <algorithm>

#include "errors.hpp"
#include "launch.hpp"

namespace beaver {
namespace {

cudaError_t count_blocks(int *count, const void *function, int block_threads, std::size_t dynamic_size) {
    if (!count) return cudaErrorInvalidValue;
    Kernel *kernel;
    if (const cudaError_t error = lookup(function, &kernel)) return error;
    if (block_threads <= 0) return cudaErrorInvalidValue;
    const auto threads = static_cast<unsigned>(block_threads);
    // an H200 does not look at the kernel's __launch_bounds__ here
    const bool fits = threads <= max_threads_per_block && dynamic_size <= dynamic_shared_limit(*kernel);
    *count = fits ? static_cast<int>(resident_blocks(*kernel->code, threads, dynamic_size)) : 0;
    return cudaSuccess;
}

}  // namespace
}  // namespace beaver

using namespace beaver;

extern "C" {

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *count, const void *function, int block_threads,
                                                                   size_t dynamic_size, unsigned flags) {
    return in_context(__func__, [&] {
        if (flags & ~unsigned{cudaOccupancyDisableCachingOverride}) return cudaErrorInvalidValue;
        return count_blocks(count, function, block_threads, dynamic_size);
    });
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *count, const void *function, int block_threads,
                                                          size_t dynamic_size) {
    return in_context(__func__, [&] { return count_blocks(count, function, block_threads, dynamic_size); });
}

// Unlike the count of blocks, this does not set aside what each block reserves: as measured on an H200.
cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(size_t *dynamic_size, const void *function, int blocks, int block_threads) {
    return in_context(__func__, [&] {
        if (!dynamic_size || blocks <= 0) return cudaErrorInvalidValue;
        int most;
        if (const cudaError_t error = count_blocks(&most, function, block_threads, 0)) return error;
        Kernel *kernel;
        lookup(function, &kernel);
        const std::uint64_t share = shared_per_multiprocessor / static_cast<unsigned>(blocks) / shared_step * shared_step;
        if (blocks > most || share < kernel->code->static_shared) return cudaErrorInvalidValue;
        *dynamic_size = std::min(share - kernel->code->static_shared, dynamic_shared_limit(*kernel));
        return cudaSuccess;
    });
}

// Blocks stand alone here: clusters of one block.
cudaError_t cudaOccupancyMaxPotentialClusterSize(int *size, const void *function, const cudaLaunchConfig_t *config) {
    return in_context(__func__, [&] {
        if (!size || !config) return cudaErrorInvalidValue;
        Kernel *kernel;
        if (const cudaError_t error = lookup(function, &kernel)) return error;
        *size = 1;
        return cudaSuccess;
    });
}

cudaError_t cudaOccupancyMaxActiveClusters(int *count, const void *function, const cudaLaunchConfig_t *config) {
    return in_context(__func__, [&] {
        if (!count || !config) return cudaErrorInvalidValue;
        for (unsigned i = 0; i < config->numAttrs; ++i) {
            const auto &attribute = config->attrs[i];
            const auto &cluster = attribute.val.clusterDim;
            if (attribute.id == cudaLaunchAttributeClusterDimension && cluster.x * cluster.y * cluster.z != 1) {
                *count = 0;
                return cudaSuccess;
            }
        }
        const int threads = static_cast<int>(config->blockDim.x * config->blockDim.y * config->blockDim.z);
        if (const cudaError_t error = count_blocks(count, function, threads, config->dynamicSmemBytes)) return error;
        *count *= multiprocessors;
        return cudaSuccess;
    });
}

}
