#include "block.hpp"

#include <algorithm>
#include <cstdlib>

#include "grid.hpp"
#include "options.hpp"
#include "report.hpp"
#include "rounding.hpp"

namespace beaver {
namespace {

// Room that a thread may need after the last check of its stack: a report, printf.
constexpr std::size_t headroom = 48 << 10;
// Waits after which spinning threads get their turn although others are ready; without it, lanes that keep meeting each other
// could shut out the one that they wait for.
constexpr std::uint32_t turns_without_spinning = 4096;
// Shared addresses and their storage agree modulo this, so alignment can be tested on either.
constexpr std::uint32_t shared_alignment = BEAVER_SHARED_BASE;

// How far a thread may go in shared memory without being checked further. A GPU gives it out in steps, and the rest of the last
// one can be accessed like the block's own; racecheck and synccheck want to see every access.
std::uint32_t unchecked_bytes(std::uint32_t size) {
    switch (options().tool) {
        case Tool::none: return round_up(size, shared_step);
        case Tool::racecheck:
        case Tool::synccheck: return 0;
        default: return size;
    }
}

std::string point(const std::uint32_t (&xyz)[3]) {
    return "(" + std::to_string(xyz[0]) + "," + std::to_string(xyz[1]) + "," + std::to_string(xyz[2]) + ")";
}

void run_thread(void *argument) {
    auto *self = static_cast<Thread *>(argument);
    self->warp->block->grid->kernel.thread(self);
    exit_thread(self);
}

}  // namespace

std::string name_of(const Thread &thread) {
    return "thread " + point(thread.tid) + " in block " + point(thread.block->ctaid);
}

void Block::Free::operator()(std::uint8_t *bytes) const { std::free(bytes); }

void Block::fit(Grid &for_grid, Worker &on_worker) {
    if (fitted_ == for_grid.id) return;
    fitted_ = for_grid.id;
    grid = &for_grid;
    worker = &on_worker;
    const Launch &launch = for_grid.launch;
    const dim3 &shape = launch.block;
    // As on a GPU: right after what is static, but for the alignment of the arrays that name it. One more byte between the two would
    // hide an access beyond the end.
    const std::uint32_t static_size = for_grid.kernel.static_shared;
    const std::uint32_t dynamic_offset = round_up(static_size, std::max(for_grid.kernel.dynamic_align, 1u));

    view = {};
    const std::uint32_t ntid[] = {shape.x, shape.y, shape.z};
    const std::uint32_t nctaid[] = {launch.grid.x, launch.grid.y, launch.grid.z};
    std::copy_n(ntid, 3, view.ntid);
    std::copy_n(nctaid, 3, view.nctaid);
    view.shared_size = launch.dynamic_size ? dynamic_offset + launch.dynamic_size : static_size;
    view.dynamic_base = BEAVER_SHARED_BASE + dynamic_offset;
    view.dynamic_size = launch.dynamic_size;
    view.params = launch.params.data();
    view.params_size = static_cast<std::uint32_t>(launch.params.size());
    view.workspace = for_grid.workspace;
    view.grid = for_grid.id;

    if (view.shared_size > shared_capacity_ || !shared_) {
        shared_capacity_ = round_up(std::max(view.shared_size, 1u), shared_alignment);
        shared_.reset(static_cast<std::uint8_t *>(std::aligned_alloc(shared_alignment, shared_capacity_)));
        if (!shared_) give_up("no memory for a block's shared memory", Exit::broken);
    }

    // A block that is run as a loop has one Thread, which the loop makes each of its threads in turn.
    const std::uint32_t count = for_grid.as_loops ? 1 : for_grid.block_threads;
    threads.assign(count, Thread{});
    warps.resize((count + BEAVER_WARP - 1) / BEAVER_WARP);
    for (std::uint32_t index = 0; index < warps.size(); ++index) {
        Warp &warp = warps[index];
        warp.block = this;
        warp.lanes = &threads[index * BEAVER_WARP];
        warp.index = index;
        const std::uint32_t lanes = std::min(count - index * BEAVER_WARP, BEAVER_WARP);
        warp.present = lanes == BEAVER_WARP ? ~0u : bit(lanes) - 1;
    }
    for (std::uint32_t linear = 0; linear < count; ++linear) {
        Thread &thread = threads[linear];
        identify(thread, linear);
        thread.block = &view;
        thread.shared = shared_.get();
        thread.shared_limit = unchecked_bytes(view.shared_size);
        thread.warp = &warps[linear / BEAVER_WARP];
    }
}

void Block::identify(Thread &thread, std::uint32_t linear) const {
    thread.tid[0] = linear % view.ntid[0];
    thread.tid[1] = linear / view.ntid[0] % view.ntid[1];
    thread.tid[2] = linear / view.ntid[0] / view.ntid[1];
    thread.linear = linear;
    thread.lane = linear % BEAVER_WARP;
}

void Block::begin(std::uint64_t block_index) {
    index = block_index;
    const std::uint64_t x = view.nctaid[0], y = view.nctaid[1];
    view.ctaid[0] = static_cast<std::uint32_t>(index % x);
    view.ctaid[1] = static_cast<std::uint32_t>(index / x % y);
    view.ctaid[2] = static_cast<std::uint32_t>(index / x / y);
    std::fill_n(reinterpret_cast<std::uint16_t *>(shared_.get()), (view.shared_size + 1) / 2, fresh_pattern);

    alive = static_cast<std::uint32_t>(threads.size());
    runnable = warps.size() == BEAVER_WARP ? ~0u : bit(static_cast<std::uint32_t>(warps.size())) - 1;
    spinning = 0;
    turns = turns_without_spinning;
    for (Warp &warp : warps) {
        warp.ready = warp.present;
        warp.exited = 0;
        for_each_bit(warp.open, [&](std::uint32_t open) { warp.meetings[open].arrived = 0; });
        warp.spinning = warp.asking = warp.open = 0;
    }
    for_each_bit(barriers, [&](std::uint32_t number) { barrier[number] = Barrier{}; });
    barriers = 0;
    if (hooks.block_begins) hooks.block_begins(&threads.front());
}

void Block::drop() {
    for (Thread &thread : threads) thread.saved = nullptr;
}

Thread *Block::next(Warp &preferred) {
    for (Warp *warp = &preferred;; warp = &warps[static_cast<std::uint32_t>(__builtin_ctz(runnable))]) {
        // When its lanes have gone as far as they can, those that are at one place are the ones that a GPU would have brought
        // there together.
        if (!warp->ready && warp->open) {
            settle_meetings(*warp);
            if (grid->stopped) return nullptr;
        }
        if (!warp->ready && warp->asking) answer_active_mask(*warp);
        if (const std::uint32_t ready = warp->ready) {
            warp->ready = ready & (ready - 1);
            return &warp->lanes[__builtin_ctz(ready)];
        }
        runnable &= ~bit(warp->index);
        if (!runnable) return nullptr;
    }
}

void Block::release_spinning() {
    turns = turns_without_spinning;
    for_each_bit(spinning, [&](std::uint32_t index) {
        Warp &warp = warps[index];
        const std::uint32_t lanes = warp.spinning;
        warp.spinning = 0;
        make_ready(warp, lanes);
    });
    spinning = 0;
}

void prepare(Thread &thread, Stack &stack) {
    stack.owner = &thread;
    thread.stack = &stack;
    thread.spins = 0;
    thread.local = thread.local_top = stack.top;
    thread.local_end = stack.local_end;
    thread.stack_limit = stack.low + headroom;
}

void start_thread(Thread *thread, void **saved) {
    Stack *stack = thread->warp->block->worker->stacks.take();
    prepare(*thread, *stack);
    beaver_fiber_start(saved, stack->top, run_thread, thread);
}

void wait_long(Thread *self) {
    Block &block = *self->warp->block;
    if (block.spinning && --block.turns == 0) block.release_spinning();
    Thread *next = block.next(*self->warp);
    if (next == self) return;
    if (!next)
        beaver_fiber_switch(&self->saved, block.worker->context);
    else if (next->saved)
        beaver_fiber_switch(&self->saved, next->saved);
    else
        start_thread(next, &self->saved);
}

void retire(Thread *self) {
    Warp &warp = *self->warp;
    Block &block = *warp.block;
    warp.exited |= bit(self->lane);
    --block.alive;
    ++block.progress;
    self->saved = nullptr;
    block.worker->stacks.give(self->stack);
    block.runnable |= bit(warp.index);  // meetings may have become complete
    if (block.barriers) complete_barriers(block);
}

namespace {

// Runs another thread of the block, or goes back to the worker when none can run.
[[noreturn]] void go_on(Warp &warp) {
    Block &block = *warp.block;
    Thread *next = block.next(warp);
    if (!next) block.worker->leave();
    void *dropped;
    // The next thread may begin on this very stack.
    if (next->saved)
        beaver_fiber_switch(&dropped, next->saved);
    else
        start_thread(next, &dropped);
    __builtin_unreachable();
}

}  // namespace

void exit_thread(Thread *self) {
    retire(self);
    go_on(*self->warp);
}

void halt_thread(Thread *self) {
    Block &block = *self->warp->block;
    if (block.grid->as_loops) block.worker->leave();
    go_on(*self->warp);
}

}  // namespace beaver
