// Applies the stencil with the weights in in/weights.f32 to the grid in in/x.f32, into out/y.f32.
#include "beaver_driver.cuh"
#include "solution.h"

int main(int argc, char** argv) {
    const int height = beaver::read_scalar<int>("height.i32");
    const int width = beaver::read_scalar<int>("width.i32");
    const StarWeights weights = beaver::read_scalar<StarWeights>("weights.f32");
    const size_t count = static_cast<size_t>(height) * width;

    beaver::DeviceBuffer<float> x(beaver::read_vector<float>("x.f32", count));
    beaver::DeviceBuffer<float> y(count);
    beaver::Stream stream;

    const auto call = [&] { return stencil_star(x.data(), y.data(), height, width, weights, stream); };
    if (beaver::wants_timing(argc, argv)) beaver::measure(stream, [&] { y.poison(); }, call);
    else BEAVER_CHECK(beaver::run(call));

    beaver::write_vector("y.f32", y.download());
    return 0;
}
