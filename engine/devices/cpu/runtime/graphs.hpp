// Graphs of work.
#pragma once

#include <cuda_runtime_api.h>

#include <memory>
#include <vector>

#include "handles.hpp"
#include "user_objects.hpp"
#include "work.hpp"

namespace beaver {

struct Node {
    cudaGraphNode_t handle;
    cudaGraphNode_t origin;  // the node that this one was cloned from, or itself
    Graph *graph;
    Work work;
    bool enabled = true;
    std::vector<Node *> dependencies;
    std::vector<void *> arguments;  // what cudaGraphKernelNodeGetParams points to
};

struct Graph {
    cudaGraph_t handle;
    std::vector<std::shared_ptr<Node>> nodes;  // in the order of creation
    References retained;
    ~Graph();
};

// A graph that was instantiated.
struct Executable {
    std::shared_ptr<Graph> graph;  // a copy
    unsigned long long flags;
};

Handles<cudaGraph_t, Graph> &graphs();
Handles<cudaGraphNode_t, Node> &nodes();
Handles<cudaGraphExec_t, Executable> &executables();

std::shared_ptr<Graph> create_graph();
void destroy_graph(cudaGraph_t handle);

// A node of a child graph gets a copy of it: what the caller does to the graph later does not matter to the node.
Node *add_node(Graph &graph, Work work, std::vector<Node *> dependencies);
void remove_node(Node &node);

std::shared_ptr<Graph> clone(const Graph &graph);
// The copy of a node in a clone, inner graphs included; nullptr if there is none.
Node *find_in_clone(const Graph &graph, cudaGraphNode_t original);

// All nodes, dependencies first; fewer when there is a cycle.
std::vector<Node *> topological_order(const Graph &graph);

// Whether both have nodes of the same types with the same dependencies, in the same order of creation; ``culprit`` is the first
// node of ``theirs`` that differs, if one does. Then the one can take over what the other's nodes do.
cudaGraphExecUpdateResult compare(const Graph &mine, const Graph &theirs, cudaGraphNode_t *culprit);
void take_work(Graph &graph, const Graph &from);

// Does the graph's enabled nodes, dependencies first, and stops at the first error.
cudaError_t run_nodes(const Graph &graph);

}  // namespace beaver
