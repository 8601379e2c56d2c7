#include "streams.hpp"

#include <algorithm>
#include <atomic>

#include "errors.hpp"
#include "handles.hpp"

namespace beaver {
namespace {

constexpr int least_priority = 0, greatest_priority = -5;

std::atomic<unsigned long long> next_id{1};

Handles<cudaStream_t, Stream> &streams() {
    static auto *const all = new Handles<cudaStream_t, Stream>;
    return *all;
}

std::shared_ptr<Stream> make_stream(int priority) {
    auto stream = std::make_shared<Stream>();
    stream->priority = priority;
    stream->id = next_id++;
    for (const auto attribute : {cudaLaunchAttributeAccessPolicyWindow, cudaLaunchAttributeMemSyncDomain,
                                 cudaLaunchAttributeMemSyncDomainMap})
        stream->attributes[attribute] = {};
    stream->attributes[cudaLaunchAttributePriority].priority = priority;
    stream->attributes[cudaLaunchAttributeSynchronizationPolicy].syncPolicy = cudaSyncPolicyAuto;
    return stream;
}

const std::shared_ptr<Stream> &legacy_stream() {
    static auto *const stream = [] {
        auto *made = new std::shared_ptr<Stream>(make_stream(least_priority));
        (*made)->legacy = true;
        return made;
    }();
    return *stream;
}

const std::shared_ptr<Stream> &stream_of_this_thread() {
    thread_local const auto stream = make_stream(least_priority);
    return stream;
}

}  // namespace

std::recursive_mutex &graph_mutex() {
    static auto *const mutex = new std::recursive_mutex;
    return *mutex;
}

std::shared_ptr<Stream> find_stream(cudaStream_t handle) {
    if (handle == nullptr || handle == cudaStreamLegacy) return legacy_stream();
    if (handle == cudaStreamPerThread) return stream_of_this_thread();
    return streams().find(handle);
}

cudaStream_t create_stream(unsigned flags, int priority) {
    auto stream = make_stream(std::clamp(priority, greatest_priority, least_priority));
    stream->flags = flags;
    return streams().add(std::move(stream));
}

bool destroy_stream(cudaStream_t handle) {
    const std::lock_guard lock(graph_mutex());
    const auto stream = streams().remove(handle);
    if (!stream) return false;
    abandon_capture(*stream);
    return true;
}

void destroy_all_streams() {
    streams().clear();
}

cudaError_t submit(cudaStream_t handle, Work work) {
    const auto stream = find_stream(handle);
    if (!stream) return cudaErrorInvalidResourceHandle;
    {
        const std::lock_guard lock(graph_mutex());
        if (stream->capture) return add_to_capture(*stream, std::move(work));
        if (const cudaError_t error = refuse_implicit(*stream)) return error;
    }
    const std::lock_guard turn(stream->busy);
    return run(work);
}

}  // namespace beaver

using namespace beaver;

extern "C" {

cudaError_t cudaDeviceGetStreamPriorityRange(int *least, int *greatest) {
    return in_context(__func__, [&] {
        if (least) *least = least_priority;
        if (greatest) *greatest = greatest_priority;
        return cudaSuccess;
    });
}

cudaError_t cudaStreamCreateWithPriority(cudaStream_t *stream, unsigned flags, int priority) {
    return in_context(__func__, [&] {
        if (!stream || (flags != cudaStreamDefault && flags != cudaStreamNonBlocking)) return cudaErrorInvalidValue;
        *stream = create_stream(flags, priority);
        return cudaSuccess;
    });
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned flags) {
    return cudaStreamCreateWithPriority(stream, flags, least_priority);
}

cudaError_t cudaStreamCreate(cudaStream_t *stream) {
    return cudaStreamCreateWithPriority(stream, cudaStreamDefault, least_priority);
}

cudaError_t cudaStreamDestroy(cudaStream_t stream) {
    return in_context(__func__, [&] { return destroy_stream(stream) ? cudaSuccess : cudaErrorInvalidResourceHandle; });
}

}
