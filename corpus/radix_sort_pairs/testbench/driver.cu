// Sorts the pairs of in/<type>_keys and in/values.u32 by keys of each type, into out/<type>_keys and
// out/<type>_values.
#include "beaver_driver.cuh"
#include "solution.h"

namespace {

template <typename Key>
struct Sorted {
    explicit Sorted(size_t count) : keys(count), values(count) {}
    void poison() {
        keys.poison();
        values.poison();
    }
    beaver::DeviceBuffer<Key> keys;
    beaver::DeviceBuffer<unsigned> values;
};

}  // namespace

int main(int argc, char** argv) {
    const size_t count = beaver::read_scalar<unsigned>("count.u32");

    beaver::DeviceBuffer<unsigned> integers(beaver::read_vector<unsigned>("integer_keys.u32", count));
    beaver::DeviceBuffer<float> floats(beaver::read_vector<float>("float_keys.f32", count));
    beaver::DeviceBuffer<unsigned> values(beaver::read_vector<unsigned>("values.u32", count));
    beaver::DeviceBuffer<unsigned char> workspace(radix_sort_workspace(count));
    Sorted<unsigned> by_integers(count);
    Sorted<float> by_floats(count);
    beaver::Stream stream;

    const auto call = [&] {
        const cudaError_t error = radix_sort_pairs(integers.data(), values.data(), by_integers.keys.data(),
                                                   by_integers.values.data(), count, workspace.data(), stream);
        if (error) return error;
        return radix_sort_pairs(floats.data(), values.data(), by_floats.keys.data(), by_floats.values.data(), count,
                                workspace.data(), stream);
    };
    const auto poison = [&] {
        by_integers.poison();
        by_floats.poison();
        workspace.poison();
    };
    if (beaver::wants_timing(argc, argv)) beaver::measure(stream, poison, call);
    else BEAVER_CHECK(beaver::run(call));

    beaver::write_vector("integer_keys.u32", by_integers.keys.download());
    beaver::write_vector("integer_values.u32", by_integers.values.download());
    beaver::write_vector("float_keys.f32", by_floats.keys.download());
    beaver::write_vector("float_values.u32", by_floats.values.download());
    return 0;
}
