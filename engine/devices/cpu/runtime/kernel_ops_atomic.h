/* atom and red. The atom_ functions are atomic among all threads of all blocks; the shared_atom_ ones serve shared memory, which
 * only threads of one OS thread touch. All return what was there before, as bits. */
#ifndef BEAVER_KERNEL_OPS_ATOMIC_H
#define BEAVER_KERNEL_OPS_ATOMIC_H

#define ATOMIC_FLAGS (BEAVER_READ | BEAVER_WRITE | BEAVER_ATOMIC)
#define ATOMIC_global(address, size, site) global_bytes(t, address, size, ATOMIC_FLAGS, site)
#define ATOMIC_shared(address, size, site) shared_bytes(t, address, size, ATOMIC_FLAGS, site)
#define ATOMIC_generic(address, size, site) generic_bytes(t, address, size, ATOMIC_FLAGS, site)

/* ``next`` computes the new value from ``old`` and b. T: type of the operand, U: of the bits. */
#define ATOM(name, T, U, next)                                                                                          \
    INLINE U shared_atom_##name(uint8_t *place, T b)                                                                    \
    {                                                                                                                   \
        const U old = *(U *)place;                                                                                      \
        *(U *)place = (U)(next);                                                                                        \
        return old;                                                                                                     \
    }                                                                                                                   \
    INLINE U atom_##name(uint8_t *place, T b)                                                                           \
    {                                                                                                                   \
        U old = __atomic_load_n((U *)place, __ATOMIC_RELAXED);                                                          \
        while (!__atomic_compare_exchange_n((U *)place, &old, (U)(next), 0, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED)) {}     \
        return old;                                                                                                     \
    }
/* The same where the host has an instruction for it */
#define ATOM_DIRECT(name, T, U, builtin, next)                                                                          \
    INLINE U shared_atom_##name(uint8_t *place, T b)                                                                    \
    {                                                                                                                   \
        const U old = *(U *)place;                                                                                      \
        *(U *)place = (U)(next);                                                                                        \
        return old;                                                                                                     \
    }                                                                                                                   \
    INLINE U atom_##name(uint8_t *place, T b) { return builtin((U *)place, b, __ATOMIC_SEQ_CST); }

ATOM_DIRECT(add_u32, uint32_t, uint32_t, __atomic_fetch_add, old + b)
ATOM_DIRECT(add_u64, uint64_t, uint64_t, __atomic_fetch_add, old + b)
ATOM_DIRECT(and_b32, uint32_t, uint32_t, __atomic_fetch_and, old & b)
ATOM_DIRECT(and_b64, uint64_t, uint64_t, __atomic_fetch_and, old & b)
ATOM_DIRECT(or_b32, uint32_t, uint32_t, __atomic_fetch_or, old | b)
ATOM_DIRECT(or_b64, uint64_t, uint64_t, __atomic_fetch_or, old | b)
ATOM_DIRECT(xor_b32, uint32_t, uint32_t, __atomic_fetch_xor, old ^ b)
ATOM_DIRECT(xor_b64, uint64_t, uint64_t, __atomic_fetch_xor, old ^ b)
ATOM_DIRECT(exch_b32, uint32_t, uint32_t, __atomic_exchange_n, b)
ATOM_DIRECT(exch_b64, uint64_t, uint64_t, __atomic_exchange_n, b)
ATOM(min_u32, uint32_t, uint32_t, old < b ? old : b)
ATOM(max_u32, uint32_t, uint32_t, old > b ? old : b)
ATOM(min_u64, uint64_t, uint64_t, old < b ? old : b)
ATOM(max_u64, uint64_t, uint64_t, old > b ? old : b)
ATOM(min_s32, int32_t, uint32_t, (int32_t)old < b ? (int32_t)old : b)
ATOM(max_s32, int32_t, uint32_t, (int32_t)old > b ? (int32_t)old : b)
ATOM(min_s64, int64_t, uint64_t, (int64_t)old < b ? (int64_t)old : b)
ATOM(max_s64, int64_t, uint64_t, (int64_t)old > b ? (int64_t)old : b)
ATOM(inc_u32, uint32_t, uint32_t, old >= b ? 0 : old + 1)
ATOM(dec_u32, uint32_t, uint32_t, old == 0 || old > b ? b : old - 1)
ATOM(add_f64, double, uint64_t, bits_f64(as_f64(old) + b))
#define ATOM_HALVES(type)                                                                                               \
    ATOM(add_##type, uint16_t, uint16_t, add_##type(old, b))                                                            \
    ATOM(min_##type, uint16_t, uint16_t, min_##type(old, b))                                                            \
    ATOM(max_##type, uint16_t, uint16_t, max_##type(old, b))                                                            \
    ATOM(add_##type##x2, uint32_t, uint32_t, add_##type##x2(old, b))                                                    \
    ATOM(min_##type##x2, uint32_t, uint32_t, min_##type##x2(old, b))                                                    \
    ATOM(max_##type##x2, uint32_t, uint32_t, max_##type##x2(old, b))
ATOM_HALVES(f16)
ATOM_HALVES(bf16)

/* In global memory f32 addition flushes subnormal numbers, in shared memory it does not: PTX ISA 9.7.13.6 */
INLINE uint32_t shared_atom_add_f32(uint8_t *place, float b)
{
    const uint32_t old = *(uint32_t *)place;
    *(uint32_t *)place = canonical_bits_f32(as_f32(old) + b);
    return old;
}
INLINE uint32_t atom_add_f32(uint8_t *place, float b)
{
    uint32_t old = __atomic_load_n((uint32_t *)place, __ATOMIC_RELAXED);
    const float addend = flush_f32(b);
    while (!__atomic_compare_exchange_n((uint32_t *)place, &old, canonical_bits_f32(flush_f32(flush_f32(as_f32(old)) + addend)), 0,
                                        __ATOMIC_SEQ_CST, __ATOMIC_RELAXED)) {}
    return old;
}

#define COMPARE_AND_SWAP(type, U)                                                                                       \
    INLINE U shared_atom_cas_##type(uint8_t *place, U expected, U value)                                                \
    {                                                                                                                   \
        const U old = *(U *)place;                                                                                      \
        if (old == expected) *(U *)place = value;                                                                       \
        return old;                                                                                                     \
    }                                                                                                                   \
    INLINE U atom_cas_##type(uint8_t *place, U expected, U value) { return __sync_val_compare_and_swap((U *)place, expected, value); }
COMPARE_AND_SWAP(b16, uint16_t)
COMPARE_AND_SWAP(b32, uint32_t)
COMPARE_AND_SWAP(b64, uint64_t)
#ifdef __GCC_HAVE_SYNC_COMPARE_AND_SWAP_16
COMPARE_AND_SWAP(b128, unsigned __int128)
INLINE unsigned __int128 shared_atom_exch_b128(uint8_t *place, unsigned __int128 value)
{
    const unsigned __int128 old = *(unsigned __int128 *)place;
    *(unsigned __int128 *)place = value;
    return old;
}
INLINE unsigned __int128 atom_exch_b128(uint8_t *place, unsigned __int128 value)
{
    unsigned __int128 old = *(unsigned __int128 *)place, seen;
    while ((seen = atom_cas_b128(place, old, value)) != old) old = seen;
    return old;
}
#endif

#endif
