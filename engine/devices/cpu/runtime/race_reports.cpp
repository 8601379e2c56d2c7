// racecheck's blocks: which are running, and what a grid's blocks have found together. Reports are printed at the end of a grid.
#include <cstddef>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "execution.hpp"
#include "options.hpp"
#include "racecheck.hpp"
#include "report.hpp"
#include "tools.hpp"

namespace beaver {
namespace {

std::mutex lock;
std::unordered_map<const beaver_block *, std::unique_ptr<BlockRaces>> running;
std::vector<std::unique_ptr<BlockRaces>> idle;
Hazards found;
const beaver_kernel *kernel = nullptr;
std::uint64_t grid = 0, blocks_left = 0;

thread_local const beaver_block *last_block = nullptr;
thread_local BlockRaces *last_races = nullptr;

// A block stays on its OS thread.
BlockRaces &races_of(const beaver_thread *thread) {
    if (last_block != thread->block) {
        const std::lock_guard<std::mutex> guard(lock);
        last_races = running.at(thread->block).get();
        last_block = thread->block;
    }
    return *last_races;
}

std::string describe_side(const RaceSide &side) {
    return std::string(side.write ? "Write" : "Read") + " access at " + describe(kernel, side.site);
}

bool same(const RaceSide &one, const RaceSide &other) { return !(one < other) && !(other < one); }

// The side that takes part in most of the hazards; of several the one that comes first.
RaceSide busiest_side() {
    std::map<RaceSide, std::size_t> degrees;
    for (const auto &[sides, count] : found) {
        ++degrees[sides.first];
        if (!same(sides.first, sides.second)) ++degrees[sides.second];
    }
    auto busiest = degrees.begin();
    for (auto side = degrees.begin(); side != degrees.end(); ++side)
        if (side->second > busiest->second) busiest = side;
    return busiest->first;
}

// As compute-sanitizer groups them: one report for an access and all that it races with.
void print_found() {
    while (!found.empty()) {
        const RaceSide head = busiest_side();
        std::string text = "Race reported between " + describe_side(head);
        bool error = false;
        for (auto hazard = found.begin(); hazard != found.end();) {
            const auto &[sides, count] = *hazard;
            if (!same(sides.first, head) && !same(sides.second, head)) {
                ++hazard;
                continue;
            }
            const RaceSide &partner = same(sides.first, head) ? sides.second : sides.first;
            text += "\n    and " + describe_side(partner) + " [" + std::to_string(count.bytes) + " hazards]";
            error |= count.error;
            hazard = found.erase(hazard);
        }
        if (error || options().warnings)
            report_lines((error ? "Error: " : "Warning: ") + text, error ? Severity::error : Severity::warning);
    }
}

void block_begins(const beaver_thread *thread) {
    const beaver_block *block = thread->block;
    const std::lock_guard<std::mutex> guard(lock);
    if (grid != block->grid || blocks_left == 0) {
        print_found();  // of a grid that a fault ended
        grid = block->grid;
        kernel = launch_of(thread).kernel;
        blocks_left = std::uint64_t{block->nctaid[0]} * block->nctaid[1] * block->nctaid[2];
    }
    std::unique_ptr<BlockRaces> &races = running[block];
    if (!races && !idle.empty()) {
        races = std::move(idle.back());
        idle.pop_back();
    }
    if (!races) races = std::make_unique<BlockRaces>();
    races->begin(thread);
    last_block = block;
    last_races = races.get();
}

void block_ends(const beaver_block *block) {
    const std::lock_guard<std::mutex> guard(lock);
    const auto entry = running.find(block);
    if (entry == running.end()) return;
    for (const auto &[sides, count] : entry->second->end()) {
        RaceCount &total = found[sides];
        total.bytes += count.bytes;
        total.error |= count.error;
    }
    idle.push_back(std::move(entry->second));
    running.erase(entry);
    last_block = nullptr;
    if (--blocks_left == 0) print_found();
}

void barrier_passed(const beaver_thread *thread) { races_of(thread).all_met(); }

void warps_met(const beaver_thread *thread, std::uint32_t warps) { races_of(thread).warps_met(warps); }

void warp_synced(const beaver_thread *thread, std::uint32_t mask) {
    races_of(thread).lanes_met(thread->linear / BEAVER_WARP, mask);
}

}  // namespace

void start_racecheck() {
    hooks.block_begins = block_begins;
    hooks.block_ends = block_ends;
    hooks.barrier_passed = barrier_passed;
    hooks.warps_met = warps_met;
    hooks.warp_synced = warp_synced;
}

void finish_racecheck() {
    const std::lock_guard<std::mutex> guard(lock);
    print_found();
}

void race_access(const beaver_thread *thread, std::uint32_t address, std::uint32_t size, bool write, const beaver_site *site) {
    races_of(thread).access(thread, address - BEAVER_SHARED_BASE, size, write, site);
}

}  // namespace beaver
