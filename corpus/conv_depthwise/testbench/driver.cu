// Filters the channels of in/x.f32 with the filters in in/w.f32, into out/y.f32.
#include "beaver_driver.cuh"
#include "solution.h"

int main(int argc, char** argv) {
    const ConvShape shape = beaver::read_scalar<ConvShape>("shape.i32");
    const size_t planes = static_cast<size_t>(shape.batch) * shape.channels;
    const size_t count = planes * shape.height * shape.width;

    beaver::DeviceBuffer<float> x(beaver::read_vector<float>("x.f32", count));
    beaver::DeviceBuffer<float> w(beaver::read_vector<float>("w.f32", static_cast<size_t>(shape.channels) * 9));
    beaver::DeviceBuffer<float> y(count);
    beaver::Stream stream;

    const auto call = [&] { return conv_depthwise(x.data(), w.data(), y.data(), shape, stream); };
    if (beaver::wants_timing(argc, argv)) beaver::measure(stream, [&] { y.poison(); }, call);
    else BEAVER_CHECK(beaver::run(call));

    beaver::write_vector("y.f32", y.download());
    return 0;
}
