// One OS thread's share of a grid.
#include "grid.hpp"
#include "options.hpp"
#include "report.hpp"

namespace beaver {

__thread Worker *this_worker __attribute__((tls_model("initial-exec"))) = nullptr;

namespace {

// Deeper than any frame that the host compiler makes of one kernel.
constexpr std::size_t host_stack_bytes = 256 << 10;
// What a call costs on the host for each byte that it costs on a GPU, at most.
constexpr std::size_t host_bytes_per_stack_byte = 16;

std::size_t host_bytes(const beaver_kernel &kernel) {
    return host_stack_bytes + (kernel.recursive ? host_bytes_per_stack_byte * stack_limit : 0);
}

std::size_t local_bytes(const beaver_kernel &kernel) {
    return kernel.local_bytes > stack_limit ? kernel.local_bytes : stack_limit;
}

}  // namespace

void Worker::run(Grid &of_grid, void (*block_ended)(Grid &)) {
    grid = &of_grid;
    this_worker = this;
    stacks.fit(host_bytes(grid->kernel), local_bytes(grid->kernel));
    rounds = {};
    grid->standstill.worker_joins();
    if (grid->as_loops)
        run_loops(block_ended);
    else
        run_threads(block_ended);
    for (Block *block : resident) end_block(*block);
    resident.clear();
    stacks.reclaim();
    grid->standstill.worker_leaves(*this);
    this_worker = nullptr;
    grid = nullptr;
}

void Worker::leave() {
    void *dropped;
    beaver_fiber_switch(&dropped, context);
    __builtin_unreachable();
}

Block *Worker::begin_block() {
    if (resident.size() >= grid->share) return nullptr;
    const auto index = grid->take();
    if (!index) return nullptr;
    ++grid->resident;
    if (spare_.empty()) {
        blocks_.push_back(std::make_unique<Block>());
        spare_.push_back(blocks_.back().get());
    }
    Block *block = spare_.back();
    spare_.pop_back();
    block->fit(*grid, *this);
    block->begin(*index);
    return block;
}

void Worker::end_block(Block &block) {
    if (hooks.block_ends) hooks.block_ends(&block.view);
    if (!block.output.empty()) grid->print(block.index, std::move(block.output));
    spare_.push_back(&block);
    --grid->resident;
}

namespace {

struct Loops {
    Worker *worker;
    Block *block;
    void (*block_ended)(Grid &);
    bool resumed;  // a thread of the block has been halted: the others behind it are run one by one
    bool done;
};

// Runs on a stack of its own, as every kernel does: a fault leaves it by a switch.
void run_as_loops(void *argument) {
    auto &loops = *static_cast<Loops *>(argument);
    Block &block = *loops.block;
    Grid &grid = *block.grid;
    Thread &thread = block.threads.front();
    if (loops.resumed)
        for (std::uint32_t linear = thread.linear + 1; linear < grid.block_threads; ++linear) {
            block.identify(thread, linear);
            grid.kernel.thread(&thread);
        }
    for (bool ended = loops.resumed;; ended = true) {
        if (ended) {
            if (!block.output.empty()) grid.print(block.index, std::move(block.output));
            loops.block_ended(grid);
            const auto index = grid.stopped ? std::nullopt : grid.take();
            if (!index) break;
            block.begin(*index);
        }
        if (control().poll) {  // a kernel without loops looks nowhere else
            block.identify(thread, 0);
            say_where_if_due(thread, grid.kernel.site);
        }
        grid.kernel.block(&thread);
    }
    loops.done = true;
    loops.worker->leave();
}

}  // namespace

void Worker::run_loops(void (*block_ended)(Grid &)) {
    Block *block = begin_block();
    if (!block) return;
    resident.push_back(block);
    Loops loops{this, block, block_ended, false, false};
    Thread &thread = block->threads.front();
    Stack *stack = stacks.take();
    do {
        prepare(thread, *stack);
        inside = true;
        beaver_fiber_start(&context, stack->top, run_as_loops, &loops);
        inside = false;
        if (crash.signal) settle_crash(*block);
        loops.resumed = true;
    } while (!loops.done && grid->draining && !grid->stopped);
    if (!loops.done && !grid->stopped)
        give_up("kernel " + demangle(grid->kernel.name) + " waits, but was translated as one that never does", Exit::broken);
}

void Worker::run_threads(void (*block_ended)(Grid &)) {
    bool idle = true;
    while (!grid->stopped) {
        if (idle)
            if (Block *block = begin_block()) resident.push_back(block);
        if (resident.empty()) return;
        idle = true;
        for (std::size_t index = 0; index < resident.size() && !grid->stopped;) {
            Block &block = *resident[index];
            const std::uint64_t before = block.progress;
            if (run_block(block) == Outcome::ended) {
                idle = false;
                resident.erase(resident.begin() + static_cast<std::ptrdiff_t>(index));
                end_block(block);
                block_ended(*grid);
            } else {
                idle = idle && block.progress == before;
                ++index;
            }
        }
        if (!idle)
            grid->standstill.progress(*this);
        else if (!resident.empty())
            grid->standstill.rest(*this);
        if (resident.empty()) idle = true;
    }
}

Worker::Outcome Worker::run_block(Block &block) {
    block.release_spinning();
    for (;;) {
        Thread *thread = block.runnable ? block.next(block.warps[static_cast<std::uint32_t>(__builtin_ctz(block.runnable))])
                                        : nullptr;
        if (!thread) break;
        enter(thread);
        if (crash.signal) settle_crash(block);
        if (grid->stopped) return Outcome::stopped;
    }
    if (block.alive == 0) return Outcome::ended;
    if (grid->draining) {
        block.drop();
        return Outcome::ended;
    }
    if (block.spinning) return Outcome::spinning;
    if (!report_divergence(block)) report_deadlock(block);
    grid->stop(cudaErrorLaunchFailure);
    return Outcome::stopped;
}

void Worker::enter(Thread *thread) {
    inside = true;
    if (thread->saved)
        beaver_fiber_switch(&context, thread->saved);
    else
        start_thread(thread, &context);
    inside = false;
}

}  // namespace beaver
