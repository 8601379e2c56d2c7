// Moves the membrane in in/u0.f32 and in/v0.f32 on by some steps, into out/u.f32 and out/v.f32.
#include "beaver_driver.cuh"
#include "solution.h"

int main(int argc, char** argv) {
    const Membrane membrane = beaver::read_scalar<Membrane>("membrane.i32");
    const float rate = beaver::read_scalar<float>("rate.f32");
    const int steps = beaver::read_scalar<int>("steps.i32");
    const size_t count = static_cast<size_t>(membrane.height) * membrane.width;

    beaver::DeviceBuffer<float> u0(beaver::read_vector<float>("u0.f32", count));
    beaver::DeviceBuffer<float> v0(beaver::read_vector<float>("v0.f32", count));
    beaver::DeviceBuffer<float> u(count);
    beaver::DeviceBuffer<float> v(count);
    beaver::Stream stream;

    const auto call = [&] {
        return wave_cooperative(u0.data(), v0.data(), u.data(), v.data(), membrane, rate, steps, stream);
    };
    const auto poison = [&] {
        u.poison();
        v.poison();
    };
    if (beaver::wants_timing(argc, argv)) beaver::measure(stream, poison, call);
    else BEAVER_CHECK(beaver::run(call));

    beaver::write_vector("u.f32", u.download());
    beaver::write_vector("v.f32", v.download());
    return 0;
}
