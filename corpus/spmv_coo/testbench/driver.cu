// Multiplies the sparse matrix in in/ by the vector in in/x.f32, into out/y.f32.
#include "beaver_driver.cuh"
#include "solution.h"

int main(int argc, char** argv) {
    const int rows = beaver::read_scalar<int>("rows.i32");
    const int cols = beaver::read_scalar<int>("cols.i32");
    const int entries = beaver::read_scalar<int>("entries.i32");

    beaver::DeviceBuffer<int> row_of(beaver::read_vector<int>("row_of.i32", entries));
    beaver::DeviceBuffer<int> column_of(beaver::read_vector<int>("column_of.i32", entries));
    beaver::DeviceBuffer<float> values(beaver::read_vector<float>("values.f32", entries));
    beaver::DeviceBuffer<float> x(beaver::read_vector<float>("x.f32", cols));
    beaver::DeviceBuffer<float> y(rows);
    beaver::Stream stream;

    const CooMatrix matrix{rows, cols, entries, row_of.data(), column_of.data(), values.data()};
    const auto call = [&] { return spmv_coo(matrix, x.data(), y.data(), stream); };
    if (beaver::wants_timing(argc, argv)) beaver::measure(stream, [&] { y.poison(); }, call);
    else BEAVER_CHECK(beaver::run(call));

    beaver::write_vector("y.f32", y.download());
    return 0;
}
