// Normalises the rows of in/x.f32 with in/gamma.f32 and in/beta.f32, into out/y.f32.
#include "beaver_driver.cuh"
#include "solution.h"

int main(int argc, char** argv) {
    const int rows = beaver::read_scalar<int>("rows.i32");
    const int cols = beaver::read_scalar<int>("cols.i32");
    const float epsilon = beaver::read_scalar<float>("epsilon.f32");
    const size_t count = static_cast<size_t>(rows) * cols;

    beaver::DeviceBuffer<float> x(beaver::read_vector<float>("x.f32", count));
    beaver::DeviceBuffer<float> gamma(beaver::read_vector<float>("gamma.f32", cols));
    beaver::DeviceBuffer<float> beta(beaver::read_vector<float>("beta.f32", cols));
    beaver::DeviceBuffer<float> y(count);
    beaver::Stream stream;

    const auto call = [&] {
        return layernorm_rows(x.data(), gamma.data(), beta.data(), y.data(), rows, cols, epsilon, stream);
    };
    if (beaver::wants_timing(argc, argv)) beaver::measure(stream, [&] { y.poison(); }, call);
    else BEAVER_CHECK(beaver::run(call));

    beaver::write_vector("y.f32", y.download());
    return 0;
}
