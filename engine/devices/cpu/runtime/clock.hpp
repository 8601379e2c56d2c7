#pragma once

#include <time.h>

#include <cstdint>

namespace beaver {

// Nanoseconds of a clock that never goes back.
inline std::int64_t nanoseconds_now() {
    timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * std::int64_t{1'000'000'000} + now.tv_nsec;
}

}  // namespace beaver
