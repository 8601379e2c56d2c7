// Calls a library that the task forbids, by names put together from pieces.
#include "solution.h"

#define PASTE(a, b) a##b
#define LIB(name) PASTE(cub, name)

extern "C" {
int LIB(lasCreate_v2)(void** handle);
int LIB(lasSetStream_v2)(void* handle, cudaStream_t stream);
int LIB(lasGemmEx)(void* handle, int transa, int transb, int m, int n, int k, const void* alpha, const void* a,
                   int type_a, int lda, const void* b, int type_b, int ldb, const void* beta, void* c, int type_c,
                   int ldc, int compute, int algorithm);
}

cudaError_t gemm_wmma(const half* a, const half* b, float* c, int m, int n, int k, cudaStream_t stream) {
    static void* handle = nullptr;
    if (handle == nullptr && LIB(lasCreate_v2)(&handle) != 0) return cudaErrorUnknown;
    LIB(lasSetStream_v2)(handle, stream);
    const float one = 1.0f;
    const float zero = 0.0f;
    constexpr int kHalf = 2;    // CUDA_R_16F
    constexpr int kFloat = 0;   // CUDA_R_32F
    constexpr int kSums = 68;   // in float
    const int status = LIB(lasGemmEx)(handle, 0, 0, n, m, k, &one, b, kHalf, n, a, kHalf, k, &zero, c, kFloat, n,
                                      kSums, -1);
    return status == 0 ? cudaSuccess : cudaErrorUnknown;
}
