// Device memory: one window of addresses (kernel_abi.h), what is allocated in it, and what was.
//
// As a GPU does, the window is mapped in chunks of 2 MiB: in a plain run every byte of a mapped chunk can be accessed, so small
// overruns stay silent. Under a tool every access is checked exactly. Addresses of freed memory are not handed out
// again before the window is used up.
#pragma once

#include <cuda_runtime_api.h>

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>

namespace beaver {

enum class MemoryKind {
    device,      // cudaMalloc and its pitched and 3D forms
    pool,        // cudaMallocAsync, cudaMallocFromPoolAsync
    managed,     // host code may touch it: mapped at its device address too
    pinned,      // cudaMallocHost, cudaHostAlloc: likewise
    registered,  // cudaHostRegister: host memory outside the window, device address = host address
    variable,    // __device__, __constant__ and __managed__ variables
    heap,        // malloc() in a kernel
    workspace    // the barrier of a cooperative launch
};

struct Allocation {
    std::uint64_t address;
    std::uint64_t size;
    MemoryKind kind;
    std::string name;  // of a variable, empty otherwise
};

// Maps the window, the table of pages and the control page. Called once, by the first API call. Exits with a message when the
// address space is not to be had.
void open_memory();

// ``align`` a power of two, at least 1; cudaMalloc passes 256. Fresh device memory holds a pattern, not zeros.
// cudaErrorMemoryAllocation when the limit would be passed.
cudaError_t allocate(std::uint64_t size, std::uint64_t align, MemoryKind kind, const std::string &name,
                     std::uint64_t *address);
// The start of a live allocation. Large ones are unmapped at once; small ones when their chunk is empty.
cudaError_t release(std::uint64_t address);
void register_host(void *pointer, std::uint64_t size);
bool unregister_host(void *pointer);

std::uint64_t memory_total();
std::uint64_t memory_free();

// The live allocation that holds this address.
std::optional<Allocation> find_allocation(std::uint64_t address);
bool in_window(std::uint64_t address);
// Grows with every release: what was found out about an allocation holds while it stands still.
extern std::atomic<std::uint64_t> releases;

// Where the bytes of a live allocation are for host code of the runtime; nullptr unless all ``size`` bytes lie in one allocation.
std::uint8_t *storage(std::uint64_t address, std::uint64_t size);

// For initcheck: the bytes now hold something.
void mark_written(std::uint64_t address, std::uint64_t size);
// For initcheck: whether all bytes were ever written.
bool is_written(std::uint64_t address, std::uint64_t size);
// For initcheck: the first byte that was never written, if any.
std::optional<std::uint64_t> first_unwritten(std::uint64_t address, std::uint64_t size);

// What lies at or near a bad address.
struct Nearest {
    Allocation allocation;
    bool freed;
    std::int64_t distance;  // bytes after its end (> 0), before its start (< 0), 0 inside
};
std::optional<Nearest> nearest_allocation(std::uint64_t address);

// Lists every live allocation of kinds device, pool and managed that is no variable (leak check).
void for_each_allocation(void (*visit)(const Allocation &, void *), void *context);

}  // namespace beaver
