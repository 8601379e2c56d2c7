// synccheck: barriers that only a part of a warp reaches, and warp operations with a mask that is not theirs.
#include "execution.hpp"
#include "report.hpp"
#include "tools.hpp"

namespace beaver {
namespace {

void divergent_barrier(const beaver_thread *thread, const beaver_site *site) {
    report_fault(thread, site, "Barrier error detected. Divergent thread(s) in warp.", "");
}

// Lanes that have exited may be named, as on a GPU.
void invalid_mask(const beaver_thread *thread, std::uint32_t mask, const beaver_site *site) {
    if (!(mask >> thread->lane & 1)) report_fault(thread, site, "Barrier error detected. Invalid arguments.", "");
}

}  // namespace

void start_synccheck() {
    hooks.divergent_barrier = divergent_barrier;
    hooks.invalid_mask = invalid_mask;
}

}  // namespace beaver
