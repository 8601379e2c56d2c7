// initcheck: one bit for each byte of the window, set when the byte was written.
#pragma once

#include <cstdint>

namespace beaver {

// Reserves the bits. Without it every byte counts as written, and marking does nothing.
void open_initcheck();
// The bytes belong to nobody any more. Whole chunks only.
void forget_written(std::uint64_t address, std::uint64_t size);

}  // namespace beaver
