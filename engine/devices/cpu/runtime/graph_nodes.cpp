// Adding nodes to graphs.
#include <algorithm>

#include "copies.hpp"
#include "errors.hpp"
#include "graph_work.hpp"
#include "graphs.hpp"
#include "streams.hpp"
#include "symbols.hpp"

namespace beaver {
namespace {

// Body of a call that adds a node: ``make`` fills in the work.
template <class Make>
cudaError_t add(const char *name, cudaGraphNode_t *result, cudaGraph_t graph_handle, const cudaGraphNode_t *dependencies,
                std::size_t count, Make make) {
    return in_context(name, [&] {
        const std::lock_guard lock(graph_mutex());
        const auto graph = graphs().find(graph_handle);
        if (!graph || !result || (count && !dependencies)) return cudaErrorInvalidValue;
        std::vector<Node *> after;
        for (std::size_t i = 0; i < count; ++i) {
            const auto node = nodes().find(dependencies[i]);
            const bool fits = node && node->graph == graph.get() &&
                              std::find(after.begin(), after.end(), node.get()) == after.end();
            if (!fits) return cudaErrorInvalidValue;
            after.push_back(node.get());
        }
        Work work;
        if (const cudaError_t error = make(&work)) return error;
        *result = add_node(*graph, std::move(work), std::move(after))->handle;
        return cudaSuccess;
    });
}

cudaError_t add_copy(const char *name, cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *dependencies,
                     std::size_t count, const CopyWork &copy) {
    return add(name, node, graph, dependencies, count, [&](Work *work) {
        *work = copy;
        return check(copy);
    });
}

}  // namespace
}  // namespace beaver

using namespace beaver;

extern "C" {

cudaError_t cudaGraphAddEmptyNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *dependencies, size_t count) {
    return add(__func__, node, graph, dependencies, count, [](Work *) { return cudaSuccess; });
}

cudaError_t cudaGraphAddKernelNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *dependencies, size_t count,
                                   const cudaKernelNodeParams *parameters) {
    return add(__func__, node, graph, dependencies, count,
               [&](Work *work) { return read(parameters, &work->emplace<KernelWork>()); });
}

cudaError_t cudaGraphAddMemcpyNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *dependencies, size_t count,
                                   const cudaMemcpy3DParms *parameters) {
    return add(__func__, node, graph, dependencies, count,
               [&](Work *work) { return read(parameters, &work->emplace<CopyWork>()); });
}

cudaError_t cudaGraphAddMemcpyNode1D(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *dependencies, size_t count,
                                     void *to, const void *from, size_t size, cudaMemcpyKind kind) {
    return add_copy(__func__, node, graph, dependencies, count, copy_bytes(to, from, size, kind));
}

cudaError_t cudaGraphAddMemcpyNodeToSymbol(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *dependencies,
                                           size_t count, const void *symbol, const void *from, size_t size, size_t offset,
                                           cudaMemcpyKind kind) {
    return add(__func__, node, graph, dependencies, count, [&](Work *work) {
        auto &copy = work->emplace<CopyWork>();
        const cudaError_t error = copy_to_symbol(symbol, offset, from, size, kind, &copy);
        return error ? error : check(copy);
    });
}

cudaError_t cudaGraphAddMemcpyNodeFromSymbol(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *dependencies,
                                             size_t count, void *to, const void *symbol, size_t size, size_t offset,
                                             cudaMemcpyKind kind) {
    return add(__func__, node, graph, dependencies, count, [&](Work *work) {
        auto &copy = work->emplace<CopyWork>();
        const cudaError_t error = copy_from_symbol(to, symbol, offset, size, kind, &copy);
        return error ? error : check(copy);
    });
}

cudaError_t cudaGraphAddMemsetNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *dependencies, size_t count,
                                   const cudaMemsetParams *parameters) {
    return add(__func__, node, graph, dependencies, count,
               [&](Work *work) { return read(parameters, &work->emplace<FillWork>()); });
}

cudaError_t cudaGraphAddHostNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *dependencies, size_t count,
                                 const cudaHostNodeParams *parameters) {
    return add(__func__, node, graph, dependencies, count,
               [&](Work *work) { return read(parameters, &work->emplace<HostWork>()); });
}

cudaError_t cudaGraphAddChildGraphNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *dependencies,
                                       size_t count, cudaGraph_t child) {
    return add(__func__, node, graph, dependencies, count,
               [&](Work *work) { return read(child, &work->emplace<ChildWork>()); });
}

cudaError_t cudaGraphAddEventRecordNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *dependencies,
                                        size_t count, cudaEvent_t event) {
    return add(__func__, node, graph, dependencies, count,
               [&](Work *work) { return read(event, &work->emplace<RecordWork>().event); });
}

cudaError_t cudaGraphAddEventWaitNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *dependencies,
                                      size_t count, cudaEvent_t event) {
    return add(__func__, node, graph, dependencies, count,
               [&](Work *work) { return read(event, &work->emplace<WaitWork>().event); });
}

cudaError_t cudaGraphAddMemAllocNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *dependencies,
                                     size_t count, cudaMemAllocNodeParams *parameters) {
    return add(__func__, node, graph, dependencies, count, [&](Work *work) {
        if (!parameters) return cudaErrorInvalidValue;
        return read(parameters->bytesize, &parameters->dptr, &work->emplace<AllocateWork>());
    });
}

cudaError_t cudaGraphAddMemFreeNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *dependencies, size_t count,
                                    void *pointer) {
    return add(__func__, node, graph, dependencies, count, [&](Work *work) {
        *work = FreeWork{pointer};
        return pointer ? cudaSuccess : cudaErrorInvalidValue;
    });
}

cudaError_t cudaGraphAddNode(cudaGraphNode_t *node, cudaGraph_t graph,
                             const cudaGraphNode_t *dependencies EDGE_DATA(const cudaGraphEdgeData *), size_t count,
                             cudaGraphNodeParams *parameters) {
    return add(__func__, node, graph, dependencies, count, [&](Work *work) { return read(parameters, work); });
}

}
