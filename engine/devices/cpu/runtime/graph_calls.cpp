// Graphs as the API builds, reads and changes them.
#include <algorithm>
#include <set>

#include "copies.hpp"
#include "errors.hpp"
#include "events.hpp"
#include "graphs.hpp"
#include "launch.hpp"
#include "pools.hpp"
#include "streams.hpp"
#include "symbols.hpp"

namespace beaver {
namespace {

constexpr unsigned long long known_flags = cudaGraphInstantiateFlagAutoFreeOnLaunch | cudaGraphInstantiateFlagUpload |
                                           cudaGraphInstantiateFlagDeviceLaunch | cudaGraphInstantiateFlagUseNodePriority;

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

// The same for the node's copy in an executable.
template <class Kind, class Use>
cudaError_t with_executable_work(const char *name, cudaGraphExec_t executable_handle, cudaGraphNode_t handle, Use use) {
    return in_context(name, [&] {
        const std::lock_guard lock(graph_mutex());
        const auto executable = executables().find(executable_handle);
        Node *const node = executable ? find_in_clone(*executable->graph, handle) : nullptr;
        Kind *const work = node ? std::get_if<Kind>(&node->work) : nullptr;
        return work ? use(*work) : cudaErrorInvalidValue;
    });
}

cudaError_t from(const cudaKernelNodeParams *parameters, KernelWork *work) {
    if (!parameters || parameters->extra) return cudaErrorInvalidValue;
    return prepare({parameters->func, parameters->gridDim, parameters->blockDim, parameters->kernelParams,
                    parameters->sharedMemBytes, false},
                   work);
}

cudaError_t from(const cudaMemcpy3DParms *parameters, CopyWork *work) {
    if (!parameters) return cudaErrorInvalidValue;
    work->box = *parameters;
    return check(*work);
}

cudaError_t from(const cudaMemsetParams *parameters, FillWork *work) {
    if (!parameters) return cudaErrorInvalidValue;
    *work = {parameters->dst,   parameters->pitch,       parameters->pitch * parameters->height,
             parameters->value, parameters->elementSize, {parameters->width, parameters->height, 1}};
    return check(*work);
}

cudaError_t from(const cudaHostNodeParams *parameters, HostWork *work) {
    if (!parameters || !parameters->fn) return cudaErrorInvalidValue;
    *work = {parameters->fn, parameters->userData};
    return cudaSuccess;
}

cudaError_t from(cudaEvent_t event, cudaEvent_t *kept) {
    if (!events().find(event)) return cudaErrorInvalidResourceHandle;
    *kept = event;
    return cudaSuccess;
}

// Replaces the work if the parameters are good.
template <class Kind, class Parameters>
cudaError_t replace(Kind &work, const Parameters *parameters) {
    Kind fresh;
    if (const cudaError_t error = from(parameters, &fresh)) return error;
    work = std::move(fresh);
    return cudaSuccess;
}

// An executable's copy keeps its direction, a fill its number of rows: as measured on an H200.
cudaError_t replace_in_executable(CopyWork &work, const CopyWork &fresh) {
    if (const cudaError_t error = check(fresh)) return error;
    if (fresh.box.kind != work.box.kind) return cudaErrorInvalidValue;
    work = fresh;
    return cudaSuccess;
}

cudaError_t replace_in_executable(FillWork &work, const FillWork &fresh) {
    if (fresh.extent.height != work.extent.height) return cudaErrorInvalidValue;
    work = fresh;
    return cudaSuccess;
}

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

// The API's way to hand out lists: nothing but the count when there is no array; what of the array is left over becomes null.
cudaError_t hand_out(const std::vector<const Node *> &found, cudaGraphNode_t *array, std::size_t *count) {
    if (!count) return cudaErrorInvalidValue;
    if (array) {
        for (std::size_t i = 0; i < *count; ++i) array[i] = i < found.size() ? found[i]->handle : nullptr;
        *count = std::min(*count, found.size());
    } else {
        *count = found.size();
    }
    return cudaSuccess;
}

struct Edge {
    Node *from, *to;
};

std::vector<Edge> edges_of(const Graph &graph) {
    std::vector<Edge> edges;
    for (const auto &node : graph.nodes)
        for (Node *dependency : node->dependencies) edges.push_back({dependency, node.get()});
    return edges;
}

cudaError_t hand_out_edges(cudaGraph_t handle, cudaGraphNode_t *from, cudaGraphNode_t *to, std::size_t *count) {
    const std::lock_guard lock(graph_mutex());
    const auto graph = graphs().find(handle);
    if (!graph || !count || !from != !to) return cudaErrorInvalidValue;
    const auto edges = edges_of(*graph);
    if (from) {
        for (std::size_t i = 0; i < *count; ++i) {
            from[i] = i < edges.size() ? edges[i].from->handle : nullptr;
            to[i] = i < edges.size() ? edges[i].to->handle : nullptr;
        }
        *count = std::min(*count, edges.size());
    } else {
        *count = edges.size();
    }
    return cudaSuccess;
}

cudaError_t hand_out_dependencies(cudaGraphNode_t handle, cudaGraphNode_t *array, std::size_t *count) {
    const std::lock_guard lock(graph_mutex());
    const auto node = nodes().find(handle);
    if (!node) return cudaErrorInvalidValue;
    return hand_out({node->dependencies.begin(), node->dependencies.end()}, array, count);
}

cudaError_t hand_out_dependents(cudaGraphNode_t handle, cudaGraphNode_t *array, std::size_t *count) {
    const std::lock_guard lock(graph_mutex());
    const auto node = nodes().find(handle);
    if (!node) return cudaErrorInvalidValue;
    std::vector<const Node *> found;
    for (const Edge &edge : edges_of(*node->graph))
        if (edge.from == node.get()) found.push_back(edge.to);
    return hand_out(found, array, count);
}

// Adds or removes dependencies, all or none.
cudaError_t change_dependencies(cudaGraph_t handle, const cudaGraphNode_t *from, const cudaGraphNode_t *to, std::size_t count,
                                bool add) {
    const std::lock_guard lock(graph_mutex());
    const auto graph = graphs().find(handle);
    if (!graph || (count && (!from || !to))) return cudaErrorInvalidValue;
    std::set<std::pair<Node *, Node *>> changes;
    for (std::size_t i = 0; i < count; ++i) {
        const auto first = nodes().find(from[i]), second = nodes().find(to[i]);
        if (!first || !second || first->graph != graph.get() || second->graph != graph.get() || first == second)
            return cudaErrorInvalidValue;
        const auto &list = second->dependencies;
        const bool exists = std::find(list.begin(), list.end(), first.get()) != list.end();
        if (exists == add || !changes.insert({first.get(), second.get()}).second) return cudaErrorInvalidValue;
    }
    for (const auto &[first, second] : changes) {
        auto &list = second->dependencies;
        if (add)
            list.push_back(first);
        else
            list.erase(std::find(list.begin(), list.end(), first));
    }
    return cudaSuccess;
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

// ---- graphs

cudaError_t cudaGraphCreate(cudaGraph_t *graph, unsigned flags) {
    return query(__func__, [&] {
        if (!graph || flags) return cudaErrorInvalidValue;
        *graph = create_graph()->handle;
        return cudaSuccess;
    });
}

cudaError_t cudaGraphDestroy(cudaGraph_t handle) {
    return query(__func__, [&] {
        const std::lock_guard lock(graph_mutex());
        return graphs().remove(handle) ? cudaSuccess : cudaErrorInvalidValue;
    });
}

cudaError_t cudaGraphClone(cudaGraph_t *copy, cudaGraph_t handle) {
    return query(__func__, [&] {
        const std::lock_guard lock(graph_mutex());
        const auto graph = graphs().find(handle);
        if (!copy || !graph) return cudaErrorInvalidValue;
        *copy = clone(*graph)->handle;
        return cudaSuccess;
    });
}

cudaError_t cudaGraphNodeFindInClone(cudaGraphNode_t *found, cudaGraphNode_t original, cudaGraph_t handle) {
    return query(__func__, [&] {
        const std::lock_guard lock(graph_mutex());
        const auto graph = graphs().find(handle);
        const Node *const node = graph ? find_in_clone(*graph, original) : nullptr;
        if (!found || !node) return cudaErrorInvalidValue;
        *found = node->handle;
        return cudaSuccess;
    });
}

cudaError_t cudaGraphGetNodes(cudaGraph_t handle, cudaGraphNode_t *array, size_t *count) {
    return query(__func__, [&] {
        const std::lock_guard lock(graph_mutex());
        const auto graph = graphs().find(handle);
        if (!graph) return cudaErrorInvalidValue;
        std::vector<const Node *> all;
        for (const auto &node : graph->nodes) all.push_back(node.get());
        return hand_out(all, array, count);
    });
}

cudaError_t cudaGraphGetRootNodes(cudaGraph_t handle, cudaGraphNode_t *array, size_t *count) {
    return query(__func__, [&] {
        const std::lock_guard lock(graph_mutex());
        const auto graph = graphs().find(handle);
        if (!graph) return cudaErrorInvalidValue;
        std::vector<const Node *> roots;
        for (const auto &node : graph->nodes)
            if (node->dependencies.empty()) roots.push_back(node.get());
        return hand_out(roots, array, count);
    });
}

// Edges carry no data here, so that a caller's array of it stays zero. CUDA 13 dropped the forms without that array.
#if CUDART_VERSION >= 13000
#define EDGE_DATA(type) , type
#else
#define EDGE_DATA(type)
#endif

cudaError_t cudaGraphGetEdges(cudaGraph_t graph, cudaGraphNode_t *from, cudaGraphNode_t *to EDGE_DATA(cudaGraphEdgeData *),
                              size_t *count) {
    return query(__func__, [&] { return hand_out_edges(graph, from, to, count); });
}

cudaError_t cudaGraphNodeGetDependencies(cudaGraphNode_t node, cudaGraphNode_t *array EDGE_DATA(cudaGraphEdgeData *),
                                         size_t *count) {
    return query(__func__, [&] { return hand_out_dependencies(node, array, count); });
}

cudaError_t cudaGraphNodeGetDependentNodes(cudaGraphNode_t node, cudaGraphNode_t *array EDGE_DATA(cudaGraphEdgeData *),
                                           size_t *count) {
    return query(__func__, [&] { return hand_out_dependents(node, array, count); });
}

cudaError_t cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t *from,
                                     const cudaGraphNode_t *to EDGE_DATA(const cudaGraphEdgeData *), size_t count) {
    return query(__func__, [&] { return change_dependencies(graph, from, to, count, true); });
}

cudaError_t cudaGraphRemoveDependencies(cudaGraph_t graph, const cudaGraphNode_t *from,
                                        const cudaGraphNode_t *to EDGE_DATA(const cudaGraphEdgeData *), size_t count) {
    return query(__func__, [&] { return change_dependencies(graph, from, to, count, false); });
}

cudaError_t cudaGraphDestroyNode(cudaGraphNode_t handle) {
    return query(__func__, [&] {
        const std::lock_guard lock(graph_mutex());
        const auto node = nodes().find(handle);
        if (!node) return cudaErrorInvalidValue;
        remove_node(*node);
        return cudaSuccess;
    });
}

cudaError_t cudaGraphNodeGetType(cudaGraphNode_t handle, cudaGraphNodeType *type) {
    return query(__func__, [&] {
        const std::lock_guard lock(graph_mutex());
        const auto node = nodes().find(handle);
        if (!node || !type) return cudaErrorInvalidValue;
        *type = std::visit(TypeOf{}, node->work);
        return cudaSuccess;
    });
}

// ---- nodes

cudaError_t cudaGraphAddEmptyNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *dependencies, size_t count) {
    return add(__func__, node, graph, dependencies, count, [](Work *) { return cudaSuccess; });
}

cudaError_t cudaGraphAddKernelNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *dependencies, size_t count,
                                   const cudaKernelNodeParams *parameters) {
    return add(__func__, node, graph, dependencies, count,
               [&](Work *work) { return from(parameters, &work->emplace<KernelWork>()); });
}

cudaError_t cudaGraphAddMemcpyNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *dependencies, size_t count,
                                   const cudaMemcpy3DParms *parameters) {
    return add(__func__, node, graph, dependencies, count,
               [&](Work *work) { return from(parameters, &work->emplace<CopyWork>()); });
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
               [&](Work *work) { return from(parameters, &work->emplace<FillWork>()); });
}

cudaError_t cudaGraphAddHostNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *dependencies, size_t count,
                                 const cudaHostNodeParams *parameters) {
    return add(__func__, node, graph, dependencies, count,
               [&](Work *work) { return from(parameters, &work->emplace<HostWork>()); });
}

cudaError_t cudaGraphAddChildGraphNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *dependencies,
                                       size_t count, cudaGraph_t child_handle) {
    return add(__func__, node, graph, dependencies, count, [&](Work *work) {
        const auto child = graphs().find(child_handle);
        *work = ChildWork{child};
        return child ? cudaSuccess : cudaErrorInvalidValue;
    });
}

cudaError_t cudaGraphAddEventRecordNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *dependencies,
                                        size_t count, cudaEvent_t event) {
    return add(__func__, node, graph, dependencies, count,
               [&](Work *work) { return from(event, &work->emplace<RecordWork>().event); });
}

cudaError_t cudaGraphAddEventWaitNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *dependencies,
                                      size_t count, cudaEvent_t event) {
    return add(__func__, node, graph, dependencies, count,
               [&](Work *work) { return from(event, &work->emplace<WaitWork>().event); });
}

cudaError_t cudaGraphAddMemAllocNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *dependencies,
                                     size_t count, cudaMemAllocNodeParams *parameters) {
    return add(__func__, node, graph, dependencies, count, [&](Work *work) {
        if (!parameters || !parameters->bytesize) return cudaErrorInvalidValue;
        const auto memory = reserve(parameters->bytesize);
        if (!memory) return cudaErrorMemoryAllocation;
        parameters->dptr = reinterpret_cast<void *>(memory->address);
        *work = AllocateWork{memory};
        return cudaSuccess;
    });
}

cudaError_t cudaGraphAddMemFreeNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *dependencies, size_t count,
                                    void *pointer) {
    return add(__func__, node, graph, dependencies, count, [&](Work *work) {
        *work = FreeWork{pointer};
        return pointer ? cudaSuccess : cudaErrorInvalidValue;
    });
}

// ---- reading and changing nodes

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
    return with_work<RecordWork>(__func__, node, [&](RecordWork &work, Node &) { return from(event, &work.event); });
}

cudaError_t cudaGraphEventWaitNodeGetEvent(cudaGraphNode_t node, cudaEvent_t *event) {
    return with_work<WaitWork>(__func__, node, [&](WaitWork &work, Node &) {
        if (!event) return cudaErrorInvalidValue;
        *event = work.event;
        return cudaSuccess;
    });
}

