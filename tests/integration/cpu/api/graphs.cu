// Graphs with explicit nodes.
#include "say.cuh"

__global__ void add(int *sum, int value) {
    *sum += value;
}
__global__ void multiply(int *sum, int value) {
    *sum *= value;
}
__device__ int symbol;

static void count_up(void *data) {
    ++*(int *)data;
}

static int *sum, value, one = 1, three = 3, out, counter;
static void *add_arguments[] = {&sum, &one}, *multiply_arguments[] = {&sum, &three};
static cudaStream_t stream;
static cudaEvent_t event;
static cudaGraph_t graph;
static cudaGraphExec_t executable, second;
static cudaGraphNode_t nodes[16], found[16];  // add, multiply, copy, host function, fill, empty, record
static size_t count;
static cudaKernelNodeParams kernel;
static cudaMemsetParams fill;
static cudaHostNodeParams host = {count_up, &counter};

static void show_sum() {
    cudaMemcpy(&value, sum, 4, cudaMemcpyDeviceToHost);
    SHOW("%d", value);
}

static void building() {
    SAY(cudaGraphCreate(&graph, 0));
    SAY(cudaGraphCreate(&graph, 1));
    SAY(cudaGraphCreate(0, 0));
    kernel.gridDim = kernel.blockDim = 1;
    kernel.func = (void *)add;
    kernel.kernelParams = add_arguments;
    SAY(cudaGraphAddKernelNode(&nodes[0], graph, 0, 0, &kernel));
    kernel.func = (void *)multiply;
    kernel.kernelParams = multiply_arguments;
    SAY(cudaGraphAddKernelNode(&nodes[1], graph, &nodes[0], 1, &kernel));
    SAY(cudaGraphAddMemcpyNode1D(&nodes[2], graph, &nodes[1], 1, &out, sum, 4, cudaMemcpyDeviceToHost));
    SAY(cudaGraphAddHostNode(&nodes[3], graph, &nodes[2], 1, &host));
    fill.dst = sum + 8;
    fill.value = 0x01020304;
    fill.elementSize = 4;
    fill.width = 10;
    fill.height = 1;
    SAY(cudaGraphAddMemsetNode(&nodes[4], graph, 0, 0, &fill));
    SAY(cudaGraphAddEmptyNode(&nodes[5], graph, nodes, 5));
    SAY(cudaGraphAddEventRecordNode(&nodes[6], graph, &nodes[5], 1, event));
    SAY(cudaGraphInstantiate(&executable, graph, 0));
    SAY(cudaGraphUpload(executable, stream));
    one = 50;  // the node has a copy
    SAY(cudaGraphLaunch(executable, stream));
    SAY(cudaGraphLaunch(executable, stream));
    SAY(cudaStreamSynchronize(stream));
    show_sum();
    SHOW("%d", out);
    SHOW("%d", counter);
    int filled[16];
    cudaMemcpy(filled, sum + 8, 64, cudaMemcpyDeviceToHost);
    SHOW("%x", filled[9]);
    SHOW("%x", filled[10]);
    SAY(cudaEventQuery(event));
}

static void refused_nodes() {
    cudaGraph_t scratch;
    cudaGraphNode_t node, twice[2] = {nodes[0], nodes[0]};
    cudaKernelNodeParams bad = kernel;
    cudaMemsetParams bad_fill = fill;
    SAY(cudaGraphCreate(&scratch, 0));
    bad.func = (void *)count_up;
    SAY(cudaGraphAddKernelNode(&node, scratch, 0, 0, &bad));
    bad = kernel;
    bad.blockDim = 2000;
    SAY(cudaGraphAddKernelNode(&node, scratch, 0, 0, &bad));
    bad = kernel;
    bad.kernelParams = 0;
    SAY(cudaGraphAddKernelNode(&node, scratch, 0, 0, &bad));
    SAY(cudaGraphAddMemcpyNode1D(&node, scratch, 0, 0, &out, sum, 4000000, cudaMemcpyDeviceToHost));
    SAY(cudaGraphAddMemcpyNode1D(&node, scratch, 0, 0, &out, &value, 4, cudaMemcpyDeviceToHost));
    bad_fill.dst = &value;
    SAY(cudaGraphAddMemsetNode(&node, scratch, 0, 0, &bad_fill));
    bad_fill = fill;
    bad_fill.elementSize = 3;
    SAY(cudaGraphAddMemsetNode(&node, scratch, 0, 0, &bad_fill));
    bad_fill.elementSize = 1;
    bad_fill.value = 0x1ff;
    SAY(cudaGraphAddMemsetNode(&node, scratch, 0, 0, &bad_fill));
    SAY(cudaGraphAddEmptyNode(&node, graph, twice, 2));
    SAY(cudaGraphAddEmptyNode(&node, scratch, nodes, 1));
    SAY(cudaGraphAddEmptyNode(&node, 0, 0, 0));
    SAY(cudaGraphAddEmptyNode(0, graph, 0, 0));
    SAY(cudaGraphDestroy(scratch));
}

