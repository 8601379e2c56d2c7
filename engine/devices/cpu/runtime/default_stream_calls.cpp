// The forms whose stream 0 is the legacy stream.
#include "launch_calls.inc"
#include "memory_calls.inc"
#include "stream_calls.inc"
