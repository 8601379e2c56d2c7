// What stream 0 means in the calls that exist twice: the legacy stream in one form, and the calling thread's own stream in programs
// that were built with --default-stream per-thread, where the toolkit's headers rename the calls (_ptsz, _ptds). Their text, in
// three .inc files, is compiled once for each: see default_stream_calls.cpp and default_stream_calls_per_thread.cpp.
#pragma once

#include <cuda_runtime_api.h>

#include <memory>

#include "streams.hpp"

namespace beaver {
namespace {

#ifdef CUDA_API_PER_THREAD_DEFAULT_STREAM
const cudaStream_t default_stream = cudaStreamPerThread;
#else
const cudaStream_t default_stream = cudaStreamLegacy;
#endif

cudaStream_t resolve(cudaStream_t stream) {
    return stream ? stream : default_stream;
}

std::shared_ptr<Stream> find(cudaStream_t stream) {
    return find_stream(resolve(stream));
}

}  // namespace
}  // namespace beaver
