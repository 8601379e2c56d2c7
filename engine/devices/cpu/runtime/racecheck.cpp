// racecheck: accesses of different threads to the same shared memory that no barrier and no __syncwarp() puts in order.
//
// For every word the last writer and two readers since the block's last barrier are known; a word whose bytes are accessed one by
// one is split into four cells. A partial order between warps comes from barriers that not all of them take part in. As with
// compute-sanitizer on an H200, atomics are left alone, shuffles and votes order nothing, hazards inside a warp are warnings, and
// two writes of the same value do no harm: a write behind another one is judged once its value is in memory, at the next access
// to the cell or at the barrier.
#include "racecheck.hpp"

#include <algorithm>
#include <cstring>
#include <tuple>

namespace beaver {

bool RaceSide::operator<(const RaceSide &other) const {
    const auto key = [](const RaceSide &side) { return std::make_tuple(side.site ? side.site->offset : 0, !side.write); };
    const char *mine = site ? site->function : "", *theirs = other.site ? other.site->function : "";
    if (const int order = std::strcmp(mine, theirs)) return order < 0;
    return key(*this) < key(other);
}

void BlockRaces::begin(const beaver_thread *thread) {
    const beaver_block *block = thread->block;
    shared_ = thread->shared;
    threads_ = block->ntid[0] * block->ntid[1] * block->ntid[2];
    words_.resize(std::max<std::size_t>(words_.size(), (block->shared_size + 3) / 4));
    warps_.clear();
    warps_.resize((threads_ + BEAVER_WARP - 1) / BEAVER_WARP);
    hazards_.clear();
    unjudged_.clear();
    ++epoch_;
}

const Hazards &BlockRaces::end() {
    judge_all();
    return hazards_;
}

void BlockRaces::access(const beaver_thread *thread, std::uint32_t start, std::uint32_t size, bool write,
                        const beaver_site *site) {
    const Mark mark{site, warps_[thread->linear / BEAVER_WARP].now, static_cast<std::uint16_t>(thread->linear), true};
    for (std::uint32_t at = start; at < start + size;) {
        Cell &word = fresh(words_[at / 4]);
        if (at % 4 == 0 && start + size - at >= 4 && !word.split) {
            touch(word, at, 4, write, mark);
            at += 4;
        } else {
            split(word, at / 4 * 4);
            touch(bytes_[at], at, 1, write, mark);
            ++at;
        }
    }
}

void BlockRaces::all_met() {
    judge_all();
    ++epoch_;
}

void BlockRaces::warps_met(std::uint32_t mask) {
    std::vector<std::uint32_t> seen(warps_.size());
    for (std::uint32_t index = 0; index < warps_.size(); ++index) {
        if (!(mask >> index & 1)) continue;
        Warp &warp = warps_[index];
        warp.all_lanes = ++warp.now;
        for (std::size_t other = 0; other < warp.seen.size(); ++other) seen[other] = std::max(seen[other], warp.seen[other]);
        seen[index] = warp.now;
    }
    for (std::uint32_t index = 0; index < warps_.size(); ++index)
        if (mask >> index & 1) warps_[index].seen = seen;
}

void BlockRaces::lanes_met(std::uint32_t warp_index, std::uint32_t mask) {
    Warp &warp = warps_[warp_index];
    const std::uint32_t lanes = std::min(BEAVER_WARP, threads_ - warp_index * BEAVER_WARP);
    const std::uint32_t everyone = lanes == 32 ? ~0u : (1u << lanes) - 1;
    ++warp.now;
    if ((mask & everyone) == everyone) {
        warp.all_lanes = warp.now;
        return;
    }
    if (!warp.pairs) warp.pairs = std::make_unique<std::uint32_t[]>(BEAVER_WARP * BEAVER_WARP);
    for (std::uint32_t a = mask; a; a &= a - 1)
        for (std::uint32_t b = mask; b; b &= b - 1)
            warp.pairs[__builtin_ctz(a) * BEAVER_WARP + __builtin_ctz(b)] = warp.now;
}

BlockRaces::Cell &BlockRaces::fresh(Cell &cell) const {
    if (cell.epoch != epoch_) {
        cell = Cell{};
        cell.epoch = epoch_;
    }
    return cell;
}

void BlockRaces::split(Cell &word, std::uint32_t start) {
    if (word.split) return;
    if (bytes_.size() < words_.size() * 4) bytes_.resize(words_.size() * 4);
    judge(word, start, 4);
    for (std::uint32_t at = start; at < start + 4; ++at) bytes_[at] = word;
    word.split = true;
}

std::uint32_t BlockRaces::value(std::uint32_t at, std::uint32_t size) const {
    std::uint32_t read = 0;
    std::memcpy(&read, shared_ + at, size);
    return read;
}

bool BlockRaces::in_order(const Mark &earlier, const Mark &now) const {
    if (!earlier.present || earlier.thread == now.thread) return true;
    const std::uint32_t before = earlier.thread / BEAVER_WARP, after = now.thread / BEAVER_WARP;
    const Warp &warp = warps_[after];
    if (before != after) return !warp.seen.empty() && warp.seen[before] > earlier.clock;
    if (warp.all_lanes > earlier.clock) return true;
    return warp.pairs && warp.pairs[earlier.thread % BEAVER_WARP * BEAVER_WARP + now.thread % BEAVER_WARP] > earlier.clock;
}

void BlockRaces::touch(Cell &cell, std::uint32_t at, std::uint32_t size, bool write, const Mark &mark) {
    judge(cell, at, size);
    const bool ordered = in_order(cell.writer, mark);
    if (!write) {
        if (!ordered) count(cell.writer, true, mark, false, size);
        for (Mark &reader : cell.readers)
            if (!reader.present || reader.thread == mark.thread) {
                reader = mark;
                return;
            }
        if (mark.thread / BEAVER_WARP != cell.readers[0].thread / BEAVER_WARP) cell.readers[1] = mark;
        return;
    }
    for (const Mark &reader : cell.readers)
        if (!in_order(reader, mark)) {
            count(reader, false, mark, true, size);
            break;  // a byte counts once
        }
    if (!ordered) {
        cell.unjudged = true;
        cell.earlier_writer = cell.writer;
        cell.before = value(at, size);
        unjudged_.emplace_back(at, size);
    }
    cell.writer = mark;
    cell.readers[0] = cell.readers[1] = Mark{};
}

void BlockRaces::count(const Mark &one, bool one_writes, const Mark &other, bool other_writes, std::uint64_t bytes) {
    const RaceSide first{one.site, one_writes}, second{other.site, other_writes};
    RaceCount &counted = second < first ? hazards_[{second, first}] : hazards_[{first, second}];
    counted.bytes += bytes;
    // Lanes that write different values by one instruction have no order even where a warp runs in step.
    const bool one_instruction = one_writes && other_writes && one.site == other.site;
    counted.error |= one.thread / BEAVER_WARP != other.thread / BEAVER_WARP || one_instruction;
}

void BlockRaces::judge(Cell &cell, std::uint32_t at, std::uint32_t size) {
    if (cell.epoch != epoch_ || !cell.unjudged) return;
    cell.unjudged = false;
    const std::uint32_t changed = value(at, size) ^ cell.before;
    std::uint64_t bytes = 0;
    for (std::uint32_t byte = 0; byte < size; ++byte) bytes += (changed >> 8 * byte & 0xff) != 0;
    if (bytes) count(cell.earlier_writer, true, cell.writer, true, bytes);
}

void BlockRaces::judge_all() {
    for (const auto &[at, size] : unjudged_) judge(size == 4 ? words_[at / 4] : bytes_[at], at, size);
    unjudged_.clear();
}

}  // namespace beaver
