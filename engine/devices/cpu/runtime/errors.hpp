// The errors of the API: the last one of each host thread, and the fault that ends a context.
//
// What an H200 does (runtime 13.0): a kernel's fault is delivered by the first call that waits for the device. From then on every
// call that needs the context returns it. cudaGetLastError forgets the thread's last error even then; the next call brings it back.
#pragma once

#include <cuda_runtime_api.h>

#include <utility>

namespace beaver {

// What a call of the API needs.
enum class Needs {
    nothing,  // it answers from tables, after a fault too
    context,  // it fails with a fault that was delivered; the first such call starts the runtime
    work      // it waits for the work that was handed in, and so delivers its fault
};

// Before and after the body of a call. ``after_call`` remembers the error and returns it.
cudaError_t before_call(Needs needs);
cudaError_t after_call(const char *name, cudaError_t error);

// Every function of the API is its body wrapped in one of these three.
template <class Body>
cudaError_t call(const char *name, Needs needs, Body body) {
    cudaError_t error = before_call(needs);
    if (error == cudaSuccess) error = body();
    return after_call(name, error);
}

template <class Body>
cudaError_t query(const char *name, Body body) {
    return call(name, Needs::nothing, std::move(body));
}

template <class Body>
cudaError_t in_context(const char *name, Body body) {
    return call(name, Needs::context, std::move(body));
}

template <class Body>
cudaError_t after_work(const char *name, Body body) {
    return call(name, Needs::work, std::move(body));
}

// Work on the device has failed; the next call that waits delivers this. Only the first fault counts.
void device_fault(cudaError_t error);
// Whether a fault is pending or delivered: work that was handed in after it is not done.
bool device_faulted();
// The context of a faulted device was destroyed: measured on an H200, the device cannot be had again by this process.
void lose_device();
// Delivers a pending fault now; cudaSuccess if there is none.
cudaError_t deliver_fault();

// Around a host function of a stream, which on a GPU a thread of the driver would call: calls of the API are not permitted in it,
// and their errors are not the calling thread's.
class InHostFunction {
public:
    InHostFunction();
    ~InHostFunction();
    InHostFunction(const InHostFunction &) = delete;
    InHostFunction &operator=(const InHostFunction &) = delete;

private:
    cudaError_t outer_error_;
};

// The name and the sentence that CUDA has for an error code; nullptr for a code it does not know.
const char *error_name(cudaError_t error);
const char *error_sentence(cudaError_t error);

}  // namespace beaver
