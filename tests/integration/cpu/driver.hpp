// What the drivers of the runtime's tests share: hand-written kernels, launched as the API layer would, and "name=value" lines for
// the tests to compare.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <string>

#include "execution.hpp"
#include "kernel_abi.h"
#include "memory.hpp"
#include "options.hpp"
#include "report.hpp"

using Cases = std::map<std::string, std::function<void()>>;

inline void show(const char *name, std::uint64_t value) {
    std::printf("%s=%llu\n", name, static_cast<unsigned long long>(value));
}

inline std::uint64_t made(std::uint64_t size, beaver::MemoryKind kind = beaver::MemoryKind::device) {
    std::uint64_t address = 0;
    if (const cudaError_t error = beaver::allocate(size, 256, kind, "", &address)) {
        std::printf("allocate failed with %d\n", error);
        std::exit(1);
    }
    return address;
}

template <typename Value>
Value param(const beaver_thread *thread) {
    Value value;
    std::memcpy(&value, thread->block->params, sizeof value);
    return value;
}

// Runs a kernel that has 1024 bytes of shared and 64 bytes of local memory.
template <typename Value>
cudaError_t launch(void (*thread)(beaver_thread *), const Value &params, dim3 grid = 1, dim3 block = 1) {
    static beaver_kernel kernel;
    kernel = beaver_kernel{};
    kernel.name = "_Z5storePii";
    kernel.thread = thread;
    kernel.param_bytes = sizeof params;
    kernel.static_shared = 1024;
    kernel.local_bytes = 64;
    beaver::Launch wanted;
    wanted.kernel = &kernel;
    wanted.grid = grid;
    wanted.block = block;
    wanted.params.resize(sizeof params);
    std::memcpy(wanted.params.data(), &params, sizeof params);
    return beaver::run_grid(wanted);
}

inline int run_case(const Cases &cases, int count, char **arguments) {
    if (count != 2 || !cases.count(arguments[1])) return 2;
    beaver::open_memory();
    cases.at(arguments[1])();
    beaver::finish_reports();
    return 0;
}
