// Graphs that were instantiated.
#include "copies.hpp"
#include "errors.hpp"
#include "graph_work.hpp"
#include "graphs.hpp"
#include "streams.hpp"
#include "symbols.hpp"

namespace beaver {
namespace {

constexpr unsigned long long known_flags = cudaGraphInstantiateFlagAutoFreeOnLaunch | cudaGraphInstantiateFlagUpload |
                                           cudaGraphInstantiateFlagDeviceLaunch | cudaGraphInstantiateFlagUseNodePriority;

// Replaces the work of an executable's node. A copy keeps its direction and a fill its number of rows, as measured on an H200;
// what allocates and frees stays as it is.
cudaError_t take(Work &old, Work fresh) {
    if (old.index() != fresh.index()) return cudaErrorInvalidValue;
    if (auto *child = std::get_if<ChildWork>(&old)) {
        const Graph &theirs = *std::get<ChildWork>(fresh).graph;
        cudaGraphNode_t culprit;
        if (compare(*child->graph, theirs, &culprit) != cudaGraphExecUpdateSuccess) return cudaErrorInvalidValue;
        take_work(*child->graph, theirs);
        return cudaSuccess;
    }
    const auto *copy = std::get_if<CopyWork>(&old);
    if (copy && copy->box.kind != std::get<CopyWork>(fresh).box.kind) return cudaErrorInvalidValue;
    const auto *fill = std::get_if<FillWork>(&old);
    if (fill && fill->extent.height != std::get<FillWork>(fresh).extent.height) return cudaErrorInvalidValue;
    if (std::holds_alternative<AllocateWork>(old) || std::holds_alternative<FreeWork>(old)) return cudaErrorInvalidValue;
    old = std::move(fresh);
    return cudaSuccess;
}

// Body of a call that gives a node of an executable other work, which ``make`` fills in.
template <class Make>
cudaError_t set(const char *name, cudaGraphExec_t executable_handle, cudaGraphNode_t handle, Make make) {
    return in_context(name, [&] {
        const std::lock_guard lock(graph_mutex());
        const auto executable = executables().find(executable_handle);
        Node *const node = executable ? find_in_clone(*executable->graph, handle) : nullptr;
        if (!node) return cudaErrorInvalidValue;
        Work fresh;
        if (const cudaError_t error = make(&fresh)) return error;
        return take(node->work, std::move(fresh));
    });
}

}  // namespace
}  // namespace beaver

using namespace beaver;

extern "C" {

cudaError_t cudaGraphInstantiate(cudaGraphExec_t *executable, cudaGraph_t handle, unsigned long long flags) {
    return in_context(__func__, [&] {
        const std::lock_guard lock(graph_mutex());
        const auto graph = graphs().find(handle);
        if (!executable || !graph || (flags & ~known_flags)) return cudaErrorInvalidValue;
        if (topological_order(*graph).size() != graph->nodes.size()) return cudaErrorInvalidValue;  // a cycle
        auto copy = clone(*graph);
        graphs().remove(copy->handle);  // only the executable knows it
        *executable = executables().add(std::make_shared<Executable>(Executable{std::move(copy), flags}));
        return cudaSuccess;
    });
}

cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t *executable, cudaGraph_t graph, unsigned long long flags) {
    return cudaGraphInstantiate(executable, graph, flags);
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t handle) {
    return query(__func__, [&] { return executables().remove(handle) ? cudaSuccess : cudaErrorInvalidValue; });
}

cudaError_t cudaGraphExecGetFlags(cudaGraphExec_t handle, unsigned long long *flags) {
    return query(__func__, [&] {
        const auto executable = executables().find(handle);
        if (!executable || !flags) return cudaErrorInvalidValue;
        *flags = executable->flags;
        return cudaSuccess;
    });
}

cudaError_t cudaGraphExecUpdate(cudaGraphExec_t handle, cudaGraph_t graph_handle, cudaGraphExecUpdateResultInfo *info) {
    return in_context(__func__, [&] {
        const std::lock_guard lock(graph_mutex());
        const auto executable = executables().find(handle);
        const auto graph = graphs().find(graph_handle);
        if (!executable || !graph) return cudaErrorInvalidValue;
        cudaGraphExecUpdateResultInfo found{};
        found.result = compare(*executable->graph, *graph, &found.errorNode);
        if (info) *info = found;
        if (found.result != cudaGraphExecUpdateSuccess) return cudaErrorGraphExecUpdateFailure;
        take_work(*executable->graph, *graph);
        return cudaSuccess;
    });
}

cudaError_t cudaGraphExecKernelNodeSetParams(cudaGraphExec_t executable, cudaGraphNode_t node,
                                             const cudaKernelNodeParams *parameters) {
    return set(__func__, executable, node, [&](Work *work) { return read(parameters, &work->emplace<KernelWork>()); });
}

