// The time budget: a kernel that still runs when it is used up is named, so that a timeout says where the time went.
#include <atomic>
#include <chrono>
#include <cstdio>
#include <mutex>
#include <thread>

#include "clock.hpp"
#include "grid.hpp"
#include "options.hpp"
#include "report.hpp"

namespace beaver {
namespace {

// The library is loaded when the process begins.
const std::int64_t process_began = nanoseconds_now();
std::atomic<bool> due{false};

void say_where(const Thread &thread, const beaver_site *site) {
    const beaver_kernel &kernel = thread.warp->block->grid->kernel;
    char seconds[32];
    std::snprintf(seconds, sizeof seconds, "%.1f", static_cast<double>(nanoseconds_now() - process_began) / 1e9);
    announce("kernel " + demangle(kernel.name) + " still runs after " + seconds + " s: " + name_of(thread) + " is at " +
             describe(&kernel, site));
}

}  // namespace

void watch_budget() {
    static std::once_flag once;
    std::call_once(once, [] {
        if (options().budget <= 0) return;
        const auto left = std::chrono::nanoseconds(process_began - nanoseconds_now()) +
                          std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::duration<double>(options().budget));
        std::thread([left] {
            std::this_thread::sleep_for(left);
            due = true;
            control().poll = 1;
        }).detach();
    });
}

void say_where_if_due(const Thread &thread, const beaver_site *site) {
    const Grid &grid = *thread.warp->block->grid;
    if (!due.exchange(false)) return;
    control().poll = 0;
    if (grid.stopped || grid.draining) control().poll = 1;  // which may have happened in between
    say_where(thread, site);
}

}  // namespace beaver
