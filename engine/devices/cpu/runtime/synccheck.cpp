// synccheck: barriers that only a part of a warp reaches, and warp operations with a mask that is not theirs.
#include "execution.hpp"
#include "report.hpp"
#include "tools.hpp"

namespace beaver {
namespace {

void divergent_barrier(const beaver_thread *thread, const beaver_site *site) {
    report_fault(thread, site, "Barrier error detected. Divergent thread(s) in warp.", "");
}

void invalid_mask(const beaver_thread *thread, std::uint32_t, const beaver_site *site) {
    report_fault(thread, site, "Barrier error detected. Invalid arguments.", "");
}

}  // namespace

void start_synccheck() {
    hooks.divergent_barrier = divergent_barrier;
    hooks.invalid_mask = invalid_mask;
}

}  // namespace beaver
