// Two files of one program, each its own module: the same names for kernels, variables and constants, and nothing in
// common.
#include "case.cuh"

static __device__ int counter = 10;
static __constant__ int table[2] = {1, 2};
static __global__ void kernel(int *out) { *out = counter++ + table[1]; }

namespace {
__global__ void hidden(int *out) { *out = 111; }
}  // namespace

template <class T>
__global__ void generic(T *out) {
    *out = static_cast<T>(sizeof(T) * 3);
}

void other_kernel(int *out);
void other_hidden(int *out);
void other_generic(int *out);
void set_other_table(int value);

CASE(static_kernels) {
    Buffer<int> mine(1), theirs(1);
    for (int i = 0; i < 2; ++i) {
        kernel<<<1, 1>>>(mine);
        other_kernel(theirs);
    }
    mine.show("mine");
    theirs.show("theirs");
}

CASE(anonymous_namespaces) {
    Buffer<int> mine(1), theirs(1);
    hidden<<<1, 1>>>(mine);
    other_hidden(theirs);
    mine.show("mine");
    theirs.show("theirs");
}

CASE(templates_instantiated_twice) {
    Buffer<int> mine(1), theirs(1);
    generic<<<1, 1>>>(mine.data);
    other_generic(theirs);
    mine.show("mine");
    theirs.show("theirs");
}

CASE(symbols_of_each_module) {
    Buffer<int> mine(1), theirs(1);
    const int replaced[2] = {50, 60};
    CHECK(cudaMemcpyToSymbol(table, replaced, sizeof replaced));
    set_other_table(7000);
    kernel<<<1, 1>>>(mine);
    other_kernel(theirs);
    mine.show("mine");
    theirs.show("theirs");
}
