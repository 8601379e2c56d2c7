/* Addresses to host memory. Each space has a fast path for what is certainly valid; everything else is the runtime's to judge.
 *
 * The fast paths are asm statements. To the compiler an access is then one instruction without control flow, whose slow path saves
 * every register itself: kernels compile three times as fast as with a branch and a call in C, and keep their values in registers.
 * The asm statements push, so kernels are compiled with -mno-red-zone. Slow paths lie in a section of their own: the compiler puts
 * code of its own into .text.unlikely, and would run from there into a slow path that lies in the same section.
 */
#ifndef BEAVER_KERNEL_OPS_MEMORY_H
#define BEAVER_KERNEL_OPS_MEMORY_H

/* What an access is, in one word: the space, the size in bytes, the flags of beaver_access() */
enum { SPACE_GLOBAL = 0 << 12, SPACE_SHARED = 1 << 12, SPACE_LOCAL = 2 << 12, SPACE_GENERIC = 3 << 12 };
#define ACCESS(space, size, flags) ((space) | (size) << 4 | (flags))

INLINE int is_local(const beaver_thread *t, uint64_t address, uint32_t size)
{
    const uint64_t offset = address - (uint64_t)(uintptr_t)t->local, room = (uint64_t)(t->local_end - t->local);
    return offset < room && room - offset >= size;
}

INLINE int is_parameter(const beaver_thread *t, uint64_t address, uint32_t size)
{
    const uint64_t offset = address - (uint64_t)(uintptr_t)t->block->params;
    return offset < t->block->params_size && t->block->params_size - offset >= size;
}

/* Called by slow_path alone. A generic address may be in shared or local memory, or in the parameters, and valid. */
static __attribute__((used, noinline, cold)) uint8_t *slow_access(beaver_thread *t, uint64_t address, uint32_t access, uint32_t site)
{
    const uint32_t flags = access & 15, size = access >> 4 & 255;
    switch (access & ~0xfffu) {
    case SPACE_SHARED: return beaver_shared_access(t, (uint32_t)address, size, flags, &sites[site]);
    case SPACE_LOCAL: return beaver_local_access(t, address, size, flags, &sites[site]);
    case SPACE_GLOBAL: return beaver_access(t, address, size, flags, &sites[site]);
    default: break;
    }
    if ((address & (size - 1)) == 0) {
        const uint64_t offset = address - (BEAVER_SHARED_WINDOW + BEAVER_SHARED_BASE);
        if (offset < UINT32_MAX && offset + size <= t->shared_limit) return t->shared + offset;
        if (is_local(t, address, size)) return (uint8_t *)(uintptr_t)address;
        if (!(flags & BEAVER_WRITE) && is_parameter(t, address, size)) return (uint8_t *)(uintptr_t)address;
    }
    return beaver_access(t, address, size, flags | BEAVER_GENERIC, &sites[site]);
}

/* slow_path: what the asm statements call. On the stack: the return address, where two words say which access and which site;
 * the address, in whose place the result is left; the thread. Every register comes back as it was. */
#ifdef __AVX__
#define VECTOR(n) "vmovdqu %ymm" #n ", 32*" #n "(%rsp)\n\t"
#define VECTOR_BACK(n) "vmovdqu 32*" #n "(%rsp), %ymm" #n "\n\t"
#else
#define VECTOR(n) "movups %xmm" #n ", 32*" #n "(%rsp)\n\t"
#define VECTOR_BACK(n) "movups 32*" #n "(%rsp), %xmm" #n "\n\t"
#endif
#define ALL_16(v) v(0) v(1) v(2) v(3) v(4) v(5) v(6) v(7) v(8) v(9) v(10) v(11) v(12) v(13) v(14) v(15)
__asm__(".pushsection .text.slow_path, \"ax\", @progbits\n"
        "slow_path:\n\t"
        "push %rax\n\tpush %rcx\n\tpush %rdx\n\tpush %rsi\n\tpush %rdi\n\tpush %r8\n\tpush %r9\n\tpush %r10\n\tpush %r11\n\tpush %rbp\n\t"
        "mov 80(%rsp), %rax\n\t"  /* ten registers above: the return address */
        "mov (%rax), %edx\n\t"    /* access */
        "mov 4(%rax), %ecx\n\t"   /* site */
        "addq $8, 80(%rsp)\n\t"   /* return behind the two words */
        "mov 88(%rsp), %rsi\n\t"  /* address */
        "mov 96(%rsp), %rdi\n\t"  /* thread */
        "mov %rsp, %rbp\n\tsub $512, %rsp\n\tand $-64, %rsp\n\t" ALL_16(VECTOR)
        "call slow_access\n\t" ALL_16(VECTOR_BACK)
        "mov %rbp, %rsp\n\t"
        "mov %rax, 88(%rsp)\n\t"
        "pop %rbp\n\tpop %r11\n\tpop %r10\n\tpop %r9\n\tpop %r8\n\tpop %rdi\n\tpop %rsi\n\tpop %rdx\n\tpop %rcx\n\tpop %rax\n\t"
        "ret\n"
        ".popsection");

