// Counts the bytes of in/data.u8, into out/bins.u32.
#include "beaver_driver.cuh"
#include "solution.h"

int main(int argc, char** argv) {
    const size_t count = beaver::read_scalar<unsigned int>("count.u32");

    beaver::DeviceBuffer<unsigned char> data(beaver::read_vector<unsigned char>("data.u8", count));
    beaver::DeviceBuffer<unsigned int> bins(256);
    beaver::Stream stream;

    const auto call = [&] { return histogram_bytes(data.data(), count, bins.data(), stream); };
    if (beaver::wants_timing(argc, argv)) beaver::measure(stream, [&] { bins.poison(); }, call);
    else BEAVER_CHECK(beaver::run(call));

    beaver::write_vector("bins.u32", bins.download());
    return 0;
}
