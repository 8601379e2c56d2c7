#include "events.hpp"

#include <time.h>

#include "errors.hpp"
#include "streams.hpp"

namespace beaver {
namespace {

constexpr unsigned known_flags = cudaEventBlockingSync | cudaEventDisableTiming | cudaEventInterprocess;

std::uint64_t now() {
    timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000000000ull + time.tv_nsec;
}

// What cudaEventQuery and cudaEventSynchronize ask: whatever was recorded has happened, unless it was captured.
cudaError_t look_at(cudaEvent_t handle) {
    const auto event = events().find(handle);
    if (!event) return cudaErrorInvalidResourceHandle;
    const std::lock_guard lock(graph_mutex());
    if (!event->capture) return refuse_unsafe_call();
    if (event->capture->ended) return cudaErrorInvalidValue;
    event->capture->valid = false;
    return cudaErrorCapturedEvent;
}

}  // namespace

Handles<cudaEvent_t, Event> &events() {
    static auto *const all = new Handles<cudaEvent_t, Event>;
    return *all;
}

cudaError_t record(cudaEvent_t handle) {
    const auto event = events().find(handle);
    if (!event) return cudaErrorInvalidResourceHandle;
    const std::lock_guard lock(graph_mutex());
    event->capture.reset();
    event->recorded = true;
    event->nanoseconds = now();
    return cudaSuccess;
}

}  // namespace beaver

using namespace beaver;

extern "C" {

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned flags) {
    return in_context(__func__, [&] {
        const bool timed_between_processes = (flags & cudaEventInterprocess) && !(flags & cudaEventDisableTiming);
        if (!event || (flags & ~known_flags) || timed_between_processes) return cudaErrorInvalidValue;
        auto made = std::make_shared<Event>();
        made->flags = flags;
        *event = events().add(std::move(made));
        return cudaSuccess;
    });
}

cudaError_t cudaEventCreate(cudaEvent_t *event) {
    return cudaEventCreateWithFlags(event, cudaEventDefault);
}

cudaError_t cudaEventDestroy(cudaEvent_t event) {
    return in_context(__func__, [&] { return events().remove(event) ? cudaSuccess : cudaErrorInvalidResourceHandle; });
}

cudaError_t cudaEventQuery(cudaEvent_t event) {
    return after_work(__func__, [&] { return look_at(event); });
}

cudaError_t cudaEventSynchronize(cudaEvent_t event) {
    return after_work(__func__, [&] { return look_at(event); });
}

cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t start, cudaEvent_t stop) {
    return in_context(__func__, [&] {
        if (!milliseconds) return cudaErrorInvalidValue;
        const auto first = events().find(start), last = events().find(stop);
        if (!first || !last) return cudaErrorInvalidResourceHandle;
        const std::lock_guard lock(graph_mutex());
        if (first->capture || last->capture) return cudaErrorInvalidValue;
        const bool timed = !((first->flags | last->flags) & cudaEventDisableTiming);
        if (!timed || !first->recorded || !last->recorded) return cudaErrorInvalidResourceHandle;
        *milliseconds = (static_cast<double>(last->nanoseconds) - static_cast<double>(first->nanoseconds)) * 1e-6;
        return cudaSuccess;
    });
}

}
