// The ways a kernel gets launched, and what is ordered before what: streams, events, host functions, graphs, capture.
#include "case.cuh"

typedef unsigned u32;

__global__ void add(int *data, int n, int amount) {
    int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < n) data[i] += amount;
}
__global__ void scale(int *data, int n, int factor) {
    int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < n) data[i] *= factor;
}
__global__ void append(int *list, int what) { list[++list[0]] = what; }

CASE(chevrons_with_stream) {
    Buffer<int> data(64);
    cudaStream_t stream;
    CHECK(cudaStreamCreate(&stream));
    add<<<2, 32>>>(data, 64, 3);
    CHECK(cudaDeviceSynchronize());
    scale<<<dim3(2), dim3(32), 0, stream>>>(data, 60, 5);
    CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaStreamDestroy(stream));
    data.show("values", 16);
}

CASE(launch_by_function) {
    Buffer<int> data(64);
    int *pointer = data, n = 50, amount = 9;
    void *arguments[] = {&pointer, &n, &amount};
    CHECK(cudaLaunchKernel(reinterpret_cast<void *>(add), dim3(2), dim3(32), arguments, 0, nullptr));
    CHECK(cudaLaunchKernel(add, dim3(1), dim3(16), arguments));
    data.show("values", 16);
}

CASE(launch_by_configuration) {
    Buffer<int> data(64);
    cudaLaunchConfig_t configuration = {};
    configuration.gridDim = dim3(4);
    configuration.blockDim = dim3(16);
    CHECK(cudaLaunchKernelEx(&configuration, add, data.data, 64, 2));
    cudaLaunchAttribute attribute = {};
    attribute.id = cudaLaunchAttributePriority;
    attribute.val.priority = 0;
    configuration.attrs = &attribute;
    configuration.numAttrs = 1;
    CHECK(cudaLaunchKernelEx(&configuration, scale, data.data, 40, 7));
    data.show("values", 16);
}

CASE(launch_by_handle) {
    Buffer<int> data(32);
    cudaKernel_t kernel = nullptr;
    CHECK(cudaGetKernel(&kernel, add));
    int *pointer = data, n = 32, amount = 4;
    void *arguments[] = {&pointer, &n, &amount};
    CHECK(cudaLaunchKernel(reinterpret_cast<const void *>(kernel), dim3(1), dim3(32), arguments, 0, nullptr));
    data.show("values", 16);
}

CASE(function_attributes) {
    cudaFuncAttributes attributes;
    CHECK(cudaFuncGetAttributes(&attributes, add));
    printf("shared %zu constant %zu local %zu threads %d binary %d dynamic %d\n", attributes.sharedSizeBytes,
           attributes.constSizeBytes, attributes.localSizeBytes, attributes.maxThreadsPerBlock,
           attributes.binaryVersion, attributes.maxDynamicSharedSizeBytes);
}

__global__ void slow_then_set(volatile int *flag, int rounds) {
    for (int i = 0; i < rounds; ++i) __nanosleep(1000);
    *flag = *flag * 10 + 1;
}

CASE(stream_order) {
    Buffer<int> list(16);
    cudaStream_t stream;
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    for (int i = 0; i < 8; ++i) append<<<1, 1, 0, stream>>>(list, i * 3);
    CHECK(cudaStreamSynchronize(stream));
    list.show("list", 16);
    CHECK(cudaStreamDestroy(stream));
}

CASE(events_join_streams) {
    Buffer<int> list(16);
    cudaStream_t first, second;
    cudaEvent_t event, back;
    CHECK(cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking));
    CHECK(cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking));
    CHECK(cudaEventCreate(&event));
    CHECK(cudaEventCreateWithFlags(&back, cudaEventDisableTiming));
    slow_then_set<<<1, 1, 0, first>>>(list.data + 15, 200);
    append<<<1, 1, 0, first>>>(list, 1);
    CHECK(cudaEventRecord(event, first));
    CHECK(cudaStreamWaitEvent(second, event, 0));
    append<<<1, 1, 0, second>>>(list, 2);
    CHECK(cudaEventRecord(back, second));
    CHECK(cudaStreamWaitEvent(first, back));
    append<<<1, 1, 0, first>>>(list, 3);
    CHECK(cudaStreamSynchronize(first));
    SAY(cudaEventQuery(event));
    SAY(cudaStreamQuery(second));
    float milliseconds = -1;
    SAY(cudaEventElapsedTime(&milliseconds, event, back));
    cudaEvent_t end;
    CHECK(cudaEventCreate(&end));
    CHECK(cudaEventRecord(end, first));
    CHECK(cudaEventSynchronize(end));
    SAY(cudaEventElapsedTime(&milliseconds, event, end));
    printf("%s\n", milliseconds >= 0 ? "later" : "earlier");
    list.show("list", 16);
}

