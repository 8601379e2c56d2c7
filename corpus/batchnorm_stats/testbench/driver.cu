// Statistics of the channels of in/x.f32, into out/mean.f32 and out/variance.f32.
#include "beaver_driver.cuh"
#include "solution.h"

int main(int argc, char** argv) {
    const int batch = beaver::read_scalar<int>("batch.i32");
    const int channels = beaver::read_scalar<int>("channels.i32");
    const int plane = beaver::read_scalar<int>("plane.i32");
    const size_t count = static_cast<size_t>(batch) * channels * plane;

    beaver::DeviceBuffer<float> x(beaver::read_vector<float>("x.f32", count));
    beaver::DeviceBuffer<float> mean(channels);
    beaver::DeviceBuffer<float> variance(channels);
    beaver::Stream stream;

    const auto call = [&] {
        return batchnorm_stats(x.data(), mean.data(), variance.data(), batch, channels, plane, stream);
    };
    const auto prepare = [&] {
        mean.poison();
        variance.poison();
    };
    if (beaver::wants_timing(argc, argv)) beaver::measure(stream, prepare, call);
    else BEAVER_CHECK(beaver::run(call));

    beaver::write_vector("mean.f32", mean.download());
    beaver::write_vector("variance.f32", variance.download());
    return 0;
}
