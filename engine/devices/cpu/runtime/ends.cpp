// How threads end, apart from coming to the end of their kernel.
#include <string>

#include "execution.hpp"
#include "grid.hpp"
#include "options.hpp"
#include "report.hpp"

namespace beaver {

bool fail_thread(Thread &thread, cudaError_t error) {
    Grid &grid = *thread.warp->block->grid;
    if (options().tool == Tool::none) {
        grid.stop(error);
        return false;
    }
    grid.fail(error);
    return true;
}

void end_thread(beaver_thread *thread, cudaError_t error) {
    Thread *self = thread_of(thread);
    if (fail_thread(*self, error)) exit_thread(self);
    self->warp->block->worker->leave();
}

}  // namespace beaver

using namespace beaver;

void beaver_exit(beaver_thread *thread) { exit_thread(thread_of(thread)); }

void beaver_trap(beaver_thread *thread, const beaver_site *) { end_thread(thread, cudaErrorLaunchFailure); }

void beaver_stack_overflow(beaver_thread *thread, const beaver_site *site) {
    report_fault(thread, site, "Stack overflow", "");
    end_thread(thread, stack_overflow_error);
}

void beaver_unsupported(beaver_thread *thread, const char *what, const beaver_site *site) {
    Grid &grid = *thread_of(thread)->warp->block->grid;
    grid.flush();
    give_up(std::string(what) + " at " + describe(&grid.kernel, site) + " needs a GPU", 125);
}
