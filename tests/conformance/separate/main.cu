// Device code of two files, linked: extern variables, functions and constants that the other file defines.
// nvcc: -rdc=true
#include "case.cuh"

extern __device__ int shared_counter;
extern __constant__ float shared_constant[4];
extern __device__ int weigh(int value);
extern __device__ int (*chosen_operation)(int);
void launch_from_the_other_file(int *data, int n);

__global__ void use_the_other_file(int *out) {
    out[threadIdx.x] = weigh(static_cast<int>(threadIdx.x));
    atomicAdd(&shared_counter, 1);
}

CASE(extern_function_and_variable) {
    Buffer<int> out(8);
    use_the_other_file<<<1, 8>>>(out);
    out.show("weighed");
    int counter = 0;
    CHECK(cudaMemcpyFromSymbol(&counter, shared_counter, sizeof counter));
    printf("counter %d\n", counter);
}

__global__ void use_constant(float *out) { out[threadIdx.x] = shared_constant[threadIdx.x] * 2; }

CASE(extern_constant) {
    Buffer<float> out(4);
    use_constant<<<1, 4>>>(out);
    out.show("initialised");
    const float values[4] = {9, 8, 7, 6};
    CHECK(cudaMemcpyToSymbol(shared_constant, values, sizeof values));
    use_constant<<<1, 4>>>(out);
    out.show("copied");
}

__global__ void call_pointer(int *out) { out[threadIdx.x] = chosen_operation(static_cast<int>(threadIdx.x)); }

CASE(extern_function_pointer) {
    Buffer<int> out(8);
    call_pointer<<<1, 8>>>(out);
    out.show("values");
}

CASE(kernel_of_the_other_file) {
    Buffer<int> data(8);
    launch_from_the_other_file(data, 8);
    data.show("values");
}

static __device__ int hidden = 1;
static __global__ void same_name(int *out) { *out = hidden; }
extern void launch_same_name(int *out);

CASE(static_kernels_of_one_name) {
    Buffer<int> mine(1), theirs(1);
    same_name<<<1, 1>>>(mine);
    launch_same_name(theirs);
    mine.show("mine");
    theirs.show("theirs");
}
