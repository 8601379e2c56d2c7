// Gradients of layer normalisation for in/x.f32 and in/dy.f32, into out/dx.f32, out/dgamma.f32 and out/dbeta.f32.
#include "beaver_driver.cuh"
#include "solution.h"

int main(int argc, char** argv) {
    const int rows = beaver::read_scalar<int>("rows.i32");
    const int cols = beaver::read_scalar<int>("cols.i32");
    const size_t count = static_cast<size_t>(rows) * cols;

    beaver::DeviceBuffer<float> dy(beaver::read_vector<float>("dy.f32", count));
    beaver::DeviceBuffer<float> x(beaver::read_vector<float>("x.f32", count));
    beaver::DeviceBuffer<float> gamma(beaver::read_vector<float>("gamma.f32", cols));
    beaver::DeviceBuffer<float> mean(beaver::read_vector<float>("mean.f32", rows));
    beaver::DeviceBuffer<float> rstd(beaver::read_vector<float>("rstd.f32", rows));
    beaver::DeviceBuffer<float> dx(count);
    beaver::DeviceBuffer<float> dgamma(cols);
    beaver::DeviceBuffer<float> dbeta(cols);
    beaver::Stream stream;

    const auto call = [&] {
        return layernorm_backward(dy.data(), x.data(), gamma.data(), mean.data(), rstd.data(), dx.data(),
                                  dgamma.data(), dbeta.data(), rows, cols, stream);
    };
    const auto prepare = [&] {
        dx.poison();
        dgamma.poison();
        dbeta.poison();
    };
    if (beaver::wants_timing(argc, argv)) beaver::measure(stream, prepare, call);
    else BEAVER_CHECK(beaver::run(call));

    beaver::write_vector("dx.f32", dx.download());
    beaver::write_vector("dgamma.f32", dgamma.download());
    beaver::write_vector("dbeta.f32", dbeta.download());
    return 0;
}
