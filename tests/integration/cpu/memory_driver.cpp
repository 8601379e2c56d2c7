// Runs one case of tests/integration/test_cpu_memory.py.
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <vector>

#include "driver.hpp"

using namespace beaver;

namespace {

constexpr std::uint64_t MiB = 1 << 20, GiB = 1 << 30;
constexpr beaver_site store_site{"/home/user/solution.cu", "_Z5storePii", 5, 0x70};
constexpr beaver_site load_site{"/home/user/solution.cu", "_Z5storePii", 6, 0xc0};
constexpr std::uint32_t generic = BEAVER_GENERIC;

// ---- kernels: their parameters are one address, or what a case says
void store_each(beaver_thread *thread) {
    const std::uint64_t address = param<std::uint64_t>(thread) + 4 * (thread->block->ctaid[0] * thread->block->ntid[0] + thread->tid[0]);
    const std::uint32_t value = thread->tid[0];
    std::memcpy(beaver_access(thread, address, 4, BEAVER_WRITE, &store_site), &value, 4);
}

struct OneAccess {
    std::uint64_t address;
    std::uint32_t size, flags;
};

void access_once(beaver_thread *thread) {
    const auto wanted = param<OneAccess>(thread);
    std::uint8_t *bytes = beaver_access(thread, wanted.address, wanted.size, wanted.flags, &store_site);
    if (wanted.flags & BEAVER_WRITE) std::memset(bytes, 1, wanted.size);
}

void shared_once(beaver_thread *thread) {
    const auto wanted = param<OneAccess>(thread);
    std::memset(beaver_shared_access(thread, static_cast<std::uint32_t>(wanted.address), wanted.size, wanted.flags, &store_site), 1,
                wanted.size);
}

// The address counts from the thread's local memory; generic accesses find it too.
void local_once(beaver_thread *thread) {
    const auto wanted = param<OneAccess>(thread);
    const std::uint64_t address = reinterpret_cast<std::uint64_t>(thread->local) + wanted.address;
    if (wanted.flags & BEAVER_GENERIC)
        *beaver_access(thread, address, wanted.size, wanted.flags, &store_site) = 1;
    else
        *beaver_local_access(thread, address, wanted.size, wanted.flags, &store_site) = 1;
}

void spaces(beaver_thread *thread) {
    const auto address = [](const std::uint8_t *host) { return reinterpret_cast<std::uint64_t>(host); };
    std::printf("spaces=%c%c%c%c\n", beaver_space(thread, param<std::uint64_t>(thread)),
                beaver_space(thread, BEAVER_SHARED_WINDOW + BEAVER_SHARED_BASE), beaver_space(thread, address(thread->local)),
                beaver_space(thread, address(thread->block->params)));
    std::memcpy(beaver_access(thread, BEAVER_SHARED_WINDOW + BEAVER_SHARED_BASE + 4, 4, BEAVER_WRITE | generic, &store_site), "abc", 4);
    std::printf("shared=%s\n", reinterpret_cast<char *>(thread->shared) + 4);
    show("param_kept", *beaver_access(thread, address(thread->block->params), 8, BEAVER_READ | generic, &load_site) ==
                           *thread->block->params);
}

cudaError_t launch_at(void (*thread)(beaver_thread *), std::uint64_t address, dim3 grid = 1, dim3 block = 1) {
    return launch(thread, address, grid, block);
}

cudaError_t access_at(std::uint64_t address, std::uint32_t size, std::uint32_t flags) {
    const OneAccess wanted{address, size, flags};
    return launch(access_once, wanted);
}

bool dies_of_touching(std::uint64_t address) {
    std::fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
        *reinterpret_cast<volatile std::uint8_t *>(address) = 1;
        _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    return WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV;
}

const Cases cases = {
    {"device",
     [] {
         const std::uint64_t address = made(1000);
         show("in_window", in_window(address));
         show("aligned", address % 512 == 0);
         show("host_faults", dies_of_touching(address));
         show("stored", launch_at(store_each, address, 2, 4));
         std::uint32_t value = 0;
         std::memcpy(&value, storage(address + 4 * 6, 4), 4);
         show("value", value);
         show("storage_over_the_end", storage(address, 1001) != nullptr);
         show("storage_of_all", storage(address, 1000) != nullptr);
     }},
    {"fresh",
     [] {
         const std::uint64_t small = made(6), large = made(100 * MiB), managed = made(64, MemoryKind::managed);
         float f;
         double d;
         int i;
         std::memcpy(&f, storage(small, 4), 4);
         std::memcpy(&d, storage(large + 64 * MiB - 8, 8), 8);
         std::memcpy(&i, storage(large, 4), 4);
         show("float_is_nan", f != f);
         show("double_is_nan", d != d);
         show("int", static_cast<std::uint64_t>(i));
         show("managed", *storage(managed, 8));
         show("variable", *storage(made(16, MemoryKind::variable), 16));
     }},
    {"managed",
     [] {
         for (const MemoryKind kind : {MemoryKind::managed, MemoryKind::pinned}) {
             for (const std::uint64_t size : {std::uint64_t{64}, 5 * MiB}) {
                 const std::uint64_t address = made(size, kind);
                 auto *host = reinterpret_cast<std::uint32_t *>(address);
                 host[3] = 77;
                 show("error", launch_at(store_each, address, 1, 3));
                 show("kept", host[3]);
                 show("from_kernel", host[2]);
                 show("released", release(address));
                 show("host_faults", size < MiB || dies_of_touching(address));
             }
         }
     }},
    {"limit",
     [] {
         show("total", memory_total() / GiB);
         const std::uint64_t before = memory_free();
         std::uint64_t address = 0, other = 0;
         show("fits", allocate(6 * GiB, 256, MemoryKind::device, "", &address));
         show("too_much", allocate(3 * GiB, 256, MemoryKind::pool, "", &other));
         show("absurd", allocate(~0ull, 256, MemoryKind::device, "", &other));
         show("managed_may", allocate(3 * GiB, 256, MemoryKind::managed, "", &other));
         show("free", memory_free() / GiB);
         release(address);
         show("all_free", memory_free() == before);
     }},
    {"churn",
     [] {
         // 3 TiB through a window of 1 TiB, and small ones in between.
         const std::uint64_t kept = made(4096);
         std::memset(storage(kept, 4096), 9, 4096);
         std::uint64_t first = 0, again = 0;
         for (int round = 0; round < 3000; ++round) {
             std::uint64_t address = 0;
             if (allocate(GiB, 256, MemoryKind::pinned, "", &address)) return show("failed_in", round);
             if (round == 0) first = address;
             if (round > 0 && address == first && again == 0) again = round;
             const std::uint64_t small = made(1000);
             release(small);
             release(address);
         }
         show("reused_after", again > 500);
         show("kept", *storage(kept + 4095, 1));
     }},
    {"freed",
     [] {
         const std::uint64_t small = made(512), neighbour = made(512), large = made(4 * MiB);
         release(small);
         release(large);
         show("twice", release(large));
         show("not_an_allocation", release(neighbour + 4));
         show("freed", nearest_allocation(small + 8)->freed);
         show("large_faults", launch_at(store_each, large));
         show("small_survives", launch_at(store_each, small));
         show("new_address", made(512) != small);
         show("after", static_cast<std::uint64_t>(nearest_allocation(neighbour + 512 + 3 * 512)->distance));
         show("before_window", static_cast<std::uint64_t>(-nearest_allocation(neighbour - 512 - 16)->distance));
     }},
    {"plain_faults",
     [] {
         const std::uint64_t address = made(1024), large = made(4 * MiB);
         int on_host = 0;
         show("overrun", access_at(address + 1024, 4, BEAVER_WRITE));
         show("beyond_chunk", access_at(large + 4 * MiB, 4, BEAVER_WRITE));
         show("null", access_at(0, 4, BEAVER_READ));
         show("host", access_at(reinterpret_cast<std::uint64_t>(&on_host), 4, BEAVER_READ | generic));
         show("misaligned", access_at(address + 2, 4, BEAVER_READ));
         show("misaligned_vector", access_at(address + 8, 16, BEAVER_READ));
         show("misaligned_far", access_at(address + (1ull << 36) + 1, 4, BEAVER_READ));
         OneAccess wanted{BEAVER_SHARED_BASE + 1020, 4, BEAVER_WRITE};
         show("shared_last", launch(shared_once, wanted));
         wanted.address += 4;
         show("shared_over", launch(shared_once, wanted));
         wanted.address = BEAVER_SHARED_BASE - 4;
         show("shared_below", launch(shared_once, wanted));
         wanted.address = BEAVER_SHARED_BASE + 2;
         show("shared_misaligned", launch(shared_once, wanted));
         show("shared_generic_over", access_at(BEAVER_SHARED_WINDOW + BEAVER_SHARED_BASE + 1024, 4, BEAVER_WRITE | generic));
         show("shared_not_generic", access_at(BEAVER_SHARED_WINDOW + BEAVER_SHARED_BASE, 4, BEAVER_WRITE));
         wanted = {60, 4, BEAVER_WRITE};
         show("local", launch(local_once, wanted));
         wanted.flags |= BEAVER_GENERIC;
         show("local_generic", launch(local_once, wanted));
         wanted = {1 << 20, 4, BEAVER_WRITE};
         show("local_over", launch(local_once, wanted));
     }},
    {"spaces", [] { show("error", launch_at(spaces, made(64))); }},
    {"registered",
     [] {
         std::vector<std::uint32_t> host(64, 5);
         const auto address = reinterpret_cast<std::uint64_t>(host.data());
         register_host(host.data(), 256);
         show("error", launch_at(store_each, address, 1, 64));
         show("value", host[63]);
         show("kind", find_allocation(address + 255)->kind == MemoryKind::registered);
         show("no_release", release(address));
         show("gone", unregister_host(host.data()));
         show("twice", unregister_host(host.data()));
         show("faults", launch_at(store_each, address));
     }},
};

}  // namespace

int main(int count, char **arguments) { return run_case(cases, count, arguments); }
