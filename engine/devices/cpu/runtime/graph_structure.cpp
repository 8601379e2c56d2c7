// Graphs as the API builds and reads them: nodes and edges, not what the nodes do.
#include <algorithm>
#include <fstream>
#include <set>

#include "errors.hpp"
#include "graph_work.hpp"
#include "graphs.hpp"
#include "report.hpp"
#include "streams.hpp"

namespace beaver {
namespace {

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

// What a node is called in a drawing: a kernel's name, or the type.
std::string name_of(const Work &work) {
    if (const auto *kernel = std::get_if<KernelWork>(&work)) return demangle(kernel->kernel->name.c_str());
    switch (type_of(work)) {
    case cudaGraphNodeTypeMemcpy: return "memcpy";
    case cudaGraphNodeTypeMemset: return "memset";
    case cudaGraphNodeTypeHost: return "host function";
    case cudaGraphNodeTypeGraph: return "child graph";
    case cudaGraphNodeTypeEventRecord: return "event record";
    case cudaGraphNodeTypeWaitEvent: return "event wait";
    case cudaGraphNodeTypeMemAlloc: return "memory allocation";
    case cudaGraphNodeTypeMemFree: return "memory free";
    default: return "empty";
    }
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

}  // namespace
}  // namespace beaver

using namespace beaver;

extern "C" {

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

// Graphviz's language.
cudaError_t cudaGraphDebugDotPrint(cudaGraph_t handle, const char *path, unsigned) {
    return query(__func__, [&] {
        const std::lock_guard lock(graph_mutex());
        const auto graph = graphs().find(handle);
        if (!graph || !path) return cudaErrorInvalidValue;
        std::ofstream file(path);
        file << "digraph graph_of_work {\n";
        for (const auto &node : graph->nodes)
            file << "\"" << node->handle << "\" [label=\"" << name_of(node->work) << "\"]\n";
        for (const Edge &edge : edges_of(*graph)) file << "\"" << edge.from->handle << "\" -> \"" << edge.to->handle << "\"\n";
        file << "}\n";
        return file.flush() ? cudaSuccess : cudaErrorOperatingSystem;
    });
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
        *type = type_of(node->work);
        return cudaSuccess;
    });
}

}
