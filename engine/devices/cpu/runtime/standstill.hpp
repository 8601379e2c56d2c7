// When a grid cannot come to an end any more, and what is said then.
//
// A deadlock is a block whose threads all wait for each other. It shows at once. Threads that spin may still be waiting for what
// another thread does, so a livelock is only called one after options().stall seconds in which nothing ended, and when all that
// runs is then seen to come back to the very state that it was in before, again and again: same stacks, same registers.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "kernel_abi.h"

namespace beaver {

struct Block;
struct Grid;
struct Operation;
struct Thread;
struct Worker;

// Who waits where.
class Census {
   public:
    void count(const Block &block);
    // "255 threads wait at bar.sync 0 in file.cu:12 (first: thread (1,0,0) in block (0,0,0))", a line each, the largest group first.
    std::string lines() const;

   private:
    struct Group {
        std::string verb, at;  // "wait", " at bar.sync 0"
        const beaver_site *site;
        std::uint64_t threads;
        std::pair<std::uint64_t, std::uint32_t> first;  // index of its block, number in it
        std::string first_name;
    };
    void add(const Block &block, const Thread &thread, const std::string &verb, const std::string &at);
    std::vector<Group> groups_;
    std::uint64_t exited_ = 0;
};

// Ends the process: no thread of this block can go on.
[[noreturn]] void report_deadlock(Block &block);

// Looks for a cycle in the states that a worker's rounds over its blocks end in (Brent's method: a state is kept for twice as
// many rounds each time). A spin may take several rounds to come back to where it was.
struct Rounds {
    std::uint64_t kept = 0;       // a state that was seen
    unsigned since = 0;           // rounds since then
    unsigned patience = 1;        // rounds until another one is kept
    unsigned recurrences = 0;     // how often the kept state has been seen again
    bool counted = false;         // among the workers that are stuck

    void see(std::uint64_t state);
};

class Standstill {
   public:
    Standstill();
    void worker_joins() { ++workers_; }
    void worker_leaves(Worker &worker);
    // Something ended in this worker's last round.
    void progress(Worker &worker);
    // Nothing did. Lets other OS threads run; ends the process when the grid is known to be stuck.
    void rest(Worker &worker);

   private:
    void restart(Worker &worker);
    [[noreturn]] void report(Worker &worker);
    void contribute(Worker &worker);

    std::atomic<std::int64_t> last_progress_;  // nanoseconds
    std::atomic<unsigned> workers_{0}, stuck_{0}, told_{0};
    std::atomic<bool> found_{false};
    std::mutex census_lock_;
    Census census_;
};

}  // namespace beaver
