// Running sums of in/x.u32, into out/y.u32.
#include "beaver_driver.cuh"
#include "solution.h"

int main(int argc, char** argv) {
    const int count = beaver::read_scalar<int>("count.i32");

    beaver::DeviceBuffer<unsigned int> x(beaver::read_vector<unsigned int>("x.u32", count));
    beaver::DeviceBuffer<unsigned int> y(count);
    beaver::DeviceBuffer<unsigned char> scratch(scan_scratch_bytes(count));
    beaver::Stream stream;

    const auto call = [&] { return scan_lookback(x.data(), y.data(), count, scratch.data(), stream); };
    const auto prepare = [&] {
        y.poison();
        scratch.poison();
    };
    if (beaver::wants_timing(argc, argv)) beaver::measure(stream, prepare, call);
    else BEAVER_CHECK(beaver::run(call));

    beaver::write_vector("y.u32", y.download());
    return 0;
}
