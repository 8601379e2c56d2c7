// How threads end, apart from coming to the end of their kernel.
#include <string>

#include "clock.hpp"
#include "execution.hpp"
#include "grid.hpp"
#include "options.hpp"
#include "report.hpp"

namespace beaver {

cudaError_t report_exception(const beaver_thread *thread, const beaver_site *site, const std::string &what,
                             const std::string &details, cudaError_t error) {
    if (options().tool != Tool::memcheck) return error;
    report_fault(thread, site, what, details);
    // A wild jump alone keeps its code under memcheck (seen on an H200).
    return error == cudaErrorInvalidPc ? error : cudaErrorLaunchFailure;
}

bool fail_thread(Thread &thread, cudaError_t error) {
    Grid &grid = *thread.warp->block->grid;
    if (options().tool == Tool::none) {
        grid.stop(error);
        return false;
    }
    grid.drain(error);  // the tool counts the faults of some thousand threads on a GPU, too, and not of all that there would be
    return true;
}

void end_thread(beaver_thread *thread, cudaError_t error) {
    Thread *self = thread_of(thread);
    if (fail_thread(*self, error)) exit_thread(self);
    self->warp->block->worker->leave();
}

void note_site(beaver_thread *thread, const beaver_site *site) { thread_of(thread)->site = site; }

}  // namespace beaver

using namespace beaver;

void beaver_exit(beaver_thread *thread) { exit_thread(thread_of(thread)); }

void beaver_trap(beaver_thread *thread, const beaver_site *site) {
    end_thread(thread, report_exception(thread, site, "Trace/breakpoint trap", "", cudaErrorLaunchFailure));
}

void beaver_wild_call(beaver_thread *thread, const beaver_site *site) {
    end_thread(thread, report_exception(thread, site, "Invalid PC", "", cudaErrorInvalidPc));
}

void beaver_stack_overflow(beaver_thread *thread, const beaver_site *site) {
    end_thread(thread, report_exception(thread, site, "Stack overflow", "", cudaErrorIllegalAddress));
}

void beaver_unsupported(beaver_thread *thread, const char *what, const beaver_site *site) {
    Grid &grid = *thread_of(thread)->warp->block->grid;
    grid.flush();
    give_up(std::string(what) + " at " + describe(&grid.kernel, site) + " needs a GPU", Exit::needs_gpu);
}

// Where a kernel that loops without waiting can be stopped.
void beaver_poll(beaver_thread *thread, const beaver_site *site) {
    Thread *self = thread_of(thread);
    Block &block = *self->warp->block;
    if (block.grid->draining && nanoseconds_now() > block.grid->drain_end) block.grid->stop(cudaErrorLaunchFailure);
    if (block.grid->stopped) block.worker->leave();
    say_where_if_due(*self, site);
}
