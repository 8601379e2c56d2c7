#include "standstill.hpp"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <utility>

#include "clock.hpp"
#include "grid.hpp"
#include "options.hpp"
#include "report.hpp"

namespace beaver {
namespace {

constexpr std::size_t most_groups = 8;  // that a report names
// Cycles that prove that a worker is stuck. One would do if memory were part of the state.
constexpr unsigned enough_recurrences = 8;
// A cycle that is longer is none that threads spin in.
constexpr unsigned longest_cycle = 256;

std::string place(const beaver_site *site) {
    if (!site || !site->file || !site->line) return "at an unknown line";
    const char *name = std::strrchr(site->file, '/');
    return std::string("in ") + (name ? name + 1 : site->file) + ":" + std::to_string(site->line);
}

std::string hexadecimal(std::uint32_t value) {
    char text[16];
    std::snprintf(text, sizeof text, "0x%08x", value);
    return text;
}

std::uint64_t mix(std::uint64_t state, std::uint64_t word) { return (state ^ word) * 0x9e3779b97f4a7c15ull ^ (state >> 29); }

std::uint64_t mix_words(std::uint64_t state, const std::uint8_t *begin, const std::uint8_t *end) {
    for (; end - begin >= 8; begin += 8) {
        std::uint64_t word;
        std::memcpy(&word, begin, sizeof word);
        state = mix(state, word);
    }
    return state;
}

// Everything that a thread's next step can depend on but memory: its registers, which a switch has put on its stack, and the
// stack and local memory themselves.
std::uint64_t state_of(const Worker &worker) {
    std::uint64_t state = 0;
    for (const Block *block : worker.resident) {
        state = mix(state, block->index);
        for (const Thread &thread : block->threads) {
            state = mix(state, reinterpret_cast<std::uintptr_t>(thread.saved));
            if (!thread.saved) continue;
            state = mix_words(state, static_cast<const std::uint8_t *>(thread.saved), thread.stack->top);
            state = mix_words(state, thread.local, thread.local_top);
        }
    }
    return state;
}

}  // namespace

void Census::add(const Block &block, const Thread &thread, const std::string &verb, const std::string &at) {
    auto group = std::find_if(groups_.begin(), groups_.end(), [&](const Group &other) {
        return other.site == thread.site && other.verb == verb && other.at == at;
    });
    if (group == groups_.end()) group = groups_.insert(group, {verb, at, thread.site, 0, {}, ""});
    const auto place = std::make_pair(block.index, thread.linear);
    if (group->threads++ && group->first < place) return;
    group->first = place;
    group->first_name = name_of(thread);
}

void Census::count(const Block &block) {
    for (const Warp &warp : block.warps) {
        exited_ += static_cast<unsigned>(__builtin_popcount(warp.exited));
        for_each_bit(warp.spinning | warp.ready, [&](std::uint32_t lane) { add(block, warp.lanes[lane], "spin", ""); });
        for_each_bit(warp.open, [&](std::uint32_t open) {
            const Meeting &meeting = warp.meetings[open];
            const std::string at = std::string(" at ") + meeting.operation->name + " (mask " + hexadecimal(meeting.mask) + ")";
            for_each_bit(meeting.arrived, [&](std::uint32_t lane) { add(block, warp.lanes[lane], "wait", at); });
        });
        for_each_bit(block.barriers, [&](std::uint32_t number) {
            const Barrier &barrier = block.barrier[number];
            std::string at = number == cluster_barrier ? " at barrier.cluster.wait" : " at bar.sync " + std::to_string(number);
            if (barrier.expected) at += ", " + std::to_string(barrier.expected);
            for_each_bit(barrier.waiting[warp.index], [&](std::uint32_t lane) { add(block, warp.lanes[lane], "wait", at); });
        });
    }
}

std::string Census::lines() const {
    std::vector<Group> sorted = groups_;
    std::stable_sort(sorted.begin(), sorted.end(), [](const Group &x, const Group &y) { return x.threads > y.threads; });
    std::string text;
    std::uint64_t others = 0;
    for (std::size_t index = 0; index < sorted.size(); ++index) {
        const Group &group = sorted[index];
        if (index >= most_groups) {
            others += group.threads;
            continue;
        }
        const bool one = group.threads == 1;
        text += "\n    " + std::to_string(group.threads) + (one ? " thread " : " threads ") + group.verb + (one ? "s" : "") +
                group.at + " " + place(group.site) + " (first: " + group.first_name + ")";
    }
    if (others) text += "\n    " + std::to_string(others) + " more wait elsewhere";
    if (exited_) text += "\n    " + std::to_string(exited_) + (exited_ == 1 ? " thread has" : " threads have") + " exited";
    return text;
}

namespace {

// What waits for a block that cannot begin waits for ever, on a GPU as well; but a GPU may hold more blocks.
std::string waiting_blocks(const Grid &grid) {
    const std::uint64_t taken = std::min<std::uint64_t>(grid.taken, grid.blocks);
    if (taken == grid.blocks) return "";
    return "\n    " + std::to_string(grid.blocks - taken) + " of " + std::to_string(grid.blocks) +
           " blocks have not begun: this device holds " + std::to_string(grid.resident_limit) + " of them at a time";
}

[[noreturn]] void give_up_deadlocked(Grid &grid, const std::string &why, const std::string &lines) {
    grid.flush();
    give_up("deadlock in kernel " + demangle(grid.kernel.name) + ": " + why + lines + waiting_blocks(grid), Exit::deadlock);
}

// A launch runs to its end before anything else does.
constexpr char outside[] =
    "\n    what waits here for the host or for another stream waits in vain: neither goes on before a kernel has ended on this device";

// What the threads that will never end have printed so far is shown too.
void hand_over_output(Worker &worker) {
    for (Block *block : worker.resident)
        if (!block->output.empty()) worker.grid->print(block->index, std::move(block->output));
}

}  // namespace

void report_deadlock(Block &block) {
    Census census;
    census.count(block);
    hand_over_output(*block.worker);
    const std::uint32_t(&at)[3] = block.view.ctaid;
    give_up_deadlocked(*block.grid,
                       "no thread of block (" + std::to_string(at[0]) + "," + std::to_string(at[1]) + "," + std::to_string(at[2]) +
                           ") can go on",
                       census.lines());
}

Standstill::Standstill() : last_progress_(nanoseconds_now()) {}

void Standstill::worker_leaves(Worker &worker) {
    progress(worker);
    --workers_;
}

void Standstill::progress(Worker &worker) {
    last_progress_ = nanoseconds_now();
    restart(worker);
}

void Standstill::restart(Worker &worker) {
    if (worker.rounds.counted) --stuck_;
    worker.rounds = {};
}

void Rounds::see(std::uint64_t state) {
    ++since;
    if (state == kept) {
        ++recurrences;
        since = 0;
    } else if (since == patience) {
        *this = {state, 0, patience * 2, 0, false};
    }
}

void Standstill::rest(Worker &worker) {
    sched_yield();
    if (found_) contribute(worker);
    const auto patience = static_cast<std::int64_t>(options().stall * 1e9);
    // What looks at the clock waits for time to pass, which it will.
    const Grid &grid = *worker.grid;
    const bool more_to_begin = grid.taken < grid.blocks && grid.resident < grid.resident_limit;
    const auto is_quiet = [&] { return !more_to_begin && nanoseconds_now() - last_progress_ >= patience; };
    if (std::exchange(worker.clock_was_read, false) || !is_quiet()) return restart(worker);
    Rounds &rounds = worker.rounds;
    if (rounds.counted) {
        // A worker that leaves says that something ended before it is no longer counted.
        if (stuck_ == workers_ && is_quiet() && !found_.exchange(true)) report(worker);
        return;
    }
    rounds.see(state_of(worker));
    if (rounds.patience > longest_cycle) return progress(worker);
    if (rounds.recurrences < enough_recurrences) return;
    rounds.counted = true;
    ++stuck_;
}

// Each worker counts its own threads: another's may be running.
void Standstill::contribute(Worker &worker) {
    hand_over_output(worker);
    {
        const std::lock_guard guard(census_lock_);
        for (const Block *block : worker.resident) census_.count(*block);
    }
    ++told_;
    for (;;) pause();
}

void Standstill::report(Worker &worker) {
    hand_over_output(worker);
    const std::int64_t begun = nanoseconds_now();
    while (told_ + 1 < workers_ && nanoseconds_now() - begun < 1'000'000'000) sched_yield();
    const std::lock_guard guard(census_lock_);
    for (const Block *block : worker.resident) census_.count(*block);
    char seconds[32];
    std::snprintf(seconds, sizeof seconds, "%g", options().stall);
    give_up_deadlocked(*worker.grid, std::string("all threads only spin or wait, nothing has changed for ") + seconds + " s",
                       census_.lines() + outside);
}

}  // namespace beaver
