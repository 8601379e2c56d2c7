#include "fiber.hpp"

#include <sys/mman.h>

#include <string>

#include "report.hpp"
#include "rounding.hpp"

#if !defined(__x86_64__)
#error "the CPU device switches stacks in x86-64 assembly"
#endif

// `ret` rather than an indirect jump: the lanes of a warp wait at the same place, so the processor's return predictor, which
// remembers the call of the lane that is left, is right about the lane that is resumed.
asm(R"(
    .text
    .p2align 4
    .globl beaver_fiber_switch
    .hidden beaver_fiber_switch
    .type beaver_fiber_switch, @function
beaver_fiber_switch:
    push %rbp
    push %rbx
    push %r12
    push %r13
    push %r14
    push %r15
    mov %rsp, (%rdi)
    mov %rsi, %rsp
    .globl beaver_fiber_resume
    .hidden beaver_fiber_resume
beaver_fiber_resume:
    pop %r15
    pop %r14
    pop %r13
    pop %r12
    pop %rbx
    pop %rbp
    ret
    .size beaver_fiber_switch, . - beaver_fiber_switch

    .p2align 4
    .globl beaver_fiber_start
    .hidden beaver_fiber_start
    .type beaver_fiber_start, @function
beaver_fiber_start:
    push %rbp
    push %rbx
    push %r12
    push %r13
    push %r14
    push %r15
    mov %rsp, (%rdi)
    mov %rsi, %rsp
    xor %ebp, %ebp
    mov %rcx, %rdi
    call *%rdx
    ud2
    .size beaver_fiber_start, . - beaver_fiber_start
)");

namespace beaver {
namespace {

constexpr std::size_t page = 4096;
// Wide, because a compiler may put a large frame below the stack and touch its far end first. It costs address space only.
constexpr std::size_t guard_bytes = 16 * page;
constexpr std::size_t stacks_per_slab = 16;
// A guard splits a mapping, and Linux has room for 65530 mappings. Further stacks share one for each slab: code that may grow deep
// looks at stack_limit, and a frame that does not is smaller than a stack.
constexpr std::size_t stacks_with_guards = 2048;

// Tops that share their low address bits would compete for the same few sets of the caches: an odd number of pages from stack
// to stack spreads them over the pages of the second level, this over the lines of a page for the first.
std::size_t skew(std::size_t index) { return index % 16 * (page / 16); }

}  // namespace

StackPool::~StackPool() { unmap(); }

void StackPool::fit(std::size_t host_bytes, std::size_t local_bytes) {
    if (host_bytes <= host_bytes_ && local_bytes <= local_bytes_) return;
    unmap();
    if (host_bytes > host_bytes_) host_bytes_ = round_up(host_bytes, page);
    if (local_bytes > local_bytes_) local_bytes_ = round_up(local_bytes, page);
}

Stack *StackPool::take() {
    if (idle_.empty()) grow();
    Stack *stack = idle_.back();
    idle_.pop_back();
    return stack;
}

void StackPool::reclaim() {
    idle_.clear();
    for (auto stack = stacks_.rbegin(); stack != stacks_.rend(); ++stack) idle_.push_back(&*stack);
}

Stack *StackPool::find(std::uintptr_t address) {
    for (Stack &stack : stacks_)
        if (address >= reinterpret_cast<std::uintptr_t>(stack.guard) &&
            address < reinterpret_cast<std::uintptr_t>(stack.local_end))
            return &stack;
    return nullptr;
}

std::size_t StackPool::stride() const {
    const std::size_t usable = host_bytes_ + local_bytes_ + page;  // a page for the skew
    return ((guard_bytes + usable) / page | 1) * page;
}

void StackPool::grow() {
    const std::size_t stride = this->stride();
    void *mapped = mmap(nullptr, stride * stacks_per_slab, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    bool done = mapped != MAP_FAILED;
    auto *slab = static_cast<std::uint8_t *>(mapped);
    const std::size_t step = stacks_.size() < stacks_with_guards ? stride : stride * stacks_per_slab;
    for (std::size_t at = 0; done && at < stride * stacks_per_slab; at += step)
        done = mprotect(slab + at + guard_bytes, step - guard_bytes, PROT_READ | PROT_WRITE) == 0;
    if (!done)
        give_up("no stack for a further CUDA thread after " + std::to_string(stacks_.size()) +
                    ": out of address space or of mappings (vm.max_map_count)",
                Exit::broken);
    // One touched page must not bring in 2 MiB.
    madvise(slab, stride * stacks_per_slab, MADV_NOHUGEPAGE);
    slabs_.push_back(slab);
    const std::size_t first = stacks_.size();
    for (std::size_t index = 0; index < stacks_per_slab; ++index) {
        std::uint8_t *guard = slab + index * stride;
        std::uint8_t *low = guard + guard_bytes;
        std::uint8_t *top = low + host_bytes_ + skew(first + index);
        stacks_.push_back({guard, low, top, top + local_bytes_});
    }
    for (std::size_t index = stacks_per_slab; index-- > 0;) idle_.push_back(&stacks_[first + index]);
}

void StackPool::unmap() {
    for (std::uint8_t *slab : slabs_) munmap(slab, stride() * stacks_per_slab);
    slabs_.clear();
    stacks_.clear();
    idle_.clear();
}

}  // namespace beaver
