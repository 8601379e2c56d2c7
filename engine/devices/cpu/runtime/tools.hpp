// What the access paths and the hooks of a block call for racecheck and synccheck.
#pragma once

#include <cstdint>

#include "kernel_abi.h"

namespace beaver {

// Sets the hooks (execution.hpp) that options().tool needs.
void start_tools();

// racecheck: a thread is about to read or write shared memory. The bytes are its block's and still hold their old value.
void race_access(const beaver_thread *thread, std::uint32_t address, std::uint32_t size, bool write, const beaver_site *site);
void start_racecheck();
// Prints what was found in grids that did not come to their end.
void finish_racecheck();

void start_synccheck();

}  // namespace beaver
