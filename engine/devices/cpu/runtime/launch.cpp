#include "launch.hpp"

#include <algorithm>
#include <cstring>

#include "report.hpp"
#include "rounding.hpp"
#include "streams.hpp"

namespace beaver {
namespace {

std::uint64_t count(dim3 shape) {
    return std::uint64_t{shape.x} * shape.y * shape.z;
}

bool is_grid(dim3 grid) {
    return count(grid) > 0 && grid.x <= max_grid_x && grid.y <= max_grid_yz && grid.z <= max_grid_yz;
}

bool is_block(dim3 block) {
    // each extent alone first: their product may wrap around
    return count(block) > 0 && block.x <= max_threads_per_block && block.y <= max_threads_per_block && block.z <= max_block_z &&
           count(block) <= max_threads_per_block;
}

// A grid consists of whole clusters, and one of more than a block is what this device has not.
cudaError_t check_clusters(dim3 grid, dim3 cluster, const std::string &who) {
    if (!cluster.x || !cluster.y || !cluster.z) return cudaErrorInvalidValue;
    if (grid.x % cluster.x || grid.y % cluster.y || grid.z % cluster.z) return cudaErrorInvalidClusterSize;
    if (count(cluster) > 1) give_up(who + " asks for clusters of blocks: needs a GPU", Exit::needs_gpu);
    return cudaSuccess;
}

unsigned warps_for_registers(const beaver_kernel &code) {
    const unsigned per_warp = round_up(code.registers * BEAVER_WARP, register_step);
    return per_warp ? registers_per_multiprocessor / per_warp : max_threads_per_block / BEAVER_WARP;
}

}  // namespace

std::uint64_t dynamic_shared_limit(const Kernel &kernel) {
    if (kernel.dynamic_shared_limit >= 0) return static_cast<std::uint64_t>(kernel.dynamic_shared_limit);
    return shared_per_block - std::min<std::uint64_t>(shared_per_block, kernel.code->static_shared);
}

unsigned thread_limit(const Kernel &kernel) {
    const unsigned declared = kernel.code->max_threads ? kernel.code->max_threads : max_threads_per_block;
    return std::min({declared, max_threads_per_block, warps_for_registers(*kernel.code) * BEAVER_WARP});
}

cudaError_t lookup(const void *function, Kernel **kernel) {
    if (!function) return cudaErrorInvalidDeviceFunction;
    *kernel = find_kernel(function);
    return *kernel ? cudaSuccess : cudaErrorInvalidResourceHandle;
}

cudaError_t prepare(const LaunchRequest &request, KernelWork *work) {
    Kernel *kernel;
    if (const cudaError_t error = lookup(request.function, &kernel)) return error;
    const beaver_kernel &code = *kernel->code;
    if (!is_grid(request.grid) || !is_block(request.block)) return bad_shape;
    if (code.param_count && !request.arguments) return cudaErrorInvalidValue;
    const auto threads = static_cast<unsigned>(count(request.block));
    if (code.max_threads && threads > code.max_threads) return cudaErrorInvalidValue;
    if (request.dynamic_size > dynamic_shared_limit(*kernel)) return cudaErrorInvalidValue;
    if ((threads + BEAVER_WARP - 1) / BEAVER_WARP > warps_for_registers(code)) return cudaErrorLaunchOutOfResources;
    if (request.cooperative &&
        count(request.grid) > std::uint64_t{resident_blocks(code, threads, request.dynamic_size)} * multiprocessors_held)
        return cudaErrorCooperativeLaunchTooLarge;
    if (code.cluster[0]) {
        const dim3 cluster{code.cluster[0], code.cluster[1], code.cluster[2]};
        if (const cudaError_t error = check_clusters(request.grid, cluster, "kernel " + demangle(code.name))) return error;
    }

    work->kernel = kernel;
    Launch &launch = work->launch;
    launch.kernel = &code;
    launch.grid = request.grid;
    launch.block = request.block;
    launch.dynamic_size = static_cast<std::uint32_t>(request.dynamic_size);
    launch.cooperative = request.cooperative;
    launch.params.assign(code.param_bytes, 0);
    for (std::uint32_t i = 0; i < code.param_count; ++i)
        std::memcpy(launch.params.data() + code.params[i].offset, request.arguments[i], code.params[i].size);
    return cudaSuccess;
}

cudaError_t apply(const cudaLaunchAttribute &attribute, LaunchRequest *request) {
    switch (attribute.id) {
    case cudaLaunchAttributeCooperative:
        request->cooperative = attribute.val.cooperative != 0;
        return cudaSuccess;
    case cudaLaunchAttributeClusterDimension: {
        const auto &cluster = attribute.val.clusterDim;
        return check_clusters(request->grid, {cluster.x, cluster.y, cluster.z}, "a launch");
    }
    // these change when or how fast a kernel runs, not what it does
    case cudaLaunchAttributeIgnore:
    case cudaLaunchAttributePriority:
    case cudaLaunchAttributeAccessPolicyWindow:
    case cudaLaunchAttributeSynchronizationPolicy:
    case cudaLaunchAttributeClusterSchedulingPolicyPreference:
    case cudaLaunchAttributeProgrammaticStreamSerialization:
    case cudaLaunchAttributeMemSyncDomainMap:
    case cudaLaunchAttributeMemSyncDomain:
#if CUDART_VERSION >= 12080
    case cudaLaunchAttributePreferredSharedMemoryCarveout:
#endif
        return cudaSuccess;
    case cudaLaunchAttributeProgrammaticEvent:
        return cudaErrorNotSupported;
    default:
        return cudaErrorInvalidValue;
    }
}

cudaError_t launch(cudaStream_t stream, const LaunchRequest &request) {
    KernelWork work;
    if (const cudaError_t error = prepare(request, &work)) {
        invalidate_capture(stream);
        return error;
    }
    return submit(stream, std::move(work));
}

cudaError_t launch(cudaStream_t stream, const cudaLaunchConfig_t *config, const void *function, void **arguments) {
    if (!config) return cudaErrorInvalidValue;
    LaunchRequest request{function, config->gridDim, config->blockDim, arguments, config->dynamicSmemBytes, false};
    for (unsigned i = 0; i < config->numAttrs; ++i)
        if (const cudaError_t error = apply(config->attrs[i], &request)) {
            invalidate_capture(stream);
            return error;
        }
    return launch(stream, request);
}

}  // namespace beaver
