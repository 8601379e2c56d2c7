#include "work.hpp"

#include "copies.hpp"
#include "events.hpp"
#include "graphs.hpp"
#include "options.hpp"
#include "pools.hpp"

namespace beaver {
namespace {

struct Runner {
    cudaError_t operator()(const EmptyWork &) const { return cudaSuccess; }

    cudaError_t operator()(const KernelWork &work) const {
        const cudaError_t fault = run_grid(work.launch);
        if (fault == cudaSuccess) return cudaSuccess;
        device_fault(fault);
        return options().blocking ? deliver_fault() : cudaSuccess;
    }

    cudaError_t operator()(const CopyWork &work) const { return perform(work); }
    cudaError_t operator()(const FillWork &work) const { return perform(work); }

    cudaError_t operator()(const HostWork &work) const {
        const InHostFunction inside;
        work.function(work.data);
        return cudaSuccess;
    }

    cudaError_t operator()(const RecordWork &work) const { return record(work.event); }
    cudaError_t operator()(const WaitWork &) const { return cudaSuccess; }  // whatever it waits for is done
    cudaError_t operator()(const AllocateWork &work) const { return begin_use(*work.memory); }
    cudaError_t operator()(const FreeWork &work) const { return release_device_memory(work.address); }
    cudaError_t operator()(const ChildWork &work) const { return run_nodes(*work.graph); }
};

}  // namespace

cudaError_t run(const Work &work) {
    if (device_faulted()) return cudaSuccess;
    return std::visit(Runner{}, work);
}

}  // namespace beaver
