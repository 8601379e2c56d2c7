// What a stream is asked to do, as a value: done at once, or kept as the node of a graph and done at its launches.
#pragma once

#include <cuda_runtime_api.h>

#include <memory>
#include <variant>

#include "execution.hpp"
#include "modules.hpp"

namespace beaver {

struct Graph;
struct Reservation;

struct KernelWork {
    Kernel *kernel;
    Launch launch;
};

struct CopyWork {
    cudaMemcpy3DParms box;  // every copy is one of a box of bytes
};

struct FillWork {
    void *address;
    std::size_t pitch;             // bytes from row to row
    std::size_t slice;             // bytes from plane to plane
    unsigned value, element_size;  // 1, 2 or 4 bytes
    cudaExtent extent;             // the width in elements
};

struct HostWork {
    cudaHostFn_t function;
    void *data;
};

struct RecordWork {
    cudaEvent_t event;
};

struct WaitWork {
    cudaEvent_t event;
};

struct AllocateWork {
    std::shared_ptr<Reservation> memory;
};

struct FreeWork {
    void *address;
};

struct ChildWork {
    std::shared_ptr<Graph> graph;
};

struct EmptyWork {};

using Work = std::variant<EmptyWork, KernelWork, CopyWork, FillWork, HostWork, RecordWork, WaitWork, AllocateWork, FreeWork,
                          ChildWork>;

// Does it, to its end. A kernel's fault stays pending (errors.hpp) and is returned only with CUDA_LAUNCH_BLOCKING. After a fault
// nothing is done any more.
cudaError_t run(const Work &work);

}  // namespace beaver
