/* mbarrier objects: PTX ISA 9.7.13.15. The manual leaves the 64 bits to the implementation; ours are, from the lowest:
 *   20 bits  arrivals that a phase expects
 *   20 bits  arrivals that the present phase still waits for
 *   23 bits  transactions (bytes) that it waits for, signed
 *    1 bit   parity of the present phase
 * A phase ends when both counts are zero. The state that an arrival returns is the object as it was before.
 */
#ifndef BEAVER_KERNEL_OPS_BARRIER_H
#define BEAVER_KERNEL_OPS_BARRIER_H

typedef struct mbarrier {
    uint32_t expected, pending;
    int32_t transactions;
    uint32_t parity;
} mbarrier;

INLINE mbarrier mbarrier_unpack(uint64_t bits)
{
    return (mbarrier){(uint32_t)(bits & 0xfffff), (uint32_t)(bits >> 20 & 0xfffff), (int32_t)((int64_t)(bits << 1) >> 41), (uint32_t)(bits >> 63)};
}
INLINE uint64_t mbarrier_pack(mbarrier b)
{
    if (b.pending == 0 && b.transactions == 0) b.pending = b.expected, b.parity ^= 1;
    return (b.expected & 0xfffff) | (uint64_t)(b.pending & 0xfffff) << 20 | (uint64_t)(b.transactions & 0x7fffff) << 40 | (uint64_t)b.parity << 63;
}
INLINE uint64_t *mbarrier_at(beaver_thread *t, uint32_t address, const beaver_site *site)
{
    return (uint64_t *)shared_bytes(t, address, 8, ATOMIC_FLAGS, site);
}

INLINE void mbarrier_init(beaver_thread *t, uint32_t address, uint32_t count, const beaver_site *site)
{
    *mbarrier_at(t, address, site) = (count & 0xfffff) | (uint64_t)(count & 0xfffff) << 20;
}
INLINE void mbarrier_inval(beaver_thread *t, uint32_t address, const beaver_site *site) { *mbarrier_at(t, address, site) = 0; }

INLINE void mbarrier_transactions(beaver_thread *t, uint32_t address, int32_t count, const beaver_site *site)
{
    uint64_t *place = mbarrier_at(t, address, site);
    mbarrier b = mbarrier_unpack(*place);
    b.transactions += count;
    *place = mbarrier_pack(b);
}
/* ``dropped`` of the ``count`` that arrive are not expected in later phases */
INLINE uint64_t mbarrier_arrive_some(beaver_thread *t, uint32_t address, uint32_t count, uint32_t dropped, uint32_t transactions, const beaver_site *site)
{
    uint64_t *place = mbarrier_at(t, address, site), before = *place;
    mbarrier b = mbarrier_unpack(before);
    b.transactions += (int32_t)transactions;
    b.expected -= dropped;
    b.pending -= count;
    *place = mbarrier_pack(b);
    return before;
}
INLINE uint64_t mbarrier_arrive(beaver_thread *t, uint32_t address, uint32_t count, uint32_t transactions, const beaver_site *site)
{
    return mbarrier_arrive_some(t, address, count, 0, transactions, site);
}
INLINE uint64_t mbarrier_arrive_drop(beaver_thread *t, uint32_t address, uint32_t count, uint32_t transactions, const beaver_site *site)
{
    return mbarrier_arrive_some(t, address, count, count, transactions, site);
}
INLINE uint32_t mbarrier_pending_count(uint64_t state) { return mbarrier_unpack(state).pending; }

/* Whether the phase of that parity is over; a thread that has to wait lets the others run */
INLINE int mbarrier_test_parity(beaver_thread *t, uint32_t address, uint32_t parity, const beaver_site *site)
{
    const int over = (*(volatile uint64_t *)mbarrier_at(t, address, site) >> 63) != (parity & 1);
    if (!over) beaver_yield(t, site);
    return over;
}
INLINE int mbarrier_test(beaver_thread *t, uint32_t address, uint64_t state, const beaver_site *site)
{
    return mbarrier_test_parity(t, address, (uint32_t)(state >> 63), site);
}

#endif
