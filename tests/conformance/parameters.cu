// Parameters of kernels: small, odd, empty, large, and their addresses.
#include "elementwise.cuh"

struct Large {
    double scale;
    int table[100];
    char tag;
};
struct Odd {
    char bytes[7];
};
struct alignas(16) Aligned {
    float x, y, z;
};
struct Nothing {};

__global__ void by_value(Odd odd, Large large, Nothing, bool flag, Aligned aligned, short small, u64 *out) {
    u32 i = threadIdx.x;
    large.table[i] += 5;  // the parameter is this thread's own copy
    out[i] = static_cast<u64>(large.table[(i * 3) % 100]) + static_cast<u64>(odd.bytes[i % 7]) * 1000 +
             static_cast<u64>(large.tag) * 100000;
    if (i == 0) out[16] = static_cast<u64>(__double_as_longlong(large.scale * aligned.z + flag + small));
}

CASE(parameters_by_value) {
    Large large = {2.5, {}, 'x'};
    for (int i = 0; i < 100; ++i) large.table[i] = i * i;
    Odd odd = {{1, 2, 3, 4, 5, 6, 7}};
    Aligned aligned = {1, 2, 3};
    Buffer<u64> out(17);
    by_value<<<1, 16>>>(odd, large, Nothing{}, true, aligned, -9, out);
    out.show("fields");
}

struct Four {
    int words[1000];
};

__global__ void four_kilobytes(const __grid_constant__ Four four, int *out) {
    const int *address = four.words;  // the address of a parameter, without a copy
    int sum = 0;
    for (int i = static_cast<int>(threadIdx.x); i < 1000; i += 32) sum += address[i];
    out[threadIdx.x] = sum;
}

CASE(parameters_of_4_kilobytes) {
    Four four;
    for (int i = 0; i < 1000; ++i) four.words[i] = i * 7 - 500;
    Buffer<int> out(32);
    four_kilobytes<<<1, 32>>>(four, out);
    out.show("sums");
}
