// Fourier transforms of rows: a block per row, Stockham passes of radix 8 through shared memory, eight values per
// thread, and a last pass of radix 2 or 4 where the length is no power of eight.
#include "solution.h"

namespace {

constexpr int kEach = 8;  // values per thread

__device__ float2 operator+(float2 a, float2 b) { return make_float2(a.x + b.x, a.y + b.y); }
__device__ float2 operator-(float2 a, float2 b) { return make_float2(a.x - b.x, a.y - b.y); }
__device__ float2 operator*(float2 a, float2 b) { return make_float2(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x); }

// value * exp(-2 pi i eighths / 8), for 0 <= eighths < 4
__device__ float2 rotate(float2 value, int eighths) {
    constexpr float kHalf = 0.70710678f;  // sqrt(1/2)
    switch (eighths) {
        case 1: return make_float2(kHalf * (value.x + value.y), kHalf * (value.y - value.x));
        case 2: return make_float2(value.y, -value.x);
        case 3: return make_float2(kHalf * (value.y - value.x), -kHalf * (value.x + value.y));
        default: return value;
    }
}

// Transforms v[0 .. Radix-1] in place by halves: the even frequencies come first, then the odd ones.
template <int Radix>
__device__ void butterfly(float2* v) {
#pragma unroll
    for (int i = 0; i < Radix / 2; ++i) {
        const float2 a = v[i];
        const float2 b = v[i + Radix / 2];
        v[i] = a + b;
        v[i + Radix / 2] = rotate(a - b, i * (8 / Radix));
    }
    if constexpr (Radix > 2) {
        butterfly<Radix / 2>(v);
        butterfly<Radix / 2>(v + Radix / 2);
    }
}

// Where butterfly<Radix> leaves frequency k: the even ones come first, then the odd ones.
template <int Radix>
__device__ constexpr int place_of(int k) {
    return k % 2 == 0 ? k / 2 : Radix / 2 + k / 2;
}

// One pass: transforms of `Done` values become transforms of `Done * Radix`.
template <int Length, int Radix, int Done>
__device__ void transform_pass(float2* row) {
    constexpr int kThreads = Length / kEach;
    float2 values[kEach];
#pragma unroll
    for (int b = 0; b < kEach / Radix; ++b) {
        const int j = threadIdx.x + b * kThreads;
#pragma unroll
        for (int r = 0; r < Radix; ++r) values[b * Radix + r] = row[j + r * (Length / Radix)];
    }
    __syncthreads();  // everything is read before anything is overwritten

#pragma unroll
    for (int b = 0; b < kEach / Radix; ++b) {
        float2* v = values + b * Radix;
        const int j = threadIdx.x + b * kThreads;
        const int inner = j % Done;
        float2 root;
        sincospif(-2.0f * static_cast<float>(inner) / static_cast<float>(Done * Radix), &root.y, &root.x);
        float2 power = root;
#pragma unroll
        for (int r = 1; r < Radix; ++r) {
            v[r] = v[r] * power;
            power = power * root;
        }
        butterfly<Radix>(v);
        const int base = (j - inner) * Radix + inner;
#pragma unroll
        for (int k = 0; k < Radix; ++k) row[base + k * Done] = v[place_of<Radix>(k)];
    }
    __syncthreads();
}

template <int Length, int Done = 1>
__device__ void transform(float2* row) {
    if constexpr (Done < Length) {
        constexpr int kRest = Length / Done;
        constexpr int kRadix = kRest < 8 ? kRest : 8;
        transform_pass<Length, kRadix, Done>(row);
        transform<Length, Done * kRadix>(row);
    }
}

template <int Length>
__global__ void fft_kernel(const float2* x, float2* y) {
    __shared__ float2 row[Length];
    const size_t first = static_cast<size_t>(blockIdx.x) * Length;
    for (int i = threadIdx.x; i < Length; i += Length / kEach) row[i] = x[first + i];
    __syncthreads();
    transform<Length>(row);
    for (int i = threadIdx.x; i < Length; i += Length / kEach) y[first + i] = row[i];
}

// Launches the kernel for `length`, one of Length, 2 * Length, .. kMaxLength.
template <int Length>
cudaError_t launch(const float2* x, float2* y, int rows, int length, cudaStream_t stream) {
    if (length == Length) {
        fft_kernel<Length><<<rows, Length / kEach, 0, stream>>>(x, y);
        return cudaGetLastError();
    }
    if constexpr (Length < kMaxLength) return launch<2 * Length>(x, y, rows, length, stream);
    return cudaErrorInvalidValue;
}

}  // namespace

cudaError_t fft_stockham(const float2* x, float2* y, int rows, int length, cudaStream_t stream) {
    return launch<kMinLength>(x, y, rows, length, stream);
}
