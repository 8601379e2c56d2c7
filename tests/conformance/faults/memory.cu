// Faults of loads and stores. The line that is at fault carries its name; faults.toml says what is to be found.
#include "case.cuh"
#include "ended.cuh"

__global__ void write_one_past(int *data, int n) {
    int i = static_cast<int>(threadIdx.x);
    if (i <= n) data[i] = i;  // FAULT global_write_past_the_end
}

CASE(global_write_past_the_end) {
    int *data = nullptr;
    CHECK(cudaMalloc(&data, 100 * sizeof(int)));
    write_one_past<<<1, 128>>>(data, 100);
    ended();
}

__global__ void read_one_before(const double *in, double *out) {
    out[threadIdx.x] = in[static_cast<int>(threadIdx.x) - 1];  // FAULT global_read_before_the_start
}

CASE(global_read_before_the_start) {
    double *in = nullptr, *out = nullptr;
    CHECK(cudaMalloc(&out, 32 * sizeof(double)));
    CHECK(cudaMalloc(&in, 32 * sizeof(double)));
    CHECK(cudaMemset(in, 0, 32 * sizeof(double)));
    read_one_before<<<1, 32>>>(in, out);
    ended();
}

__global__ void write_far_away(float *data, size_t distance) {
    data[distance + threadIdx.x] = 1.0f;  // FAULT global_write_far_away
}

CASE(global_write_far_away) {
    float *data = nullptr;
    CHECK(cudaMalloc(&data, 1024));
    write_far_away<<<1, 32>>>(data, static_cast<size_t>(1) << 36);
    ended();
}

extern __shared__ int dynamic[];
__global__ void write_shared_past(int *out, int n) {
    dynamic[threadIdx.x] = 0;
    if (threadIdx.x == 31) dynamic[n] = 5;  // FAULT shared_write_past_the_end
    __syncthreads();
    out[threadIdx.x] = dynamic[threadIdx.x];
}

CASE(shared_write_past_the_end) {
    Buffer<int> out(32);
    write_shared_past<<<1, 32, 32 * sizeof(int)>>>(out, 32);
    ended();
}

__global__ void write_shared_far(int *out, int n) {
    dynamic[threadIdx.x * static_cast<unsigned>(n)] = 5;  // FAULT shared_write_far_away
    __syncthreads();
    out[threadIdx.x] = dynamic[0];
}

CASE(shared_write_far_away) {
    Buffer<int> out(32);
    write_shared_far<<<1, 32, 32 * sizeof(int)>>>(out, 100000);
    ended();
}

__global__ void write_freed(int *data) {
    data[threadIdx.x] = 7;  // FAULT use_after_free
}

CASE(use_after_free) {
    int *data = nullptr;
    CHECK(cudaMalloc(&data, 64 << 20));
    CHECK(cudaFree(data));
    write_freed<<<1, 32>>>(data);
    ended();
}

__global__ void load_unaligned(const char *data, int *out) {
    out[threadIdx.x] = *reinterpret_cast<const int *>(data + threadIdx.x * 4 + 2);  // FAULT misaligned_read
}

CASE(misaligned_read) {
    Buffer<char> data(256);
    Buffer<int> out(32);
    load_unaligned<<<1, 32>>>(data, out);
    ended();
}

__global__ void store_vector(float *data) {
    reinterpret_cast<float4 *>(data + 1)[threadIdx.x] = make_float4(1, 2, 3, 4);  // FAULT misaligned_vector_write
}

CASE(misaligned_vector_write) {
    Buffer<float> data(256);
    store_vector<<<1, 32>>>(data);
    ended();
}

__global__ void shared_unaligned(int *out) {
    __shared__ alignas(8) char bytes[256];
    bytes[threadIdx.x] = 1;
    __syncwarp();
    out[threadIdx.x] = *reinterpret_cast<int *>(bytes + threadIdx.x + 1);  // FAULT misaligned_shared_read
}

CASE(misaligned_shared_read) {
    Buffer<int> out(32);
    shared_unaligned<<<1, 32>>>(out);
    ended();
}

struct List {
    int value;
    const List *next;
};
static __device__ __noinline__ int length_of(const List *list) {
    int n = 0;
    while (list->value >= 0) {  // FAULT null_pointer
        list = list->next;
        ++n;
    }
    return n;
}
__global__ void walk(const List *list, int *out) { *out = length_of(list); }

CASE(null_pointer) {
    Buffer<List> list(1);
    Buffer<int> out(1);
    walk<<<1, 1>>>(list, out);
    ended();
}

__global__ void use_host_memory(int *data) {
    data[threadIdx.x] += 1;  // FAULT host_pointer_in_a_kernel
}

CASE(host_pointer_in_a_kernel) {
    int *data = static_cast<int *>(calloc(32, sizeof(int)));
    use_host_memory<<<1, 32>>>(data);
    ended();
}

__global__ void fill_unchecked(int *data) {
    data[threadIdx.x] = 1;  // FAULT allocation_was_not_checked
}

CASE(allocation_was_not_checked) {
    int *data = nullptr;
    cudaMalloc(&data, static_cast<size_t>(1) << 46);
    cudaGetLastError();
    fill_unchecked<<<1, 32>>>(data);
    ended();
}

static __device__ __noinline__ int dive(volatile int *data, int depth) {  // FAULT endless_recursion
    volatile int frame[64];
    frame[depth & 63] = data[0];
    return dive(data, depth + 1) + frame[(depth + 1) & 63];
}
__global__ void recurse(int *data) { data[0] = dive(data, 0); }

CASE(endless_recursion) {
    Buffer<int> data(1);
    recurse<<<1, 1>>>(data);
    ended();
}

__global__ void write_stale(int *table, int index) {
    table[index] = 1;  // FAULT use_after_free_of_a_neighbour
}

CASE(use_after_free_of_a_neighbour) {
    int *first = nullptr, *second = nullptr;
    CHECK(cudaMalloc(&first, 4096));
    CHECK(cudaMalloc(&second, 4096));
    CHECK(cudaFree(first));
    write_stale<<<1, 1>>>(first, 10);
    ended();
    CHECK(cudaFree(second));
}

__global__ void free_twice() {
    void *block = malloc(64);
    free(block);
    free(block);  // FAULT double_free_in_a_kernel
}

CASE(double_free_in_a_kernel) {
    free_twice<<<1, 1>>>();
    ended();
}

__global__ void sum_unset(const int *in, int *out) {
    out[threadIdx.x] = in[threadIdx.x] + 1;  // FAULT uninitialised_read
}

CASE(uninitialised_read) {
    int *in = nullptr;
    Buffer<int> out(32);
    CHECK(cudaMalloc(&in, 32 * sizeof(int)));
    sum_unset<<<1, 32>>>(in, out);
    ended();
}

__global__ void sum_half(const int *in, int *out) {
    out[threadIdx.x] = in[threadIdx.x] + 1;  // FAULT read_beyond_what_was_set
}

CASE(read_beyond_what_was_set) {
    int *in = nullptr;
    Buffer<int> out(32);
    CHECK(cudaMalloc(&in, 32 * sizeof(int)));
    CHECK(cudaMemset(in, 0, 20 * sizeof(int)));
    sum_half<<<1, 32>>>(in, out);
    ended();
}
