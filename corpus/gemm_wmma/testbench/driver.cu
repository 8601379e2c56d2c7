// Multiplies the matrices of half in in/a.f16 and in/b.f16, into out/c.f32.
#include "beaver_driver.cuh"
#include "solution.h"

int main(int argc, char** argv) {
    const int m = beaver::read_scalar<int>("m.i32");
    const int n = beaver::read_scalar<int>("n.i32");
    const int k = beaver::read_scalar<int>("k.i32");

    beaver::DeviceBuffer<half> a(beaver::read_vector<half>("a.f16", static_cast<size_t>(m) * k));
    beaver::DeviceBuffer<half> b(beaver::read_vector<half>("b.f16", static_cast<size_t>(k) * n));
    beaver::DeviceBuffer<float> c(static_cast<size_t>(m) * n);
    beaver::Stream stream;

    const auto call = [&] { return gemm_wmma(a.data(), b.data(), c.data(), m, n, k, stream); };
    if (beaver::wants_timing(argc, argv)) beaver::measure(stream, [&] { c.poison(); }, call);
    else BEAVER_CHECK(beaver::run(call));

    beaver::write_vector("c.f32", c.download());
    return 0;
}