CASE(legacy_stream_waits_for_others) {
    Buffer<int> list(16);
    cudaStream_t stream;
    CHECK(cudaStreamCreate(&stream));
    slow_then_set<<<1, 1, 0, stream>>>(list.data + 15, 300);
    append<<<1, 1, 0, stream>>>(list, 1);
    append<<<1, 1>>>(list, 2);
    append<<<1, 1, 0, stream>>>(list, 3);
    append<<<1, 1, 0, cudaStreamLegacy>>>(list, 4);
    CHECK(cudaDeviceSynchronize());
    list.show("list", 16);
}

CASE(host_functions_in_a_stream) {
    static int calls = 0;
    Buffer<int> data(4);
    int host[4] = {};
    add<<<1, 4>>>(data, 4, 11);
    CHECK(cudaMemcpyAsync(host, data, sizeof host, cudaMemcpyDeviceToHost));
    CHECK(cudaLaunchHostFunc(nullptr, [](void *values) { calls += static_cast<int *>(values)[2]; }, host));
    CHECK(cudaStreamAddCallback(
        nullptr, [](cudaStream_t, cudaError_t status, void *) { calls = calls * 100 + (status == cudaSuccess); },
        nullptr, 0));
    CHECK(cudaDeviceSynchronize());
    printf("%d\n", calls);
}

// ---- graphs

CASE(graph_of_explicit_nodes) {
    Buffer<int> data(8);
    int host[8] = {}, n = 8, amount = 5, factor = 3;
    int *pointer = data;
    void *add_arguments[] = {&pointer, &n, &amount}, *scale_arguments[] = {&pointer, &n, &factor};
    cudaGraph_t graph;
    cudaGraphNode_t clear, first, second, copy, empty;
    CHECK(cudaGraphCreate(&graph, 0));
    cudaMemsetParams memset_parameters = {};
    memset_parameters.dst = pointer;
    memset_parameters.elementSize = 4;
    memset_parameters.width = 8;
    memset_parameters.height = 1;
    memset_parameters.value = 2;
    CHECK(cudaGraphAddMemsetNode(&clear, graph, nullptr, 0, &memset_parameters));
    cudaKernelNodeParams kernel = {};
    kernel.func = reinterpret_cast<void *>(add);
    kernel.gridDim = dim3(1);
    kernel.blockDim = dim3(8);
    kernel.kernelParams = add_arguments;
    CHECK(cudaGraphAddKernelNode(&first, graph, &clear, 1, &kernel));
    kernel.func = reinterpret_cast<void *>(scale);
    kernel.kernelParams = scale_arguments;
    CHECK(cudaGraphAddKernelNode(&second, graph, nullptr, 0, &kernel));
    CHECK(cudaGraphAddEmptyNode(&empty, graph, &second, 1));
    CHECK(cudaGraphAddMemcpyNode1D(&copy, graph, &empty, 1, host, pointer, sizeof host, cudaMemcpyDeviceToHost));
    CHECK(cudaGraphAddDependencies(graph, &first, &second, nullptr, 1));
    size_t nodes = 0, roots = 0;
    CHECK(cudaGraphGetNodes(graph, nullptr, &nodes));
    CHECK(cudaGraphGetRootNodes(graph, nullptr, &roots));
    cudaGraphExec_t executable;
    CHECK(cudaGraphInstantiate(&executable, graph, 0));
    CHECK(cudaGraphLaunch(executable, nullptr));
    CHECK(cudaDeviceSynchronize());
    printf("%zu nodes, %zu roots\n", nodes, roots);
    print("first", host, 8);
    int more = 100;
    add_arguments[2] = &more;
    kernel.func = reinterpret_cast<void *>(add);
    kernel.kernelParams = add_arguments;
    CHECK(cudaGraphExecKernelNodeSetParams(executable, first, &kernel));
    CHECK(cudaGraphLaunch(executable, nullptr));
    CHECK(cudaDeviceSynchronize());
    print("changed", host, 8);
    CHECK(cudaGraphExecDestroy(executable));
    CHECK(cudaGraphDestroy(graph));
}

CASE(captured_stream) {
    Buffer<int> data(8);
    cudaStream_t stream;
    CHECK(cudaStreamCreate(&stream));
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    cudaStreamCaptureStatus status;
    CHECK(cudaStreamIsCapturing(stream, &status));
    add<<<1, 8, 0, stream>>>(data, 8, 1);
    CHECK(cudaMemsetAsync(data.data + 6, 0xff, 4, stream));
    scale<<<1, 8, 0, stream>>>(data, 8, 2);
    cudaGraph_t graph;
    CHECK(cudaStreamEndCapture(stream, &graph));
    printf("capturing %d\n", static_cast<int>(status));
    data.show("not run yet");
    cudaGraphExec_t executable;
    CHECK(cudaGraphInstantiate(&executable, graph, 0));
    for (int i = 0; i < 3; ++i) CHECK(cudaGraphLaunch(executable, stream));
    CHECK(cudaStreamSynchronize(stream));
    data.show("three times");
}

