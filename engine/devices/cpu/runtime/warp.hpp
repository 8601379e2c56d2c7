// How the lanes of a warp meet.
#pragma once

#include "block.hpp"

namespace beaver {

// Waits until all lanes of the mask that have not exited brought an operand to this operation. The thread's ``result`` and
// ``flag`` are what the operation left in them.
void meet(Thread *self, const Operation &operation, std::uint32_t mask, std::uint64_t operand, const beaver_site *site);

}  // namespace beaver
