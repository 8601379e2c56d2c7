// Multiplies the sparse matrix in in/ by the vector in in/x.f32, into out/y.f32.
#include "beaver_driver.cuh"
#include "solution.h"

int main(int argc, char** argv) {
    const int rows = beaver::read_scalar<int>("rows.i32");
    const int cols = beaver::read_scalar<int>("cols.i32");
    const int entries = beaver::read_scalar<int>("entries.i32");

    beaver::DeviceBuffer<int> offsets(beaver::read_vector<int>("offsets.i32", static_cast<size_t>(rows) + 1));
    beaver::DeviceBuffer<int> columns(beaver::read_vector<int>("columns.i32", entries));
    beaver::DeviceBuffer<float> values(beaver::read_vector<float>("values.f32", entries));
    beaver::DeviceBuffer<float> x(beaver::read_vector<float>("x.f32", cols));
    beaver::DeviceBuffer<float> y(rows);
    beaver::Stream stream;

    const CsrMatrix matrix{rows, cols, offsets.data(), columns.data(), values.data()};
    const auto call = [&] { return spmv_csr(matrix, x.data(), y.data(), stream); };
    if (beaver::wants_timing(argc, argv)) beaver::measure(stream, [&] { y.poison(); }, call);
    else BEAVER_CHECK(beaver::run(call));

    beaver::write_vector("y.f32", y.download());
    return 0;
}
