// One step of the heat equation from in/before.f32, into out/after.f32.
#include "beaver_driver.cuh"
#include "solution.h"

int main(int argc, char** argv) {
    const Box box = beaver::read_scalar<Box>("box.i32");
    const float rate = beaver::read_scalar<float>("rate.f32");
    const size_t count = static_cast<size_t>(box.nx) * box.ny * box.nz;

    beaver::DeviceBuffer<float> before(beaver::read_vector<float>("before.f32", count));
    beaver::DeviceBuffer<float> after(count);
    beaver::Stream stream;

    const auto call = [&] { return stencil_heat3d(before.data(), after.data(), box, rate, stream); };
    if (beaver::wants_timing(argc, argv)) beaver::measure(stream, [&] { after.poison(); }, call);
    else BEAVER_CHECK(beaver::run(call));

    beaver::write_vector("after.f32", after.download());
    return 0;
}
