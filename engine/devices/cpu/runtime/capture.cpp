// Capture: what streams are asked to do becomes a graph. The rules are those measured on an H200 (driver 580).
#include <algorithm>
#include <set>

#include "errors.hpp"
#include "events.hpp"
#include "graphs.hpp"
#include "streams.hpp"

namespace beaver {
namespace {

// Captures that have begun and not ended, invalidated ones included. Guarded by graph_mutex().
std::vector<std::shared_ptr<Capture>> &active() {
    static auto *const captures = new std::vector<std::shared_ptr<Capture>>;
    return *captures;
}

thread_local cudaStreamCaptureMode interaction = cudaStreamCaptureModeGlobal;

void end(Capture &capture) {
    capture.ended = true;
    for (const auto &stream : capture.streams) {
        stream->capture.reset();
        stream->tail.clear();
    }
    capture.streams.clear();
    auto &all = active();
    all.erase(std::remove_if(all.begin(), all.end(), [](const auto &each) { return each->ended; }), all.end());
}

bool has_blocking_stream(const Capture &capture) {
    return std::any_of(capture.streams.begin(), capture.streams.end(),
                       [](const auto &stream) { return !(stream->flags & cudaStreamNonBlocking); });
}

bool forbids_unsafe_calls(const Capture &capture) {
    if (interaction == cudaStreamCaptureModeRelaxed) return false;
    if (capture.thread == std::this_thread::get_id()) return capture.mode != cudaStreamCaptureModeRelaxed;
    return interaction == cudaStreamCaptureModeGlobal && capture.mode == cudaStreamCaptureModeGlobal;
}

template <class Predicate>
bool invalidate_where(Predicate predicate) {
    const std::lock_guard lock(graph_mutex());
    bool any = false;
    for (const auto &capture : active())
        if (predicate(*capture)) {
            capture->valid = false;
            any = true;
        }
    return any;
}

void add_ancestors(const std::vector<Node *> &nodes, std::set<const Node *> *known) {
    for (const Node *node : nodes)
        if (known->insert(node).second) add_ancestors(node->dependencies, known);
}

// Whether all that was captured in other streams has been waited for by the stream that the capture began in.
bool is_joined(const Capture &capture) {
    std::set<const Node *> joined;
    add_ancestors(capture.origin->tail, &joined);
    for (const auto &stream : capture.streams)
        for (const Node *node : stream->tail)
            if (!joined.count(node)) return false;
    return true;
}

}  // namespace

void abandon_capture(Stream &stream) {
    if (!stream.capture) return;
    if (stream.capture->origin == &stream)
        end(*std::shared_ptr<Capture>(stream.capture));
    else
        stream.capture->valid = false;
}

void invalidate_capture(cudaStream_t handle) {
    const std::lock_guard lock(graph_mutex());
    const auto stream = find_stream(handle);
    if (stream && stream->capture) stream->capture->valid = false;
}

cudaError_t refuse_implicit(const Stream &stream) {
    if (!stream.legacy) return cudaSuccess;
    return invalidate_where(has_blocking_stream) ? cudaErrorStreamCaptureImplicit : cudaSuccess;
}

cudaError_t refuse_waiting(Stream &stream) {
    const std::lock_guard lock(graph_mutex());
    if (stream.capture) {
        stream.capture->valid = false;
        return cudaErrorStreamCaptureUnsupported;
    }
    if (const cudaError_t error = refuse_implicit(stream)) return error;
    return refuse_unsafe_call();
}

cudaError_t refuse_waiting_for_device() {
    return invalidate_where([](const Capture &) { return true; }) ? cudaErrorStreamCaptureUnsupported : cudaSuccess;
}

cudaError_t refuse_unsafe_call() {
    return invalidate_where(forbids_unsafe_calls) ? cudaErrorStreamCaptureUnsupported : cudaSuccess;
}

cudaError_t add_to_capture(Stream &stream, Work work) {
    if (!stream.capture->valid) return cudaErrorStreamCaptureInvalidated;
    stream.tail = {add_node(*stream.capture->graph, std::move(work), stream.tail)};
    return cudaSuccess;
}

cudaError_t record_in_capture(Stream &stream, Event &event) {
    if (!stream.capture->valid) return cudaErrorStreamCaptureInvalidated;
    event.capture = stream.capture;
    event.captured_after = stream.tail;
    return cudaSuccess;
}

void add_to_tail(Stream &stream, const std::vector<Node *> &nodes) {
    for (Node *node : nodes)
        if (std::find(stream.tail.begin(), stream.tail.end(), node) == stream.tail.end()) stream.tail.push_back(node);
}

cudaError_t wait_in_capture(const std::shared_ptr<Stream> &stream, const Event &event) {
    const auto &capture = event.capture;
    if (!capture) {
        if (!stream->capture) return cudaSuccess;
        if (!stream->capture->valid) return cudaErrorStreamCaptureInvalidated;
        stream->capture->valid = false;
        return cudaErrorStreamCaptureIsolation;
    }
    if (capture->ended) return cudaErrorInvalidValue;
    if (!capture->valid) return cudaErrorStreamCaptureInvalidated;
    if (stream->legacy) {
        capture->valid = false;
        return cudaErrorStreamCaptureImplicit;
    }
    if (!stream->capture) {
        stream->capture = capture;
        capture->streams.push_back(stream);
    } else if (stream->capture != capture) {
        capture->valid = stream->capture->valid = false;
        return cudaErrorStreamCaptureMerge;
    }
    add_to_tail(*stream, event.captured_after);
    return cudaSuccess;
}

cudaError_t begin_capture(cudaStream_t handle, cudaStreamCaptureMode mode, std::shared_ptr<Graph> graph,
                          std::vector<Node *> after) {
    static unsigned long long next_id = 1;
    const auto stream = find_stream(handle);
    if (!stream) return cudaErrorInvalidResourceHandle;
    if (mode < cudaStreamCaptureModeGlobal || mode > cudaStreamCaptureModeRelaxed) return cudaErrorInvalidValue;
    const std::lock_guard lock(graph_mutex());
    if (stream->legacy) return cudaErrorStreamCaptureUnsupported;
    if (stream->capture) return cudaErrorIllegalState;
    auto capture = std::make_shared<Capture>();
    capture->mode = mode;
    capture->thread = std::this_thread::get_id();
    capture->origin = stream.get();
    capture->graph = graph ? std::move(graph) : create_graph();
    capture->id = next_id++;
    capture->streams.push_back(stream);
    stream->capture = capture;
    stream->tail = std::move(after);
    active().push_back(std::move(capture));
    return cudaSuccess;
}

cudaError_t end_capture(cudaStream_t handle, cudaGraph_t *graph) {
    const auto stream = find_stream(handle);
    if (!stream) return cudaErrorInvalidResourceHandle;
    const std::lock_guard lock(graph_mutex());
    const std::shared_ptr<Capture> capture = stream->capture;
    if (!capture) return cudaErrorIllegalState;
    if (capture->origin != stream.get()) {
        capture->valid = false;
        return cudaErrorStreamCaptureUnmatched;
    }
    cudaError_t error = cudaSuccess;
    if (capture->mode != cudaStreamCaptureModeRelaxed && capture->thread != std::this_thread::get_id())
        error = cudaErrorStreamCaptureWrongThread;
    else if (!capture->valid)
        error = cudaErrorStreamCaptureInvalidated;
    else if (!is_joined(*capture))
        error = cudaErrorStreamCaptureUnjoined;
    end(*capture);
    if (error) destroy_graph(capture->graph->handle);
    if (graph) *graph = error ? nullptr : capture->graph->handle;
    return error;
}

cudaStreamCaptureStatus capture_status(const Stream &stream) {
    if (!stream.capture) return cudaStreamCaptureStatusNone;
    return stream.capture->valid ? cudaStreamCaptureStatusActive : cudaStreamCaptureStatusInvalidated;
}

cudaError_t refuse_looking(const Stream &stream) {
    const std::lock_guard lock(graph_mutex());
    const auto &all = active();
    const bool waits = stream.legacy && std::any_of(all.begin(), all.end(),
                                                    [](const auto &capture) { return has_blocking_stream(*capture); });
    return waits ? cudaErrorStreamCaptureImplicit : cudaSuccess;
}

}  // namespace beaver

using namespace beaver;

extern "C" cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode *mode) {
    return query(__func__, [&] {
        if (!mode || *mode < cudaStreamCaptureModeGlobal || *mode > cudaStreamCaptureModeRelaxed) return cudaErrorInvalidValue;
        std::swap(*mode, interaction);
        return cudaSuccess;
    });
}
