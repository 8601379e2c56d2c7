// Converts the image in in/rgb.u8, into out/luma.f32.
#include "beaver_driver.cuh"
#include "solution.h"

int main(int argc, char** argv) {
    const int height = beaver::read_scalar<int>("height.i32");
    const int width = beaver::read_scalar<int>("width.i32");
    const size_t pixels = static_cast<size_t>(height) * width;

    beaver::DeviceBuffer<unsigned char> rgb(beaver::read_vector<unsigned char>("rgb.u8", pixels * 3));
    beaver::DeviceBuffer<float> luma(pixels);
    beaver::Stream stream;

    const auto call = [&] { return image_luma(rgb.data(), luma.data(), height, width, stream); };
    if (beaver::wants_timing(argc, argv)) beaver::measure(stream, [&] { luma.poison(); }, call);
    else BEAVER_CHECK(beaver::run(call));

    beaver::write_vector("luma.f32", luma.download());
    return 0;
}
