// Runs one case of tests/integration/test_cpu_execution.py.
#include <setjmp.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "driver.hpp"

using namespace beaver;

namespace {

constexpr beaver_site line(std::uint32_t number) { return {"/home/user/solution.cu", "_Z5storePii", number, number}; }
const beaver_site line_10 = line(10), line_20 = line(20), line_30 = line(30);
constexpr std::uint32_t everyone = ~0u;

// ---- memory that kernels and main share; the kernels' parameter is its address
std::uint32_t *host(std::uint64_t address) { return reinterpret_cast<std::uint32_t *>(address + BEAVER_ALIAS); }
std::uint32_t *words(const beaver_thread *thread) { return host(param<std::uint64_t>(thread)); }
std::uint32_t block_of(const beaver_thread *thread) { return thread->block->ctaid[0]; }
std::uint32_t of_grid(const beaver_thread *thread) { return block_of(thread) * thread->block->ntid[0] + thread->tid[0]; }

struct Words {
    std::uint64_t address;
    explicit Words(std::uint32_t count) : address(made(count * 4ull)) { std::memset(host(address), 0, count * 4ull); }
    std::uint32_t operator[](std::uint32_t index) const { return host(address)[index]; }
};

void show_all(const char *name, const Words &words, std::uint32_t count) {
    std::printf("%s=", name);
    for (std::uint32_t index = 0; index < count; ++index) std::printf("%s%u", index ? " " : "", words[index]);
    std::printf("\n");
}

// What the translator writes for a look at memory in a loop, and for a backward branch.
void look(beaver_thread *thread, const beaver_site *site) {
    if (++thread->spins >= 32) {
        thread->spins = 0;
        beaver_yield(thread, site);
    }
}
void branch_back(beaver_thread *thread, const beaver_site *site) {
    if (reinterpret_cast<beaver_control *>(BEAVER_CONTROL)->poll) beaver_poll(thread, site);
}
std::uint32_t acquire(const std::uint32_t *word) { return __atomic_load_n(word, __ATOMIC_ACQUIRE); }
void release(std::uint32_t *word, std::uint32_t value) { __atomic_store_n(word, value, __ATOMIC_RELEASE); }

// ---- warps
void add_neighbours(beaver_thread *thread) {
    std::uint8_t inside = 9;
    const std::uint32_t got = beaver_shfl(thread, BEAVER_SHFL_DOWN, 100 + thread->lane, 1, 31, everyone, &inside, &line_10);
    words(thread)[thread->linear] = got * 10 + inside;
}

void sum_in_two_halves(beaver_thread *thread) {
    const std::uint32_t mask = thread->lane < 16 ? 0xffff : 0xffff0000;
    for (int round = 0; round < 3; ++round)
        words(thread)[thread->linear] += beaver_redux(thread, BEAVER_REDUX_ADD, thread->lane, mask, &line_10);
}

void vote_without_the_exited(beaver_thread *thread) {
    if (thread->lane >= 8) return;
    words(thread)[thread->linear] = beaver_vote(thread, BEAVER_VOTE_BALLOT, thread->lane != 3, everyone, &line_10);
}

// Lane 0 leaves only after all others have met with a mask that names it.
void leave_late(beaver_thread *thread) {
    if (thread->lane == 0) return beaver_yield(thread, &line_20);
    words(thread)[thread->linear] = beaver_vote(thread, BEAVER_VOTE_ALL, 1, everyone, &line_10);
}

// All lanes give a mask of half of them.
void name_half(beaver_thread *thread) {
    std::uint8_t inside;
    words(thread)[thread->linear] = beaver_shfl(thread, BEAVER_SHFL_DOWN, 100 + thread->lane, 4, 31, 0xffff, &inside, &line_10);
}

void vote_with_half(beaver_thread *thread) {
    words(thread)[thread->linear] = beaver_vote(thread, BEAVER_VOTE_BALLOT, 1, 0xff, &line_10);
}

void name_half_in_a_branch(beaver_thread *thread) {
    std::uint8_t inside;
    if (thread->lane >= 16) beaver_shfl(thread, BEAVER_SHFL_BFLY, thread->lane, 1, 31, 0xffff00, &inside, &line_10);
    words(thread)[thread->linear] = 1;
}

void ask_in_branches(beaver_thread *thread) {
    if (thread->lane % 2)
        words(thread)[thread->linear] = beaver_active_mask(thread, &line_10);
    else
        words(thread)[thread->linear] = beaver_active_mask(thread, &line_20);
    beaver_warp_sync(thread, everyone, &line_30);
    words(thread)[thread->linear] += beaver_active_mask(thread, &line_30) == everyone ? 1000000000 : 0;
}

void match_values(beaver_thread *thread) {
    std::uint8_t all_equal = 9, elected = 9;
    const std::uint32_t any = beaver_match(thread, BEAVER_MATCH_ANY, thread->lane / 10ull << 40, everyone, nullptr, &line_10);
    const std::uint32_t all = beaver_match(thread, BEAVER_MATCH_ALL, thread->lane / 10ull << 40, everyone, &all_equal, &line_10);
    words(thread)[thread->linear] = any;
    if (thread->lane < 4) return;
    const std::uint32_t leader = beaver_elect(thread, 0xfffffff0, &elected, &line_20);
    if (thread->lane == 7) words(thread)[32] = all * 1000 + all_equal * 100 + leader * 10 + elected;
    if (thread->lane == 4) words(thread)[33] = elected;
}

// ---- barriers
void reverse_by_shared(beaver_thread *thread) {
    auto *shared = reinterpret_cast<std::uint32_t *>(thread->shared);
    shared[thread->linear] = thread->linear;
    beaver_bar_sync(thread, 0, 0, &line_10);
    words(thread)[thread->linear] = shared[thread->block->ntid[0] - 1 - thread->linear];
}

void wait_for_the_rest(beaver_thread *thread) {
    if (thread->linear % 3 == 0) return;
    const std::uint32_t held = beaver_bar_red(thread, 5, 0, BEAVER_RED_POPC, thread->linear % 2, &line_10);
    const std::uint32_t all = beaver_bar_red(thread, 5, 0, BEAVER_RED_AND, 1, &line_20);
    const std::uint32_t any = beaver_bar_red(thread, 5, 0, BEAVER_RED_OR, 0, &line_30);
    words(thread)[thread->linear] = held * 100 + all * 10 + any;
}

// Warp 0 produces for warp 1: 64 threads meet, of which 32 do not wait. Warp 2 knows nothing of it.
void produce_and_consume(beaver_thread *thread) {
    auto *shared = reinterpret_cast<std::uint32_t *>(thread->shared);
    if (thread->linear / 32 == 2) return;
    for (std::uint32_t round = 0; round < 4; ++round) {
        if (thread->linear < 32) {
            shared[thread->linear] = round * 100 + thread->linear;
            beaver_bar_arrive(thread, 1, 64, &line_10);
            beaver_bar_sync(thread, 2, 64, &line_20);
        } else {
            beaver_bar_sync(thread, 1, 64, &line_20);
            words(thread)[thread->linear - 32] += shared[thread->linear - 32];
            beaver_bar_arrive(thread, 2, 64, &line_10);
        }
    }
}

// 40 threads, of which some of the second warp have left: a count of 64 means two warps.
void meet_as_warps(beaver_thread *thread) {
    if (thread->linear == 35) return;
    beaver_bar_sync(thread, 3, 64, &line_10);
    words(thread)[thread->linear] = 1;
}

// Warp 0 arrives at barrier 0 for warp 1, which waits there behind a barrier of the whole cluster.
void meet_as_a_cluster(beaver_thread *thread) {
    if (thread->linear < 32) beaver_bar_arrive(thread, 0, 64, &line_10);
    beaver_cluster_sync(thread, &line_20);
    if (thread->linear >= 32) beaver_bar_sync(thread, 0, 64, &line_30);
    words(thread)[thread->linear] = 1;
}

// Half of the block waits for the cluster, the other half at a barrier of the block.
void wait_for_cluster_and_block(beaver_thread *thread) {
    if (thread->linear < 32)
        beaver_cluster_sync(thread, &line_10);
    else
        beaver_bar_sync(thread, 0, 0, &line_20);
}

// ---- grids
void number_in_loops(beaver_thread *first) {
    for (std::uint32_t x = 0; x < first->block->ntid[0]; ++x) {
        first->tid[0] = first->linear = x;
        words(first)[of_grid(first)] = of_grid(first) + 1;
    }
}

void number(beaver_thread *thread) { words(thread)[of_grid(thread)] = of_grid(thread) + 1; }

// Each block waits for the one after it.
void wait_for_the_next_block(beaver_thread *thread) {
    std::uint32_t *flags = words(thread);
    const std::uint32_t own = block_of(thread);
    if (thread->linear == 0 && own + 1 < thread->block->nctaid[0])
        while (!acquire(flags + own + 1)) look(thread, &line_20);
    beaver_bar_sync(thread, 0, 0, &line_10);
    if (thread->linear == 0) release(flags + own, 1);
}

void synchronise_grid(beaver_thread *thread) {
    std::uint32_t *counts = words(thread);
    std::uint32_t *barrier = host(thread->block->workspace) + 1;
    const std::uint32_t blocks = thread->block->nctaid[0];
    for (std::uint32_t round = 0; round < 20; ++round) {
        if (thread->linear == 0) __atomic_fetch_add(counts + round, 1, __ATOMIC_RELAXED);
        beaver_bar_sync(thread, 0, 0, &line_10);
        if (thread->linear == 0) {
            const std::uint32_t step = block_of(thread) == 0 ? 0x80000000u - (blocks - 1) : 1;
            const std::uint32_t before = __atomic_fetch_add(barrier, step, __ATOMIC_ACQ_REL);
            while (!((before ^ acquire(barrier)) & 0x80000000u)) look(thread, &line_20);
        }
        beaver_bar_sync(thread, 0, 0, &line_10);
        if (acquire(counts + round) != blocks) counts[31] = 1;
    }
}

// Every lane takes a lock in turn; what holds it lets the others run.
void count_under_a_lock(beaver_thread *thread) {
    std::uint32_t *lock = words(thread), *count = lock + 1;
    while (__atomic_exchange_n(lock, 1, __ATOMIC_ACQUIRE)) look(thread, &line_10);
    const std::uint32_t seen = *count;
    beaver_yield(thread, &line_20);
    *count = seen + 1;
    release(lock, 0);
}

// ---- what never ends
void wait_apart(beaver_thread *thread) {
    std::uint8_t inside;
    if (thread->linear >= 40) return;
    if (thread->linear == 3) beaver_shfl(thread, BEAVER_SHFL_IDX, 0, 0, 31, 0xff, &inside, &line_30);
    beaver_bar_sync(thread, 0, 0, thread->linear < 32 ? &line_10 : &line_20);
}

// Half of a warp waits for the block, the other half for the whole warp.
void wait_at_a_barrier_and_not(beaver_thread *thread) {
    if (thread->lane < 16)
        beaver_bar_sync(thread, 0, 0, &line_10);
    else
        beaver_warp_sync(thread, everyone, &line_20);
}

void spin_for_nothing(beaver_thread *thread) {
    std::uint32_t *flag = words(thread);
    if (thread->linear == 0)
        while (!acquire(flag)) {
            look(thread, &line_10);
            look(thread, &line_20);
            look(thread, &line_30);
        }
    beaver_bar_sync(thread, 0, 0, &line_20);
}

// A barrier of the grid, which holds more blocks than can be resident.
void wait_for_all_blocks(beaver_thread *thread) {
    __atomic_fetch_add(words(thread), 1, __ATOMIC_RELAXED);
    while (acquire(words(thread)) < thread->block->nctaid[0]) look(thread, &line_10);
}

std::uint64_t milliseconds() { return beaver_nanoseconds() / 1000000; }

// Block 1 takes longer than BEAVER_CPU_STALL to come.
void wait_for_slow_work(beaver_thread *thread) {
    std::uint32_t *flag = words(thread);
    if (block_of(thread) == 0) {
        while (!acquire(flag)) look(thread, &line_10);
        flag[1] = 1;
        return;
    }
    timespec begun, now;  // not the device's clock: that one tells the runtime that time is waited for
    clock_gettime(CLOCK_MONOTONIC, &begun);
    do clock_gettime(CLOCK_MONOTONIC, &now);
    while ((now.tv_sec - begun.tv_sec) * 1000 + (now.tv_nsec - begun.tv_nsec) / 1000000 < 700);
    release(flag, 1);
}

void wait_for_time(beaver_thread *thread) {
    const std::uint64_t begun = milliseconds();
    while (milliseconds() - begun < 700) beaver_yield(thread, &line_10);
    words(thread)[0] = 1;
}

// Counts down, looking at memory only: its state changes although nothing ends.
void poll_often(beaver_thread *thread) {
    std::uint32_t *left = words(thread);
    while (true) {
        const std::uint32_t value = __atomic_fetch_sub(left, 1, __ATOMIC_RELAXED);
        if (value == 0 || value > 1u << 30) return;
        beaver_yield(thread, &line_10);
        if (value % 16 == 0) usleep(1000);
        left[1] = value;
    }
}

void run_on(beaver_thread *thread) {
    const std::uint64_t begun = milliseconds();
    while (milliseconds() - begun < 600) branch_back(thread, &line_30);
}

// ---- faults
std::uint32_t dig(beaver_thread *thread, std::uint32_t depth) {
    volatile std::uint32_t frame[64] = {depth};
    return depth == ~0u ? 0 : dig(thread, depth + 1) + frame[depth % 64];
}
void overflow_into_the_guard(beaver_thread *thread) { words(thread)[0] = dig(thread, 0); }

std::uint32_t dig_with_checks(beaver_thread *thread, std::uint32_t depth) {
    if (static_cast<std::uint8_t *>(__builtin_frame_address(0)) < thread->stack_limit) beaver_stack_overflow(thread, &line_10);
    return depth == ~0u ? 0 : dig_with_checks(thread, depth + 1) + depth;
}
void overflow_checked(beaver_thread *thread) { words(thread)[0] = dig_with_checks(thread, words(thread)[0]); }

void call_nowhere(beaver_thread *thread) {
    auto function = reinterpret_cast<void (*)(beaver_thread *)>(static_cast<std::uintptr_t>(words(thread)[0]));
    function(thread);
}

// One block fails; the others would run for very long.
void fail_in_one_block(beaver_thread *thread) {
    if (block_of(thread) == 3) end_thread(thread, cudaErrorMisalignedAddress);
    for (;;) branch_back(thread, &line_30);
}

void fail_in_one_thread(beaver_thread *thread) {
    if (thread->linear == 5) end_thread(thread, cudaErrorIllegalAddress);
    beaver_bar_sync(thread, 0, 0, &line_10);
    words(thread)[thread->linear] = 1;
}

void trap(beaver_thread *thread) { beaver_trap(thread, &line_10); }
void call_what_is_no_function(beaver_thread *thread) { beaver_wild_call(thread, &line_10); }
void need_a_gpu(beaver_thread *thread) { beaver_unsupported(thread, "wgmma.mma_async", &line_10); }
void exit_deep(beaver_thread *thread) {
    words(thread)[thread->linear] = 1;
    if (thread->linear % 2) beaver_exit(thread);
    beaver_bar_sync(thread, 0, 0, &line_10);
    words(thread)[thread->linear] = 2;
}

// ---- device calls. The parameter is the address of a text; arguments lie in local memory, as vprintf's do.
template <class... Values>
int print(beaver_thread *thread, std::uint64_t format, Values... values) {
    std::uint8_t *at = thread->local_top;
    [[maybe_unused]] const auto put = [&at](auto value) {
        const auto address = (reinterpret_cast<std::uintptr_t>(at) + sizeof value - 1) / sizeof value * sizeof value;
        std::memcpy(reinterpret_cast<void *>(address), &value, sizeof value);
        at = reinterpret_cast<std::uint8_t *>(address) + sizeof value;
    };
    (put(values), ...);
    return beaver_vprintf(thread, format, reinterpret_cast<std::uint64_t>(thread->local_top), &line_10);
}

std::uint64_t text(const char *letters) {
    const std::uint64_t address = made(std::strlen(letters) + 1);
    std::memcpy(storage(address, std::strlen(letters) + 1), letters, std::strlen(letters) + 1);
    return address;
}

struct Texts {
    std::uint64_t first, second, third, fourth;
};

void print_everything(beaver_thread *thread) {
    const auto texts = param<Texts>(thread);
    const int count = print(thread, texts.first, -5, 'x', 7000000000ll, 2.5, texts.second, 6, 3.14159, 0xbeefu,
                            std::uint64_t{0x200000000000}, 250u, 3u);
    print(thread, texts.third, count);
    print(thread, texts.fourth);
    if (beaver_vprintf(thread, 0, 0, &line_10) == -1) print(thread, texts.second);
}

void print_identity(beaver_thread *thread) { print(thread, param<Texts>(thread).first, block_of(thread), thread->linear); }

void assert_less(beaver_thread *thread, std::uint32_t limit) {
    const auto texts = param<Texts>(thread);
    if (thread->linear >= limit) beaver_assertfail(thread, texts.first, texts.second, 12, texts.third, &line_10);
}

// Warp 0 fails at once; warp 1 waits for it and would fail behind the barrier.
void assert_around_a_barrier(beaver_thread *thread) {
    if (thread->linear < 32) assert_less(thread, 30);
    beaver_bar_sync(thread, 0, 0, &line_10);
    assert_less(thread, 0);
}

void assert_each(beaver_thread *thread) { assert_less(thread, 3); }
void assert_in_loops(beaver_thread *first) {
    for (std::uint32_t x = 0; x < first->block->ntid[0]; ++x) {
        first->tid[0] = first->linear = x;
        assert_each(first);
    }
}

void fill_the_heap(beaver_thread *thread) {
    std::uint32_t *out = words(thread);
    std::uint64_t kept[64], count = 0;
    while (count < 64 && (kept[count] = beaver_malloc(thread, 1 << 20))) ++count;
    out[0] = static_cast<std::uint32_t>(count);
    *beaver_access(thread, kept[0] + 100, 1, BEAVER_WRITE, &line_10) = 7;
    while (count) beaver_free(thread, kept[--count], &line_10);
    beaver_free(thread, 0, &line_10);
    const std::uint64_t again = beaver_malloc(thread, 1 << 20);
    out[1] = again != 0;
    beaver_free(thread, again, &line_10);
}

void free_foreign(beaver_thread *thread) { beaver_free(thread, param<std::uint64_t>(thread), &line_10); }
void free_twice(beaver_thread *thread) {
    const std::uint64_t address = beaver_malloc(thread, 100);
    beaver_free(thread, address, &line_10);
    beaver_free(thread, address, &line_20);
}

// ---- running them
struct Shape {
    dim3 grid = 1, block = 32;
    bool cooperative = false;
    void (*as_loop)(beaver_thread *) = nullptr;
    std::uint32_t recursive = 0, dynamic_size = 0;
};

template <class Params>
cudaError_t run(void (*thread)(beaver_thread *), const Params &params, const Shape &shape) {
    beaver_kernel kernel{};
    kernel.name = "_Z5storePii";
    kernel.thread = thread;
    kernel.block = shape.as_loop;
    kernel.static_shared = 4096;
    kernel.local_bytes = 256;
    kernel.recursive = shape.recursive;
    kernel.site = &line_10;
    Launch launch;
    launch.kernel = &kernel;
    launch.grid = shape.grid;
    launch.block = shape.block;
    launch.cooperative = shape.cooperative;
    launch.dynamic_size = shape.dynamic_size;
    launch.params.resize(sizeof params);
    std::memcpy(launch.params.data(), &params, sizeof params);
    return run_grid(launch);
}

// Runs a kernel that writes a word a thread, and shows them.
void run_and_show(void (*thread)(beaver_thread *), const Shape &shape, std::uint32_t count) {
    const Words out(count);
    show("error", run(thread, out.address, shape));
    show_all("out", out, count);
}

std::uint64_t peak_mib() {
    rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return static_cast<std::uint64_t>(usage.ru_maxrss) / 1024;
}

void meet_as_a_grid(unsigned blocks) {
    const Words out(32);
    show("error", run(synchronise_grid, out.address, {blocks, 1024, true}));
    show("torn", out[31]);
    show("last", out[19]);
    show("peak_mib", peak_mib());
}

const Cases cases = {
    {"shuffle_in_a_partial_warp", [] { run_and_show(add_neighbours, {1, 5}, 5); }},
    {"disjoint_masks", [] { run_and_show(sum_in_two_halves, {1, 32}, 32); }},
    {"exited_lanes", [] { run_and_show(vote_without_the_exited, {1, 32}, 9); }},
    {"late_exit", [] { run_and_show(leave_late, {1, 32}, 32); }},
    {"mask_of_half", [] { run_and_show(name_half, {1, 32}, 32); }},
    {"vote_of_half", [] { run_and_show(vote_with_half, {1, 32}, 2); }},
    {"mask_of_half_in_a_branch", [] { run_and_show(name_half_in_a_branch, {1, 32}, 1); }},
    {"active_mask", [] { run_and_show(ask_in_branches, {1, 32}, 4); }},
    {"match_and_elect", [] { run_and_show(match_values, {1, 32}, 34); }},
    {"barrier", [] { run_and_show(reverse_by_shared, {1, 70}, 70); }},
    {"barrier_without_the_exited", [] { run_and_show(wait_for_the_rest, {1, 70}, 70); }},
    {"named_barriers", [] { run_and_show(produce_and_consume, {1, 96}, 32); }},
    {"barrier_of_whole_warps", [] { run_and_show(meet_as_warps, {1, 40}, 40); }},
    {"cluster_barrier", [] { run_and_show(meet_as_a_cluster, {1, 64}, 64); }},
    {"cluster_deadlock", [] { run_and_show(wait_for_cluster_and_block, {1, 64}, 1); }},
    {"loops",
     [] {
         const Words out(64 * 1000);
         show("error", run(number, out.address, {1000, 64, false, number_in_loops}));
         std::uint32_t right = 0;
         for (std::uint32_t index = 0; index < 64 * 1000; ++index) right += out[index] == index + 1;
         show("right", right);
     }},
    {"blocks_that_wait_for_later_ones", [] { run_and_show(wait_for_the_next_block, {24, 64}, 24); }},
    {"cooperative_blocks_on_their_own",
     [] {
         std::uint32_t right = 0;
         for (int launch = 0; launch < 200; ++launch) {
             const Words out(16 * 4);
             run(number, out.address, {16, 4, true});
             for (std::uint32_t index = 0; index < 16 * 4; ++index) right += out[index] == index + 1;
         }
         show("right", right);
     }},
    {"grid_barrier", [] { meet_as_a_grid(16); }},
    {"large_grid_barrier", [] { meet_as_a_grid(64); }},
    {"lock", [] { run_and_show(count_under_a_lock, {4, 64}, 2); }},
    {"deadlock", [] { run_and_show(wait_apart, {1, 64}, 1); }},
    {"divergent_deadlock", [] { run_and_show(wait_at_a_barrier_and_not, {1, 32}, 1); }},
    {"livelock", [] { run_and_show(spin_for_nothing, {3, 64}, 1); }},
    {"too_many_blocks", [] { run_and_show(wait_for_all_blocks, {1100, 1}, 1); }},
    {"slow_work", [] { run_and_show(wait_for_slow_work, {2, 1}, 2); }},
    {"waiting_for_time", [] { run_and_show(wait_for_time, {1, 1}, 1); }},
    {"polling_with_progress",
     [] {
         const Words out(2);
         host(out.address)[0] = 12000;
         show("error", run(poll_often, out.address, {1, 1}));
         show("left", out[1]);
     }},
    {"budget", [] { run_and_show(run_on, {1, 1}, 1); }},
    {"guard", [] { run_and_show(overflow_into_the_guard, {1, 1}, 1); }},
    {"checked_overflow", [] { run_and_show(overflow_checked, {1, 1, false, nullptr, 1}, 1); }},
    {"wild_call",
     [] {
         const Words out(1);
         host(out.address)[0] = 0x1234;
         show("error", run(call_nowhere, out.address, {1, 32}));
         host(out.address)[0] = 0;
         show("loop_error", run(call_nowhere, out.address, {8, 32, false, call_nowhere}));
         show("after", run(number, out.address, {1, 1}));
     }},
    {"host_fault",
     [] {
         const Words out(1);
         show("error", run(number, out.address, {1, 1}));
         const pid_t child = fork();
         if (child == 0) {
             volatile auto *device = reinterpret_cast<std::uint32_t *>(out.address);
             _exit(static_cast<int>(*device));
         }
         int status = 0;
         waitpid(child, &status, 0);
         show("signal", WIFSIGNALED(status) ? static_cast<std::uint64_t>(WTERMSIG(status)) : 0);
     }},
    {"own_handler",
     [] {
         static sigjmp_buf back;
         signal(SIGSEGV, [](int) { siglongjmp(back, 1); });
         const Words out(1);
         show("error", run(number, out.address, {1, 1}));
         if (sigsetjmp(back, 1) == 0) *reinterpret_cast<volatile int *>(out.address) = 1;
         std::puts("caught");
     }},
    {"fault_ends_the_grid", [] { run_and_show(fail_in_one_block, {4, 32}, 1); }},
    {"fault_ends_the_thread", [] { run_and_show(fail_in_one_thread, {1, 8}, 8); }},
    {"known_wild_call", [] { run_and_show(call_what_is_no_function, {1, 1}, 1); }},
    {"trap", [] { run_and_show(trap, {1, 1}, 1); }},
    {"trap_everywhere", [] { run_and_show(trap, {3000, 1}, 1); }},
    {"needs_a_gpu", [] { run_and_show(need_a_gpu, {1, 1}, 1); }},
    {"exit", [] { run_and_show(exit_deep, {1, 40}, 40); }},
    {"printf",
     [] {
         const Texts texts{text("%d %c %lld %.3f %s %*.2f %#x %p %hhu|%5u|%%|%zu|%.*f\n"), text("a text"), text("\ncount %d\n"), text("plain\n")};
         show("error", run(print_everything, texts, {1, 1}));
     }},
    {"printf_order",
     [] {
         const Texts texts{text("%u.%u "), 0, 0, 0};
         show("error", run(print_identity, texts, {300, 2}));
     }},
    {"assert",
     [] {
         const Texts texts{text("x > 0"), text("solution.cu"), text("void store(int *, int)"), 0};
         show("barrier_error", run(assert_around_a_barrier, texts, {1, 64}));
         show("loop_error", run(assert_each, texts, {2, 5, false, assert_in_loops}));
     }},
    {"heap", [] { run_and_show(fill_the_heap, {1, 1}, 2); }},
    {"bad_free",
     [] {
         show("foreign", run(free_foreign, made(64), {1, 1}));
         show("twice", run(free_twice, made(64), {1, 1}));
     }},
    {"residency",
     [] {
         beaver_kernel kernel{};
         for (const unsigned threads : {32u, 256u, 1000u, 1024u}) show("by_threads", resident_blocks(kernel, threads, 0));
         kernel.registers = 64;
         show("by_registers", resident_blocks(kernel, 512, 0));
         kernel.registers = 255;
         show("by_registers", resident_blocks(kernel, 96, 0));
         kernel.registers = 0;
         kernel.static_shared = 48 << 10;
         show("by_shared", resident_blocks(kernel, 128, 0));
         show("by_shared", resident_blocks(kernel, 128, 100 << 10));
     }},
};

}  // namespace

int main(int count, char **arguments) { return run_case(cases, count, arguments); }
