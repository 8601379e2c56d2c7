// Functions of the API that the CPU device does not offer. They exist, so that a program that names one can be linked and is told
// what it misses, and are weak: where another file defines the function, this one's is not used.
#include <mutex>
#include <set>
#include <string>

#include "errors.hpp"
#include "report.hpp"

namespace beaver {
namespace {

// Says it once for each function; a program may ask in a loop.
cudaError_t not_offered(const char *name) {
    static std::mutex mutex;
    static auto *const told = new std::set<std::string>;
    {
        const std::lock_guard lock(mutex);
        if (told->insert(name).second)
            announce(std::string(name) + " is not offered by the CPU device: needs a GPU");
    }
    return after_call(name, cudaErrorNotSupported);
}

}  // namespace
}  // namespace beaver

// The declarations of the headers would fix parameters that these definitions have no use for: a callee may ignore its arguments
// under the System V ABI. Hence names of their own, and the API's as labels.
#define NOT_OFFERED(name)                                                                 \
    extern "C" __attribute__((weak)) cudaError_t not_offered_##name() __asm__(#name);     \
    extern "C" __attribute__((weak)) cudaError_t not_offered_##name() { return beaver::not_offered(#name); }
#include "unsupported.inc"
