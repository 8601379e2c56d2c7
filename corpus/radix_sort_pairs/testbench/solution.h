#pragma once

#include <cuda_runtime.h>

#include <cstddef>

// Bytes of workspace that a sort of `count` pairs needs, for either type of keys.
std::size_t radix_sort_workspace(std::size_t count);

// Sorts pairs of a key and a value by their keys, the smallest first; pairs with equal keys keep their order. The
// input is not changed. Device pointers, aligned to 256 bytes.
cudaError_t radix_sort_pairs(const unsigned* keys, const unsigned* values, unsigned* sorted_keys,
                             unsigned* sorted_values, std::size_t count, void* workspace, cudaStream_t stream);
cudaError_t radix_sort_pairs(const float* keys, const unsigned* values, float* sorted_keys, unsigned* sorted_values,
                             std::size_t count, void* workspace, cudaStream_t stream);
