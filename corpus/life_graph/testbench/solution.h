#pragma once

#include <cuda_runtime.h>

// The Game of Life on a torus: a plain C interface around an object that belongs to the solution.
struct Life;

extern "C" {

// Makes what all runs need: memory, and a graph of `generations` launches. *life is set on success.
cudaError_t life_create(Life** life, int height, int width, int generations);

// Plays all generations from `cells` into `result`, height * width bytes of 0 or 1 each, row-major. Device pointers;
// they may be others in every run.
cudaError_t life_run(Life* life, const unsigned char* cells, unsigned char* result, cudaStream_t stream);

// Gives everything back. Null is allowed.
void life_destroy(Life* life);

}  // extern "C"
