// Scales the vector in in/x.f32 to length one, into out/y.f32.
#include "beaver_driver.cuh"
#include "solution.h"

int main(int argc, char** argv) {
    const int count = beaver::read_scalar<int>("count.i32");

    beaver::DeviceBuffer<float> x(beaver::read_vector<float>("x.f32", count));
    beaver::DeviceBuffer<float> y(count);
    beaver::Stream stream;

    const auto call = [&] { return vector_normalize(x.data(), y.data(), count, stream); };
    if (beaver::wants_timing(argc, argv)) beaver::measure(stream, [&] { y.poison(); }, call);
    else BEAVER_CHECK(beaver::run(call));

    beaver::write_vector("y.f32", y.download());
    return 0;
}
