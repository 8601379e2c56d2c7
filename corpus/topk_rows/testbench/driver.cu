// The largest values of the rows of in/x.f32 for each supported k, into out/values<k>.f32 and out/columns<k>.i32.
#include "beaver_driver.cuh"
#include "solution.h"

#include <memory>

namespace {

constexpr int kSizes[] = {1, 4, 16};

struct Best {
    Best(int rows, int k) : k(k), values(static_cast<size_t>(rows) * k), columns(static_cast<size_t>(rows) * k) {}
    int k;
    beaver::DeviceBuffer<float> values;
    beaver::DeviceBuffer<int> columns;
};

}  // namespace

int main(int argc, char** argv) {
    const int rows = beaver::read_scalar<int>("rows.i32");
    const int cols = beaver::read_scalar<int>("cols.i32");

    beaver::DeviceBuffer<float> x(beaver::read_vector<float>("x.f32", static_cast<size_t>(rows) * cols));
    std::vector<std::unique_ptr<Best>> all;
    for (const int k : kSizes) all.push_back(std::make_unique<Best>(rows, k));
    beaver::Stream stream;

    const auto call = [&] {
        for (const auto& best : all) {
            const cudaError_t error =
                topk_rows(x.data(), best->values.data(), best->columns.data(), rows, cols, best->k, stream);
            if (error) return error;
        }
        return cudaSuccess;
    };
    const auto poison = [&] {
        for (const auto& best : all) {
            best->values.poison();
            best->columns.poison();
        }
    };
    if (beaver::wants_timing(argc, argv)) beaver::measure(stream, poison, call);
    else BEAVER_CHECK(beaver::run(call));

    for (const auto& best : all) {
        beaver::write_vector("values" + std::to_string(best->k) + ".f32", best->values.download());
        beaver::write_vector("columns" + std::to_string(best->k) + ".i32", best->columns.download());
    }
    return 0;
}
