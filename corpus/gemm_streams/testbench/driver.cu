// Multiplies the matrices of in/a.f32 and in/b.f32, whose sizes m, n, k are the rows of in/sizes.i32, into out/c.f32.
// The factors are put into place on the stream right before the call, and the products are taken from it right after.
#include "beaver_driver.cuh"
#include "solution.h"

namespace {

size_t product(int x, int y) { return static_cast<size_t>(x) * y; }

template <typename T>
cudaError_t copy(beaver::DeviceBuffer<T>& to, beaver::DeviceBuffer<T>& from, cudaStream_t stream) {
    return cudaMemcpyAsync(to.data(), from.data(), to.bytes(), cudaMemcpyDeviceToDevice, stream);
}

}  // namespace

int main(int argc, char** argv) {
    const int count = beaver::read_scalar<int>("count.i32");
    const std::vector<int> sizes = beaver::read_vector<int>("sizes.i32", product(count, 3));
    std::vector<GemmProblem> problems(count);
    size_t count_a = 0;
    size_t count_b = 0;
    size_t count_c = 0;
    for (int i = 0; i < count; ++i) {
        GemmProblem& problem = problems[i];
        problem.m = sizes[3 * i];
        problem.n = sizes[3 * i + 1];
        problem.k = sizes[3 * i + 2];
        count_a += product(problem.m, problem.k);
        count_b += product(problem.k, problem.n);
        count_c += product(problem.m, problem.n);
    }

    beaver::DeviceBuffer<float> given_a(beaver::read_vector<float>("a.f32", count_a));
    beaver::DeviceBuffer<float> given_b(beaver::read_vector<float>("b.f32", count_b));
    beaver::DeviceBuffer<float> a(count_a);
    beaver::DeviceBuffer<float> b(count_b);
    beaver::DeviceBuffer<float> c(count_c);
    beaver::DeviceBuffer<float> result(count_c);
    beaver::Stream stream;

    const float* next_a = a.data();
    const float* next_b = b.data();
    float* next_c = c.data();
    for (GemmProblem& problem : problems) {
        problem.a = next_a;
        problem.b = next_b;
        problem.c = next_c;
        next_a += product(problem.m, problem.k);
        next_b += product(problem.k, problem.n);
        next_c += product(problem.m, problem.n);
    }

    const auto call = [&] {
        if (const cudaError_t error = copy(a, given_a, stream)) return error;
        if (const cudaError_t error = copy(b, given_b, stream)) return error;
        if (const cudaError_t error = gemm_streams(problems.data(), count, stream)) return error;
        return copy(result, c, stream);
    };
    const auto prepare = [&] {
        a.poison();
        b.poison();
        c.poison();
        result.poison();
    };
    if (beaver::wants_timing(argc, argv)) beaver::measure(stream, prepare, call);
    else BEAVER_CHECK(beaver::run(call));

    beaver::write_vector("c.f32", result.download());
    return 0;
}