static void changing() {
    kernel.func = (void *)add;
    kernel.kernelParams = add_arguments;
    one = 7;
    SAY(cudaGraphExecKernelNodeSetParams(executable, nodes[0], &kernel));
    SAY(cudaGraphLaunch(executable, stream));
    show_sum();
    kernel.func = (void *)multiply;
    SAY(cudaGraphExecKernelNodeSetParams(executable, nodes[0], &kernel));
    kernel.gridDim = 0;
    SAY(cudaGraphExecKernelNodeSetParams(executable, nodes[0], &kernel));
    kernel.gridDim = 1;
    SAY(cudaGraphExecMemcpyNodeSetParams1D(executable, nodes[2], &value, sum, 4, cudaMemcpyDeviceToHost));
    SAY(cudaGraphExecMemcpyNodeSetParams1D(executable, nodes[2], sum, &value, 4, cudaMemcpyHostToDevice));
    SAY(cudaGraphExecMemcpyNodeSetParams1D(executable, nodes[0], sum, &value, 4, cudaMemcpyHostToDevice));
    fill.value = 9;
    SAY(cudaGraphExecMemsetNodeSetParams(executable, nodes[4], &fill));
    fill.height = 2;
    fill.pitch = 64;
    SAY(cudaGraphExecMemsetNodeSetParams(executable, nodes[4], &fill));
    SAY(cudaGraphExecHostNodeSetParams(executable, nodes[3], &host));
}

static void reading() {
    cudaKernelNodeParams kernel_found;
    cudaMemsetParams fill_found;
    cudaMemcpy3DParms copy_found;
    cudaGraphNodeType type;
    SAY(cudaGraphKernelNodeGetParams(nodes[0], &kernel_found));
    SHOW("%d", kernel_found.func == (void *)add);
    SHOW("%d", *(int *)kernel_found.kernelParams[1]);
    SAY(cudaGraphMemsetNodeGetParams(nodes[4], &fill_found));
    SHOW("%u", fill_found.value);
    SHOW("%zu", fill_found.width);
    SAY(cudaGraphMemcpyNodeGetParams(nodes[2], &copy_found));
    SHOW("%d", copy_found.dstPtr.ptr == &out && copy_found.srcPtr.ptr == sum);
    SHOW("%zu", copy_found.extent.width);
    SHOW("%d", copy_found.kind);
    SAY(cudaGraphGetNodes(graph, 0, &count));
    SHOW("%zu", count);
    count = 3;
    SAY(cudaGraphGetNodes(graph, found, &count));
    SHOW("%zu", count);
    SHOW("%d", found[0] == nodes[0] && found[1] == nodes[1]);
    count = 16;
    SAY(cudaGraphGetNodes(graph, found, &count));
    SHOW("%zu", count);
    SHOW("%d", found[10] == 0);
    count = 16;
    SAY(cudaGraphNodeGetDependencies(nodes[5], found, 0, &count));
    SHOW("%zu", count);
    count = 16;
    SAY(cudaGraphNodeGetDependentNodes(nodes[0], found, 0, &count));
    SHOW("%zu", count);
    for (int i = 0; i < 7; i++) {
        cudaGraphNodeGetType(nodes[i], &type);
        SHOW("%d", type);
    }
}

