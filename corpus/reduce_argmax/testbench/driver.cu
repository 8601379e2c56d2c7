// Finds the largest value of every row of in/x.f32, into out/value.f32 and out/index.i32.
#include "beaver_driver.cuh"
#include "solution.h"

int main(int argc, char** argv) {
    const int rows = beaver::read_scalar<int>("rows.i32");
    const int cols = beaver::read_scalar<int>("cols.i32");

    beaver::DeviceBuffer<float> x(beaver::read_vector<float>("x.f32", static_cast<size_t>(rows) * cols));
    beaver::DeviceBuffer<float> value(rows);
    beaver::DeviceBuffer<int> index(rows);
    beaver::Stream stream;

    const auto call = [&] { return reduce_argmax(x.data(), value.data(), index.data(), rows, cols, stream); };
    const auto prepare = [&] {
        value.poison();
        index.poison();
    };
    if (beaver::wants_timing(argc, argv)) beaver::measure(stream, prepare, call);
    else BEAVER_CHECK(beaver::run(call));

    beaver::write_vector("value.f32", value.download());
    beaver::write_vector("index.i32", index.download());
    return 0;
}
