// Fourier transforms of rows in global memory: a copy in bit-reversed order, then one launch for each pass of radix 2.
#include "solution.h"

namespace {

constexpr int kThreads = 256;

__global__ void reverse_kernel(const float2* x, float2* y, int rows, int length, int bits) {
    const size_t i = static_cast<size_t>(blockIdx.x) * kThreads + threadIdx.x;
    if (i >= static_cast<size_t>(rows) * length) return;
    const size_t row = i / length;
    const unsigned int column = static_cast<unsigned int>(i % length);
    y[row * length + (__brev(column) >> (32 - bits))] = x[i];
}

__global__ void pass_kernel(float2* y, int rows, int length, int half) {
    const size_t i = static_cast<size_t>(blockIdx.x) * kThreads + threadIdx.x;
    if (i >= static_cast<size_t>(rows) * length / 2) return;
    const int inner = static_cast<int>(i % half);
    float2* first = y + (i - inner) * 2 + inner;
    float2 root;
    sincospif(-static_cast<float>(inner) / static_cast<float>(half), &root.y, &root.x);
    const float2 a = first[0];
    const float2 b = first[half];
    const float2 turned = make_float2(b.x * root.x - b.y * root.y, b.x * root.y + b.y * root.x);
    first[0] = make_float2(a.x + turned.x, a.y + turned.y);
    first[half] = make_float2(a.x - turned.x, a.y - turned.y);
}

}  // namespace

cudaError_t fft_stockham(const float2* x, float2* y, int rows, int length, cudaStream_t stream) {
    if (length < kMinLength || length > kMaxLength || (length & (length - 1)) != 0) return cudaErrorInvalidValue;
    int bits = 0;
    while (1 << bits < length) ++bits;
    const size_t count = static_cast<size_t>(rows) * length;
    const int blocks = static_cast<int>((count + kThreads - 1) / kThreads);
    reverse_kernel<<<blocks, kThreads, 0, stream>>>(x, y, rows, length, bits);
    for (int half = 1; half < length; half *= 2) {
        pass_kernel<<<(blocks + 1) / 2, kThreads, 0, stream>>>(y, rows, length, half);
    }
    return cudaGetLastError();
}
