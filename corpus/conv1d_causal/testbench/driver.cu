// Causal convolution of in/x.f32 with in/w.f32 and in/bias.f32, into out/y.f32.
#include "beaver_driver.cuh"
#include "solution.h"

int main(int argc, char** argv) {
    const CausalShape shape = beaver::read_scalar<CausalShape>("shape.i32");
    const size_t inputs = static_cast<size_t>(shape.batch) * shape.in_channels * shape.steps;
    const size_t outputs = static_cast<size_t>(shape.batch) * shape.out_channels * shape.steps;
    const size_t weights = static_cast<size_t>(shape.out_channels) * shape.in_channels * kTaps;

    beaver::DeviceBuffer<float> x(beaver::read_vector<float>("x.f32", inputs));
    beaver::DeviceBuffer<float> w(beaver::read_vector<float>("w.f32", weights));
    beaver::DeviceBuffer<float> bias(beaver::read_vector<float>("bias.f32", shape.out_channels));
    beaver::DeviceBuffer<float> y(outputs);
    beaver::Stream stream;

    const auto call = [&] { return conv1d_causal(x.data(), w.data(), bias.data(), y.data(), shape, stream); };
    if (beaver::wants_timing(argc, argv)) beaver::measure(stream, [&] { y.poison(); }, call);
    else BEAVER_CHECK(beaver::run(call));

    beaver::write_vector("y.f32", y.download());
    return 0;
}
