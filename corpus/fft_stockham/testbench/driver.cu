// Transforms the rows of in/x.f32, pairs of real and imaginary parts, into out/y.f32.
#include "beaver_driver.cuh"
#include "solution.h"

int main(int argc, char** argv) {
    const int rows = beaver::read_scalar<int>("rows.i32");
    const int length = beaver::read_scalar<int>("length.i32");
    const size_t count = static_cast<size_t>(rows) * length;

    beaver::DeviceBuffer<float2> x(beaver::read_vector<float2>("x.f32", count));
    beaver::DeviceBuffer<float2> y(count);
    beaver::Stream stream;

    const auto call = [&] { return fft_stockham(x.data(), y.data(), rows, length, stream); };
    if (beaver::wants_timing(argc, argv)) beaver::measure(stream, [&] { y.poison(); }, call);
    else BEAVER_CHECK(beaver::run(call));

    beaver::write_vector("y.f32", y.download());
    return 0;
}
