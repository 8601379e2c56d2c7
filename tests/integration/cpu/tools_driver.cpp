// Runs one case of tests/integration/test_cpu_tools.py, under a tool or none. The racecheck kernels were run on an H200 too: their
// places are the ones that its reports name.
#include <signal.h>
#include <unistd.h>

#include "driver.hpp"

using namespace beaver;

namespace {

constexpr std::uint64_t MiB = 1 << 20;
constexpr unsigned threads = 64;
constexpr std::uint32_t rmw = BEAVER_READ | BEAVER_WRITE | BEAVER_ATOMIC;
constexpr beaver_site store_site{"/home/user/solution.cu", "_Z5storePii", 5, 0x70};
constexpr beaver_site load_site{"/home/user/solution.cu", "_Z5storePii", 6, 0xc0};

// ---- memcheck and initcheck
void store_each(beaver_thread *thread) {
    const std::uint64_t address = param<std::uint64_t>(thread) + 4 * thread->tid[0];
    std::memcpy(beaver_access(thread, address, 4, BEAVER_WRITE, &store_site), &thread->tid[0], 4);
}

void load_each(beaver_thread *thread) {
    const std::uint64_t address = param<std::uint64_t>(thread) + 4 * thread->tid[0];
    beaver_access(thread, address, 4, BEAVER_READ, &load_site);
}

void count_each(beaver_thread *thread) { ++*beaver_access(thread, param<std::uint64_t>(thread), 4, rmw, &store_site); }

struct OneAccess {
    std::uint64_t address;
    std::uint32_t size, flags;
};

void access_once(beaver_thread *thread) {
    const auto wanted = param<OneAccess>(thread);
    beaver_access(thread, wanted.address, wanted.size, wanted.flags, &store_site);
}

void shared_once(beaver_thread *thread) {
    const auto wanted = param<OneAccess>(thread);
    beaver_shared_access(thread, static_cast<std::uint32_t>(wanted.address), wanted.size, wanted.flags, &store_site);
}

// The address counts from the thread's local memory, of which the kernel's frame takes 64 bytes.
void local_once(beaver_thread *thread) {
    const auto wanted = param<OneAccess>(thread);
    thread->local_top = thread->local + 64;
    const std::uint64_t address = reinterpret_cast<std::uint64_t>(thread->local) + wanted.address;
    if (wanted.flags & BEAVER_GENERIC)
        beaver_access(thread, address, wanted.size, wanted.flags, &store_site);
    else
        beaver_local_access(thread, address, wanted.size, wanted.flags, &store_site);
}

template <typename Params>
void run(const char *name, void (*kernel)(beaver_thread *), const Params &params, dim3 block = 1) {
    const cudaError_t error = launch(kernel, params, 1, block);
    std::printf("%s=%d\n", name, error);
}

// ---- racecheck: kernels of 64 threads that share 64 words
struct Place {
    beaver_site site;
    constexpr Place(const char *function, std::uint32_t line, std::uint32_t offset) : site{"/src/s.cu", function, line, offset} {}
};

void put(beaver_thread *thread, std::uint32_t index, std::uint32_t value, const Place &place) {
    std::memcpy(beaver_shared_access(thread, BEAVER_SHARED_BASE + 4 * index, 4, BEAVER_WRITE, &place.site), &value, 4);
}

std::uint32_t get(beaver_thread *thread, std::uint32_t index, const Place &place) {
    std::uint32_t value;
    std::memcpy(&value, beaver_shared_access(thread, BEAVER_SHARED_BASE + 4 * index, 4, BEAVER_READ, &place.site), 4);
    return value;
}

void add(beaver_thread *thread, const Place &place) {
    auto *word = reinterpret_cast<std::uint32_t *>(beaver_shared_access(thread, BEAVER_SHARED_BASE, 4, rmw, &place.site));
    __atomic_fetch_add(word, 1, __ATOMIC_RELAXED);
}

constexpr Place same_put{"_Z8waw_samePi", 8, 0x60}, diff_put{"_Z8waw_diffPi", 9, 0x60};
constexpr Place raw_put{"_Z8warp_rawPi", 10, 0x90}, raw_get{"_Z8warp_rawPi", 10, 0xa0};
constexpr Place war_put{"_Z8warp_warPi", 11, 0x70}, war_get{"_Z8warp_warPi", 11, 0xb0}, war_over{"_Z8warp_warPi", 11, 0xc0};
constexpr Place block_put{"_Z9block_warPi", 18, 0xa0}, block_get{"_Z9block_warPi", 18, 0xe0}, block_over{"_Z9block_warPi", 18, 0x100};
constexpr Place byte_put{"_Z5bytesPi", 21, 0x70}, byte_get{"_Z5bytesPi", 21, 0xb0};
constexpr Place loop_put[3] = {{"_Z5loop3Pi", 22, 0xe0}, {"_Z5loop3Pi", 22, 0x100}, {"_Z5loop3Pi", 22, 0x120}};
constexpr Place loop_get[3] = {{"_Z5loop3Pi", 22, 0xf0}, {"_Z5loop3Pi", 22, 0x110}, {"_Z5loop3Pi", 22, 0x130}};

void barrier(beaver_thread *thread) { beaver_bar_sync(thread, 0, 0, &same_put.site); }

void waw_same(beaver_thread *thread) {
    put(thread, 0, 7, same_put);
    barrier(thread);
    get(thread, 0, raw_get);
}

void waw_diff(beaver_thread *thread) {
    put(thread, 0, thread->tid[0], diff_put);
    barrier(thread);
    get(thread, 0, raw_get);
}

void warp_raw(beaver_thread *thread) {
    put(thread, thread->tid[0], thread->tid[0], raw_put);
    get(thread, thread->tid[0] ^ 1, raw_get);
}

void warp_war(beaver_thread *thread) {
    put(thread, thread->tid[0], thread->tid[0], war_put);
    barrier(thread);
    const std::uint32_t value = get(thread, thread->tid[0] ^ 1, war_get);
    put(thread, thread->tid[0], value, war_over);
    barrier(thread);
}

void warp_sync(beaver_thread *thread) {
    put(thread, thread->tid[0], thread->tid[0], raw_put);
    beaver_warp_sync(thread, ~0u, &raw_put.site);
    get(thread, thread->tid[0] ^ 1, raw_get);
}

// Each half of a warp by itself.
void half_sync(beaver_thread *thread) {
    put(thread, thread->tid[0], thread->tid[0], raw_put);
    beaver_warp_sync(thread, thread->lane < 16 ? 0xffff : 0xffff0000, &raw_put.site);
    get(thread, thread->tid[0] ^ param<std::uint32_t>(thread), raw_get);
}

void atomics(beaver_thread *thread) {
    if (thread->tid[0] == 0) put(thread, 0, 5, raw_put);
    add(thread, raw_get);
    barrier(thread);
    add(thread, raw_get);
    get(thread, 0, raw_get);
}

void block_war(beaver_thread *thread) {
    put(thread, thread->tid[0], 1, block_put);
    barrier(thread);
    const std::uint32_t value = get(thread, threads - 1 - thread->tid[0], block_get);
    put(thread, thread->tid[0], value + thread->tid[0], block_over);
    barrier(thread);
}

void bytes(beaver_thread *thread) {
    *beaver_shared_access(thread, BEAVER_SHARED_BASE + thread->tid[0], 1, BEAVER_WRITE, &byte_put.site) = 1;
    beaver_shared_access(thread, BEAVER_SHARED_BASE + threads - 1 - thread->tid[0], 1, BEAVER_READ, &byte_get.site);
}

void loop3(beaver_thread *thread) {
    for (unsigned round = 0; round < 3; ++round) {
        put(thread, thread->tid[0], round, loop_put[round]);
        get(thread, threads - 1 - thread->tid[0], loop_get[round]);
    }
}

// Two pairs of warps, each with a barrier of its own: what a warp reads comes from its own pair, or from the other one.
void pairs(beaver_thread *thread) {
    const std::uint32_t pair = thread->tid[0] / threads;
    put(thread, thread->tid[0], 1, raw_put);
    beaver_bar_sync(thread, 1 + pair, threads, &raw_put.site);
    get(thread, thread->tid[0] ^ param<std::uint32_t>(thread), raw_get);
}

// A word that is written as a whole and read by bytes.
void mixed_sizes(beaver_thread *thread) {
    if (thread->tid[0] == 0) put(thread, 3, 0x01020304, raw_put);
    if (thread->tid[0] == 40)
        beaver_shared_access(thread, BEAVER_SHARED_BASE + 4 * 3 + 1, 1, BEAVER_READ, &raw_get.site);
}

template <typename Value = std::uint32_t>
void race(void (*kernel)(beaver_thread *), Value value = 0, unsigned block = threads) {
    launch(kernel, value, 2, block);
    std::printf("done\n");
}

// Threads end before the barrier; or they go past it, and write.
void early_exit(beaver_thread *thread) {
    const std::uint64_t words = param<std::uint64_t>(thread);
    if (thread->tid[0] < 48) beaver_bar_sync(thread, 0, 0, &raw_put.site);
    if (words) std::memset(beaver_access(thread, words + 4 * thread->tid[0], 4, BEAVER_WRITE, &raw_get.site), 0, 4);
}

void two_places(beaver_thread *thread) {
    beaver_bar_sync(thread, 0, 0, thread->tid[0] & 1 ? &raw_put.site : &raw_get.site);
}

void foreign_mask(beaver_thread *thread) {
    if (thread->tid[0] == 0) beaver_warp_sync(thread, 0xff00, &raw_put.site);
}

void exited_lanes(beaver_thread *thread) {
    if (thread->lane >= 16) return;
    beaver_warp_sync(thread, ~0u, &raw_put.site);
}

const Cases cases = {
    {"overrun",
     [] {
         const std::uint64_t address = made(64);
         made(64);
         run("error", store_each, address, 18);
         run("fine", store_each, address, 16);
     }},
    {"exact",
     [] {
         const std::uint64_t address = made(16), large = made(3 * MiB);
         run("last", access_once, OneAccess{address + 8, 8, rmw});
         run("atomic", access_once, OneAccess{address + 16, 8, rmw});
         run("vector", access_once, OneAccess{made(8), 16, BEAVER_WRITE});
         run("misaligned", access_once, OneAccess{address + 4, 16, BEAVER_WRITE});
         run("large", access_once, OneAccess{large + 3 * MiB, 1, BEAVER_READ});
         run("null", access_once, OneAccess{16, 4, BEAVER_READ});
         release(address);
         run("freed", access_once, OneAccess{address, 4, BEAVER_WRITE});
         run("shared", shared_once, OneAccess{BEAVER_SHARED_BASE + 1024, 4, BEAVER_WRITE});
         run("local", local_once, OneAccess{64, 4, BEAVER_WRITE});
         run("local_generic", local_once, OneAccess{1 << 20, 4, BEAVER_WRITE | BEAVER_GENERIC});
     }},
    {"unwritten",
     [] {
         const std::uint64_t address = made(4096), pool = made(64, MemoryKind::pool), heap = made(64, MemoryKind::heap);
         run("store", store_each, address, 2);
         run("load", load_each, address, 4);
         run("atomic", count_each, pool);
         run("again", count_each, pool);
         run("heap", load_each, heap);
         check_copy_source(address, 4096, "cudaMemcpy");
         mark_written(address + 8, 4096 - 8);
         check_copy_source(address, 4096, "cudaMemcpy");
         run("marked", load_each, address, 32);
         run("managed", load_each, made(64, MemoryKind::managed));
         run("variable", load_each, made(64, MemoryKind::variable));
         run("outside", access_once, OneAccess{address + MiB, 4, BEAVER_READ});
     }},
    {"marks",
     [] {
         // Every start and length in a stretch, against a plain list of flags.
         const std::uint64_t address = made(4096);
         unsigned wrong = 0;
         bool flags[512] = {};
         for (unsigned seed = 1, round = 0; round < 4000; ++round) {
             seed = seed * 1103515245 + 12345;
             const unsigned start = (seed >> 8) % 512, size = (seed >> 20) % 90 % (513 - start);
             if (round % 8 == 0) {
                 mark_written(address + start, size);
                 for (unsigned at = start; at < start + size; ++at) flags[at] = true;
             }
             bool all = true;
             for (unsigned at = start; at < start + size; ++at) all = all && flags[at];
             wrong += is_written(address + start, size) != all;
             if (round == 2000) {
                 // A chunk that is unmapped forgets.
                 const std::uint64_t large = made(4 * MiB);
                 mark_written(large, 4 * MiB);
                 wrong += !is_written(large, 4 * MiB);
                 release(large);
                 wrong += is_written(large, 1);
             }
         }
         show("wrong", wrong);
     }},
    {"api_error", [] { report_api_error(cudaErrorInvalidValue, "cudaMemcpy"); }},
    {"leak",
     [] {
         made(100);
         made(3 * MiB, MemoryKind::managed);
         made(64, MemoryKind::variable);
         release(made(50));
     }},
    {"passes", [] { std::printf("PASSED\n"); }},
    {"order",
     [] {
         std::printf("before\n");
         run("error", store_each, std::uint64_t{0});
         std::printf("after\n");
     }},
    {"killed",
     [] {
         launch(store_each, std::uint64_t{0});
         raise(SIGKILL);
     }},
    {"waits", [] {
         std::printf("waiting\n");
         std::fflush(stdout);
         pause();
     }},
    {"waw_same", [] { race(waw_same); }},
    {"waw_diff", [] { race(waw_diff); }},
    {"twice", [] { race(waw_diff), race(waw_diff); }},
    {"warp_raw", [] { race(warp_raw); }},
    {"warp_war", [] { race(warp_war); }},
    {"warp_sync", [] { race(warp_sync); }},
    {"half_sync", [] { race(half_sync, 1u); }},
    {"other_half", [] { race(half_sync, 16u); }},
    {"atomics", [] { race(atomics); }},
    {"block_war", [] { race(block_war); }},
    {"bytes", [] { race(bytes); }},
    {"mixed_sizes", [] { race(mixed_sizes); }},
    {"loop3", [] { race(loop3); }},
    {"pairs", [] { race(pairs, 33u, 2 * threads); }},
    {"other_pair", [] { race(pairs, threads, 2 * threads); }},
    {"early_exit", [] { race(early_exit, std::uint64_t{0}); }},
    {"gone_past", [] { race(early_exit, made(4 * threads)); }},
    {"two_places", [] { race(two_places); }},
    {"foreign_mask", [] { race(foreign_mask); }},
    {"exited_lanes", [] { race(exited_lanes); }},
};

}  // namespace

int main(int count, char **arguments) { return run_case(cases, count, arguments); }
