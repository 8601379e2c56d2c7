// Signals that a kernel raises: a stack that ran into its guard, a call through a wild pointer.
//
// The handler is installed around grids only, and what is not a kernel's goes on to whoever handled it before: a host
// program that dereferences a device pointer dies of it, as with a GPU.
#include <signal.h>
#include <ucontext.h>

#include <array>
#include <string>

#include "grid.hpp"

namespace beaver {
namespace {

constexpr std::array<int, 4> caught = {SIGSEGV, SIGBUS, SIGFPE, SIGILL};
constexpr std::size_t handler_stack_bytes = 64 << 10;
constexpr greg_t direction_flag = 1 << 10;
struct sigaction before[caught.size()];

void pass_on(int signal, siginfo_t *info, void *context) {
    for (std::size_t index = 0; index < caught.size(); ++index) {
        if (caught[index] != signal) continue;
        const struct sigaction &previous = before[index];
        if (previous.sa_flags & SA_SIGINFO) return previous.sa_sigaction(signal, info, context);
        if (previous.sa_handler != SIG_DFL && previous.sa_handler != SIG_IGN) return previous.sa_handler(signal);
        // The default action happens when the instruction is executed again; a signal that was sent has to be sent again.
        sigaction(signal, &previous, nullptr);
        if (info->si_code <= 0) raise(signal);
    }
}

void handle(int signal, siginfo_t *info, void *context) {
    Worker *worker = this_worker;
    if (!worker || !worker->inside || info->si_code <= 0) return pass_on(signal, info, context);
    greg_t *registers = static_cast<ucontext_t *>(context)->uc_mcontext.gregs;
    worker->crash = {signal, reinterpret_cast<std::uintptr_t>(info->si_addr),
                     static_cast<std::uintptr_t>(registers[REG_RIP]), static_cast<std::uintptr_t>(registers[REG_RSP])};
    worker->inside = false;
    // The thread is left as by any switch to the worker, only that nobody comes back.
    registers[REG_RSP] = reinterpret_cast<greg_t>(worker->context);
    registers[REG_RIP] = reinterpret_cast<greg_t>(&beaver_fiber_resume);
    registers[REG_EFL] &= ~direction_flag;
}

}  // namespace

KernelSignals::KernelSignals() {
    struct sigaction ours = {};
    ours.sa_sigaction = handle;
    ours.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
    for (std::size_t index = 0; index < caught.size(); ++index) sigaction(caught[index], &ours, &before[index]);
}

KernelSignals::~KernelSignals() {
    for (std::size_t index = 0; index < caught.size(); ++index) sigaction(caught[index], &before[index], nullptr);
}

// A program that has set a signal stack for this thread keeps it.
SignalStack::SignalStack() {
    stack_t current;
    if (sigaltstack(nullptr, &current) != 0 || !(current.ss_flags & SS_DISABLE)) return;
    bytes_.reset(new std::uint8_t[handler_stack_bytes]);
    stack_t ours = {};
    ours.ss_sp = bytes_.get();
    ours.ss_size = handler_stack_bytes;
    sigaltstack(&ours, nullptr);
}

SignalStack::~SignalStack() {
    if (!bytes_) return;
    stack_t none = {};
    none.ss_flags = SS_DISABLE;
    sigaltstack(&none, nullptr);
}

// Back on the worker's own stack.
void Worker::settle_crash(Block &block) {
    const Crash what = crash;
    crash = {};
    Stack *stack = stacks.find(what.stack_pointer);
    if (!stack) stack = stacks.find(what.address);
    // The stack pointer itself can be wild; then any thread of the block stands for the one that is not known.
    Thread *thread = stack && stack->owner ? static_cast<Thread *>(const_cast<void *>(stack->owner)) : &block.threads.front();
    const beaver_site *site = grid->kernel.site;
    std::string exception = "Invalid access";
    cudaError_t error = cudaErrorIllegalAddress;
    if (stack && what.address >= reinterpret_cast<std::uintptr_t>(stack->guard) &&
        what.address < reinterpret_cast<std::uintptr_t>(stack->low)) {
        exception = "Stack overflow";
    } else if (what.signal == SIGILL || what.signal == SIGFPE) {
        exception = "Illegal instruction";
        error = cudaErrorIllegalInstruction;
    } else if (what.address == what.instruction) {
        exception = "Invalid PC";
        error = cudaErrorInvalidPc;
    }
    if (fail_thread(*thread, report_exception(thread, site, exception, "", error))) retire(thread);
}

}  // namespace beaver
