// Running a grid on the CPU: blocks on OS threads, CUDA threads as fibers.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <vector>

#include "device_figures.h"
#include "kernel_abi.h"

namespace beaver {

struct Launch {
    const beaver_kernel *kernel = nullptr;
    dim3 grid, block;
    std::uint32_t dynamic_size = 0;  // bytes of dynamic shared memory
    bool cooperative = false;
    std::vector<std::uint8_t> params;
};

// Runs the grid to its end, on the calling thread and the pool's. The launch has been validated. Returns cudaSuccess or what ended
// it: cudaErrorIllegalAddress, cudaErrorMisalignedAddress, cudaErrorLaunchFailure, cudaErrorAssert, ...
// One grid runs at a time: concurrent host threads wait for each other.
cudaError_t run_grid(const Launch &launch);

// The launch that a thread belongs to; for reports.
const Launch &launch_of(const beaver_thread *thread);

// Ends the faulting thread. In a plain run the whole grid ends with it; under a tool the other threads go on, as with
// compute-sanitizer, and the grid's error is delivered at its end. Never returns.
[[noreturn]] void end_thread(beaver_thread *thread, cudaError_t error);

// The thread has come to this place: synccheck tells by it on which side of a barrier a thread was that has exited.
void note_site(beaver_thread *thread, const beaver_site *site);

// Where execution may call into a tool. All are called on the OS thread that runs the block.
struct Hooks {
    void (*block_begins)(const beaver_thread *any_thread);                       // shared memory is fresh
    void (*block_ends)(const beaver_block *block);
    void (*barrier_passed)(const beaver_thread *any_thread);                     // all threads of the block met
    // These lanes of its warp met at bar.warp.sync. Shuffles and votes order no memory.
    void (*warp_synced)(const beaver_thread *any_lane, std::uint32_t mask);
    // a barrier of all threads was reached by only some lanes of a warp, the others having gone past it or waiting elsewhere
    void (*divergent_barrier)(const beaver_thread *thread, const beaver_site *site);
    // the mask of a warp operation does not name the lane, and the warp is divergent or the operation is bar.warp.sync
    void (*invalid_mask)(const beaver_thread *thread, std::uint32_t mask, const beaver_site *site);
    // A barrier of some warps of the block completed, and others live that took no part; bit i stands for warp i.
    void (*warps_met)(const beaver_thread *any_thread, std::uint32_t warps);
};
extern Hooks hooks;  // all may be null

// How many blocks of a kernel are resident on one multiprocessor (threads, shared memory, registers, the 32-block limit).
unsigned resident_blocks(const beaver_kernel &kernel, unsigned block_threads, std::uint64_t dynamic_size);

// cudaLimitStackSize, bytes per thread; local memory grows to it at least. Default 1024.
extern std::uint64_t stack_limit;
// cudaLimitMallocHeapSize, bytes. Default 8 MiB.
extern std::uint64_t heap_limit;

}  // namespace beaver
