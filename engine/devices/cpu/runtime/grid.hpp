// A grid while it runs, and the OS threads that run it.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "block.hpp"
#include "execution.hpp"
#include "fiber.hpp"
#include "standstill.hpp"

namespace beaver {

// What every running thread looks at on its way round a loop.
inline beaver_control &control() { return *reinterpret_cast<beaver_control *>(BEAVER_CONTROL); }

struct Grid {
    const Launch &launch;
    const beaver_kernel &kernel;
    std::uint64_t id;      // from 1
    std::uint64_t blocks;  // how many
    std::uint32_t block_threads;
    bool as_loops;  // its threads never wait: each block is one call
    std::uint64_t workspace = 0;
    std::uint64_t resident_limit;  // blocks that a GPU would hold at the same time
    std::uint64_t share;           // blocks that one worker may have at a time

    std::atomic<std::uint64_t> taken{0};
    std::atomic<std::uint64_t> resident{0};
    std::atomic<int> error{cudaSuccess};
    std::atomic<bool> stopped{false};
    std::atomic<bool> draining{false};         // an assertion failed, or a tool saw a fault
    std::atomic<std::int64_t> drain_end{0};  // when what still runs then is stopped, in nanoseconds
    Standstill standstill;

    // ``workers`` OS threads will take part in it.
    Grid(const Launch &of_launch, std::uint64_t with_id, unsigned workers);

    // The index of a block that nobody has begun; none when all have been, or as many are resident as may be.
    std::optional<std::uint64_t> take();
    // The first error is the grid's.
    void fail(cudaError_t what);
    // Fails, and makes every worker drop what it runs.
    void stop(cudaError_t what);

    // An assertion failed, or a thread under a tool. A GPU's threads do not stop at once, and others that fail say so too: threads
    // that can run go on until they wait, those that a GPU would have begun by now are begun, and the grid ends then.
    void drain(cudaError_t what);

    // What printf printed in a block that has ended.
    void print(std::uint64_t block_index, std::string &&text);
    // Writes it all to stdout, in the order of blocks.
    void flush();

   private:
    std::mutex output_lock_;
    std::vector<std::pair<std::uint64_t, std::string>> output_;
    std::size_t output_bytes_ = 0;
};

// A signal that came while a kernel ran.
struct Crash {
    int signal = 0;  // 0: none
    std::uintptr_t address = 0, instruction = 0, stack_pointer = 0;
};

// One OS thread that runs blocks, and what it keeps from grid to grid.
struct Worker {
    void *context = nullptr;       // where its own stack waits while a kernel runs
    volatile bool inside = false;  // a kernel runs
    Crash crash;
    StackPool stacks;
    Grid *grid = nullptr;
    std::vector<Block *> resident;
    Rounds rounds;
    bool clock_was_read = false;

    // Runs blocks of the grid until none is left to take. ``block_ended`` is told after each.
    void run(Grid &of_grid, void (*block_ended)(Grid &));
    // Leaves the running thread, for good unless its ``saved`` is set.
    [[noreturn]] void leave();

   private:
    enum class Outcome { ended, spinning, stopped };
    void run_loops(void (*block_ended)(Grid &));
    void run_threads(void (*block_ended)(Grid &));
    Block *begin_block();
    void end_block(Block &block);
    Outcome run_block(Block &block);
    void enter(Thread *thread);
    void settle_crash(Block &block);

    std::vector<std::unique_ptr<Block>> blocks_;  // all it ever made
    std::vector<Block *> spare_;
};

// The worker that this OS thread is; nullptr outside of grids. Read by signal handlers, so it must need no allocation.
extern __thread Worker *this_worker __attribute__((tls_model("initial-exec")));

// Under memcheck reports what a thread did, in the tool's words. Returns the error that the program sees then.
cudaError_t report_exception(const beaver_thread *thread, const beaver_site *site, const std::string &what,
                             const std::string &details, cudaError_t error);
// Records that the thread failed. True when the grid goes on without it, as it does under a tool; otherwise it has been stopped.
bool fail_thread(Thread &thread, cudaError_t error);

// Called before every grid: after options().budget seconds every kernel is asked to poll.
void watch_budget();
// Says once where the kernel is, when the budget is used up.
void say_where_if_due(const Thread &thread, const beaver_site *site);

// Runs the grid on the calling thread, and on helpers where that pays.
void run_on_workers(Grid &grid);
// OS threads that can take part, the calling one included.
unsigned worker_count();

// While it lives, a signal that a kernel raises ends the grid instead of the process.
class KernelSignals {
   public:
    KernelSignals();
    ~KernelSignals();
    KernelSignals(const KernelSignals &) = delete;
    KernelSignals &operator=(const KernelSignals &) = delete;
};
// The stack that this OS thread handles signals on; a helper keeps it for good.
class SignalStack {
   public:
    SignalStack();
    ~SignalStack();
    SignalStack(const SignalStack &) = delete;
    SignalStack &operator=(const SignalStack &) = delete;

   private:
    std::unique_ptr<std::uint8_t[]> bytes_;
};

}  // namespace beaver
