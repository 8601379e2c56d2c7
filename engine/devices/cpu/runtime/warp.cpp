// What the lanes of a warp do together: votes, shuffles, matches, reductions (PTX ISA, "Parallel Synchronization").
//
// Each lane brings an operand and waits. When the mask names all lanes that have not exited, the last one to come computes the
// results of all. Other meetings end when no lane of the warp can run any more, as a GPU executes such an operation once for the
// lanes that come to it together. What an H200 makes of lanes that their mask does not name is kept: when the whole warp has come,
// the mask is of no account; in a branch it is an illegal instruction.
#include "warp.hpp"

#include "execution.hpp"
#include "grid.hpp"

namespace beaver {
namespace {

template <class Action>
void for_each_lane(Warp &warp, const Meeting &meeting, Action action) {
    for_each_bit(meeting.arrived, [&](std::uint32_t lane) { action(lane, warp.lanes[lane]); });
}

void finish(Warp &warp, Meeting &meeting) {
    meeting.operation->complete(warp, meeting);
    const std::uint32_t lanes = meeting.arrived;
    meeting.arrived = 0;
    warp.open &= ~bit(static_cast<std::uint32_t>(&meeting - warp.meetings.data()));
    make_ready(warp, lanes);
    if (hooks.warp_synced) hooks.warp_synced(&warp.lanes[__builtin_ctz(lanes)], lanes);
}

[[gnu::noinline]] Meeting &open_meeting(Warp &warp, const Operation &operation, std::uint32_t mask) {
    // A lane waits in one meeting at most, so there are never more than lanes.
    const auto index = static_cast<std::uint32_t>(__builtin_ctz(~warp.open));
    if (index >= warp.meetings.size()) warp.meetings.resize(index + 1);
    warp.open |= bit(index);
    Meeting &meeting = warp.meetings[index];
    meeting.operation = &operation;
    meeting.mask = mask;
    meeting.arrived = 0;
    return meeting;
}

inline Meeting &find_meeting(Warp &warp, const Operation &operation, std::uint32_t mask) {
    Meeting *const meetings = warp.meetings.data();
    for (std::uint32_t open = warp.open; open; open &= open - 1) {
        Meeting &meeting = meetings[__builtin_ctz(open)];
        if (meeting.mask == mask && meeting.operation == &operation) return meeting;
    }
    return open_meeting(warp, operation, mask);
}

const Operation warp_sync{"bar.warp.sync", [](Warp &, const Meeting &) {}};

// Whether a meeting with lanes that the mask does not name may end; if not, the grid has been stopped. synccheck reports what a
// GPU would not execute, and bar.warp.sync in any case.
bool accept_unnamed(Warp &warp, const Meeting &meeting, std::uint32_t unnamed, bool together) {
    Grid &grid = *warp.block->grid;
    if (hooks.invalid_mask && (!together || meeting.operation == &warp_sync)) {
        for_each_bit(unnamed, [&](std::uint32_t lane) {
            hooks.invalid_mask(&warp.lanes[lane], meeting.mask, warp.lanes[lane].site);
        });
        grid.fail(cudaErrorLaunchFailure);  // as the tool does
    }
    return together || fail_thread(warp.lanes[__builtin_ctz(unnamed)], cudaErrorIllegalInstruction);
}

[[gnu::noinline]] void finish_and_go_on(Thread *self, Meeting &meeting) {
    finish(*self->warp, meeting);
    self->warp->ready &= ~bit(self->lane);
}

}  // namespace

void meet(Thread *self, const Operation &operation, std::uint32_t mask, std::uint64_t operand, const beaver_site *site) {
    Warp &warp = *self->warp;
    mask &= warp.present;
    Meeting &meeting = find_meeting(warp, operation, mask);
    meeting.arrived |= bit(self->lane);
    meeting.operands[self->lane] = operand;
    self->site = site;
    if (meeting.arrived == warp.alive() && !(meeting.arrived & ~mask)) return finish_and_go_on(self, meeting);
    wait(self);
}

void settle_meetings(Warp &warp) {
    for_each_bit(warp.open, [&](std::uint32_t index) {
        Meeting &meeting = warp.meetings[index];
        const std::uint32_t unnamed = meeting.arrived & ~meeting.mask;
        // Lanes that have exited may have gone past this place as well as left before it; the one is the likelier mistake.
        const bool together = meeting.arrived == warp.present;
        if (unnamed && !accept_unnamed(warp, meeting, unnamed, together)) return;
        if (unnamed || meeting.arrived == (meeting.mask & warp.alive())) finish(warp, meeting);
    });
}

void answer_active_mask(Warp &warp) {
    const beaver_site *site = warp.lanes[__builtin_ctz(warp.asking)].site;
    std::uint32_t together = 0;
    for_each_bit(warp.asking, [&](std::uint32_t lane) {
        if (warp.lanes[lane].site == site) together |= bit(lane);
    });
    for_each_bit(together, [&](std::uint32_t lane) { warp.lanes[lane].result = together; });
    warp.asking &= ~together;
    make_ready(warp, together);
}

namespace {

// ---- shfl.sync. Operand: the value, then in bytes 4, 5 and 6 the lane or offset b, and of c the clamp and the segment mask.

constexpr std::uint64_t pack_shuffle(std::uint32_t value, std::uint32_t b, std::uint32_t c) {
    return value | std::uint64_t{b & 31} << 32 | std::uint64_t{c & 31} << 40 | std::uint64_t{c >> 8 & 31} << 48;
}

template <int Mode>
void complete_shuffle(Warp &warp, const Meeting &meeting) {
    for_each_lane(warp, meeting, [&](std::uint32_t lane, Thread &thread) {
        const std::uint64_t operand = meeting.operands[lane];
        const auto b = static_cast<std::uint32_t>(operand >> 32 & 31);
        const auto clamp = static_cast<std::uint32_t>(operand >> 40 & 31);
        const auto segment = static_cast<std::uint32_t>(operand >> 48 & 31);
        const std::uint32_t low = lane & segment;
        const std::uint32_t bound = low | (clamp & ~segment);  // the last lane of the segment; for up, the first
        std::uint32_t source;
        bool inside;
        if constexpr (Mode == BEAVER_SHFL_UP) {
            source = lane - b;
            inside = static_cast<std::int32_t>(source) >= static_cast<std::int32_t>(bound);
        } else if constexpr (Mode == BEAVER_SHFL_DOWN) {
            source = lane + b;
            inside = source <= bound;
        } else if constexpr (Mode == BEAVER_SHFL_BFLY) {
            source = lane ^ b;
            inside = source <= bound;
        } else {
            source = low | (b & ~segment);
            inside = source <= bound;
        }
        if (!inside) source = lane;
        // PTX leaves open what is read from a lane that does not take part: an H200 gives 0.
        thread.result = meeting.arrived >> source & 1 ? static_cast<std::uint32_t>(meeting.operands[source]) : 0;
        thread.flag = inside;
    });
}

const Operation shuffles[] = {
    {"shfl.sync.up", complete_shuffle<BEAVER_SHFL_UP>},
    {"shfl.sync.down", complete_shuffle<BEAVER_SHFL_DOWN>},
    {"shfl.sync.bfly", complete_shuffle<BEAVER_SHFL_BFLY>},
    {"shfl.sync.idx", complete_shuffle<BEAVER_SHFL_IDX>},
};

// ---- vote.sync. Operand: the predicate.

std::uint32_t ballot(const Meeting &meeting) {
    std::uint32_t lanes = 0;
    for_each_bit(meeting.arrived, [&](std::uint32_t lane) { lanes |= static_cast<std::uint32_t>(meeting.operands[lane]) << lane; });
    return lanes;
}

template <int Mode>
void complete_vote(Warp &warp, const Meeting &meeting) {
    const std::uint32_t lanes = ballot(meeting);
    const std::uint32_t result = Mode == BEAVER_VOTE_ALL   ? lanes == meeting.arrived
                                 : Mode == BEAVER_VOTE_ANY ? lanes != 0
                                 : Mode == BEAVER_VOTE_UNI ? lanes == 0 || lanes == meeting.arrived
                                                           : lanes;
    for_each_lane(warp, meeting, [&](std::uint32_t, Thread &thread) { thread.result = result; });
}

const Operation votes[] = {
    {"vote.sync.all", complete_vote<BEAVER_VOTE_ALL>},
    {"vote.sync.any", complete_vote<BEAVER_VOTE_ANY>},
    {"vote.sync.uni", complete_vote<BEAVER_VOTE_UNI>},
    {"vote.sync.ballot", complete_vote<BEAVER_VOTE_BALLOT>},
};

// ---- match.sync. Operand: the value.

std::uint32_t lanes_with(const Meeting &meeting, std::uint64_t value) {
    std::uint32_t lanes = 0;
    for_each_bit(meeting.arrived, [&](std::uint32_t lane) { lanes |= std::uint32_t{meeting.operands[lane] == value} << lane; });
    return lanes;
}

template <int Mode>
void complete_match(Warp &warp, const Meeting &meeting) {
    for_each_lane(warp, meeting, [&](std::uint32_t lane, Thread &thread) {
        const std::uint32_t equal = lanes_with(meeting, meeting.operands[lane]);
        thread.flag = equal == meeting.arrived;
        thread.result = Mode == BEAVER_MATCH_ANY || thread.flag ? equal : 0;
    });
}

const Operation matches[] = {
    {"match.any.sync", complete_match<BEAVER_MATCH_ANY>},
    {"match.all.sync", complete_match<BEAVER_MATCH_ALL>},
};

// ---- redux.sync. Operand: the value.

std::uint32_t combine(int op, std::uint32_t x, std::uint32_t y) {
    const auto signed_x = static_cast<std::int32_t>(x), signed_y = static_cast<std::int32_t>(y);
    switch (op) {
        case BEAVER_REDUX_ADD: return x + y;
        case BEAVER_REDUX_MIN_U32: return x < y ? x : y;
        case BEAVER_REDUX_MAX_U32: return x > y ? x : y;
        case BEAVER_REDUX_MIN_S32: return signed_x < signed_y ? x : y;
        case BEAVER_REDUX_MAX_S32: return signed_x > signed_y ? x : y;
        case BEAVER_REDUX_AND: return x & y;
        case BEAVER_REDUX_OR: return x | y;
        default: return x ^ y;
    }
}

template <int Op>
void complete_redux(Warp &warp, const Meeting &meeting) {
    const auto first = static_cast<std::uint32_t>(__builtin_ctz(meeting.arrived));
    auto result = static_cast<std::uint32_t>(meeting.operands[first]);
    for_each_bit(meeting.arrived & ~bit(first), [&](std::uint32_t lane) {
        result = combine(Op, result, static_cast<std::uint32_t>(meeting.operands[lane]));
    });
    for_each_lane(warp, meeting, [&](std::uint32_t, Thread &thread) { thread.result = result; });
}

const Operation reductions[] = {
    {"redux.sync.add", complete_redux<BEAVER_REDUX_ADD>},
    {"redux.sync.min.u32", complete_redux<BEAVER_REDUX_MIN_U32>},
    {"redux.sync.max.u32", complete_redux<BEAVER_REDUX_MAX_U32>},
    {"redux.sync.min.s32", complete_redux<BEAVER_REDUX_MIN_S32>},
    {"redux.sync.max.s32", complete_redux<BEAVER_REDUX_MAX_S32>},
    {"redux.sync.and", complete_redux<BEAVER_REDUX_AND>},
    {"redux.sync.or", complete_redux<BEAVER_REDUX_OR>},
    {"redux.sync.xor", complete_redux<BEAVER_REDUX_XOR>},
};

// ---- elect.sync

void complete_elect(Warp &warp, const Meeting &meeting) {
    const auto leader = static_cast<std::uint32_t>(__builtin_ctz(meeting.arrived));
    for_each_lane(warp, meeting, [&](std::uint32_t lane, Thread &thread) {
        thread.result = leader;
        thread.flag = lane == leader;
    });
}

const Operation elect{"elect.sync", complete_elect};

std::uint32_t answer(const Thread *self, std::uint8_t *predicate) {
    if (predicate) *predicate = self->flag;
    return self->result;
}

}  // namespace
}  // namespace beaver

