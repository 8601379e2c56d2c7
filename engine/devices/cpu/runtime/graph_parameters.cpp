// Reading and changing what the nodes of graphs do.
#include "copies.hpp"
#include "errors.hpp"
#include "graph_work.hpp"
#include "graphs.hpp"
#include "launch.hpp"
#include "pools.hpp"
#include "streams.hpp"
#include "symbols.hpp"

namespace beaver {
namespace {

// Body of a call about the work of a node, which must be of one kind.
template <class Kind, class Use>
cudaError_t with_work(const char *name, cudaGraphNode_t handle, Use use) {
    return query(name, [&] {
        const std::lock_guard lock(graph_mutex());
        const auto node = nodes().find(handle);
        Kind *const work = node ? std::get_if<Kind>(&node->work) : nullptr;
        return work ? use(*work, *node) : cudaErrorInvalidValue;
    });
}

// Replaces the work if the parameters are good.
template <class Kind, class Parameters>
cudaError_t replace(Kind &work, const Parameters *parameters) {
    Kind fresh;
    if (const cudaError_t error = read(parameters, &fresh)) return error;
    work = std::move(fresh);
    return cudaSuccess;
}

}  // namespace
}  // namespace beaver

using namespace beaver;

extern "C" {

cudaError_t cudaGraphKernelNodeGetParams(cudaGraphNode_t node, cudaKernelNodeParams *parameters) {
    return with_work<KernelWork>(__func__, node, [&](KernelWork &work, Node &owner) {
        if (!parameters) return cudaErrorInvalidValue;
        const Launch &launch = work.launch;
        owner.arguments.clear();
        for (std::uint32_t i = 0; i < launch.kernel->param_count; ++i)
            owner.arguments.push_back(work.launch.params.data() + launch.kernel->params[i].offset);
        *parameters = {};
        parameters->func = const_cast<void *>(work.kernel->stub);
        parameters->gridDim = launch.grid;
        parameters->blockDim = launch.block;
        parameters->sharedMemBytes = launch.dynamic_size;
        parameters->kernelParams = owner.arguments.data();
        return cudaSuccess;
    });
}

cudaError_t cudaGraphKernelNodeSetParams(cudaGraphNode_t node, const cudaKernelNodeParams *parameters) {
    return with_work<KernelWork>(__func__, node, [&](KernelWork &work, Node &) { return replace(work, parameters); });
}

cudaError_t cudaGraphMemcpyNodeGetParams(cudaGraphNode_t node, cudaMemcpy3DParms *parameters) {
    return with_work<CopyWork>(__func__, node, [&](CopyWork &work, Node &) {
        if (!parameters) return cudaErrorInvalidValue;
        *parameters = work.box;
        return cudaSuccess;
    });
}

cudaError_t cudaGraphMemcpyNodeSetParams(cudaGraphNode_t node, const cudaMemcpy3DParms *parameters) {
    return with_work<CopyWork>(__func__, node, [&](CopyWork &work, Node &) { return replace(work, parameters); });
}

cudaError_t cudaGraphMemcpyNodeSetParams1D(cudaGraphNode_t node, void *to, const void *from, size_t size, cudaMemcpyKind kind) {
    return with_work<CopyWork>(__func__, node, [&](CopyWork &work, Node &) {
        const CopyWork fresh = copy_bytes(to, from, size, kind);
        if (const cudaError_t error = check(fresh)) return error;
        work = fresh;
        return cudaSuccess;
    });
}

cudaError_t cudaGraphMemcpyNodeSetParamsToSymbol(cudaGraphNode_t node, const void *symbol, const void *from, size_t size,
                                                 size_t offset, cudaMemcpyKind kind) {
    return with_work<CopyWork>(__func__, node, [&](CopyWork &work, Node &) {
        CopyWork fresh;
        if (const cudaError_t error = copy_to_symbol(symbol, offset, from, size, kind, &fresh)) return error;
        if (const cudaError_t error = check(fresh)) return error;
        work = fresh;
        return cudaSuccess;
    });
}

cudaError_t cudaGraphMemcpyNodeSetParamsFromSymbol(cudaGraphNode_t node, void *to, const void *symbol, size_t size,
                                                   size_t offset, cudaMemcpyKind kind) {
    return with_work<CopyWork>(__func__, node, [&](CopyWork &work, Node &) {
        CopyWork fresh;
        if (const cudaError_t error = copy_from_symbol(to, symbol, offset, size, kind, &fresh)) return error;
        if (const cudaError_t error = check(fresh)) return error;
        work = fresh;
        return cudaSuccess;
    });
}

cudaError_t cudaGraphMemsetNodeGetParams(cudaGraphNode_t node, cudaMemsetParams *parameters) {
    return with_work<FillWork>(__func__, node, [&](FillWork &work, Node &) {
        if (!parameters) return cudaErrorInvalidValue;
        *parameters = {};
        parameters->dst = work.address;
        parameters->pitch = work.pitch;
        parameters->value = work.value;
        parameters->elementSize = work.element_size;
        parameters->width = work.extent.width;
        parameters->height = work.extent.height;
        return cudaSuccess;
    });
}

cudaError_t cudaGraphMemsetNodeSetParams(cudaGraphNode_t node, const cudaMemsetParams *parameters) {
    return with_work<FillWork>(__func__, node, [&](FillWork &work, Node &) { return replace(work, parameters); });
}

cudaError_t cudaGraphHostNodeGetParams(cudaGraphNode_t node, cudaHostNodeParams *parameters) {
    return with_work<HostWork>(__func__, node, [&](HostWork &work, Node &) {
        if (!parameters) return cudaErrorInvalidValue;
        *parameters = {};
        parameters->fn = work.function;
        parameters->userData = work.data;
        return cudaSuccess;
    });
}

cudaError_t cudaGraphHostNodeSetParams(cudaGraphNode_t node, const cudaHostNodeParams *parameters) {
    return with_work<HostWork>(__func__, node, [&](HostWork &work, Node &) { return replace(work, parameters); });
}

cudaError_t cudaGraphChildGraphNodeGetGraph(cudaGraphNode_t node, cudaGraph_t *graph) {
    return with_work<ChildWork>(__func__, node, [&](ChildWork &work, Node &) {
        if (!graph) return cudaErrorInvalidValue;
        *graph = work.graph->handle;
        return cudaSuccess;
    });
}

cudaError_t cudaGraphEventRecordNodeGetEvent(cudaGraphNode_t node, cudaEvent_t *event) {
    return with_work<RecordWork>(__func__, node, [&](RecordWork &work, Node &) {
        if (!event) return cudaErrorInvalidValue;
        *event = work.event;
        return cudaSuccess;
    });
}

cudaError_t cudaGraphEventRecordNodeSetEvent(cudaGraphNode_t node, cudaEvent_t event) {
    return with_work<RecordWork>(__func__, node, [&](RecordWork &work, Node &) { return read(event, &work.event); });
}

cudaError_t cudaGraphEventWaitNodeGetEvent(cudaGraphNode_t node, cudaEvent_t *event) {
    return with_work<WaitWork>(__func__, node, [&](WaitWork &work, Node &) {
        if (!event) return cudaErrorInvalidValue;
        *event = work.event;
        return cudaSuccess;
    });
}

cudaError_t cudaGraphEventWaitNodeSetEvent(cudaGraphNode_t node, cudaEvent_t event) {
    return with_work<WaitWork>(__func__, node, [&](WaitWork &work, Node &) { return read(event, &work.event); });
}

cudaError_t cudaGraphMemAllocNodeGetParams(cudaGraphNode_t node, cudaMemAllocNodeParams *parameters) {
    return with_work<AllocateWork>(__func__, node, [&](AllocateWork &work, Node &) {
        if (!parameters) return cudaErrorInvalidValue;
        *parameters = {};
        parameters->poolProps.allocType = cudaMemAllocationTypePinned;
        parameters->poolProps.location.type = cudaMemLocationTypeDevice;
        parameters->bytesize = work.memory->size;
        parameters->dptr = reinterpret_cast<void *>(work.memory->address);
        return cudaSuccess;
    });
}

cudaError_t cudaGraphMemFreeNodeGetParams(cudaGraphNode_t node, void *pointer) {
    return with_work<FreeWork>(__func__, node, [&](FreeWork &work, Node &) {
        if (!pointer) return cudaErrorInvalidValue;
        *static_cast<void **>(pointer) = work.address;
        return cudaSuccess;
    });
}

cudaError_t cudaGraphNodeSetParams(cudaGraphNode_t handle, cudaGraphNodeParams *parameters) {
    return query(__func__, [&] {
        const std::lock_guard lock(graph_mutex());
        const auto node = nodes().find(handle);
        Work fresh;
        if (!node) return cudaErrorInvalidValue;
        if (const cudaError_t error = read(parameters, &fresh)) return error;
        if (fresh.index() != node->work.index()) return cudaErrorInvalidValue;
        if (std::holds_alternative<ChildWork>(fresh)) return cudaErrorNotSupported;
        node->work = std::move(fresh);
        return cudaSuccess;
    });
}

// Of a kernel node's attributes one changes what is done.
cudaError_t cudaGraphKernelNodeGetAttribute(cudaGraphNode_t node, cudaLaunchAttributeID attribute,
                                            cudaLaunchAttributeValue *value) {
    return with_work<KernelWork>(__func__, node, [&](KernelWork &work, Node &) {
        if (!value) return cudaErrorInvalidValue;
        *value = {};
        if (attribute == cudaLaunchAttributeCooperative) value->cooperative = work.launch.cooperative;
        return cudaSuccess;
    });
}

cudaError_t cudaGraphKernelNodeSetAttribute(cudaGraphNode_t node, cudaLaunchAttributeID attribute,
                                            const cudaLaunchAttributeValue *value) {
    return with_work<KernelWork>(__func__, node, [&](KernelWork &work, Node &) {
        if (!value) return cudaErrorInvalidValue;
        const Launch &launch = work.launch;
        LaunchRequest request{work.kernel->stub, launch.grid, launch.block, nullptr, launch.dynamic_size, launch.cooperative};
        cudaLaunchAttribute given{};
        given.id = attribute;
        given.val = *value;
        if (const cudaError_t error = apply(given, &request)) return error;
        work.launch.cooperative = request.cooperative;
        return cudaSuccess;
    });
}

cudaError_t cudaGraphKernelNodeCopyAttributes(cudaGraphNode_t to, cudaGraphNode_t from) {
    return with_work<KernelWork>(__func__, from, [&](KernelWork &source, Node &) {
        const auto target = nodes().find(to);
        auto *const work = target ? std::get_if<KernelWork>(&target->work) : nullptr;
        if (!work) return cudaErrorInvalidValue;
        work->launch.cooperative = source.launch.cooperative;
        return cudaSuccess;
    });
}

}
