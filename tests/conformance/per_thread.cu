// Programs whose default stream is each host thread's own.
// nvcc: --default-stream per-thread
#include <thread>

#include "case.cuh"

__global__ void append(int *list, int what) { list[++list[0]] = what; }

CASE(default_stream_keeps_its_order) {
    Buffer<int> list(8);
    for (int i = 0; i < 5; ++i) append<<<1, 1>>>(list, i * i);
    CHECK(cudaStreamSynchronize(cudaStreamPerThread));
    list.show("list");
}

static void work(int number, int *list) {
    for (int i = 0; i < 4; ++i) append<<<1, 1>>>(list, number * 10 + i);
    CHECK(cudaStreamSynchronize(nullptr));
}

CASE(host_threads_launch_side_by_side) {
    Buffer<int> first(8), second(8), third(8);
    std::thread a(work, 1, first.data), b(work, 2, second.data), c(work, 3, third.data);
    a.join();
    b.join();
    c.join();
    first.show("first");
    second.show("second");
    third.show("third");
}

CASE(legacy_stream_waits_for_it) {
    Buffer<int> list(8);
    append<<<1, 1>>>(list, 1);
    append<<<1, 1, 0, cudaStreamLegacy>>>(list, 2);
    append<<<1, 1>>>(list, 3);
    CHECK(cudaDeviceSynchronize());
    list.show("list");
}

CASE(errors_belong_to_host_threads) {
    append<<<1, 0>>>(nullptr, 0);
    cudaError_t theirs = cudaErrorUnknown;
    std::thread other([&] { theirs = cudaGetLastError(); });
    other.join();
    say("the other thread's", theirs);
    say("this thread's", cudaGetLastError());
}
