// Writes zeros: no fault, no work.
#include "solution.h"

cudaError_t stencil_star(const float*, float* y, int height, int width, StarWeights, cudaStream_t stream) {
    return cudaMemsetAsync(y, 0, static_cast<size_t>(height) * width * sizeof(float), stream);
}
