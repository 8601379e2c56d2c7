// A block of CUDA threads on one OS thread: who runs, who waits, and for what.
//
// Nobody schedules: a thread that has to wait picks the next one itself and switches to it, lanes of its own warp first. What can
// run and what waits are bit masks, so that picking is a bit scan and a barrier wakes a warp with one `or`.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "fiber.hpp"
#include "kernel_abi.h"

namespace beaver {

struct Block;
struct Grid;
struct Warp;
struct Worker;

// The size is two cache lines: the kernel reads the first, a switch the second.
struct alignas(128) Thread : beaver_thread {
    void *saved;              // its stack pointer while it waits; nullptr before its first step and after its end
    Warp *warp;
    Stack *stack;
    const beaver_site *site;  // where it waits, or was last seen
    std::uint32_t result;     // what the completed operation left for it
    std::uint8_t flag;        // likewise, the predicate
};
static_assert(sizeof(Thread) == 128);

struct Meeting;

// What the lanes of a warp do together. Its address is its identity: lanes meet that give the same mask for the same operation.
struct Operation {
    const char *name;  // as the PTX says it
    // Writes ``result`` and ``flag`` of every lane that arrived.
    void (*complete)(Warp &, const Meeting &);
};

struct Meeting {
    const Operation *operation;
    std::uint32_t mask;     // lanes that are to come
    std::uint32_t arrived;  // lanes that did; 0: free for another meeting
    std::array<std::uint64_t, BEAVER_WARP> operands;
};

struct Warp {
    Block *block = nullptr;
    Thread *lanes = nullptr;
    std::uint32_t index = 0;
    std::uint32_t present = 0;  // lanes that exist
    std::uint32_t exited = 0;
    std::uint32_t ready = 0;     // can run, but do not
    std::uint32_t spinning = 0;  // have looked at memory in vain and let the others run
    std::uint32_t asking = 0;    // want to know which lanes are active
    std::uint32_t open = 0;      // meetings that somebody waits in, by index
    std::vector<Meeting> meetings;

    std::uint32_t alive() const { return present & ~exited; }
};

struct Barrier {
    std::uint32_t expected = 0;  // threads; 0: all that have not exited
    std::uint32_t arrived = 0;   // threads, those that did not wait included
    std::uint32_t warps = 0;     // warps that arrived
    std::uint32_t reduced = 0;   // threads that brought a predicate
    std::uint32_t held = 0;      // those whose predicate was true
    int reduction = -1;          // BEAVER_RED_*, or -1
    std::array<std::uint32_t, BEAVER_WARP> waiting{};  // lanes, by warp
};

// A PTX block has barriers 0 to 15. barrier.cluster is another one: a cluster is one block here.
constexpr std::uint32_t named_barriers = 16, cluster_barrier = named_barriers;

struct Block {
    beaver_block view{};  // what its kernel sees
    Worker *worker = nullptr;
    Grid *grid = nullptr;
    std::uint64_t index = 0;
    std::uint32_t alive = 0;      // threads that have not exited
    std::uint32_t runnable = 0;   // warps with lanes that are ready or ask
    std::uint32_t spinning = 0;   // warps with lanes that spin
    std::uint32_t turns = 0;      // waits until spinning threads get a turn although others are ready
    std::uint32_t barriers = 0;   // those that somebody has arrived at
    std::uint64_t progress = 0;   // barriers passed and threads ended
    std::array<Barrier, named_barriers + 1> barrier;  // by number; the last one is the cluster's
    std::vector<Thread> threads;
    std::vector<Warp> warps;
    std::string output;  // of printf

    // Lays threads and shared memory out for a grid.
    void fit(Grid &for_grid, Worker &on_worker);
    // Makes it the block with this index, about to begin.
    void begin(std::uint64_t block_index);
    // Forgets the threads that have not ended.
    void drop();
    // Makes a thread the one with this number in the block.
    void identify(Thread &thread, std::uint32_t linear) const;

    // The thread to run next, no longer ready; nullptr when all wait or spin. Prefers ``warp``.
    Thread *next(Warp &warp);
    void release_spinning();

   private:
    struct Free {
        void operator()(std::uint8_t *bytes) const;
    };
    std::unique_ptr<std::uint8_t, Free> shared_;
    std::size_t shared_capacity_ = 0;
    std::uint64_t fitted_ = 0;  // the grid's id
};

inline Thread *thread_of(beaver_thread *thread) { return static_cast<Thread *>(thread); }
inline const Thread *thread_of(const beaver_thread *thread) { return static_cast<const Thread *>(thread); }
// "thread (1,0,0) in block (0,0,0)"
std::string name_of(const Thread &thread);
inline std::uint32_t bit(std::uint32_t index) { return 1u << index; }

// Calls action(index) for every bit that is set, lowest first.
template <class Action>
inline void for_each_bit(std::uint32_t mask, Action action) {
    for (; mask; mask &= mask - 1) action(static_cast<std::uint32_t>(__builtin_ctz(mask)));
}

// Gives the thread the stack, and the local memory that is part of it.
void prepare(Thread &thread, Stack &stack);
// Begins the thread on a stack of its own; ``*saved`` keeps what runs now.
void start_thread(Thread *thread, void **saved);
// Goes on with another thread, or with the worker's own stack when there is none.
void wait_long(Thread *self);
// Lets others run until something has made the thread ready. Its lane is in one of the masks by then.
inline void wait(Thread *self) {
    Warp &warp = *self->warp;
    const std::uint32_t ready = warp.ready;
    if (!ready || warp.block->spinning) return wait_long(self);
    warp.ready = ready & (ready - 1);
    Thread *next = &warp.lanes[__builtin_ctz(ready)];
    if (next->saved) return beaver_fiber_switch(&self->saved, next->saved);
    start_thread(next, &self->saved);
}
// The thread has ended: completes what waited only for it, and gives its stack back. The caller may still stand on that.
void retire(Thread *self);
[[noreturn]] void exit_thread(Thread *self);
// Lanes of the warp can run.
inline void make_ready(Warp &warp, std::uint32_t lanes) {
    warp.ready |= lanes;
    if (warp.ready) warp.block->runnable |= bit(warp.index);
}

// The thread never runs again, but has not ended either: nobody stops waiting for it.
[[noreturn]] void halt_thread(Thread *self);

// barrier.cpp: a thread that others may have been waiting for has exited.
void complete_barriers(Block &block);
// barrier.cpp: the block is deadlocked. Under synccheck reports lanes that wait at a barrier without the rest of their warp; false
// when there are none.
bool report_divergence(Block &block);
// warp.cpp: no lane of the warp can run. Finishes the meetings that have all their lanes.
void settle_meetings(Warp &warp);
// Tells every lane that asks from where the lowest asking one does, which they are. They are ready then.
void answer_active_mask(Warp &warp);

}  // namespace beaver
