// The forms whose stream 0 is the legacy stream.
#include "stream_calls.inc"
