#include "graphs.hpp"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

namespace beaver {

Handles<cudaGraph_t, Graph> &graphs() {
    static auto *const all = new Handles<cudaGraph_t, Graph>;
    return *all;
}

Handles<cudaGraphNode_t, Node> &nodes() {
    static auto *const all = new Handles<cudaGraphNode_t, Node>;
    return *all;
}

Handles<cudaGraphExec_t, Executable> &executables() {
    static auto *const all = new Handles<cudaGraphExec_t, Executable>;
    return *all;
}

std::shared_ptr<Graph> create_graph() {
    auto graph = std::make_shared<Graph>();
    graph->handle = graphs().add(graph);
    return graph;
}

void destroy_graph(cudaGraph_t handle) {
    graphs().remove(handle);
}

Graph::~Graph() {
    for (const auto &node : nodes) {
        beaver::nodes().remove(node->handle);
        if (const auto *child = std::get_if<ChildWork>(&node->work)) destroy_graph(child->graph->handle);
    }
    release_all(retained);
}

Node *add_node(Graph &graph, Work work, std::vector<Node *> dependencies) {
    if (auto *child = std::get_if<ChildWork>(&work)) child->graph = clone(*child->graph);
    auto node = std::make_shared<Node>();
    node->graph = &graph;
    node->work = std::move(work);
    node->dependencies = std::move(dependencies);
    node->handle = node->origin = nodes().add(node);
    graph.nodes.push_back(node);
    return node.get();
}

void remove_node(Node &node) {
    Graph &graph = *node.graph;
    for (const auto &other : graph.nodes) {
        auto &list = other->dependencies;
        list.erase(std::remove(list.begin(), list.end(), &node), list.end());
    }
    if (const auto *child = std::get_if<ChildWork>(&node.work)) destroy_graph(child->graph->handle);
    const auto handle = node.handle;
    const auto kept = nodes().remove(handle);  // alive until the graph has let go of it
    graph.nodes.erase(std::find(graph.nodes.begin(), graph.nodes.end(), kept));
}

std::shared_ptr<Graph> clone(const Graph &graph) {
    auto copy = create_graph();
    copy->retained = graph.retained;
    retain_all(copy->retained);
    std::unordered_map<const Node *, Node *> twins;
    for (const auto &node : graph.nodes) {
        Node *const twin = add_node(*copy, node->work, {});
        twin->origin = node->handle;
        twin->enabled = node->enabled;
        twins[node.get()] = twin;
    }
    for (const auto &node : graph.nodes)
        for (const Node *dependency : node->dependencies) twins[node.get()]->dependencies.push_back(twins[dependency]);
    return copy;
}

Node *find_in_clone(const Graph &graph, cudaGraphNode_t original) {
    for (const auto &node : graph.nodes) {
        if (node->origin == original) return node.get();
        if (const auto *child = std::get_if<ChildWork>(&node->work))
            if (Node *const inner = find_in_clone(*child->graph, original)) return inner;
    }
    return nullptr;
}

std::vector<Node *> topological_order(const Graph &graph) {
    std::unordered_map<const Node *, std::vector<Node *>> dependents;
    std::unordered_map<const Node *, std::size_t> missing;
    std::vector<Node *> order;
    for (const auto &node : graph.nodes) {
        missing[node.get()] = node->dependencies.size();
        for (const Node *dependency : node->dependencies) dependents[dependency].push_back(node.get());
        if (node->dependencies.empty()) order.push_back(node.get());
    }
    for (std::size_t done = 0; done < order.size(); ++done)
        for (Node *next : dependents[order[done]])
            if (--missing[next] == 0) order.push_back(next);
    return order;
}

cudaGraphExecUpdateResult compare(const Graph &mine, const Graph &theirs, cudaGraphNode_t *culprit) {
    *culprit = nullptr;
    if (mine.nodes.size() != theirs.nodes.size()) return cudaGraphExecUpdateErrorTopologyChanged;
    std::unordered_map<const Node *, const Node *> twins;
    for (std::size_t i = 0; i < mine.nodes.size(); ++i) twins[theirs.nodes[i].get()] = mine.nodes[i].get();
    for (std::size_t i = 0; i < mine.nodes.size(); ++i) {
        const auto &old = mine.nodes[i]->dependencies, &fresh = theirs.nodes[i]->dependencies;
        std::unordered_set<const Node *> wanted(old.begin(), old.end()), given;
        for (const Node *dependency : fresh) given.insert(twins[dependency]);
        if (wanted != given) return cudaGraphExecUpdateErrorTopologyChanged;
    }
    for (std::size_t i = 0; i < mine.nodes.size(); ++i) {
        const Work &old = mine.nodes[i]->work, &fresh = theirs.nodes[i]->work;
        *culprit = theirs.nodes[i]->handle;
        if (old.index() != fresh.index()) return cudaGraphExecUpdateErrorNodeTypeChanged;
        if (const auto *child = std::get_if<ChildWork>(&old)) {
            const auto result = compare(*child->graph, *std::get<ChildWork>(fresh).graph, culprit);
            if (result != cudaGraphExecUpdateSuccess) return result;
        }
    }
    *culprit = nullptr;
    return cudaGraphExecUpdateSuccess;
}

void take_work(Graph &graph, const Graph &from) {
    for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
        Work &work = graph.nodes[i]->work;
        if (const auto *child = std::get_if<ChildWork>(&work))
            take_work(*child->graph, *std::get<ChildWork>(from.nodes[i]->work).graph);
        else
            work = from.nodes[i]->work;
    }
}

cudaError_t run_nodes(const Graph &graph) {
    for (const Node *node : topological_order(graph)) {
        if (!node->enabled) continue;
        if (const cudaError_t error = run(node->work)) return error;
    }
    return cudaSuccess;
}

}  // namespace beaver
