// Scans the matrix in in/x.f32 with both operators, into out/sum.f32 and out/max.f32.
#include "beaver_driver.cuh"
#include "solution.h"

int main(int argc, char** argv) {
    const int rows = beaver::read_scalar<int>("rows.i32");
    const int cols = beaver::read_scalar<int>("cols.i32");
    const size_t count = static_cast<size_t>(rows) * cols;

    beaver::DeviceBuffer<float> x(beaver::read_vector<float>("x.f32", count));
    beaver::DeviceBuffer<float> sum(count);
    beaver::DeviceBuffer<float> max(count);
    beaver::Stream stream;

    const auto scan_sum = [&] { return scan_rows(x.data(), sum.data(), rows, cols, ScanKind::sum, stream); };
    const auto scan_max = [&] { return scan_rows(x.data(), max.data(), rows, cols, ScanKind::max, stream); };
    if (beaver::wants_timing(argc, argv)) beaver::measure(stream, [&] { sum.poison(); }, scan_sum);
    else BEAVER_CHECK(beaver::run(scan_sum));
    BEAVER_CHECK(beaver::run(scan_max));

    beaver::write_vector("sum.f32", sum.download());
    beaver::write_vector("max.f32", max.download());
    return 0;
}
