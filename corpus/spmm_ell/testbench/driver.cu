// Multiplies the sparse matrix in in/ by the dense one in in/x.f32, into out/y.f32.
#include "beaver_driver.cuh"
#include "solution.h"

int main(int argc, char** argv) {
    const int rows = beaver::read_scalar<int>("rows.i32");
    const int cols = beaver::read_scalar<int>("cols.i32");
    const int width = beaver::read_scalar<int>("width.i32");
    const int n = beaver::read_scalar<int>("n.i32");
    const size_t places = static_cast<size_t>(rows) * width;

    beaver::DeviceBuffer<int> columns(beaver::read_vector<int>("columns.i32", places));
    beaver::DeviceBuffer<float> values(beaver::read_vector<float>("values.f32", places));
    beaver::DeviceBuffer<float> x(beaver::read_vector<float>("x.f32", static_cast<size_t>(cols) * n));
    beaver::DeviceBuffer<float> y(static_cast<size_t>(rows) * n);
    beaver::Stream stream;

    const EllMatrix matrix{rows, cols, width, columns.data(), values.data()};
    const auto call = [&] { return spmm_ell(matrix, x.data(), y.data(), n, stream); };
    if (beaver::wants_timing(argc, argv)) beaver::measure(stream, [&] { y.poison(); }, call);
    else BEAVER_CHECK(beaver::run(call));

    beaver::write_vector("y.f32", y.download());
    return 0;
}