cudaError_t cudaGraphEventWaitNodeSetEvent(cudaGraphNode_t node, cudaEvent_t event) {
    return with_work<WaitWork>(__func__, node, [&](WaitWork &work, Node &) { return from(event, &work.event); });
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

// ---- executables

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
    return with_executable_work<KernelWork>(__func__, executable, node,
                                            [&](KernelWork &work) { return replace(work, parameters); });
}

cudaError_t cudaGraphExecMemcpyNodeSetParams(cudaGraphExec_t executable, cudaGraphNode_t node,
                                             const cudaMemcpy3DParms *parameters) {
    return with_executable_work<CopyWork>(__func__, executable, node, [&](CopyWork &work) {
        return parameters ? replace_in_executable(work, CopyWork{*parameters}) : cudaErrorInvalidValue;
    });
}

cudaError_t cudaGraphExecMemcpyNodeSetParams1D(cudaGraphExec_t executable, cudaGraphNode_t node, void *to, const void *from,
                                               size_t size, cudaMemcpyKind kind) {
    return with_executable_work<CopyWork>(__func__, executable, node, [&](CopyWork &work) {
        return replace_in_executable(work, copy_bytes(to, from, size, kind));
    });
}

cudaError_t cudaGraphExecMemsetNodeSetParams(cudaGraphExec_t executable, cudaGraphNode_t node,
                                             const cudaMemsetParams *parameters) {
    return with_executable_work<FillWork>(__func__, executable, node, [&](FillWork &work) {
        FillWork fresh;
        const cudaError_t error = from(parameters, &fresh);
        return error ? error : replace_in_executable(work, fresh);
    });
}

cudaError_t cudaGraphExecHostNodeSetParams(cudaGraphExec_t executable, cudaGraphNode_t node,
                                           const cudaHostNodeParams *parameters) {
    return with_executable_work<HostWork>(__func__, executable, node,
                                          [&](HostWork &work) { return replace(work, parameters); });
}

cudaError_t cudaGraphExecChildGraphNodeSetParams(cudaGraphExec_t executable, cudaGraphNode_t node, cudaGraph_t child) {
    return with_executable_work<ChildWork>(__func__, executable, node, [&](ChildWork &work) {
        const auto graph = graphs().find(child);
        cudaGraphNode_t culprit;
        if (!graph || compare(*work.graph, *graph, &culprit) != cudaGraphExecUpdateSuccess) return cudaErrorInvalidValue;
        take_work(*work.graph, *graph);
        return cudaSuccess;
    });
}

cudaError_t cudaGraphExecEventRecordNodeSetEvent(cudaGraphExec_t executable, cudaGraphNode_t node, cudaEvent_t event) {
    return with_executable_work<RecordWork>(__func__, executable, node,
                                            [&](RecordWork &work) { return from(event, &work.event); });
}

cudaError_t cudaGraphExecEventWaitNodeSetEvent(cudaGraphExec_t executable, cudaGraphNode_t node, cudaEvent_t event) {
    return with_executable_work<WaitWork>(__func__, executable, node,
                                          [&](WaitWork &work) { return from(event, &work.event); });
}

// Only kernels, copies and fills can be switched off.
cudaError_t cudaGraphNodeSetEnabled(cudaGraphExec_t executable_handle, cudaGraphNode_t handle, unsigned enabled) {
    return in_context(__func__, [&] {
        const std::lock_guard lock(graph_mutex());
        const auto executable = executables().find(executable_handle);
        Node *const node = executable ? find_in_clone(*executable->graph, handle) : nullptr;
        if (!node) return cudaErrorInvalidValue;
        const cudaGraphNodeType type = std::visit(TypeOf{}, node->work);
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
