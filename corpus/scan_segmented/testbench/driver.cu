// Running sums of in/x.f32 within the segments that in/offsets.i32 bounds, into out/y.f32.
#include "beaver_driver.cuh"
#include "solution.h"

int main(int argc, char** argv) {
    const int count = beaver::read_scalar<int>("count.i32");
    const int segments = beaver::read_scalar<int>("segments.i32");

    beaver::DeviceBuffer<float> x(beaver::read_vector<float>("x.f32", count));
    beaver::DeviceBuffer<int> offsets(beaver::read_vector<int>("offsets.i32", static_cast<size_t>(segments) + 1));
    beaver::DeviceBuffer<float> y(count);
    beaver::Stream stream;

    const auto call = [&] { return scan_segmented(x.data(), offsets.data(), y.data(), count, segments, stream); };
    if (beaver::wants_timing(argc, argv)) beaver::measure(stream, [&] { y.poison(); }, call);
    else BEAVER_CHECK(beaver::run(call));

    beaver::write_vector("y.f32", y.download());
    return 0;
}
