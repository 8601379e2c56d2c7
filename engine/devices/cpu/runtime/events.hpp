// Events.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "handles.hpp"

namespace beaver {

struct Capture;
struct Node;

struct Event {
    unsigned flags = 0;
    bool recorded = false;
    std::uint64_t nanoseconds = 0;       // when; CLOCK_MONOTONIC
    std::shared_ptr<Capture> capture;    // it was last recorded in a capture: what comes after these nodes
    std::vector<Node *> captured_after;
};

Handles<cudaEvent_t, Event> &events();

// The event happens now. cudaErrorInvalidResourceHandle: it was destroyed.
cudaError_t record(cudaEvent_t event);

}  // namespace beaver