CASE(captured_fork_and_join) {
    Buffer<int> left(4), right(4);
    cudaStream_t main_stream, side;
    cudaEvent_t fork, join;
    CHECK(cudaStreamCreate(&main_stream));
    CHECK(cudaStreamCreate(&side));
    CHECK(cudaEventCreateWithFlags(&fork, cudaEventDisableTiming));
    CHECK(cudaEventCreateWithFlags(&join, cudaEventDisableTiming));
    CHECK(cudaStreamBeginCapture(main_stream, cudaStreamCaptureModeThreadLocal));
    add<<<1, 4, 0, main_stream>>>(left, 4, 7);
    CHECK(cudaEventRecord(fork, main_stream));
    CHECK(cudaStreamWaitEvent(side, fork));
    CHECK(cudaMemcpyAsync(right, left, 16, cudaMemcpyDeviceToDevice, side));
    scale<<<1, 4, 0, side>>>(right, 4, 10);
    CHECK(cudaEventRecord(join, side));
    CHECK(cudaStreamWaitEvent(main_stream, join));
    add<<<1, 4, 0, main_stream>>>(right, 4, 1);
    cudaGraph_t graph;
    cudaGraphExec_t executable;
    CHECK(cudaStreamEndCapture(main_stream, &graph));
    size_t nodes = 0;
    CHECK(cudaGraphGetNodes(graph, nullptr, &nodes));
    CHECK(cudaGraphInstantiate(&executable, graph, 0));
    CHECK(cudaGraphLaunch(executable, main_stream));
    CHECK(cudaStreamSynchronize(main_stream));
    printf("%zu nodes\n", nodes);
    left.show("left");
    right.show("right");
}

CASE(host_node_in_a_graph) {
    static int seen = 0;
    cudaGraph_t graph;
    cudaGraphNode_t node;
    cudaGraphExec_t executable;
    CHECK(cudaGraphCreate(&graph, 0));
    cudaHostNodeParams parameters = {};
    parameters.fn = [](void *amount) { seen += *static_cast<int *>(amount); };
    int amount = 21;
    parameters.userData = &amount;
    CHECK(cudaGraphAddHostNode(&node, graph, nullptr, 0, &parameters));
    CHECK(cudaGraphInstantiate(&executable, graph, 0));
    CHECK(cudaGraphLaunch(executable, nullptr));
    CHECK(cudaGraphLaunch(executable, nullptr));
    CHECK(cudaDeviceSynchronize());
    printf("%d\n", seen);
}

CASE(capture_refuses_what_would_wait) {
    Buffer<int> data(4);
    cudaStream_t stream;
    cudaGraph_t graph = nullptr;
    CHECK(cudaStreamCreate(&stream));
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    SAY(cudaStreamSynchronize(stream));
    SAY(cudaStreamEndCapture(stream, &graph));
    printf("graph %s\n", graph ? "made" : "none");
    SAY(cudaGetLastError());
    add<<<1, 4, 0, stream>>>(data, 4, 6);
    CHECK(cudaStreamSynchronize(stream));
    data.show("the stream works on");
}

// ---- cooperative launches and clusters of one

__global__ void grid_size(u32 *out) {
    if (threadIdx.x == 0) atomicAdd(out, gridDim.x * 100 + 1);
}

CASE(cooperative_launch) {
    Buffer<u32> out(1);
    u32 *pointer = out;
    void *arguments[] = {&pointer};
    CHECK(cudaLaunchCooperativeKernel(grid_size, dim3(4), dim3(32), arguments));
    out.show("value");
    int supported = 0;
    CHECK(cudaDeviceGetAttribute(&supported, cudaDevAttrCooperativeLaunch, 0));
    printf("supported %d\n", supported);
    SAY(cudaLaunchCooperativeKernel(grid_size, dim3(1000000), dim3(1024), arguments));
}

CASE(cooperative_attribute) {
    Buffer<u32> out(1);
    cudaLaunchConfig_t configuration = {};
    configuration.gridDim = dim3(3);
    configuration.blockDim = dim3(64);
    cudaLaunchAttribute attribute = {};
    attribute.id = cudaLaunchAttributeCooperative;
    attribute.val.cooperative = 1;
    configuration.attrs = &attribute;
    configuration.numAttrs = 1;
    CHECK(cudaLaunchKernelEx(&configuration, grid_size, out.data));
    out.show("value");
}

CASE(empty_work_is_no_error) {
    Buffer<int> data(4);
    SAY(cudaMemcpy(data, nullptr, 0, cudaMemcpyHostToDevice));
    SAY(cudaMemset(data, 1, 0));
    SAY(cudaStreamSynchronize(nullptr));
    SAY(cudaFree(nullptr));
    SAY(cudaFreeHost(nullptr));
    data.show("untouched");
}