cudaError_t cudaGraphExecMemcpyNodeSetParams(cudaGraphExec_t executable, cudaGraphNode_t node,
                                             const cudaMemcpy3DParms *parameters) {
    return set(__func__, executable, node, [&](Work *work) { return read(parameters, &work->emplace<CopyWork>()); });
}

cudaError_t cudaGraphExecMemcpyNodeSetParams1D(cudaGraphExec_t executable, cudaGraphNode_t node, void *to, const void *from,
                                               size_t size, cudaMemcpyKind kind) {
    return set(__func__, executable, node,
               [&](Work *work) { return check(work->emplace<CopyWork>(copy_bytes(to, from, size, kind))); });
}

cudaError_t cudaGraphExecMemcpyNodeSetParamsToSymbol(cudaGraphExec_t executable, cudaGraphNode_t node, const void *symbol,
                                                     const void *from, size_t size, size_t offset, cudaMemcpyKind kind) {
    return set(__func__, executable, node, [&](Work *work) {
        auto &copy = work->emplace<CopyWork>();
        const cudaError_t error = copy_to_symbol(symbol, offset, from, size, kind, &copy);
        return error ? error : check(copy);
    });
}

cudaError_t cudaGraphExecMemcpyNodeSetParamsFromSymbol(cudaGraphExec_t executable, cudaGraphNode_t node, void *to,
                                                       const void *symbol, size_t size, size_t offset, cudaMemcpyKind kind) {
    return set(__func__, executable, node, [&](Work *work) {
        auto &copy = work->emplace<CopyWork>();
        const cudaError_t error = copy_from_symbol(to, symbol, offset, size, kind, &copy);
        return error ? error : check(copy);
    });
}

cudaError_t cudaGraphExecMemsetNodeSetParams(cudaGraphExec_t executable, cudaGraphNode_t node,
                                             const cudaMemsetParams *parameters) {
    return set(__func__, executable, node, [&](Work *work) { return read(parameters, &work->emplace<FillWork>()); });
}

cudaError_t cudaGraphExecHostNodeSetParams(cudaGraphExec_t executable, cudaGraphNode_t node,
                                           const cudaHostNodeParams *parameters) {
    return set(__func__, executable, node, [&](Work *work) { return read(parameters, &work->emplace<HostWork>()); });
}

cudaError_t cudaGraphExecChildGraphNodeSetParams(cudaGraphExec_t executable, cudaGraphNode_t node, cudaGraph_t child) {
    return set(__func__, executable, node, [&](Work *work) { return read(child, &work->emplace<ChildWork>()); });
}

cudaError_t cudaGraphExecEventRecordNodeSetEvent(cudaGraphExec_t executable, cudaGraphNode_t node, cudaEvent_t event) {
    return set(__func__, executable, node, [&](Work *work) { return read(event, &work->emplace<RecordWork>().event); });
}

cudaError_t cudaGraphExecEventWaitNodeSetEvent(cudaGraphExec_t executable, cudaGraphNode_t node, cudaEvent_t event) {
    return set(__func__, executable, node, [&](Work *work) { return read(event, &work->emplace<WaitWork>().event); });
}

cudaError_t cudaGraphExecNodeSetParams(cudaGraphExec_t executable, cudaGraphNode_t node, cudaGraphNodeParams *parameters) {
    return set(__func__, executable, node, [&](Work *work) { return read(parameters, work); });
}

// Only kernels, copies and fills can be switched off.
cudaError_t cudaGraphNodeSetEnabled(cudaGraphExec_t executable_handle, cudaGraphNode_t handle, unsigned enabled) {
    return in_context(__func__, [&] {
        const std::lock_guard lock(graph_mutex());
        const auto executable = executables().find(executable_handle);
        Node *const node = executable ? find_in_clone(*executable->graph, handle) : nullptr;
        if (!node) return cudaErrorInvalidValue;
        const cudaGraphNodeType type = type_of(node->work);
        if (type != cudaGraphNodeTypeKernel && type != cudaGraphNodeTypeMemcpy && type != cudaGraphNodeTypeMemset)
            return cudaErrorInvalidValue;
        node->enabled = enabled != 0;
        return cudaSuccess;
    });
}

cudaError_t cudaGraphNodeGetEnabled(cudaGraphExec_t executable_handle, cudaGraphNode_t handle, unsigned *enabled) {
    return query(__func__, [&] {
        const std::lock_guard lock(graph_mutex());
        const auto executable = executables().find(executable_handle);
        const Node *const node = executable ? find_in_clone(*executable->graph, handle) : nullptr;
        if (!node || !enabled) return cudaErrorInvalidValue;
        *enabled = node->enabled;
        return cudaSuccess;
    });
}

}
