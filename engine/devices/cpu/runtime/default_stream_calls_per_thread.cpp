// The forms whose stream 0 is the calling thread's own stream.
#define CUDA_API_PER_THREAD_DEFAULT_STREAM
#include "launch_calls.inc"
#include "memory_calls.inc"
#include "stream_calls.inc"