using namespace beaver;

void beaver_warp_sync(beaver_thread *thread, std::uint32_t mask, const beaver_site *site) {
    meet(thread_of(thread), warp_sync, mask, 0, site);
}

std::uint32_t beaver_shfl(beaver_thread *thread, int mode, std::uint32_t value, std::uint32_t b, std::uint32_t c,
                          std::uint32_t mask, std::uint8_t *predicate, const beaver_site *site) {
    meet(thread_of(thread), shuffles[mode], mask, pack_shuffle(value, b, c), site);
    return answer(thread_of(thread), predicate);
}

std::uint32_t beaver_vote(beaver_thread *thread, int mode, std::uint32_t predicate, std::uint32_t mask,
                          const beaver_site *site) {
    meet(thread_of(thread), votes[mode], mask, predicate != 0, site);
    return thread_of(thread)->result;
}

std::uint32_t beaver_match(beaver_thread *thread, int mode, std::uint64_t value, std::uint32_t mask,
                           std::uint8_t *predicate, const beaver_site *site) {
    meet(thread_of(thread), matches[mode], mask, value, site);
    return answer(thread_of(thread), predicate);
}

std::uint32_t beaver_redux(beaver_thread *thread, int op, std::uint32_t value, std::uint32_t mask,
                           const beaver_site *site) {
    meet(thread_of(thread), reductions[op], mask, value, site);
    return thread_of(thread)->result;
}

std::uint32_t beaver_elect(beaver_thread *thread, std::uint32_t mask, std::uint8_t *predicate, const beaver_site *site) {
    meet(thread_of(thread), elect, mask, 0, site);
    return answer(thread_of(thread), predicate);
}

std::uint32_t beaver_active_mask(beaver_thread *thread, const beaver_site *site) {
    Thread *self = thread_of(thread);
    self->site = site;
    self->warp->asking |= bit(self->lane);
    self->warp->block->runnable |= bit(self->warp->index);
    wait(self);
    return self->result;
}

void beaver_yield(beaver_thread *thread, const beaver_site *site) {
    Thread *self = thread_of(thread);
    self->site = site;
    self->warp->spinning |= bit(self->lane);
    self->warp->block->spinning |= bit(self->warp->index);
    wait(self);
}
