// Calls: through pointers and tables, virtual, recursive, with structures, and of lambdas and templates.
// nvcc: --extended-lambda
#include "case.cuh"

typedef unsigned u32;

typedef int (*Operation)(int, int);
static __device__ int plus(int a, int b) { return a + b; }
static __device__ int minus(int a, int b) { return a - b; }
static __device__ int times(int a, int b) { return a * b; }
__device__ Operation operations[3] = {plus, minus, times};
__device__ Operation chosen = minus;

__global__ void call_by_table(int *out) {
    int i = static_cast<int>(threadIdx.x);
    out[i] = operations[i % 3](i, 5);
}
__global__ void call_by_argument(Operation operation, int *out) {
    int i = static_cast<int>(threadIdx.x);
    out[i] = operation(i, 10);
}

CASE(function_pointers) {
    Buffer<int> out(12);
    call_by_table<<<1, 12>>>(out);
    out.show("table", 12);
    Operation operation = nullptr;
    CHECK(cudaMemcpyFromSymbol(&operation, chosen, sizeof operation));
    call_by_argument<<<1, 12>>>(operation, out);
    out.show("argument", 12);
}

struct Shape {
    __device__ virtual ~Shape() {}
    __device__ virtual float area() const = 0;
    __device__ virtual int corners() const { return 0; }
};
struct Circle : Shape {
    float radius;
    __device__ explicit Circle(float r) : radius(r) {}
    __device__ float area() const override { return 3.0f * radius * radius; }
};
struct Box : Shape {
    float width, height;
    __device__ Box(float w, float h) : width(w), height(h) {}
    __device__ float area() const override { return width * height; }
    __device__ int corners() const override { return 4; }
};

__global__ void virtual_calls(float *out) {
    int i = static_cast<int>(threadIdx.x);
    Shape *shape = i % 2 ? static_cast<Shape *>(new Circle(i * 1.0f)) : new Box(i * 1.0f, 2.0f);
    out[i] = shape->area() + 1000.0f * static_cast<float>(shape->corners());
    delete shape;
}

CASE(virtual_functions) {
    Buffer<float> out(8);
    virtual_calls<<<1, 8>>>(out);
    out.show("areas");
}

static __device__ __noinline__ int fibonacci(int n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }
__global__ void recurse(int *out) { out[threadIdx.x] = fibonacci(static_cast<int>(threadIdx.x)); }

CASE(recursion) {
    Buffer<int> out(16);
    recurse<<<1, 16>>>(out);
    out.show("fibonacci");
}

static __device__ int ackermann(int m, int n);
static __device__ __noinline__ int step_down(int m, int n) { return ackermann(m - 1, n); }
static __device__ __noinline__ int ackermann(int m, int n) {
    if (m == 0) return n + 1;
    return n == 0 ? step_down(m, 1) : step_down(m, ackermann(m, n - 1));
}
__global__ void recurse_in_turn(int *out) { out[threadIdx.x] = ackermann(2, static_cast<int>(threadIdx.x)); }

CASE(mutual_recursion) {
    CHECK(cudaDeviceSetLimit(cudaLimitStackSize, 16 * 1024));
    Buffer<int> out(6);
    recurse_in_turn<<<1, 6>>>(out);
    out.show("ackermann");
}

struct Result {
    double values[5];
    char tag;
};
static __device__ __noinline__ Result build(double scale, Result before) {
    for (int i = 0; i < 5; ++i) before.values[i] = before.values[4 - i] * scale + i;
    before.tag++;
    return before;
}
__global__ void structures_through_calls(double *out) {
    Result result = {{1, 2, 3, 4, 5}, 'a'};
    for (int i = 0; i < 3; ++i) result = build(threadIdx.x + 0.5, result);
    for (int i = 0; i < 5; ++i) out[threadIdx.x * 6 + i] = result.values[i];
    out[threadIdx.x * 6 + 5] = result.tag;
}

CASE(structures_by_value_through_calls) {
    Buffer<double> out(12);
    structures_through_calls<<<1, 2>>>(out);
    out.show("fields", 6);
}

template <class F>
__global__ void apply(F f, int *out) {
    out[threadIdx.x] = f(static_cast<int>(threadIdx.x));
}

CASE(extended_lambdas) {
    Buffer<int> out(8);
    int offset = 100;
    apply<<<1, 8>>>([=] __device__(int i) { return i * i + offset; }, out.data);
    out.show("captured", 8);
    apply<<<1, 8>>>([=] __host__ __device__(int i) { return offset / (i + 1); }, out.data);
    out.show("both sides", 8);
}

template <int N>
struct Power {
    static __device__ int of(int x) { return x * Power<N - 1>::of(x); }
};
template <>
struct Power<0> {
    static __device__ int of(int) { return 1; }
};
template <class... T>
static __device__ int total(T... values) {
    return (0 + ... + values);
}
__global__ void templates(int *out) {
    int i = static_cast<int>(threadIdx.x);
    out[i] = Power<5>::of(i) + total(i, 2 * i, 7) + (sizeof(long) == 8);
}

CASE(templates_and_folds) {
    Buffer<int> out(8);
    templates<<<1, 8>>>(out);
    out.show("values", 8);
}

// ---- other things of the language

static __device__ int count_calls() {
    static int calls = 7;
    return atomicAdd(&calls, 1);
}
__global__ void local_static(int *out) { out[threadIdx.x] = count_calls() >= 7; }

CASE(static_variables_in_functions) {
    Buffer<int> out(8);
    local_static<<<1, 8>>>(out);
    out.show("values", 8);
}

__global__ void __launch_bounds__(128, 2) bounded(int *out) { out[threadIdx.x] = warpSize; }

CASE(launch_bounds) {
    Buffer<int> out(128);
    bounded<<<1, 128>>>(out);
    out.show_hash("warp sizes");
}

constexpr __host__ __device__ int cube(int x) { return x * x * x; }
__constant__ int computed[] = {cube(2), cube(-3), cube(10)};
struct Matrix {
    float m[2][2];
    __device__ Matrix operator*(const Matrix &other) const {
        Matrix r = {};
        for (int i = 0; i < 2; ++i)
            for (int j = 0; j < 2; ++j)
                for (int k = 0; k < 2; ++k) r.m[i][j] += m[i][k] * other.m[k][j];
        return r;
    }
};
__global__ void objects(float *out) {
    Matrix a = {{{1, 1}, {1, 0}}}, r = {{{1, 0}, {0, 1}}};
    for (u32 i = 0; i < threadIdx.x; ++i) r = r * a;
    out[threadIdx.x] = r.m[0][1] + static_cast<float>(computed[threadIdx.x % 3]);
}

CASE(operators_and_constant_expressions) {
    Buffer<float> out(12);
    objects<<<1, 12>>>(out);
    out.show("values", 12);
}

__global__ void expected(const int *in, int *out) {
    int i = static_cast<int>(threadIdx.x);
    __builtin_assume(in[i] >= 0);
    out[i] = __builtin_expect(in[i] > 3, 1) ? in[i] / 2 : in[i] % 2;
    if (in[i] > 100) __builtin_unreachable();
}

CASE(compiler_hints) {
    const int values[] = {0, 1, 2, 3, 4, 5, 6, 7};
    Buffer<int> in(values), out(8);
    expected<<<1, 8>>>(in, out);
    out.show("values", 8);
}
