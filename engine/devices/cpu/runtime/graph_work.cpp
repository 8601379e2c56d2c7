#include "graph_work.hpp"

#include "copies.hpp"
#include "events.hpp"
#include "graphs.hpp"
#include "launch.hpp"
#include "pools.hpp"

namespace beaver {
namespace {

struct TypeOf {
    cudaGraphNodeType operator()(const EmptyWork &) const { return cudaGraphNodeTypeEmpty; }
    cudaGraphNodeType operator()(const KernelWork &) const { return cudaGraphNodeTypeKernel; }
    cudaGraphNodeType operator()(const CopyWork &) const { return cudaGraphNodeTypeMemcpy; }
    cudaGraphNodeType operator()(const FillWork &) const { return cudaGraphNodeTypeMemset; }
    cudaGraphNodeType operator()(const HostWork &) const { return cudaGraphNodeTypeHost; }
    cudaGraphNodeType operator()(const RecordWork &) const { return cudaGraphNodeTypeEventRecord; }
    cudaGraphNodeType operator()(const WaitWork &) const { return cudaGraphNodeTypeWaitEvent; }
    cudaGraphNodeType operator()(const AllocateWork &) const { return cudaGraphNodeTypeMemAlloc; }
    cudaGraphNodeType operator()(const FreeWork &) const { return cudaGraphNodeTypeMemFree; }
    cudaGraphNodeType operator()(const ChildWork &) const { return cudaGraphNodeTypeGraph; }
};

}  // namespace

cudaError_t read(const cudaKernelNodeParams *parameters, KernelWork *work) {
    if (!parameters || parameters->extra) return cudaErrorInvalidValue;
    return prepare({parameters->func, parameters->gridDim, parameters->blockDim, parameters->kernelParams,
                    parameters->sharedMemBytes, false},
                   work);
}

cudaError_t read(const cudaMemcpy3DParms *parameters, CopyWork *work) {
    if (!parameters) return cudaErrorInvalidValue;
    work->box = *parameters;
    return check(*work);
}

cudaError_t read(const cudaMemsetParams *parameters, FillWork *work) {
    if (!parameters) return cudaErrorInvalidValue;
    *work = {parameters->dst,   parameters->pitch,       parameters->pitch * parameters->height,
             parameters->value, parameters->elementSize, {parameters->width, parameters->height, 1}};
    return check(*work);
}

cudaError_t read(const cudaHostNodeParams *parameters, HostWork *work) {
    if (!parameters || !parameters->fn) return cudaErrorInvalidValue;
    *work = {parameters->fn, parameters->userData};
    return cudaSuccess;
}

cudaError_t read(cudaEvent_t event, cudaEvent_t *kept) {
    if (!events().find(event)) return cudaErrorInvalidResourceHandle;
    *kept = event;
    return cudaSuccess;
}

cudaError_t read(cudaGraph_t graph, ChildWork *work) {
    work->graph = graphs().find(graph);
    return work->graph ? cudaSuccess : cudaErrorInvalidValue;
}

cudaError_t read(std::size_t size, void **address, AllocateWork *work) {
    if (!size) return cudaErrorInvalidValue;
    work->memory = reserve(size);
    if (!work->memory) return cudaErrorMemoryAllocation;
    *address = reinterpret_cast<void *>(work->memory->address);
    return cudaSuccess;
}

cudaError_t read(cudaGraphNodeParams *parameters, Work *work) {
    if (!parameters) return cudaErrorInvalidValue;
    switch (parameters->type) {
    case cudaGraphNodeTypeEmpty: *work = EmptyWork{}; return cudaSuccess;
    case cudaGraphNodeTypeKernel: {
        const auto &kernel = parameters->kernel;
        cudaKernelNodeParams plain{};
        plain.func = kernel.func;
        plain.gridDim = kernel.gridDim;
        plain.blockDim = kernel.blockDim;
        plain.sharedMemBytes = kernel.sharedMemBytes;
        plain.kernelParams = kernel.kernelParams;
        plain.extra = kernel.extra;
        return read(&plain, &work->emplace<KernelWork>());
    }
    case cudaGraphNodeTypeMemcpy: return read(&parameters->memcpy.copyParams, &work->emplace<CopyWork>());
    case cudaGraphNodeTypeMemset: {
        const auto &fill = parameters->memset;
        cudaMemsetParams plain{};
        plain.dst = fill.dst;
        plain.pitch = fill.pitch;
        plain.value = fill.value;
        plain.elementSize = fill.elementSize;
        plain.width = fill.width;
        plain.height = fill.height;
        return read(&plain, &work->emplace<FillWork>());
    }
    case cudaGraphNodeTypeHost: {
        const cudaHostNodeParams plain{parameters->host.fn, parameters->host.userData};
        return read(&plain, &work->emplace<HostWork>());
    }
    case cudaGraphNodeTypeGraph: return read(parameters->graph.graph, &work->emplace<ChildWork>());
    case cudaGraphNodeTypeEventRecord: return read(parameters->eventRecord.event, &work->emplace<RecordWork>().event);
    case cudaGraphNodeTypeWaitEvent: return read(parameters->eventWait.event, &work->emplace<WaitWork>().event);
    case cudaGraphNodeTypeMemAlloc:
        return read(parameters->alloc.bytesize, &parameters->alloc.dptr, &work->emplace<AllocateWork>());
    case cudaGraphNodeTypeMemFree: *work = FreeWork{parameters->free.dptr}; return cudaSuccess;
    default: return cudaErrorNotSupported;
    }
}

cudaGraphNodeType type_of(const Work &work) {
    return std::visit(TypeOf{}, work);
}

}  // namespace beaver
