// C = A B with A and B of 1024 x 1024 half values, by ldmatrix and mma.sync m16n8k16 with float accumulators.
#include <cuda_fp16.h>

#include <cstdio>

constexpr int kN = 1024, kTile = 64, kStep = 32;

__device__ void load_fragment(unsigned (&r)[4], const __half *at) {
    const unsigned address = static_cast<unsigned>(__cvta_generic_to_shared(at));
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(address));
}

__device__ void load_transposed(unsigned (&r)[2], const __half *at) {
    const unsigned address = static_cast<unsigned>(__cvta_generic_to_shared(at));
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];" : "=r"(r[0]), "=r"(r[1]) : "r"(address));
}

__device__ void multiply(float (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

// A block of four warps makes a tile of 64 x 64; a warp 16 rows of it.
__global__ void gemm(const __half *a, const __half *b, float *c) {
    __shared__ __align__(16) __half as[kTile][kStep + 8], bs[kStep][kTile + 8];
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, row = blockIdx.y * kTile, column = blockIdx.x * kTile;
    float sums[kTile / 8][4] = {};
    for (int k = 0; k < kN; k += kStep) {
        for (int i = threadIdx.x; i < kTile * kStep / 8; i += blockDim.x) {
            *reinterpret_cast<int4 *>(&as[i / 4][i % 4 * 8]) =
                *reinterpret_cast<const int4 *>(&a[(row + i / 4) * kN + k + i % 4 * 8]);
            *reinterpret_cast<int4 *>(&bs[i / 8][i % 8 * 8]) =
                *reinterpret_cast<const int4 *>(&b[(k + i / 8) * kN + column + i % 8 * 8]);
        }
        __syncthreads();
        for (int kk = 0; kk < kStep; kk += 16) {
            unsigned left[4];
            load_fragment(left, &as[warp * 16 + lane % 16][kk + lane / 16 * 8]);
            for (int n = 0; n < kTile / 8; ++n) {
                unsigned right[2];
                load_transposed(right, &bs[kk + lane % 16][n * 8]);
                multiply(sums[n], left, right);
            }
        }
        __syncthreads();
    }
    for (int n = 0; n < kTile / 8; ++n)
        for (int i = 0; i < 4; ++i)
            c[(row + warp * 16 + lane / 4 + i / 2 * 8) * kN + column + n * 8 + lane % 4 * 2 + i % 2] = sums[n][i];
}

int main() {
    __half *a, *b;
    float *c;
    cudaMallocManaged(&a, kN * kN * sizeof(__half));
    cudaMallocManaged(&b, kN * kN * sizeof(__half));
    cudaMallocManaged(&c, kN * kN * sizeof(float));
    for (int i = 0; i < kN * kN; ++i) {
        a[i] = __float2half(static_cast<float>((i * 7 + i / kN) % 5 - 2));
        b[i] = __float2half(static_cast<float>((i * 3 + i / kN) % 7 - 3));
    }
    gemm<<<dim3(kN / kTile, kN / kTile), 128>>>(a, b, c);
    if (cudaDeviceSynchronize() != cudaSuccess) return 1;
    for (int check = 0; check < 200; ++check) {
        const int i = check * 911 % kN, j = check * 577 % kN;
        float want = 0.0f;
        for (int k = 0; k < kN; ++k) want += __half2float(a[i * kN + k]) * __half2float(b[k * kN + j]);
        if (c[i * kN + j] != want) return std::printf("c[%d][%d] is %g, not %g\n", i, j, c[i * kN + j], want), 1;
    }
    return 0;
}
