/* Ends, loops and calls. */
#ifndef BEAVER_KERNEL_OPS_CONTROL_H
#define BEAVER_KERNEL_OPS_CONTROL_H

INLINE uint32_t multiprocessor(const beaver_thread *t)
{
    const beaver_block *b = t->block;
    return (b->ctaid[0] + b->nctaid[0] * (b->ctaid[1] + b->nctaid[1] * b->ctaid[2])) % BEAVER_MULTIPROCESSORS;
}

INLINE _Noreturn void end_thread(beaver_thread *t)
{
    beaver_exit(t);
    __builtin_unreachable();
}
INLINE _Noreturn void trap(beaver_thread *t, const beaver_site *site)
{
    beaver_trap(t, site);
    __builtin_unreachable();
}
INLINE _Noreturn void unsupported(beaver_thread *t, const char *what, const beaver_site *site)
{
    beaver_unsupported(t, what, site);
    __builtin_unreachable();
}

/* Before a jump that closes a loop */
INLINE void poll(beaver_thread *t, const beaver_site *site)
{
    if (UNLIKELY(((const beaver_control *)BEAVER_CONTROL)->poll != 0)) beaver_poll(t, site);
}

/* Before a look at memory that another thread may change: a thread that looks again and again lets the others run */
enum { LOOKS = 32 };
INLINE void look(beaver_thread *t, const beaver_site *site)
{
    if (++t->spins >= LOOKS) {
        t->spins = 0;
        beaver_yield(t, site);
    }
}

INLINE void check_stack(beaver_thread *t, const beaver_site *site)
{
    if (UNLIKELY((uint8_t *)__builtin_frame_address(0) < t->stack_limit)) {
        beaver_stack_overflow(t, site);
        __builtin_unreachable();
    }
}

/* The functions that a call through a pointer may reach; the last row has no address */
typedef struct callable_function {
    void (*address)(void);
    uint32_t parameters;
} callable_function;

COLD _Noreturn void call_nowhere(beaver_thread *t, const beaver_site *site)
{
    beaver_wild_call(t, site);
    __builtin_unreachable();
}

INLINE void (*find_callable(beaver_thread *t, const callable_function *functions, uint64_t address, uint32_t parameters, const beaver_site *site))(void)
{
    for (; functions->address != NULL; functions++)
        if ((uint64_t)(uintptr_t)functions->address == address && functions->parameters == parameters) return functions->address;
    call_nowhere(t, site);
}

/* All threads of a block in turn, for kernels whose threads never wait for each other */
#define FOR_EACH_THREAD(t)                                                                                              \
    for (t->tid[2] = 0, t->linear = 0; t->tid[2] < t->block->ntid[2]; t->tid[2]++)                                      \
        for (t->tid[1] = 0; t->tid[1] < t->block->ntid[1]; t->tid[1]++)                                                 \
            for (t->tid[0] = 0; t->lane = t->linear % BEAVER_WARP, t->tid[0] < t->block->ntid[0]; t->tid[0]++, t->linear++)

#endif