static void edges() {
    SAY(cudaGraphAddDependencies(graph, &nodes[0], &nodes[4], 0, 1));
    SAY(cudaGraphAddDependencies(graph, &nodes[0], &nodes[4], 0, 1));
    SAY(cudaGraphAddDependencies(graph, &nodes[0], &nodes[0], 0, 1));
    SAY(cudaGraphAddDependencies(graph, &nodes[1], &nodes[0], 0, 1));
    SAY(cudaGraphInstantiate(&second, graph, 0));
    SAY(cudaGraphRemoveDependencies(graph, &nodes[1], &nodes[0], 0, 1));
    SAY(cudaGraphRemoveDependencies(graph, &nodes[1], &nodes[0], 0, 1));
    SAY(cudaGraphInstantiate(&second, graph, 0));
}

static void cloning_and_updating() {
    cudaGraph_t copy;
    cudaGraphExecUpdateResultInfo info = {};
    SAY(cudaGraphClone(&copy, graph));
    SAY(cudaGraphNodeFindInClone(&found[0], nodes[0], copy));
    SHOW("%d", found[0] != nodes[0]);
    SAY(cudaGraphExecUpdate(second, copy, &info));
    SHOW("%d", info.result);
    kernel.func = (void *)add;
    one = 1000;
    SAY(cudaGraphKernelNodeSetParams(found[0], &kernel));
    SAY(cudaGraphExecUpdate(second, copy, &info));
    cudaMemset(sum, 0, 4);
    SAY(cudaGraphLaunch(second, stream));
    show_sum();
    SAY(cudaGraphAddEmptyNode(&found[1], copy, 0, 0));
    SAY(cudaGraphExecUpdate(second, copy, &info));
    SHOW("%d", info.result);
    SAY(cudaGraphDestroyNode(found[1]));
    SAY(cudaGraphDestroyNode(found[0]));
    SAY(cudaGraphGetNodes(copy, 0, &count));
    SHOW("%zu", count);
    SAY(cudaGraphExecUpdate(second, copy, &info));
    SHOW("%d", info.result);
    SAY(cudaGraphDestroy(copy));
}

static void child_graphs() {
    cudaGraph_t parent, inner;
    cudaGraphNode_t child, last;
    cudaGraphNodeType type;
    SAY(cudaGraphCreate(&parent, 0));
    SAY(cudaGraphAddChildGraphNode(&child, parent, 0, 0, graph));
    SAY(cudaGraphAddEmptyNode(&last, parent, &child, 1));
    SAY(cudaGraphChildGraphNodeGetGraph(child, &inner));
    SHOW("%d", inner != graph);
    SAY(cudaGraphNodeGetType(child, &type));
    SHOW("%d", type);
    SAY(cudaGraphInstantiateWithFlags(&executable, parent, 0));
    cudaMemset(sum, 0, 4);
    SAY(cudaGraphLaunch(executable, stream));
    show_sum();
    SAY(cudaGraphExecDestroy(executable));
    SAY(cudaGraphDestroy(parent));
}

static void switching_off() {
    unsigned enabled = 7;
    SAY(cudaGraphInstantiate(&second, graph, 0));
    SAY(cudaGraphNodeSetEnabled(second, nodes[0], 0));
    SAY(cudaGraphNodeGetEnabled(second, nodes[0], &enabled));
    SHOW("%u", enabled);
    cudaMemset(sum, 0, 4);
    SAY(cudaGraphLaunch(second, stream));
    show_sum();
    SAY(cudaGraphNodeSetEnabled(second, nodes[3], 0));
}

