// racecheck: accesses of different threads to the same shared memory that no barrier and no warp operation puts in order.
//
// For every word the last writer and two readers since the block's last barrier are known; a word whose bytes are accessed one by
// one is split into four cells. Lanes of a warp are put in order by the warp operations in which both took part. Two writes of the
// same value do no harm (compute-sanitizer calls them information, and does not show them), so a write behind another one is judged
// once its value is in memory: at the next access to the cell, or at the barrier.
#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "execution.hpp"
#include "report.hpp"
#include "tools.hpp"

namespace beaver {
namespace {

struct Mark {
    const beaver_site *site = nullptr;
    std::uint32_t clock = 0;  // of the thread's warp
    std::uint16_t thread = 0;
    bool atomic = false;
    bool present = false;
};

struct Cell {
    std::uint32_t epoch = 0;  // barriers that the block had passed; an older cell says nothing
    std::uint32_t before = 0;  // value under an unjudged write
    bool unjudged = false, split = false;
    Mark writer, earlier_writer;
    Mark readers[2];  // of different threads, if possible of different warps
};

// When lanes of a warp last met. ``pairs``: for operations that not all of them took part in.
struct WarpClock {
    std::uint32_t now = 1, all = 0;
    std::unique_ptr<std::uint32_t[]> pairs;
};

enum class Kind { write_write, write_read };

struct Hazard {
    const beaver_site *first, *second;  // the writer is the first of a write and a read
    Kind kind;
    bool operator<(const Hazard &other) const {
        return std::tie(first, second, kind) < std::tie(other.first, other.second, other.kind);
    }
};

class BlockRaces {
public:
    void begin(const beaver_thread *thread) {
        const beaver_block *block = thread->block;
        kernel = launch_of(thread).kernel;
        shared = thread->shared;
        threads = block->ntid[0] * block->ntid[1] * block->ntid[2];
        words.resize(std::max<std::size_t>(words.size(), (block->shared_size + 3) / 4));
        warps.clear();
        warps.resize((threads + BEAVER_WARP - 1) / BEAVER_WARP);
        hazards.clear();
        unjudged.clear();
        ++epoch;
    }

    void access(const beaver_thread *thread, std::uint32_t start, std::uint32_t size, std::uint32_t flags, const beaver_site *site) {
        Mark mark;
        mark.site = site;
        mark.clock = warps[thread->linear / BEAVER_WARP].now;
        mark.thread = static_cast<std::uint16_t>(thread->linear);
        mark.atomic = (flags & BEAVER_ATOMIC) != 0;
        mark.present = true;
        for (std::uint32_t at = start; at < start + size;) {
            Cell &word = fresh(words[at / 4]);
            if (at % 4 == 0 && start + size - at >= 4 && !word.split) {
                touch(word, at, 4, flags, mark);
                at += 4;
            } else {
                split(word, at / 4 * 4);
                touch(bytes[at], at, 1, flags, mark);
                ++at;
            }
        }
    }

    void barrier() {
        judge_all();
        ++epoch;
    }

    void warp_sync(std::uint32_t warp_index, std::uint32_t mask) {
        WarpClock &warp = warps[warp_index];
        const std::uint32_t lanes = std::min(BEAVER_WARP, threads - warp_index * BEAVER_WARP);
        const std::uint32_t everyone = lanes == 32 ? ~0u : (1u << lanes) - 1;
        ++warp.now;
        if ((mask & everyone) == everyone) {
            warp.all = warp.now;
            return;
        }
        if (!warp.pairs) warp.pairs = std::make_unique<std::uint32_t[]>(BEAVER_WARP * BEAVER_WARP);
        for (std::uint32_t a = mask; a; a &= a - 1)
            for (std::uint32_t b = mask; b; b &= b - 1)
                warp.pairs[__builtin_ctz(a) * BEAVER_WARP + __builtin_ctz(b)] = warp.now;
    }

    void judge_all() {
        for (const auto &[at, size] : unjudged) judge(size == 4 ? words[at / 4] : bytes[at], at, size);
        unjudged.clear();
    }

    const beaver_kernel *kernel = nullptr;
    std::map<Hazard, std::uint64_t> hazards;  // bytes

private:
    Cell &fresh(Cell &cell) {
        if (cell.epoch != epoch) {
            cell = Cell{};
            cell.epoch = epoch;
        }
        return cell;
    }

    std::uint32_t value(std::uint32_t at, std::uint32_t size) const {
        std::uint32_t read = 0;
        std::memcpy(&read, shared + at, size);
        return read;
    }

    void split(Cell &word, std::uint32_t start) {
        if (word.split) return;
        if (bytes.size() < words.size() * 4) bytes.resize(words.size() * 4);
        if (word.unjudged) judge(word, start, 4);
        for (std::uint32_t at = start; at < start + 4; ++at) bytes[at] = word;
        word.split = true;
    }

