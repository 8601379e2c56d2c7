// Streams, and the capture of what they are asked to do.
//
// Work is done when it is handed in, in the order of the host's calls: one of the orders that the streams allow.
#pragma once

#include <cuda_runtime_api.h>

#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "work.hpp"

namespace beaver {

struct Capture;
struct Event;
struct Graph;
struct Node;

struct Stream {
    unsigned flags = cudaStreamDefault;
    int priority = 0;
    unsigned long long id = 0;
    bool legacy = false;
    std::mutex busy;  // held while its work is done: host threads that share a stream take turns
    std::shared_ptr<Capture> capture;
    std::vector<Node *> tail;  // of a capturing stream: the nodes that its next one depends on
    std::vector<cudaGraphNode_t> tail_handles;  // what cudaStreamGetCaptureInfo points to
    // kept for those who ask; none of them changes what is done
    std::map<cudaLaunchAttributeID, cudaLaunchAttributeValue> attributes;
};

struct Capture {
    cudaStreamCaptureMode mode;
    std::thread::id thread;  // that began it
    Stream *origin;
    std::shared_ptr<Graph> graph;
    unsigned long long id;
    bool valid = true;
    bool ended = false;
    std::vector<std::shared_ptr<Stream>> streams;  // that take part
};

// Guards captures and graphs. Never held while work is done.
std::recursive_mutex &graph_mutex();

// nullptr: no such stream. 0 is the legacy stream: callers that mean the thread's own stream say cudaStreamPerThread.
std::shared_ptr<Stream> find_stream(cudaStream_t handle);
cudaStream_t create_stream(unsigned flags, int priority);
bool destroy_stream(cudaStream_t handle);
void destroy_all_streams();

// Does the work, or adds it to the stream's capture. cudaErrorInvalidResourceHandle, the errors of captures, or the work's own.
cudaError_t submit(cudaStream_t stream, Work work);

// ---- capture.cpp

// The stream goes away: so does a capture that began in it.
void abandon_capture(Stream &stream);
// The stream's capture cannot be turned into a graph any more; nothing if it has none.
void invalidate_capture(cudaStream_t stream);
// For calls that wait for this stream: cudaErrorStreamCaptureUnsupported, or -Implicit for the legacy stream.
cudaError_t refuse_waiting(Stream &stream);
// For calls that wait for everything.
cudaError_t refuse_waiting_for_device();
// For calls that a capture of the thread's surroundings does not permit: cudaErrorStreamCaptureUnsupported.
cudaError_t refuse_unsafe_call();
// For work in the legacy stream while a stream that it waits for captures: cudaErrorStreamCaptureImplicit.
cudaError_t refuse_implicit(const Stream &stream);
// The same for calls that only look at the stream: they do not invalidate the capture.
cudaError_t refuse_looking(const Stream &stream);

cudaError_t begin_capture(cudaStream_t stream, cudaStreamCaptureMode mode, std::shared_ptr<Graph> graph,
                          std::vector<Node *> after);
// ``graph`` is null after an error. cudaErrorIllegalState: the stream does not capture.
cudaError_t end_capture(cudaStream_t stream, cudaGraph_t *graph);
cudaStreamCaptureStatus capture_status(const Stream &stream);

// Adds a node to a capturing stream. Call with graph_mutex() held.
cudaError_t add_to_capture(Stream &stream, Work work);
cudaError_t record_in_capture(Stream &stream, Event &event);
void add_to_tail(Stream &stream, const std::vector<Node *> &nodes);
// A stream waits for an event, and by that may join the event's capture. Call with graph_mutex() held.
cudaError_t wait_in_capture(const std::shared_ptr<Stream> &stream, const Event &event);

}  // namespace beaver
