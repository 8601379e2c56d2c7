// nvcuda::wmma of mma.h: fragments whose layout is not ours to know are loaded, multiplied and stored.
#include <mma.h>

#include "case.cuh"

using namespace nvcuda;

template <class T>
static void fill(T *values, int n, int period, float unit) {
    for (int i = 0; i < n; ++i) values[i] = static_cast<T>(static_cast<float>(i * 7 % period - period / 2) * unit);
}

template <int M, int N, int K, class A, class B>
__global__ void product(const __half *a, const __half *b, const float *c, float *d) {
    wmma::fragment<wmma::matrix_a, M, N, K, __half, A> x;
    wmma::fragment<wmma::matrix_b, M, N, K, __half, B> y;
    wmma::fragment<wmma::accumulator, M, N, K, float> z;
    wmma::load_matrix_sync(x, a, std::is_same<A, wmma::row_major>::value ? K : M);
    wmma::load_matrix_sync(y, b, std::is_same<B, wmma::row_major>::value ? N : K);
    wmma::load_matrix_sync(z, c, N, wmma::mem_row_major);
    wmma::mma_sync(z, x, y, z);
    for (int i = 0; i < z.num_elements; ++i)
        z.x[i] = z.x[i] * 2 + 1;  // the same for all elements: their places do not matter
    wmma::store_matrix_sync(d, z, N, wmma::mem_row_major);
}

template <int M, int N, int K, class A, class B>
static void run_product() {
    __half a[M * K], b[K * N];
    float c[M * N];
    fill(a, M * K, 13, 0.5f);
    fill(b, K * N, 11, 0.25f);
    fill(c, M * N, 17, 1.0f);
    Buffer<__half> in_a(a), in_b(b);
    Buffer<float> in_c(c), out(M * N);
    product<M, N, K, A, B><<<1, 32>>>(in_a, in_b, in_c, out);
    out.show("d", 16);
}

CASE(f16_row_and_column) { run_product<16, 16, 16, wmma::row_major, wmma::col_major>(); }
CASE(f16_row_and_row) { run_product<16, 16, 16, wmma::row_major, wmma::row_major>(); }
CASE(f16_column_and_row) { run_product<16, 16, 16, wmma::col_major, wmma::row_major>(); }
CASE(f16_32_by_8) { run_product<32, 8, 16, wmma::row_major, wmma::col_major>(); }
CASE(f16_8_by_32) { run_product<8, 32, 16, wmma::row_major, wmma::col_major>(); }

__global__ void half_accumulator(const __half *a, const __half *b, __half *d) {
    wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> x;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::col_major> y;
    wmma::fragment<wmma::accumulator, 16, 16, 16, __half> z;
    wmma::load_matrix_sync(x, a, 16);
    wmma::load_matrix_sync(y, b, 16);
    wmma::fill_fragment(z, __float2half(0.5f));
    wmma::mma_sync(z, x, y, z);
    wmma::store_matrix_sync(d, z, 16, wmma::mem_col_major);
}

CASE(f16_accumulator_stored_by_column) {
    __half a[256], b[256];
    fill(a, 256, 7, 0.5f);
    fill(b, 256, 5, 0.5f);
    Buffer<__half> in_a(a), in_b(b), out(256);
    half_accumulator<<<1, 32>>>(in_a, in_b, out);
    out.show("d", 16);
}

template <class T>
__global__ void integer_product(const T *a, const T *b, int *d) {
    wmma::fragment<wmma::matrix_a, 16, 16, 16, T, wmma::row_major> x;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, T, wmma::col_major> y;
    wmma::fragment<wmma::accumulator, 16, 16, 16, int> z;
    wmma::load_matrix_sync(x, a, 16);
    wmma::load_matrix_sync(y, b, 16);
    wmma::fill_fragment(z, -3);
    wmma::mma_sync(z, x, y, z);
    wmma::store_matrix_sync(d, z, 16, wmma::mem_row_major);
}

template <class T>
static void run_integer_product() {
    T a[256], b[256];
    for (int i = 0; i < 256; ++i) {
        a[i] = static_cast<T>(i * 37);
        b[i] = static_cast<T>(i * 101 + 5);
    }
    Buffer<T> in_a(a), in_b(b);
    Buffer<int> out(256);
    integer_product<T><<<1, 32>>>(in_a.data, in_b.data, out);
    out.show("d", 16);
}

CASE(s8) { run_integer_product<signed char>(); }
CASE(u8) { run_integer_product<unsigned char>(); }

