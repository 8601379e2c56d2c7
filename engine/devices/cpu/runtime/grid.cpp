#include "grid.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "clock.hpp"
#include "memory.hpp"
#include "options.hpp"

namespace beaver {

Hooks hooks{};
std::uint64_t stack_limit = 1024;
std::uint64_t heap_limit = 8ull << 20;

namespace {

// printf's buffer is written out early when a grid prints more than this, so that endless output does not fill the memory.
constexpr std::size_t output_limit = 8u << 20;

constexpr std::int64_t longest_drain = 100'000'000;  // nanoseconds

// What cooperative groups find behind %envreg1 and %envreg2: the size of the structure, then the barrier of the grid.
struct Workspace {
    std::uint32_t size, barrier;
};

cudaError_t fresh_workspace(std::uint64_t *address) {
    static std::uint64_t kept = 0;  // grids run one at a time
    if (!kept) {
        const cudaError_t error = allocate(sizeof(Workspace), 256, MemoryKind::workspace, "", &kept);
        if (error != cudaSuccess) return error;
    }
    const Workspace fresh{sizeof(Workspace), 0};
    std::memcpy(storage(kept, sizeof fresh), &fresh, sizeof fresh);
    mark_written(kept, sizeof fresh);
    *address = kept;
    return cudaSuccess;
}

std::uint64_t volume(const dim3 &shape) { return std::uint64_t{shape.x} * shape.y * shape.z; }

}  // namespace

Grid::Grid(const Launch &of_launch, std::uint64_t with_id, unsigned workers)
    : launch(of_launch), kernel(*of_launch.kernel), id(with_id), blocks(volume(of_launch.grid)),
      block_threads(static_cast<std::uint32_t>(volume(of_launch.block))),
      // A tool lets the other threads go on when one has failed, which a loop cannot.
      as_loops(kernel.block && options().tool == Tool::none) {
    resident_limit = std::max(1u, resident_blocks(kernel, block_threads, launch.dynamic_size) * multiprocessors_held);
    share = blocks;
    if (launch.cooperative) {
        resident_limit = blocks;
        // Blocks that wait for each other stay to the end: a worker that had taken them all would leave none to the others. Where
        // they do not wait, one that ends lets its worker take the next.
        share = (blocks + workers - 1) / workers;
    }
}

std::optional<std::uint64_t> Grid::take() {
    const std::uint64_t end = draining ? std::min(blocks, resident_limit) : blocks;
    if (taken >= end || (resident >= resident_limit && !as_loops)) return std::nullopt;
    const std::uint64_t index = taken++;
    if (index >= end) return std::nullopt;
    return index;
}

void Grid::fail(cudaError_t what) {
    int none = cudaSuccess;
    error.compare_exchange_strong(none, what);
}

void Grid::stop(cudaError_t what) {
    fail(what);
    stopped = true;
    control().poll = 1;
}

void Grid::drain(cudaError_t what) {
    fail(what);
    std::int64_t none = 0;
    // Before the others see that they have to look at it.
    if (!drain_end.compare_exchange_strong(none, nanoseconds_now() + longest_drain)) return;
    draining = true;
    control().poll = 1;
}

void Grid::print(std::uint64_t block_index, std::string &&text) {
    {
        const std::lock_guard guard(output_lock_);
        output_bytes_ += text.size();
        output_.emplace_back(block_index, std::move(text));
        text.clear();
        if (output_bytes_ < output_limit) return;
    }
    flush();
}

void Grid::flush() {
    const std::lock_guard guard(output_lock_);
    std::stable_sort(output_.begin(), output_.end(), [](const auto &x, const auto &y) { return x.first < y.first; });
    for (const auto &[index, text] : output_) std::fwrite(text.data(), 1, text.size(), stdout);
    output_.clear();
    output_bytes_ = 0;
}

cudaError_t run_grid(const Launch &launch) {
    static std::mutex one_at_a_time;
    const std::lock_guard guard(one_at_a_time);
    static std::uint64_t grids = 0;
    Grid grid(launch, ++grids, worker_count());
    if (launch.cooperative) {
        const cudaError_t error = fresh_workspace(&grid.workspace);
        if (error != cudaSuccess) return error;
    }
    watch_budget();
    run_on_workers(grid);
    if (grid.stopped || grid.draining) control().poll = 0;
    grid.flush();
    return static_cast<cudaError_t>(grid.error.load());
}

const Launch &launch_of(const beaver_thread *thread) { return thread_of(thread)->warp->block->grid->launch; }

}  // namespace beaver
