#pragma once

#include <cuda_runtime.h>

// How one side of an image is resampled: place i of the result is the sum over t of weights[t * size + i] times place
// first[i] + t of the source, for t = 0 .. taps-1. All of these places exist. Device pointers.
struct Resampling {
    int size;
    int taps;
    const int* first;
    const float* weights;
};

struct ResizeShape {
    int channels;
    int in_height;
    int in_width;
};

// Resamples the rows and columns of an image of float, channel by channel: image[channels][in_height][in_width]
// becomes result[channels][vertical.size][horizontal.size]. scratch has room for channels * in_height *
// horizontal.size values. Device pointers.
cudaError_t image_resize(const float* image, float* scratch, float* result, ResizeShape shape, Resampling horizontal,
                         Resampling vertical, cudaStream_t stream);
