#include "errors.hpp"

#include <atomic>
#include <mutex>

#include "memory.hpp"
#include "modules.hpp"
#include "report.hpp"

namespace beaver {
namespace {

thread_local cudaError_t last_error = cudaSuccess;
thread_local int host_functions = 0;

std::atomic<cudaError_t> pending{cudaSuccess};
std::atomic<cudaError_t> delivered{cudaSuccess};

void start_runtime() {
    static std::once_flag once;
    std::call_once(once, open_memory);
    load_modules();
}

}  // namespace

cudaError_t before_call(Needs needs) {
    if (needs == Needs::nothing) return cudaSuccess;
    if (host_functions > 0) return cudaErrorNotPermitted;
    if (const cudaError_t error = delivered) return error;
    start_runtime();
    return needs == Needs::work ? deliver_fault() : cudaSuccess;
}

cudaError_t after_call(const char *name, cudaError_t error) {
    if (error == cudaSuccess) return error;
    last_error = error;
    report_api_error(error, name);
    return error;
}

void device_fault(cudaError_t error) {
    cudaError_t none = cudaSuccess;
    pending.compare_exchange_strong(none, error);
}

bool device_faulted() {
    return pending != cudaSuccess || delivered != cudaSuccess;
}

void lose_device() {
    if (!device_faulted()) return;
    delivered = cudaErrorDevicesUnavailable;
    last_error = cudaSuccess;
}

cudaError_t deliver_fault() {
    if (delivered == cudaSuccess) delivered = pending.load();
    return delivered;
}

InHostFunction::InHostFunction() : outer_error_(std::exchange(last_error, cudaSuccess)) { ++host_functions; }

InHostFunction::~InHostFunction() {
    --host_functions;
    last_error = outer_error_;
}

}  // namespace beaver

using namespace beaver;

extern "C" {

// compute-sanitizer reports the error once more when it is asked for.
cudaError_t cudaGetLastError() {
    const cudaError_t error = std::exchange(last_error, cudaSuccess);
    if (error) report_api_error(error, __func__);
    return error;
}

cudaError_t cudaPeekAtLastError() {
    if (last_error) report_api_error(last_error, __func__);
    return last_error;
}

const char *cudaGetErrorName(cudaError_t error) {
    const char *name = error_name(error);
    return name ? name : "unrecognized error code";
}

const char *cudaGetErrorString(cudaError_t error) {
    const char *sentence = error_sentence(error);
    return sentence ? sentence : "unrecognized error code";
}

}
