// What the runtime and the compute-sanitizer stand-in share: a page of counters that every process under the tool adds to while
// it runs, so that nothing is lost when one is killed.
#pragma once

#include <atomic>
#include <cstdint>

namespace beaver {

struct ReportFile {
    std::atomic<std::uint64_t> processes;  // that called CUDA
    std::atomic<std::uint64_t> errors;     // leaks and failed API calls among them
    std::atomic<std::uint64_t> warnings;   // of racecheck
    std::atomic<std::uint64_t> unprinted;  // beyond the print limit
    std::atomic<std::uint64_t> leaked_bytes, leaked_allocations;
};
static_assert(std::atomic<std::uint64_t>::is_always_lock_free, "the counters are shared between processes");

}  // namespace beaver
