__device__ int shared_counter = 100;
__constant__ float shared_constant[4] = {0.5f, 1.5f, -2.0f, 1e10f};
static __device__ int square(int x) { return x * x - 3; }
__device__ int (*chosen_operation)(int) = square;

__device__ __noinline__ int weigh(int value) {
    return value < 3 ? value * 7 : weigh(value - 3) + shared_counter / shared_counter;
}

__global__ void count_up(int *data, int n) {
    int i = static_cast<int>(threadIdx.x);
    if (i < n) data[i] = i * 11 + weigh(i);
}

void launch_from_the_other_file(int *data, int n) { count_up<<<1, 32>>>(data, n); }

static __device__ int hidden = 2;
static __global__ void same_name(int *out) { *out = hidden; }
void launch_same_name(int *out) { same_name<<<1, 1>>>(out); }
