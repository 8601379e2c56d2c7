/* The device that programs see: a small one of compute capability 9.0. Every figure is here once, for kernels (C), for the runtime
 * (C++), and for the translator, whose text asserts the one that it lays variables out by. Bytes, unless a name says otherwise.
 */
#ifndef BEAVER_DEVICE_FIGURES_H
#define BEAVER_DEVICE_FIGURES_H

#define BEAVER_WARP 32u
#define BEAVER_MULTIPROCESSORS 8u
#define BEAVER_SHARED_BASE 1024u /* the first shared address of a block; below lies what a GPU of this class reserves */

#ifdef __cplusplus
#include <cstdint>

namespace beaver {

constexpr unsigned multiprocessors = BEAVER_MULTIPROCESSORS;
// So many have their blocks resident at a time. Programs that size a grid by the number above get a small one, which is quick here;
// programs that were written with a large GPU in mind still find room for their grid.
constexpr unsigned multiprocessors_held = 32;
constexpr unsigned max_threads_per_multiprocessor = 2048;
constexpr unsigned max_blocks_per_multiprocessor = 32;
constexpr unsigned max_threads_per_block = 1024;
constexpr unsigned max_block_z = 64;
constexpr unsigned max_grid_x = 0x7fffffff, max_grid_yz = 65535;
constexpr unsigned registers_per_multiprocessor = 65536;
constexpr std::uint64_t shared_per_multiprocessor = 233472;
constexpr std::uint64_t shared_per_block = 49152;  // without opting in
constexpr std::uint64_t shared_per_block_optin = 232448;
constexpr std::uint64_t reserved_shared_per_block = BEAVER_SHARED_BASE;

// Steps in which resources are given out (CUDA's occupancy tables, compute capability 9.0).
constexpr unsigned register_step = 256;  // registers, per warp
constexpr unsigned warp_step = 4;        // warps: each of the four schedulers has its part of the registers
constexpr unsigned shared_step = 128;

// What fresh device memory and fresh shared memory hold: a NaN in every float format, and 2147450879 as an integer, so that a sum
// becomes NaN and an index a fault.
constexpr std::uint16_t fresh_pattern = 0x7fff;

}  // namespace beaver
#endif
#endif
