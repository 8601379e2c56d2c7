// Barriers of a block: bar.sync, bar.arrive and bar.red (PTX ISA, "barrier{.cta}"), and that of its cluster.
#include "block.hpp"
#include "execution.hpp"
#include "grid.hpp"

namespace beaver {
namespace {

// A barrier of a given number of threads counts whole warps: lanes that do not exist or have exited arrive with the others of
// theirs.
std::uint32_t arrived_threads(const Block &block, const Barrier &barrier) {
    std::uint32_t count = barrier.arrived;
    for_each_bit(barrier.warps,
                 [&](std::uint32_t index) { count += static_cast<std::uint32_t>(__builtin_popcount(~block.warps[index].alive())); });
    return count;
}

bool is_complete(const Block &block, const Barrier &barrier) {
    if (barrier.expected == 0) return barrier.arrived >= block.alive;
    return barrier.arrived >= barrier.expected || arrived_threads(block, barrier) >= barrier.expected;
}

std::uint32_t reduced(const Barrier &barrier) {
    switch (barrier.reduction) {
        case BEAVER_RED_AND: return barrier.held == barrier.reduced;
        case BEAVER_RED_OR: return barrier.held != 0;
        default: return barrier.held;
    }
}

// A lane that left before the barrier is none of a warp's any more; one that was seen behind it went past it.
bool passed_by(const Thread &thread, const beaver_site &site) {
    return thread.site && thread.site->function == site.function && thread.site->offset > site.offset;
}

// synccheck: a barrier that is meant for whole warps has been reached by a part of one, or its lanes came from different places.
// Reports those that are not where the first lane is, or all when others are elsewhere. False when there is nothing to report.
bool tell_divergence(Block &block, const Barrier &barrier) {
    bool told = false;
    for_each_bit(barrier.warps, [&](std::uint32_t index) {
        const Warp &warp = block.warps[index];
        const std::uint32_t lanes = barrier.waiting[index];
        if (!lanes) return;
        const beaver_site *site = warp.lanes[__builtin_ctz(lanes)].site;
        bool incomplete = (warp.alive() & ~lanes) != 0;
        for_each_bit(warp.present & ~lanes, [&](std::uint32_t lane) { incomplete |= passed_by(warp.lanes[lane], *site); });
        for_each_bit(lanes, [&](std::uint32_t lane) {
            const Thread &thread = warp.lanes[lane];
            if (!incomplete && thread.site == site) return;
            hooks.divergent_barrier(&thread, thread.site);
            block.grid->fail(cudaErrorLaunchFailure);  // as the tool does
            told = true;
        });
    });
    return told;
}

// Every waiting lane can run again.
void release(Block &block, std::uint32_t number) {
    Barrier &barrier = block.barrier[number];
    if (barrier.expected == 0 && hooks.divergent_barrier) tell_divergence(block, barrier);
    const bool everybody = barrier.arrived >= block.alive;
    const std::uint32_t result = reduced(barrier);
    for_each_bit(barrier.warps, [&](std::uint32_t index) {
        Warp &warp = block.warps[index];
        const std::uint32_t lanes = barrier.waiting[index];
        barrier.waiting[index] = 0;
        if (barrier.reduction >= 0) for_each_bit(lanes, [&](std::uint32_t lane) { warp.lanes[lane].result = result; });
        make_ready(warp, lanes);
    });
    barrier.arrived = barrier.warps = barrier.reduced = barrier.held = 0;
    barrier.reduction = -1;
    block.barriers &= ~bit(number);
    ++block.progress;
    if (everybody && hooks.barrier_passed) hooks.barrier_passed(&block.threads.front());
}

Barrier &arrive(Thread *self, std::uint32_t number, std::uint32_t count) {
    Block &block = *self->warp->block;
    Barrier &barrier = block.barrier[number];
    block.barriers |= bit(number);
    barrier.expected = count;
    ++barrier.arrived;
    barrier.warps |= bit(self->warp->index);
    return barrier;
}

// Returns when all have come.
void await(Thread *self, Barrier &barrier, std::uint32_t number, const beaver_site *site) {
    Block &block = *self->warp->block;
    self->site = site;
    barrier.waiting[self->warp->index] |= bit(self->lane);
    if (!is_complete(block, barrier)) return wait(self);
    release(block, number);
    self->warp->ready &= ~bit(self->lane);  // it runs on at once
}

// The translator passes registers through unchecked.
constexpr std::uint32_t named(std::uint32_t number) { return number % named_barriers; }

}  // namespace

bool report_divergence(Block &block) {
    bool told = false;
    for_each_bit(block.barriers, [&](std::uint32_t number) {
        const Barrier &barrier = block.barrier[number];
        if (barrier.expected == 0 && hooks.divergent_barrier) told |= tell_divergence(block, barrier);
    });
    return told;
}

void complete_barriers(Block &block) {
    for_each_bit(block.barriers, [&](std::uint32_t number) {
        if (is_complete(block, block.barrier[number])) release(block, number);
    });
}

}  // namespace beaver

using namespace beaver;

void beaver_bar_sync(beaver_thread *thread, std::uint32_t number, std::uint32_t count, const beaver_site *site) {
    Thread *self = thread_of(thread);
    number = named(number);
    await(self, arrive(self, number, count), number, site);
}

void beaver_cluster_sync(beaver_thread *thread, const beaver_site *site) {
    Thread *self = thread_of(thread);
    await(self, arrive(self, cluster_barrier, 0), cluster_barrier, site);
}

void beaver_bar_arrive(beaver_thread *thread, std::uint32_t number, std::uint32_t count, const beaver_site *) {
    Thread *self = thread_of(thread);
    number = named(number);
    Block &block = *self->warp->block;
    if (is_complete(block, arrive(self, number, count))) release(block, number);
}

std::uint32_t beaver_bar_red(beaver_thread *thread, std::uint32_t number, std::uint32_t count, int op,
                             std::uint32_t predicate, const beaver_site *site) {
    Thread *self = thread_of(thread);
    number = named(number);
    Barrier &barrier = arrive(self, number, count);
    barrier.reduction = op;
    ++barrier.reduced;
    barrier.held += predicate != 0;
    await(self, barrier, number, site);
    return self->result;
}