    bool in_order(const Mark &earlier, const Mark &now) const {
        if (!earlier.present || earlier.thread == now.thread) return true;
        if (earlier.atomic && now.atomic) return true;
        if (earlier.thread / BEAVER_WARP != now.thread / BEAVER_WARP) return false;
        const WarpClock &warp = warps[now.thread / BEAVER_WARP];
        const std::uint32_t a = earlier.thread % BEAVER_WARP, b = now.thread % BEAVER_WARP;
        const std::uint32_t met = warp.pairs ? std::max(warp.all, warp.pairs[a * BEAVER_WARP + b]) : warp.all;
        return met > earlier.clock;
    }

    void touch(Cell &cell, std::uint32_t at, std::uint32_t size, std::uint32_t flags, const Mark &mark) {
        if (cell.unjudged) judge(cell, at, size);
        const bool ordered = in_order(cell.writer, mark);
        if ((flags & BEAVER_READ) && !ordered) hazards[{cell.writer.site, mark.site, Kind::write_read}] += size;
        if (!(flags & BEAVER_WRITE)) return add_reader(cell, mark);
        for (const Mark &reader : cell.readers)
            if (!in_order(reader, mark)) hazards[{mark.site, reader.site, Kind::write_read}] += size;
        if (!(flags & BEAVER_READ) && !ordered) {
            cell.unjudged = true;
            cell.earlier_writer = cell.writer;
            cell.before = value(at, size);
            unjudged.emplace_back(at, size);
        }
        cell.writer = mark;
        cell.readers[0] = cell.readers[1] = Mark{};
    }

    static void add_reader(Cell &cell, const Mark &mark) {
        for (Mark &reader : cell.readers)
            if (!reader.present || reader.thread == mark.thread) {
                reader = mark;
                return;
            }
        const bool elsewhere = mark.thread / BEAVER_WARP != cell.readers[0].thread / BEAVER_WARP;
        if (elsewhere) cell.readers[1] = mark;
    }

    void judge(Cell &cell, std::uint32_t at, std::uint32_t size) {
        if (cell.epoch != epoch || !cell.unjudged) return;
        cell.unjudged = false;
        if (value(at, size) == cell.before) return;
        const auto [first, second] = std::minmax(cell.earlier_writer.site, cell.writer.site);
        hazards[{first, second, Kind::write_write}] += size;
    }

    std::uint8_t *shared = nullptr;
    std::uint32_t threads = 0, epoch = 0;
    std::vector<Cell> words, bytes;
    std::vector<WarpClock> warps;
    std::vector<std::pair<std::uint32_t, std::uint32_t>> unjudged;  // offset and size; judged earlier, or overtaken, is no harm
};

// ---- the blocks that run, and what the grid's blocks have found so far
std::mutex lock;
std::unordered_map<const beaver_block *, std::unique_ptr<BlockRaces>> running;
std::vector<std::unique_ptr<BlockRaces>> idle;
std::map<std::string, std::uint64_t> found;
std::uint64_t grid = 0, blocks_left = 0;

thread_local const beaver_block *last_block = nullptr;
thread_local BlockRaces *last_races = nullptr;

// A block stays on its OS thread.
BlockRaces &races_of(const beaver_block *block) {
    if (last_block != block) {
        const std::lock_guard<std::mutex> guard(lock);
        last_races = running.at(block).get();
        last_block = block;
    }
    return *last_races;
}

void print_found() {
    for (const auto &[text, hazards] : found)
        report_lines("Error: " + text + " [" + std::to_string(hazards) + " hazards]", Severity::error);
    found.clear();
}

void block_begins(const beaver_thread *thread) {
    const beaver_block *block = thread->block;
    const std::lock_guard<std::mutex> guard(lock);
    if (grid != block->grid || blocks_left == 0) {
        print_found();
        grid = block->grid;
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
    BlockRaces &races = *entry->second;
    races.judge_all();
    for (const auto &[hazard, bytes] : races.hazards) {
        const char *second = hazard.kind == Kind::write_write ? "Write" : "Read";
        found["Race reported between Write access at " + describe(races.kernel, hazard.first) + "\n    and " + second +
              " access at " + describe(races.kernel, hazard.second)] += bytes;
    }
    idle.push_back(std::move(entry->second));
    running.erase(entry);
    last_block = nullptr;
    if (--blocks_left == 0) print_found();
}

void barrier_passed(const beaver_thread *thread) { races_of(thread->block).barrier(); }

void warp_synced(const beaver_thread *thread, std::uint32_t mask) {
    races_of(thread->block).warp_sync(thread->linear / BEAVER_WARP, mask);
}

}  // namespace

void start_racecheck() {
    hooks.block_begins = block_begins;
    hooks.block_ends = block_ends;
    hooks.barrier_passed = barrier_passed;
    hooks.warp_synced = warp_synced;
}

void finish_racecheck() {
    const std::lock_guard<std::mutex> guard(lock);
    print_found();
}

void race_access(const beaver_thread *thread, std::uint32_t address, std::uint32_t size, std::uint32_t flags,
                 const beaver_site *site) {
    races_of(thread->block).access(thread, address - BEAVER_SHARED_BASE, size, flags, site);
}

}  // namespace beaver
