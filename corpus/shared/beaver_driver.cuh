// What the drivers of the built-in tasks share: files, device buffers, error reports and timing.
//
// A driver reads its inputs from in/, calls the candidate with device pointers, and writes the candidate's outputs to
// out/. It judges nothing: exit 0 means that it got to the end. Exit 2: a CUDA call failed, said on standard error.
// Exit 3: a file of in/ or out/ is not as the driver expects it.
//
// Files are raw little-endian arrays without a header, named after their element: x.f32, n.i32, codes.u8.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

// Stops the program with the CUDA error, its text and the place when `expression` is not cudaSuccess.
#define BEAVER_CHECK(expression) ::beaver::check((expression), __FILE__, __LINE__)

namespace beaver {

inline void check(cudaError_t error, const char* file, int line) {
    if (error == cudaSuccess) return;
    const char* slash = std::strrchr(file, '/');
    std::fflush(stdout);
    std::fprintf(stderr, "CUDA error %d (%s): %s at %s:%d\n", static_cast<int>(error), cudaGetErrorName(error),
                 cudaGetErrorString(error), slash ? slash + 1 : file, line);
    std::exit(2);
}

[[noreturn]] inline void file_fault(const std::string& path, const char* reason) {
    std::fflush(stdout);
    std::fprintf(stderr, "driver: %s: %s\n", path.c_str(), reason);
    std::exit(3);
}

// Reads in/<name>, which must hold exactly `count` elements.
template <typename T>
std::vector<T> read_vector(const std::string& name, size_t count) {
    const std::string path = "in/" + name;
    std::FILE* file = std::fopen(path.c_str(), "rb");
    if (!file) file_fault(path, "cannot be opened");
    std::vector<T> values(count);
    const size_t got = std::fread(values.data(), sizeof(T), count, file);
    const bool at_end = std::fgetc(file) == EOF;
    std::fclose(file);
    if (got != count || !at_end) file_fault(path, "does not have the expected size");
    return values;
}

// Reads in/<name>, which holds one element.
template <typename T>
T read_scalar(const std::string& name) {
    return read_vector<T>(name, 1)[0];
}

// Writes out/<name>.
template <typename T>
void write_vector(const std::string& name, const std::vector<T>& values) {
    const std::string path = "out/" + name;
    std::FILE* file = std::fopen(path.c_str(), "wb");
    if (!file) file_fault(path, "cannot be created");
    const size_t put = std::fwrite(values.data(), sizeof(T), values.size(), file);
    if (std::fclose(file) != 0 || put != values.size()) file_fault(path, "cannot be written");
}

// Device memory of a fixed number of elements. Made from a count it is poisoned, so that what the candidate leaves
// out shows.
template <typename T>
class DeviceBuffer {
public:
    explicit DeviceBuffer(size_t count) : count_(count) {
        BEAVER_CHECK(cudaMalloc(reinterpret_cast<void**>(&data_), std::max<size_t>(bytes(), 1)));
        poison();
    }
    explicit DeviceBuffer(const std::vector<T>& values) : DeviceBuffer(values.size()) {
        BEAVER_CHECK(cudaMemcpy(data_, values.data(), bytes(), cudaMemcpyHostToDevice));
    }
    DeviceBuffer(const DeviceBuffer&) = delete;
    DeviceBuffer& operator=(const DeviceBuffer&) = delete;
    ~DeviceBuffer() { cudaFree(data_); }

    T* data() { return data_; }
    size_t bytes() const { return count_ * sizeof(T); }

    // Sets every byte to 0xFF: a NaN as float or double, -1 as a signed integer.
    void poison() { BEAVER_CHECK(cudaMemset(data_, 0xFF, bytes())); }

    std::vector<T> download() const {
        std::vector<T> values(count_);
        BEAVER_CHECK(cudaMemcpy(values.data(), data_, bytes(), cudaMemcpyDeviceToHost));
        return values;
    }

private:
    T* data_ = nullptr;
    size_t count_;
};

// A stream of its own, so that a candidate is seen to use the one that it is given.
class Stream {
public:
    Stream() { BEAVER_CHECK(cudaStreamCreate(&stream_)); }
    Stream(const Stream&) = delete;
    Stream& operator=(const Stream&) = delete;
    ~Stream() { cudaStreamDestroy(stream_); }
    operator cudaStream_t() const { return stream_; }

private:
    cudaStream_t stream_ = nullptr;
};

// True for `./driver time`.
inline bool wants_timing(int argc, char** argv) { return argc > 1 && std::string(argv[1]) == "time"; }

// Makes `calls` calls and waits for all of the device. The first error: a call's own, a launch's, or a kernel's.
template <typename Call>
cudaError_t run(const Call& call, int calls = 1) {
    for (int i = 0; i < calls; ++i) {
        if (const cudaError_t error = call()) return error;
        if (const cudaError_t error = cudaGetLastError()) return error;
    }
    return cudaDeviceSynchronize();
}

// Milliseconds of a batch of `calls` calls, work on other streams included: the end is marked when the whole device
// is idle.
template <typename Call>
float time_batch(cudaStream_t stream, const Call& call, int calls) {
    cudaEvent_t start, stop;
    float milliseconds = 0.0f;
    BEAVER_CHECK(cudaEventCreate(&start));
    BEAVER_CHECK(cudaEventCreate(&stop));
    BEAVER_CHECK(cudaEventRecord(start, stream));
    BEAVER_CHECK(run(call, calls));
    BEAVER_CHECK(cudaEventRecord(stop, stream));
    BEAVER_CHECK(cudaEventSynchronize(stop));
    BEAVER_CHECK(cudaEventElapsedTime(&milliseconds, start, stop));
    BEAVER_CHECK(cudaEventDestroy(start));
    BEAVER_CHECK(cudaEventDestroy(stop));
    return milliseconds;
}

// Warms up, finds a batch of at least 100 ms, measures three of them and prints the mean time of a call. `prepare`
// puts the buffers back before every batch, outside the measured time. Each batch is announced on standard output
// when it starts and when it ends, so that whoever holds the other end of the pipe can hold its own clock against it.
template <typename Prepare, typename Call>
void measure(cudaStream_t stream, const Prepare& prepare, const Call& call) {
    constexpr float kBatchMs = 100.0f;
    constexpr int kBatches = 3;
    prepare();
    time_batch(stream, call, 1);
    int calls = 1;
    for (float ms = time_batch(stream, call, 1); ms < kBatchMs; ms = time_batch(stream, call, calls)) {
        calls = ms < 1.0f ? calls * 16 : static_cast<int>(1.2 * calls * kBatchMs / ms) + 1;
    }
    double total = 0.0;
    for (int batch = 1; batch <= kBatches; ++batch) {
        prepare();
        BEAVER_CHECK(cudaDeviceSynchronize());
        std::printf("Batch %d of %d: %d calls start\n", batch, kBatches, calls);
        std::fflush(stdout);
        const float ms = time_batch(stream, call, calls);
        std::printf("Batch %d of %d: %d calls took %.3f ms\n", batch, kBatches, calls, ms);
        std::fflush(stdout);
        total += ms;
    }
    std::printf("Kernel time: %.6f ms\n", total / kBatches / calls);
    std::fflush(stdout);
}

}  // namespace beaver
