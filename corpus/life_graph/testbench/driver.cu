// Plays the Game of Life from in/cells.u8, into out/result.u8.
#include "beaver_driver.cuh"
#include "solution.h"

int main(int argc, char** argv) {
    const int height = beaver::read_scalar<int>("height.i32");
    const int width = beaver::read_scalar<int>("width.i32");
    const int generations = beaver::read_scalar<int>("generations.i32");
    const size_t count = static_cast<size_t>(height) * width;

    beaver::DeviceBuffer<unsigned char> cells(beaver::read_vector<unsigned char>("cells.u8", count));
    beaver::DeviceBuffer<unsigned char> result(count);
    beaver::Stream stream;

    Life* life = nullptr;
    BEAVER_CHECK(life_create(&life, height, width, generations));
    const auto call = [&] { return life_run(life, cells.data(), result.data(), stream); };
    if (beaver::wants_timing(argc, argv)) beaver::measure(stream, [&] { result.poison(); }, call);
    else BEAVER_CHECK(beaver::run(call));

    beaver::write_vector("result.u8", result.download());
    life_destroy(life);
    return 0;
}
