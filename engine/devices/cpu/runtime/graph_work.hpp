// The parameters of graph nodes, as the API has them, made into work and checked. All return what the API is to return.
#pragma once

#include <cuda_runtime_api.h>

#include "work.hpp"

// The graph calls of CUDA 13 have an array for data of edges, which carry none here: a caller's array stays as it is.
#if CUDART_VERSION >= 13000
#define EDGE_DATA(type) , type
#else
#define EDGE_DATA(type)
#endif

namespace beaver {

cudaError_t read(const cudaKernelNodeParams *parameters, KernelWork *work);
cudaError_t read(const cudaMemcpy3DParms *parameters, CopyWork *work);
cudaError_t read(const cudaMemsetParams *parameters, FillWork *work);
cudaError_t read(const cudaHostNodeParams *parameters, HostWork *work);
cudaError_t read(cudaEvent_t event, cudaEvent_t *checked);
cudaError_t read(cudaGraph_t graph, ChildWork *work);
// The address of the memory is written back to the parameters.
cudaError_t read(std::size_t size, void **address, AllocateWork *work);
// Any node. cudaErrorNotSupported: conditional nodes and external semaphores.
cudaError_t read(cudaGraphNodeParams *parameters, Work *work);

cudaGraphNodeType type_of(const Work &work);

}  // namespace beaver