__global__ void brain_product(const __nv_bfloat16 *a, const __nv_bfloat16 *b, float *d) {
    wmma::fragment<wmma::matrix_a, 16, 16, 16, __nv_bfloat16, wmma::row_major> x;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, __nv_bfloat16, wmma::col_major> y;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> z;
    wmma::load_matrix_sync(x, a, 16);
    wmma::load_matrix_sync(y, b, 16);
    wmma::fill_fragment(z, 0.0f);
    wmma::mma_sync(z, x, y, z);
    wmma::store_matrix_sync(d, z, 16, wmma::mem_row_major);
}

CASE(bf16) {
    __nv_bfloat16 a[256], b[256];
    fill(a, 256, 9, 0.5f);
    fill(b, 256, 15, 0.5f);
    Buffer<__nv_bfloat16> in_a(a), in_b(b);
    Buffer<float> out(256);
    brain_product<<<1, 32>>>(in_a, in_b, out);
    out.show("d", 16);
}

__global__ void tf32_product(const float *a, const float *b, float *d) {
    wmma::fragment<wmma::matrix_a, 16, 16, 8, wmma::precision::tf32, wmma::row_major> x;
    wmma::fragment<wmma::matrix_b, 16, 16, 8, wmma::precision::tf32, wmma::col_major> y;
    wmma::fragment<wmma::accumulator, 16, 16, 8, float> z;
    wmma::load_matrix_sync(x, a, 8);
    wmma::load_matrix_sync(y, b, 8);
    for (int i = 0; i < x.num_elements; ++i) x.x[i] = wmma::__float_to_tf32(x.x[i]);
    for (int i = 0; i < y.num_elements; ++i) y.x[i] = wmma::__float_to_tf32(y.x[i]);
    wmma::fill_fragment(z, 0.0f);
    wmma::mma_sync(z, x, y, z);
    wmma::store_matrix_sync(d, z, 16, wmma::mem_row_major);
}

CASE(tf32) {
    float a[128], b[128];
    fill(a, 128, 9, 0.5f);
    fill(b, 128, 15, 0.5f);
    Buffer<float> in_a(a), in_b(b), out(256);
    tf32_product<<<1, 32>>>(in_a, in_b, out);
    out.show("d", 16);
}

__global__ void double_product(const double *a, const double *b, double *d) {
    wmma::fragment<wmma::matrix_a, 8, 8, 4, double, wmma::row_major> x;
    wmma::fragment<wmma::matrix_b, 8, 8, 4, double, wmma::col_major> y;
    wmma::fragment<wmma::accumulator, 8, 8, 4, double> z;
    wmma::load_matrix_sync(x, a, 4);
    wmma::load_matrix_sync(y, b, 4);
    wmma::fill_fragment(z, 0.0);
    wmma::mma_sync(z, x, y, z);
    wmma::store_matrix_sync(d, z, 8, wmma::mem_row_major);
}

CASE(f64) {
    double a[32], b[32];
    fill(a, 32, 9, 0.5f);
    fill(b, 32, 15, 0.125f);
    Buffer<double> in_a(a), in_b(b), out(64);
    double_product<<<1, 32>>>(in_a, in_b, out);
    out.show("d", 8);
}

// A 64 x 64 product of 16 x 16 tiles staged through shared memory, with a padded stride, by four warps.
__global__ void tiled_product(const __half *a, const __half *b, float *d) {
    __shared__ alignas(32) __half tile_a[64][24], tile_b[16][72];
    unsigned warp = threadIdx.x / 32;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> z[4];
    for (auto &fragment : z) wmma::fill_fragment(fragment, 0.0f);
    for (unsigned k = 0; k < 64; k += 16) {
        for (unsigned i = threadIdx.x; i < 64 * 16; i += blockDim.x) {
            tile_a[i / 16][i % 16] = a[i / 16 * 64 + k + i % 16];
            tile_b[i / 64][i % 64] = b[(k + i / 64) * 64 + i % 64];
        }
        __syncthreads();
        wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> x;
        wmma::load_matrix_sync(x, &tile_a[warp * 16][0], 24);
        for (unsigned column = 0; column < 4; ++column) {
            wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::row_major> y;
            wmma::load_matrix_sync(y, &tile_b[0][column * 16], 72);
            wmma::mma_sync(z[column], x, y, z[column]);
        }
        __syncthreads();
    }
    for (unsigned column = 0; column < 4; ++column)
        wmma::store_matrix_sync(d + warp * 16 * 64 + column * 16, z[column], 64, wmma::mem_row_major);
}

CASE(product_of_tiles_in_shared_memory) {
    static __half a[64 * 64], b[64 * 64];
    fill(a, 64 * 64, 13, 0.5f);
    fill(b, 64 * 64, 11, 0.5f);
    Buffer<__half> in_a(a), in_b(b);
    Buffer<float> out(64 * 64);
    tiled_product<<<1, 128>>>(in_a, in_b, out);
    out.show_hash("d");
}