/* The end of a fast path: where its jumps to 1 go. Operands: [t], [a] the address, [p] the result. */
#define SLOW_PATH                                                                                                       \
    ".pushsection .text.slow_path, \"ax\", @progbits\n"                                                                  \
    "1:\tpush %[t]\n\tpush %[a]\n\tcall slow_path\n\t.long %c[access], %c[site]\n\t"                                    \
    "pop %[p]\n\tlea 8(%%rsp), %%rsp\n\tjmp 2f\n\t"                                                                     \
    ".popsection\n2:"
#define SLOW_OPERANDS(space) [t] "r"(t), [access] "i"(ACCESS(space, size, flags)), [site] "i"(site - sites), [shift] "i"(__builtin_ctz(size))

/* An aligned access of ``size`` bytes (a power of two) to an open page, which it never crosses. Bit 45 is what makes an offset an
 * address of the window, and the rotation brings the bits that an aligned offset does not have to the top: one comparison asks for
 * window and alignment, and what is left numbers the page. Window and alias differ in bit 44. */
#define IN_OPEN_PAGE(space)                                                                                            \
    uint8_t *p;                                                                                                         \
    uint64_t page;                                                                                                      \
    __asm__ volatile("mov %[a], %[x]\n\tbtc $45, %[x]\n\tror %[shift], %[x]\n\tshr %[rest], %[x]\n\t"                   \
                     "cmp %[last], %[x]\n\tja 1f\n\t"                                                                   \
                     "movabs %[pages], %[p]\n\tcmpb %[open], (%[p], %[x])\n\tjne 1f\n\t"                                \
                     "mov %[a], %[p]\n\tbts $44, %[p]\n\t" SLOW_PATH                                                    \
                     : [p] "=&r"(p), [x] "=&r"(page)                                                                    \
                     : [a] "r"(address), [rest] "i"(BEAVER_PAGE_SHIFT - __builtin_ctz(size)), [pages] "i"(BEAVER_PAGES), \
                       [open] "i"(BEAVER_OPEN), [last] "i"((BEAVER_WINDOW_SIZE >> BEAVER_PAGE_SHIFT) - 1),              \
                       SLOW_OPERANDS(space)                                                                             \
                     : "cc");                                                                                           \
    return p
_Static_assert(BEAVER_ALIAS == 1ull << 44 && (BEAVER_WINDOW & BEAVER_ALIAS) == 0, "the alias is one bit away");
_Static_assert(BEAVER_WINDOW == 1ull << 45 && BEAVER_WINDOW_SIZE <= 1ull << 44, "the window is one bit");
_Static_assert(BEAVER_WINDOW_SIZE >> BEAVER_PAGE_SHIFT <= 1ull << 31, "the last page's number fits an instruction");

INLINE uint8_t *global_bytes(beaver_thread *t, uint64_t address, uint32_t size, uint32_t flags, const beaver_site *site)
{
    IN_OPEN_PAGE(SPACE_GLOBAL);
}

INLINE uint8_t *generic_bytes(beaver_thread *t, uint64_t address, uint32_t size, uint32_t flags, const beaver_site *site)
{
    IN_OPEN_PAGE(SPACE_GENERIC);
}

/* Shared addresses have 32 bits. As above: the offset in units of the access, misaligned ones enormous, against the whole units. */
INLINE uint8_t *shared_bytes(beaver_thread *t, uint32_t shared_address, uint32_t size, uint32_t flags, const beaver_site *site)
{
    const uint64_t address = shared_address;
    uint8_t *p;
    uint64_t unit;
    __asm__ volatile("lea -%c[base](%[a]), %k[x]\n\tror %[shift], %k[x]\n\t"
                     "mov %[limit], %k[p]\n\tshr %[shift], %k[p]\n\tcmp %k[p], %k[x]\n\tjae 1f\n\t"
                     "lea -%c[base](%[a]), %k[p]\n\tadd %[shared], %[p]\n\t" SLOW_PATH
                     : [p] "=&r"(p), [x] "=&r"(unit)
                     : [a] "r"(address), [limit] "m"(t->shared_limit), [shared] "m"(t->shared), [base] "i"(BEAVER_SHARED_BASE),
                       SLOW_OPERANDS(SPACE_SHARED)
                     : "cc");
    return p;
}

/* Local memory begins at a multiple of every access's size */
INLINE uint8_t *local_bytes(beaver_thread *t, uint64_t address, uint32_t size, uint32_t flags, const beaver_site *site)
{
    uint8_t *p;
    uint64_t unit;
    __asm__ volatile("mov %[a], %[x]\n\tsub %[local], %[x]\n\tror %[shift], %[x]\n\t"
                     "mov %[end], %[p]\n\tsub %[local], %[p]\n\tshr %[shift], %[p]\n\tcmp %[p], %[x]\n\tjae 1f\n\t"
                     "mov %[a], %[p]\n\t" SLOW_PATH
                     : [p] "=&r"(p), [x] "=&r"(unit)
                     : [a] "r"(address), [local] "m"(t->local), [end] "m"(t->local_end), SLOW_OPERANDS(SPACE_LOCAL)
                     : "cc");
    return p;
}

