// How many blocks a multiprocessor holds: the smallest of what threads, registers, shared memory and block slots allow.
#include <algorithm>

#include "execution.hpp"
#include "rounding.hpp"

namespace beaver {
namespace {

std::uint64_t blocks_by_registers(std::uint64_t registers, std::uint64_t warps) {
    if (registers == 0) return max_blocks_per_multiprocessor;
    const std::uint64_t per_warp = round_up(registers * BEAVER_WARP, register_step);
    const std::uint64_t resident_warps = registers_per_multiprocessor / per_warp / warp_step * warp_step;
    return resident_warps / warps;
}

}  // namespace

unsigned resident_blocks(const beaver_kernel &kernel, unsigned block_threads, std::uint64_t dynamic_size) {
    const std::uint64_t warps = (std::uint64_t{block_threads} + BEAVER_WARP - 1) / BEAVER_WARP;
    if (warps == 0) return 0;
    const std::uint64_t shared = round_up(reserved_shared_per_block + kernel.static_shared + dynamic_size, shared_step);
    return static_cast<unsigned>(std::min({std::uint64_t{max_blocks_per_multiprocessor},
                                           max_threads_per_multiprocessor / BEAVER_WARP / warps,
                                           blocks_by_registers(kernel.registers, warps),
                                           shared_per_multiprocessor / shared}));
}

}  // namespace beaver
