#pragma once

#include <cuda_runtime.h>

#include <cstddef>

// Bytes of scratch memory for a scan of `count` values.
constexpr std::size_t scan_scratch_bytes(int count) { return 256 + static_cast<std::size_t>(count) / 1024 * 16; }

// Running sums modulo 2^32: y[i] = x[0] + .. + x[i]. Device pointers, aligned to 256 bytes; the contents of scratch
// before the call do not matter.
cudaError_t scan_lookback(const unsigned int* x, unsigned int* y, int count, void* scratch, cudaStream_t stream);
