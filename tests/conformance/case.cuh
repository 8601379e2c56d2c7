// What a case is, and how its result is printed. Every program of the suite includes this header once; it holds main().
//
//     program            names of all cases, one a line
//     program NAME       runs one case and prints it
//
// A case is printed as "[name]" or "[name] f32 ulp 2", the tolerance being part of its declaration, and then its
// results: hexadecimal, as many digits as the element has, so that nothing is lost or rounded. A CUDA call that fails
// where it must not ends the program with its error's name.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

// One step of a case. Steps with the same case name are printed under one heading, in the order of the source.
struct Step {
    const char *name, *tolerance;
    void (*run)();
    Step *next = nullptr;

    Step(const char *name_, const char *tolerance_, void (*run_)()) : name(name_), tolerance(tolerance_), run(run_) {
        *last = this;
        last = &next;
    }
    static inline Step *first = nullptr;
    static inline Step **last = &first;
};

#define JOIN_(a, b) a##_##b
#define JOIN(a, b) JOIN_(a, b)

// CASE(name) { ... }: its results must equal the recorded ones in every bit.
#define CASE(name) CASE_WITHIN(name, "")
// ``tolerance``: type, measure, bound, for example "f32 ulp 2", "f64 relative 1e-12", "f32 absolute 1e-6".
#define CASE_WITHIN(name, tolerance)                       \
    static void name##_run();                              \
    static Step name##_step(#name, tolerance, name##_run); \
    static void name##_run()

inline void check_at(cudaError_t error, const char *call, int line) {
    if (error == cudaSuccess) return;
    printf("unexpected %s (%d) from %s, line %d\n", cudaGetErrorName(error), static_cast<int>(error), call, line);
    exit(1);
}
#define CHECK(call) check_at(call, #call, __LINE__)

// For cases about errors: prints what a call returned, whatever it is.
inline void say(const char *what, cudaError_t error) {
    printf("%s: %d %s\n", what, static_cast<int>(error), cudaGetErrorName(error));
}
#define SAY(call) say(#call, call)

template <class T>
void print(const char *label, const T *values, size_t count, size_t columns = 10) {
    constexpr size_t width = sizeof(T) == 1 || sizeof(T) == 2 || sizeof(T) == 8 ? sizeof(T) : 4;
    static_assert(sizeof(T) % width == 0, "elements are printed as whole words");
    size_t words = count * (sizeof(T) / width);
    printf("%s:", label);
    for (size_t i = 0; i < words; ++i) {
        unsigned long long word = 0;
        memcpy(&word, reinterpret_cast<const char *>(values) + i * width, width);
        printf("%s%0*llx", i > 0 && i % columns == 0 ? "\n " : " ", static_cast<int>(2 * width), word);
    }
    printf("\n");
}

// Device memory: zeros, or a copy of an array.
template <class T>
struct Buffer {
    T *data = nullptr;
    size_t count;

    explicit Buffer(size_t count_) : count(count_) {
        CHECK(cudaMalloc(&data, count * sizeof(T)));
        CHECK(cudaMemset(data, 0, count * sizeof(T)));
    }
    Buffer(const T *values, size_t count_) : count(count_) {
        CHECK(cudaMalloc(&data, count * sizeof(T)));
        CHECK(cudaMemcpy(data, values, count * sizeof(T), cudaMemcpyHostToDevice));
    }
    template <size_t N>
    explicit Buffer(const T (&values)[N]) : Buffer(values, N) {}
    ~Buffer() { cudaFree(data); }
    Buffer(const Buffer &) = delete;
    Buffer &operator=(const Buffer &) = delete;
    operator T *() const { return data; }

    void show(const char *label, size_t columns = 10) const {
        T *host = static_cast<T *>(malloc(count * sizeof(T)));
        CHECK(cudaMemcpy(host, data, count * sizeof(T), cudaMemcpyDeviceToHost));
        print(label, host, count, columns);
        free(host);
    }
    // FNV-1a over the bytes: for results that are long and as good as their sum.
    void show_hash(const char *label) const {
        unsigned char *host = static_cast<unsigned char *>(malloc(count * sizeof(T)));
        CHECK(cudaMemcpy(host, data, count * sizeof(T), cudaMemcpyDeviceToHost));
        uint64_t hash = 0xcbf29ce484222325;
        for (size_t i = 0; i < count * sizeof(T); ++i) hash = (hash ^ host[i]) * 0x100000001b3;
        printf("%s: %016llx of %zu\n", label, static_cast<unsigned long long>(hash), count);
        free(host);
    }
};

// Steps of one case need not stand together.
inline bool first_of_its_name(const Step *step) {
    const Step *other = Step::first;
    while (strcmp(other->name, step->name) != 0) other = other->next;
    return other == step;
}

int main(int argc, char **argv) {
    setvbuf(stdout, nullptr, _IOLBF, 0);
    bool found = false;
    for (Step *step = Step::first; step; step = step->next) {
        if (argc < 2) {
            if (first_of_its_name(step)) printf("%s\n", step->name);
        } else if (strcmp(argv[1], step->name) == 0) {
            if (!found) printf("[%s]%s%s\n", step->name, *step->tolerance ? " " : "", step->tolerance);
            found = true;
            step->run();
            CHECK(cudaDeviceSynchronize());
        }
    }
    if (argc > 1 && !found) fprintf(stderr, "no case %s\n", argv[1]);
    return argc > 1 && !found ? 2 : 0;
}
