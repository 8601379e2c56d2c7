// Resizes the image in in/image.f32 with the filters beside it, into out/result.f32.
#include "beaver_driver.cuh"
#include "solution.h"

namespace {

// One side's filter, on the device.
struct Side {
    explicit Side(const std::string& name)
        : size(beaver::read_scalar<int>(name + "_size.i32")), taps(beaver::read_scalar<int>(name + "_taps.i32")),
          first(beaver::read_vector<int>(name + "_first.i32", size)),
          weights(beaver::read_vector<float>(name + "_weights.f32", static_cast<size_t>(taps) * size)) {}

    Resampling resampling() { return {size, taps, first.data(), weights.data()}; }

    int size;
    int taps;
    beaver::DeviceBuffer<int> first;
    beaver::DeviceBuffer<float> weights;
};

}  // namespace

int main(int argc, char** argv) {
    const ResizeShape shape = beaver::read_scalar<ResizeShape>("shape.i32");
    Side horizontal("horizontal");
    Side vertical("vertical");
    const size_t rows = static_cast<size_t>(shape.channels) * shape.in_height;

    beaver::DeviceBuffer<float> image(beaver::read_vector<float>("image.f32", rows * shape.in_width));
    beaver::DeviceBuffer<float> scratch(rows * horizontal.size);
    beaver::DeviceBuffer<float> result(static_cast<size_t>(shape.channels) * vertical.size * horizontal.size);
    beaver::Stream stream;

    const auto call = [&] {
        return image_resize(image.data(), scratch.data(), result.data(), shape, horizontal.resampling(),
                            vertical.resampling(), stream);
    };
    const auto poison = [&] {
        scratch.poison();
        result.poison();
    };
    if (beaver::wants_timing(argc, argv)) beaver::measure(stream, poison, call);
    else BEAVER_CHECK(beaver::run(call));

    beaver::write_vector("result.f32", result.download());
    return 0;
}
