// The OS threads that help with a grid, and when it pays to wake them.
#include <condition_variable>
#include <deque>
#include <system_error>
#include <thread>
#include <unordered_map>

#include "clock.hpp"
#include "grid.hpp"
#include "options.hpp"

namespace beaver {
namespace {

// A grid shorter than this is over before a helper has woken up.
constexpr std::int64_t worth_waking = 50'000;  // nanoseconds

class Helpers {
   public:
    // Never destroyed: the threads wait until the process ends.
    static Helpers &instance() {
        static auto *helpers = new Helpers;
        return *helpers;
    }

    unsigned count() const { return static_cast<unsigned>(helpers_.size()); }

    void run(Grid &grid) {
        const SignalStack stack;
        const KernelSignals signals;
        asked_ = false;
        begun_ = nanoseconds_now();
        // A kernel that nothing is known of may run for any time, and its first block with it.
        const auto known = time_per_thread_.find(&grid.kernel);
        if (grid.launch.cooperative || known == time_per_thread_.end() ||
            known->second * static_cast<double>(grid.blocks * grid.block_threads) > static_cast<double>(worth_waking))
            ask(grid);
        caller_.run(grid, [](Grid &running) { instance().block_ended(running); });
        close();
        time_per_thread_[&grid.kernel] =
            static_cast<double>(nanoseconds_now() - begun_) / static_cast<double>(grid.blocks * grid.block_threads);
    }

   private:
    Helpers() {
        for (unsigned started = 1; started < options().threads; ++started) {
            helpers_.emplace_back();
            try {
                std::thread([this, worker = &helpers_.back()] { serve(*worker); }).detach();
            } catch (const std::system_error &) {
                helpers_.pop_back();  // fewer do as well
                return;
            }
        }
    }

    // Called by the calling thread's worker only.
    void block_ended(Grid &grid) {
        if (asked_ || helpers_.empty()) return;
        const std::int64_t spent = nanoseconds_now() - begun_;
        const std::uint64_t taken = grid.taken;
        if (taken >= grid.blocks) return;
        const std::uint64_t left = grid.blocks - taken;
        if (static_cast<double>(spent) / static_cast<double>(taken) * static_cast<double>(left) > worth_waking) ask(grid);
    }

    void ask(Grid &grid) {
        asked_ = true;
        if (helpers_.empty() || grid.blocks == 1) return;
        {
            const std::lock_guard guard(lock_);
            open_ = &grid;
            ++opened_;
        }
        wake_.notify_all();
    }

    void close() {
        std::unique_lock guard(lock_);
        open_ = nullptr;
        left_.wait(guard, [this] { return busy_ == 0; });
    }

    [[noreturn]] void serve(Worker &worker) {
        const SignalStack stack;
        std::uint64_t seen = 0;
        for (std::unique_lock guard(lock_);;) {
            wake_.wait(guard, [&] { return open_ && opened_ != seen; });
            Grid &grid = *open_;
            seen = opened_;
            ++busy_;
            guard.unlock();
            worker.run(grid, [](Grid &) {});
            guard.lock();
            if (--busy_ == 0) left_.notify_one();
        }
    }

    Worker caller_;
    std::deque<Worker> helpers_;
    std::mutex lock_;
    std::condition_variable wake_, left_;
    Grid *open_ = nullptr;        // the grid that helpers may join
    std::uint64_t opened_ = 0;    // how many there were
    unsigned busy_ = 0;           // helpers that are in it
    bool asked_ = false;          // the caller has asked for help with its grid
    std::int64_t begun_ = 0;
    std::unordered_map<const beaver_kernel *, double> time_per_thread_;  // nanoseconds, of each kernel's last grid
};

}  // namespace

unsigned worker_count() { return 1 + Helpers::instance().count(); }

void run_on_workers(Grid &grid) { Helpers::instance().run(grid); }

}  // namespace beaver