/* Parameters whose address is in a register: a kernel's, or a copy in local memory */
INLINE uint8_t *param_bytes(beaver_thread *t, uint64_t address, uint32_t size, uint32_t flags, const beaver_site *site)
{
    if (LIKELY(is_parameter(t, address, size)) || is_local(t, address, size)) return (uint8_t *)(uintptr_t)address;
    return beaver_access(t, address, size, flags | BEAVER_GENERIC, site);
}

#define LD(bytes, type, address, site) (*(const type *)bytes(t, address, sizeof(type), BEAVER_READ, site))
#define LD_global(type, address, site) LD(global_bytes, type, address, site)
#define LD_shared(type, address, site) LD(shared_bytes, type, address, site)
#define LD_local(type, address, site) LD(local_bytes, type, address, site)
#define LD_generic(type, address, site) LD(generic_bytes, type, address, site)
#define LD_param(type, place) (*(const type *)(place))

#define ST(bytes, type, address, site, value) (*(type *)bytes(t, address, sizeof(type), BEAVER_WRITE, site) = (value))
#define ST_global(type, address, site, value) ST(global_bytes, type, address, site, value)
#define ST_shared(type, address, site, value) ST(shared_bytes, type, address, site, value)
#define ST_local(type, address, site, value) ST(local_bytes, type, address, site, value)
#define ST_generic(type, address, site, value) ST(generic_bytes, type, address, site, value)
#define ST_param(type, place, value) (*(type *)(place) = (value))

/* cvta: shared memory has a window of its own among the generic addresses; its addresses have 32 bits */
INLINE uint64_t shared_window(uint64_t address) { return BEAVER_SHARED_WINDOW + (uint32_t)address; }
INLINE uint64_t shared_offset(uint64_t generic) { return (uint32_t)(generic - BEAVER_SHARED_WINDOW); }

/* isspacep. To the runtime constant variables are device memory as others are. */
static __attribute__((noinline)) int is_constant(uint64_t address)
{
    for (const beaver_variable *v = variables; v->address != NULL; v++)
        if (v->kind == BEAVER_CONSTANT_VARIABLE && address - *v->address < v->size) return 1;
    return 0;
}
INLINE int is_space(beaver_thread *t, uint64_t address, int space)
{
    if (space == 'c') return is_constant(address);
    return beaver_space(t, address) == space && !(space == 'g' && is_constant(address));
}

/* A function's frame in local memory, which its caller gets back by restoring local_top */
INLINE uint8_t *enter_frame(beaver_thread *t, uint64_t size, uint64_t alignment, const beaver_site *site)
{
    uint8_t *frame = (uint8_t *)(((uintptr_t)t->local_top + alignment - 1) & ~(uintptr_t)(alignment - 1));
    if (UNLIKELY(frame > t->local_end || size > (uint64_t)(t->local_end - frame))) {
        beaver_stack_overflow(t, site);
        __builtin_unreachable();
    }
    t->local_top = frame + size;
    return frame;
}
INLINE uint64_t allocate_local(beaver_thread *t, uint64_t size, uint64_t alignment, const beaver_site *site)
{
    return (uint64_t)(uintptr_t)enter_frame(t, (size + 15) & ~15ull, alignment < 16 ? 16 : alignment, site);
}

/* cp.async: ``copied`` of ``size`` bytes are read, the rest of the target is zeros */
INLINE void cp_async(beaver_thread *t, uint32_t target, uint64_t source, uint32_t size, uint32_t copied, const beaver_site *site)
{
    uint8_t *to = shared_bytes(t, target, size, BEAVER_WRITE, site);
    if (LIKELY(copied == size)) {
        memcpy(to, global_bytes(t, source, size, BEAVER_READ, site), size);
        return;
    }
    for (uint32_t i = 0; i < size; i++) to[i] = i < copied ? *global_bytes(t, source + i, 1, BEAVER_READ, site) : 0;
}

/* cp.async.bulk: multiples of 16 bytes, both sides aligned to that */
INLINE void cp_bulk_to_shared(beaver_thread *t, uint32_t target, uint64_t source, uint32_t size, const beaver_site *site)
{
    for (uint32_t i = 0; i < size; i += 16)
        memcpy(shared_bytes(t, target + i, 16, BEAVER_WRITE, site), global_bytes(t, source + i, 16, BEAVER_READ, site), 16);
}
INLINE void cp_bulk_to_global(beaver_thread *t, uint64_t target, uint32_t source, uint32_t size, const beaver_site *site)
{
    for (uint32_t i = 0; i < size; i += 16)
        memcpy(global_bytes(t, target + i, 16, BEAVER_WRITE, site), shared_bytes(t, source + i, 16, BEAVER_READ, site), 16);
}

#endif