static void memory_and_symbols() {
    cudaGraph_t scratch;
    cudaMemAllocNodeParams memory = {};
    SAY(cudaGraphCreate(&scratch, 0));
    memory.poolProps.allocType = cudaMemAllocationTypePinned;
    memory.poolProps.location.type = cudaMemLocationTypeDevice;
    memory.bytesize = 64;
    SAY(cudaGraphAddMemAllocNode(&found[0], scratch, 0, 0, &memory));
    SHOW("%d", memory.dptr != 0);
    cudaMemsetParams threes = {};
    threes.dst = memory.dptr;
    threes.elementSize = 4;
    threes.width = 16;
    threes.height = 1;
    threes.value = 3;
    SAY(cudaGraphAddMemsetNode(&found[1], scratch, found, 1, &threes));
    SAY(cudaGraphAddMemcpyNode1D(&found[2], scratch, &found[1], 1, sum, memory.dptr, 64, cudaMemcpyDeviceToDevice));
    SAY(cudaGraphAddMemFreeNode(&found[3], scratch, &found[2], 1, memory.dptr));
    SAY(cudaGraphAddMemcpyNodeToSymbol(&found[4], scratch, 0, 0, symbol, &value, 4, 0, cudaMemcpyHostToDevice));
    SAY(cudaGraphAddMemcpyNodeFromSymbol(&found[5], scratch, &found[4], 1, &out, symbol, 4, 0, cudaMemcpyDeviceToHost));
    SAY(cudaGraphInstantiate(&executable, scratch, 0));
    value = 1234;
    SAY(cudaGraphLaunch(executable, stream));
    SAY(cudaGraphLaunch(executable, stream));
    SAY(cudaStreamSynchronize(stream));
    SHOW("%d", out);
    show_sum();
}

static void nodes_of_any_kind() {
    cudaGraphNodeParams any = {};
    any.type = cudaGraphNodeTypeKernel;
    any.kernel.func = (void *)add;
    any.kernel.gridDim = any.kernel.blockDim = 1;
    any.kernel.kernelParams = add_arguments;
    cudaGraph_t scratch;
    SAY(cudaGraphCreate(&scratch, 0));
    one = 5;
    SAY(cudaGraphAddNode(&found[0], scratch, 0, 0, 0, &any));
    one = 6;
    SAY(cudaGraphNodeSetParams(found[0], &any));
    SAY(cudaGraphInstantiate(&executable, scratch, 0));
    cudaMemset(sum, 0, 4);
    SAY(cudaGraphLaunch(executable, stream));
    show_sum();
    one = 8;
    SAY(cudaGraphExecNodeSetParams(executable, found[0], &any));
    SAY(cudaGraphLaunch(executable, stream));
    show_sum();
    SAY(cudaGraphExecNodeSetParams(second, found[0], &any));
    SAY(cudaGraphDebugDotPrint(scratch, "/dev/null", 0));
}

static void handles_and_flags() {
    unsigned long long flags;
    cudaGraphInstantiateParams parameters = {};
    SAY(cudaGraphExecGetFlags(second, &flags));
    SHOW("%llu", flags);
    SAY(cudaGraphInstantiate(&second, graph, cudaGraphInstantiateFlagUseNodePriority));
    SAY(cudaGraphInstantiate(&second, graph, 64));
    SAY(cudaGraphInstantiateWithParams(&second, graph, &parameters));
    SHOW("%d", parameters.result_out);
    SAY(cudaGraphInstantiate(&second, 0, 0));
    SAY(cudaGraphExecDestroy(0));
    SAY(cudaGraphDestroy(0));
    SAY(cudaGraphLaunch(0, stream));
    cudaUserObject_t object;
    SAY(cudaUserObjectCreate(&object, &counter, count_up, 1, cudaUserObjectNoDestructorSync));
    SAY(cudaGraphRetainUserObject(graph, object, 1, cudaGraphUserObjectMove));
    counter = 0;
    SAY(cudaGraphDestroy(graph));
    SHOW("%d", counter);
}

int main() {
    cudaMalloc(&sum, 4096);
    cudaMemset(sum, 0, 4096);
    cudaStreamCreate(&stream);
    cudaEventCreate(&event);
    building();
    refused_nodes();
    changing();
    reading();
    edges();
    cloning_and_updating();
    child_graphs();
    switching_off();
    memory_and_symbols();
    nodes_of_any_kind();
    handles_and_flags();
}
