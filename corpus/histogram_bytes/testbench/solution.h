#pragma once

#include <cuda_runtime.h>

#include <cstddef>

// Counts how often each byte value occurs in data[0 .. count-1], into bins[0 .. 255]. Device pointers; the contents
// of bins before the call do not matter.
cudaError_t histogram_bytes(const unsigned char* data, std::size_t count, unsigned int* bins, cudaStream_t stream);
