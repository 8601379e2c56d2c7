/* What the C text of a translated unit is written in: one helper for each PTX instruction that is no C operator.
 *
 * Names are those of the instructions with their modifiers and type: bfe_u32, mul_hi_s64, fma_rz_f32. Values of formats that C
 * has no type for (f16, bf16, f16x2, e4m3x2, ...) travel as their bits in an unsigned integer.
 */
#ifndef BEAVER_KERNEL_OPS_H
#define BEAVER_KERNEL_OPS_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "kernel_abi.h"

#define LIKELY(condition) __builtin_expect(!!(condition), 1)
#define UNLIKELY(condition) __builtin_expect(!!(condition), 0)
#define INLINE static inline __attribute__((always_inline))
#define COLD static __attribute__((noinline, cold))

/* Defined by the unit's text: the places of its instructions; its variables, the last one without an address */
extern __attribute__((visibility("hidden"))) const beaver_site sites[];
extern __attribute__((visibility("hidden"))) const beaver_variable variables[];

#include "kernel_ops_bits.h"
#include "kernel_ops_integer.h"
#include "kernel_ops_float.h"
#include "kernel_ops_half.h"
#include "kernel_ops_convert.h"
#include "kernel_ops_memory.h"
#include "kernel_ops_atomic.h"
#include "kernel_ops_control.h"
#include "kernel_ops_barrier.h"

#endif
