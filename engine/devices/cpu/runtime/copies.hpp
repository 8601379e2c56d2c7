// Copies and fills of memory, host and device.
#pragma once

#include <cuda_runtime_api.h>

#include "errors.hpp"
#include "work.hpp"

namespace beaver {

// The one-, two- and three-dimensional forms of the API as work. Pitches in bytes.
CopyWork copy_bytes(void *to, const void *from, std::size_t size, cudaMemcpyKind kind);
CopyWork copy_rows(void *to, std::size_t to_pitch, const void *from, std::size_t from_pitch, std::size_t width,
                   std::size_t height, cudaMemcpyKind kind);
CopyWork copy_box(const cudaMemcpy3DPeerParms &peers);
FillWork fill_bytes(void *to, int value, std::size_t size);
FillWork fill_rows(void *to, std::size_t pitch, int value, std::size_t width, std::size_t height);
FillWork fill_box(cudaPitchedPtr to, int value, cudaExtent extent);

// As measured on an H200: memory that the runtime knows must hold the whole range, whatever the kind says of it; other host memory
// is allowed on a side that the kind calls host. cudaErrorInvalidValue, cudaErrorInvalidPitchValue, cudaErrorInvalidMemcpyDirection.
cudaError_t check(const CopyWork &copy);
cudaError_t check(const FillWork &fill);

// To be called after check(). cudaErrorInvalidValue: the memory is gone since.
cudaError_t perform(const CopyWork &copy);
cudaError_t perform(const FillWork &fill);

// Whether a copy or fill of the forms without a stream waits for the device: not when both sides are device memory.
Needs needs(const CopyWork &copy);
Needs needs(const FillWork &fill);
// The same for the asynchronous forms, where only a copy to pageable memory waits.
Needs needs_asynchronous(const CopyWork &copy);

}  // namespace beaver
