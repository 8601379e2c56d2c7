/* Addresses to host memory: each space has a fast path for what is certainly valid; everything else is the runtime's to judge. */
#ifndef BEAVER_KERNEL_OPS_MEMORY_H
#define BEAVER_KERNEL_OPS_MEMORY_H

/* Whether an aligned access of ``size`` bytes (a power of two) lies in an open chunk. The rotation makes a misaligned offset
 * enormous, so that one comparison asks for window and alignment. An aligned access never crosses chunks. */
INLINE int is_open(uint64_t address, uint32_t size)
{
    const uint32_t shift = (uint32_t)__builtin_ctz(size);
    const uint64_t offset = address - BEAVER_WINDOW;
    const uint64_t index = shift == 0 ? offset : offset >> shift | offset << (64 - shift);
    return LIKELY(index < BEAVER_WINDOW_SIZE >> shift) && LIKELY(((const uint8_t *)BEAVER_CHUNKS)[index >> (BEAVER_CHUNK_SHIFT - shift)] == BEAVER_OPEN);
}

INLINE uint8_t *global_bytes(beaver_thread *t, uint64_t address, uint32_t size, uint32_t flags, const beaver_site *site)
{
    return is_open(address, size) ? (uint8_t *)(address + BEAVER_ALIAS) : beaver_access(t, address, size, flags, site);
}

INLINE uint8_t *shared_bytes(beaver_thread *t, uint64_t address, uint32_t size, uint32_t flags, const beaver_site *site)
{
    const uint64_t offset = address - BEAVER_SHARED_BASE;
    if (LIKELY(offset < BEAVER_SHARED_WINDOW && offset + size <= t->shared_limit) && LIKELY((address & (size - 1)) == 0))
        return t->shared + offset;
    return beaver_shared_access(t, (uint32_t)address, size, flags, site);
}

INLINE int is_local(const beaver_thread *t, uint64_t address, uint32_t size)
{
    const uint64_t offset = address - (uint64_t)(uintptr_t)t->local, room = (uint64_t)(t->local_end - t->local);
    return offset < room && room - offset >= size;
}

INLINE uint8_t *local_bytes(beaver_thread *t, uint64_t address, uint32_t size, uint32_t flags, const beaver_site *site)
{
    if (LIKELY(is_local(t, address, size)) && LIKELY((address & (size - 1)) == 0)) return (uint8_t *)(uintptr_t)address;
    return beaver_local_access(t, address, size, flags, site);
}

INLINE int is_parameter(const beaver_thread *t, uint64_t address, uint32_t size)
{
    const uint64_t offset = address - (uint64_t)(uintptr_t)t->block->params;
    return offset < t->block->params_size && t->block->params_size - offset >= size;
}

/* Parameters whose address is in a register: a kernel's, or a copy in local memory */
INLINE uint8_t *param_bytes(beaver_thread *t, uint64_t address, uint32_t size, uint32_t flags, const beaver_site *site)
{
    if (LIKELY(is_parameter(t, address, size)) || is_local(t, address, size)) return (uint8_t *)(uintptr_t)address;
    return beaver_access(t, address, size, flags | BEAVER_GENERIC, site);
}

/* A generic address outside the window */
static __attribute__((noinline)) uint8_t *other_bytes(beaver_thread *t, uint64_t address, uint32_t size, uint32_t flags, const beaver_site *site)
{
    if ((address & (size - 1)) == 0) {
        const uint64_t offset = address - (BEAVER_SHARED_WINDOW + BEAVER_SHARED_BASE);
        if (offset < UINT32_MAX && offset + size <= t->shared_limit) return t->shared + offset;
        if (is_local(t, address, size)) return (uint8_t *)(uintptr_t)address;
        if (!(flags & BEAVER_WRITE) && is_parameter(t, address, size)) return (uint8_t *)(uintptr_t)address;
    }
    return beaver_access(t, address, size, flags | BEAVER_GENERIC, site);
}

INLINE uint8_t *generic_bytes(beaver_thread *t, uint64_t address, uint32_t size, uint32_t flags, const beaver_site *site)
{
    return is_open(address, size) ? (uint8_t *)(address + BEAVER_ALIAS) : other_bytes(t, address, size, flags, site);
}

#define LD(bytes, type, address, site) (*(const type *)bytes(t, address, sizeof(type), BEAVER_READ, site))
#define LD_global(type, address, site) LD(global_bytes, type, address, site)
#define LD_shared(type, address, site) LD(shared_bytes, type, address, site)
#define LD_local(type, address, site) LD(local_bytes, type, address, site)
#define LD_generic(type, address, site) LD(generic_bytes, type, address, site)
#define LD_param(type, place) (*(const type *)(place))

#define ST(bytes, type, address, value, site) (*(type *)bytes(t, address, sizeof(type), BEAVER_WRITE, site) = (value))
#define ST_global(type, address, value, site) ST(global_bytes, type, address, value, site)
#define ST_shared(type, address, value, site) ST(shared_bytes, type, address, value, site)
#define ST_local(type, address, value, site) ST(local_bytes, type, address, value, site)
#define ST_generic(type, address, value, site) ST(generic_bytes, type, address, value, site)
#define ST_param(type, place, value) (*(type *)(place) = (value))

/* cvta: shared memory has a window of its own among the generic addresses; its addresses have 32 bits */
INLINE uint64_t shared_window(uint64_t address) { return BEAVER_SHARED_WINDOW + (uint32_t)address; }
INLINE uint64_t shared_offset(uint64_t generic) { return (uint32_t)(generic - BEAVER_SHARED_WINDOW); }

INLINE int is_space(beaver_thread *t, uint64_t address, int space)
{
    if (address - BEAVER_WINDOW < BEAVER_WINDOW_SIZE && (space == 's' || space == 'l' || space == 'p')) return 0;
    if (address - BEAVER_SHARED_WINDOW < UINT32_MAX) return space == 's';
    return beaver_space(t, address) == space;
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
INLINE void cp_async(beaver_thread *t, uint64_t target, uint64_t source, uint32_t size, uint32_t copied, const beaver_site *site)
{
    uint8_t *to = shared_bytes(t, target, size, BEAVER_WRITE, site);
    if (LIKELY(copied == size)) {
        memcpy(to, global_bytes(t, source, size, BEAVER_READ, site), size);
        return;
    }
    for (uint32_t i = 0; i < size; i++) to[i] = i < copied ? *global_bytes(t, source + i, 1, BEAVER_READ, site) : 0;
}

/* cp.async.bulk: multiples of 16 bytes, both sides aligned to that */
INLINE void cp_bulk_to_shared(beaver_thread *t, uint64_t target, uint64_t source, uint32_t size, const beaver_site *site)
{
    for (uint32_t i = 0; i < size; i += 16)
        memcpy(shared_bytes(t, target + i, 16, BEAVER_WRITE, site), global_bytes(t, source + i, 16, BEAVER_READ, site), 16);
}
INLINE void cp_bulk_to_global(beaver_thread *t, uint64_t target, uint64_t source, uint32_t size, const beaver_site *site)
{
    for (uint32_t i = 0; i < size; i += 16)
        memcpy(global_bytes(t, target + i, 16, BEAVER_WRITE, site), shared_bytes(t, source + i, 16, BEAVER_READ, site), 16);
}

#endif
