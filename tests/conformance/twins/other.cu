static __device__ int counter = 1000;
static __constant__ int table[2] = {3, 4};
static __global__ void kernel(int *out) { *out = counter++ + table[1]; }

namespace {
__global__ void hidden(int *out) { *out = 222; }
}  // namespace

template <class T>
__global__ void generic(T *out) {
    *out = static_cast<T>(sizeof(T) * 3);
}

void other_kernel(int *out) { kernel<<<1, 1>>>(out); }
void other_hidden(int *out) { hidden<<<1, 1>>>(out); }
void other_generic(int *out) { generic<<<1, 1>>>(out); }
void set_other_table(int value) { cudaMemcpyToSymbol(table, &value, sizeof value, sizeof(int)); }
