// Switching between stacks, and the stacks that CUDA threads run on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

extern "C" {
// Keeps what the ABI says a call must keep, stores the stack pointer in ``*saved`` and goes on where ``next`` was stored. Returns
// when somebody switches back. Rounding modes are the same in every fiber and not kept.
void beaver_fiber_switch(void **saved, void *next);
// The same, but goes on with entry(argument) on an unused stack that grows down from ``top``. ``entry`` must not return. The
// stack may be the running one, when nobody will switch back to what ran on it.
void beaver_fiber_start(void **saved, void *top, void (*entry)(void *), void *argument);
// Where a signal handler sends an OS thread whose stack pointer it has set to a stored one.
void beaver_fiber_resume();
}

namespace beaver {

// From low to high addresses: a guard that cannot be touched, the host stack, the thread's local memory.
struct Stack {
    std::uint8_t *guard, *low, *top, *local_end;
    const void *owner = nullptr;  // the Thread that runs on it
};

// The stacks of one worker: mapped when they are first needed, kept for the next grid, handed out last in, first out, so that
// threads that never wait share one that is warm in the cache.
class StackPool {
   public:
    StackPool() = default;
    StackPool(const StackPool &) = delete;
    StackPool &operator=(const StackPool &) = delete;
    ~StackPool();

    // Makes every stack that is taken from now on at least this large (bytes). None may be taken at the time.
    void fit(std::size_t host_bytes, std::size_t local_bytes);
    // Ends the process with a message when the system has no more.
    Stack *take();
    void give(Stack *stack) { idle_.push_back(stack); }
    // All stacks are idle again: their threads have been dropped.
    void reclaim();
    // The stack that an address lies in, its guard included; nullptr when there is none.
    Stack *find(std::uintptr_t address);

   private:
    std::size_t stride() const;
    void grow();
    void unmap();

    std::size_t host_bytes_ = 0, local_bytes_ = 0;
    std::deque<Stack> stacks_;
    std::vector<Stack *> idle_;
    std::vector<std::uint8_t *> slabs_;
};

}  // namespace beaver
