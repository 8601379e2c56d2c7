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
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <type_traits>
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

// An input whose values can be replaced by others of the same kind, and put back.
struct Input {
    virtual void disturb(bool others) = 0;
};

// The inputs that live.
inline std::vector<Input*>& inputs() {
    static std::vector<Input*> known;
    return known;
}

// Device memory of a fixed number of elements. Made from a count it is poisoned, so that what the candidate leaves
// out shows. Made from values it is an input: its values are moved on by one place while calls are timed (integers are
// not, they may be indices), so that a result kept from a timed call is not the right one.
template <typename T>
class DeviceBuffer : Input {
public:
    explicit DeviceBuffer(size_t count) : count_(count) {
        BEAVER_CHECK(cudaMalloc(reinterpret_cast<void**>(&data_), std::max<size_t>(bytes(), 1)));
        poison();
    }
    explicit DeviceBuffer(const std::vector<T>& values) : DeviceBuffer(values.size()) {
        upload(values);
        if (std::is_integral<T>::value || values.size() < 2) return;
        values_ = values;
        inputs().push_back(this);
    }
    DeviceBuffer(const DeviceBuffer&) = delete;
    DeviceBuffer& operator=(const DeviceBuffer&) = delete;
    ~DeviceBuffer() {
        inputs().erase(std::remove(inputs().begin(), inputs().end(), static_cast<Input*>(this)), inputs().end());
        cudaFree(data_);
    }

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
    void upload(const std::vector<T>& values) {
        BEAVER_CHECK(cudaMemcpy(data_, values.data(), bytes(), cudaMemcpyHostToDevice));
    }
    void disturb(bool others) override {
        std::vector<T> values = values_;
        if (others) std::rotate(values.begin(), values.begin() + 1, values.end());
        upload(values);
    }

    T* data_ = nullptr;
    size_t count_;
    std::vector<T> values_;
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

// Threads of this process, 0 where nobody says.
inline int threads() {
    std::FILE* status = std::fopen("/proc/self/status", "r");
    if (!status) return 0;
    char line[256];
    int count = 0;
    while (std::fgets(line, sizeof line, status) && std::sscanf(line, "Threads: %d", &count) != 1) {
    }
    std::fclose(status);
    return count;
}

// One line for whoever holds the clock, at the beginning of a line whatever the candidate has printed.
[[gnu::format(printf, 1, 2)]] inline void tell(const char* format, ...) {
    std::va_list values;
    va_start(values, format);
    std::printf("\nbeaver: ");
    std::vprintf(format, values);
    std::printf("\n");
    std::fflush(stdout);
    va_end(values);
}

[[noreturn]] inline void clock_fault(const char* line) {
    std::fprintf(stderr, "driver: the clock asked for %s", line);
    std::exit(3);
}

// Does what the process at the other end of standard input asks for, line by line, until it says "end". It takes the
// time of every batch itself, from its "go" to our answer, and decides what is timed, how often and in which order:
//   calls TOKEN N   N calls in a row, after one `prepare`
//   fresh TOKEN N   N times `prepare` and a call
//   blank TOKEN N   N times `prepare` alone
// Each is answered with "ready TOKEN" once the buffers are prepared; "go TOKEN" starts it; "done TOKEN N MS" ends it.
template <typename Prepare, typename Call>
void obey_clock(cudaStream_t stream, const Prepare& prepare, const Call& call) {
    const auto fresh = [&] {
        prepare();
        return call();
    };
    const auto blank = [&] {
        prepare();
        return cudaSuccess;
    };
    char line[128];
    char what[16];
    char token[64];
    int calls = 0;
    tell("clock 1");
    while (std::fgets(line, sizeof line, stdin)) {
        if (std::strcmp(line, "end\n") == 0) return;
        if (std::sscanf(line, "%15s %63s %d", what, token, &calls) != 3 || calls < 1) clock_fault(line);
        const std::string kind = what;
        prepare();
        BEAVER_CHECK(cudaDeviceSynchronize());
        tell("ready %s", token);
        if (!std::fgets(line, sizeof line, stdin) || std::string("go ") + token + "\n" != line) clock_fault(line);
        float ms = 0.0f;
        if (kind == "calls") ms = time_batch(stream, call, calls);
        else if (kind == "fresh") ms = time_batch(stream, fresh, calls);
        else if (kind == "blank") ms = time_batch(stream, blank, calls);
        else clock_fault(what);
        tell("done %s %d %.6f", token, calls, ms);
    }
    clock_fault("nothing more\n");
}

// As obey_clock does, without anybody to ask: warms up, finds a batch of at least 100 ms, measures three of them and
// prints the mean time of a call.
template <typename Prepare, typename Call>
void measure_alone(cudaStream_t stream, const Prepare& prepare, const Call& call) {
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
        const float ms = time_batch(stream, call, calls);
        std::printf("Batch %d of %d: %d calls took %.3f ms\n", batch, kBatches, calls, ms);
        total += ms;
    }
    std::printf("Kernel time: %.6f ms\n", total / kBatches / calls);
    std::fflush(stdout);
}

// Times calls: with BEAVER_CLOCK=1 as the harness asks on standard input, else on its own. `prepare` puts the buffers
// back before every batch. Timed calls work on disturbed inputs; a last call, whose outputs the driver writes, on the
// true ones.
template <typename Prepare, typename Call>
void measure(cudaStream_t stream, const Prepare& prepare, const Call& call) {
    const char* asked = std::getenv("BEAVER_CLOCK");
    for (Input* input : inputs()) input->disturb(true);
    if (asked && std::strcmp(asked, "1") == 0) obey_clock(stream, prepare, call);
    else measure_alone(stream, prepare, call);
    for (Input* input : inputs()) input->disturb(false);
    prepare();
    BEAVER_CHECK(run(call));
    if (asked) tell("end %d threads", threads());
}

}  // namespace beaver
