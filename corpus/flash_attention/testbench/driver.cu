// Attention over in/q.f32, in/k.f32 and in/v.f32, into out/y.f32.
#include "beaver_driver.cuh"
#include "solution.h"

int main(int argc, char** argv) {
    const int heads = beaver::read_scalar<int>("heads.i32");
    const int tokens = beaver::read_scalar<int>("tokens.i32");
    const size_t count = static_cast<size_t>(heads) * tokens * kHeadSize;

    beaver::DeviceBuffer<float> q(beaver::read_vector<float>("q.f32", count));
    beaver::DeviceBuffer<float> k(beaver::read_vector<float>("k.f32", count));
    beaver::DeviceBuffer<float> v(beaver::read_vector<float>("v.f32", count));
    beaver::DeviceBuffer<float> y(count);
    beaver::Stream stream;

    const auto call = [&] {
        return flash_attention(q.data(), k.data(), v.data(), y.data(), heads, tokens, stream);
    };
    if (beaver::wants_timing(argc, argv)) beaver::measure(stream, [&] { y.poison(); }, call);
    else BEAVER_CHECK(beaver::run(call));

    beaver::write_vector("y.f32", y.download());
    return 0;
}
