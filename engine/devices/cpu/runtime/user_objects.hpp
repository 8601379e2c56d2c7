// Objects of the program that live as long as the graphs that use them: counts of references, kept by graphs.
#pragma once

#include <cuda_runtime_api.h>

#include <map>

namespace beaver {

using References = std::map<cudaUserObject_t, unsigned>;

// false: there is no such object, or it has fewer references. The last reference to go takes the object with it.
bool retain(cudaUserObject_t object, unsigned count);
bool release(cudaUserObject_t object, unsigned count);

// What a copy of a graph does with the references of the original, and a graph's end with its own.
void retain_all(const References &references);
void release_all(const References &references);

}  // namespace beaver
