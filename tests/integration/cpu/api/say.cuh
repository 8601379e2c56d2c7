// What calls return, a line each: the call, its error, and the error that it leaves behind. The same programs run on a GPU,
// whose lines are recorded beside them, and on the CPU device.
#pragma once

#include <cuda_runtime.h>

#include <cstdio>

inline void say(const char *call, cudaError_t error) {
    printf("%s -> %d last %d\n", call, error, cudaGetLastError());
}
#define SAY(...) say(#__VA_ARGS__, (__VA_ARGS__))
// A launch, whose error is asked for.
#define SAY_LAUNCH(kernel, grid, block, shared, ...)                                          \
    do {                                                                                      \
        kernel<<<grid, block, shared>>>(__VA_ARGS__);                                         \
        say(#kernel "<<<" #grid ", " #block ", " #shared ">>>", cudaGetLastError());          \
        if (const cudaError_t error = cudaDeviceSynchronize()) printf("  fault %d\n", error); \
    } while (0)
#define SHOW(format, ...) printf("  " #__VA_ARGS__ " = " format "\n", __VA_ARGS__)
