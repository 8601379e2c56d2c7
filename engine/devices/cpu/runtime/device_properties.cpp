// cudaDeviceProp: attributes again, as a struct.
#include <cstring>

#include "device_attributes.hpp"
#include "errors.hpp"
#include "memory.hpp"

namespace beaver {
namespace {

constexpr char device_name[] = "beaver-tui CPU device (sm_90)";
constexpr char device_uuid[] = "beaver-tui-cpu-0";

int value_of(cudaDeviceAttr attribute) {
    return device_attribute(attribute).value_or(0);
}

cudaDeviceProp properties() {
    cudaDeviceProp p{};
    std::strcpy(p.name, device_name);
    std::memcpy(p.uuid.bytes, device_uuid, sizeof p.uuid.bytes);
    p.totalGlobalMem = memory_total();

    p.maxThreadsPerBlock = value_of(cudaDevAttrMaxThreadsPerBlock);
    p.maxThreadsDim[0] = value_of(cudaDevAttrMaxBlockDimX);
    p.maxThreadsDim[1] = value_of(cudaDevAttrMaxBlockDimY);
    p.maxThreadsDim[2] = value_of(cudaDevAttrMaxBlockDimZ);
    p.maxGridSize[0] = value_of(cudaDevAttrMaxGridDimX);
    p.maxGridSize[1] = value_of(cudaDevAttrMaxGridDimY);
    p.maxGridSize[2] = value_of(cudaDevAttrMaxGridDimZ);
    p.warpSize = value_of(cudaDevAttrWarpSize);
    p.major = value_of(cudaDevAttrComputeCapabilityMajor);
    p.minor = value_of(cudaDevAttrComputeCapabilityMinor);
    p.multiProcessorCount = value_of(cudaDevAttrMultiProcessorCount);
    p.maxThreadsPerMultiProcessor = value_of(cudaDevAttrMaxThreadsPerMultiProcessor);
    p.maxBlocksPerMultiProcessor = value_of(cudaDevAttrMaxBlocksPerMultiprocessor);
    p.regsPerBlock = value_of(cudaDevAttrMaxRegistersPerBlock);
    p.regsPerMultiprocessor = value_of(cudaDevAttrMaxRegistersPerMultiprocessor);
    p.sharedMemPerBlock = value_of(cudaDevAttrMaxSharedMemoryPerBlock);
    p.sharedMemPerBlockOptin = value_of(cudaDevAttrMaxSharedMemoryPerBlockOptin);
    p.sharedMemPerMultiprocessor = value_of(cudaDevAttrMaxSharedMemoryPerMultiprocessor);
    p.reservedSharedMemPerBlock = value_of(cudaDevAttrReservedSharedMemoryPerBlock);
    p.totalConstMem = value_of(cudaDevAttrTotalConstantMemory);
    p.memPitch = value_of(cudaDevAttrMaxPitch);
    p.memoryBusWidth = value_of(cudaDevAttrGlobalMemoryBusWidth);
    p.l2CacheSize = value_of(cudaDevAttrL2CacheSize);
    p.persistingL2CacheMaxSize = value_of(cudaDevAttrMaxPersistingL2CacheSize);
    p.accessPolicyMaxWindowSize = value_of(cudaDevAttrMaxAccessPolicyWindowSize);
    p.globalL1CacheSupported = value_of(cudaDevAttrGlobalL1CacheSupported);
    p.localL1CacheSupported = value_of(cudaDevAttrLocalL1CacheSupported);

    p.asyncEngineCount = value_of(cudaDevAttrAsyncEngineCount);
    p.concurrentKernels = value_of(cudaDevAttrConcurrentKernels);
    p.streamPrioritiesSupported = value_of(cudaDevAttrStreamPrioritiesSupported);
    p.computePreemptionSupported = value_of(cudaDevAttrComputePreemptionSupported);
    p.cooperativeLaunch = value_of(cudaDevAttrCooperativeLaunch);
    p.clusterLaunch = value_of(cudaDevAttrClusterLaunch);
    p.unifiedAddressing = value_of(cudaDevAttrUnifiedAddressing);
    p.canMapHostMemory = value_of(cudaDevAttrCanMapHostMemory);
    p.managedMemory = value_of(cudaDevAttrManagedMemory);
    p.concurrentManagedAccess = value_of(cudaDevAttrConcurrentManagedAccess);
    p.canUseHostPointerForRegisteredMem = value_of(cudaDevAttrCanUseHostPointerForRegisteredMem);
    p.hostRegisterSupported = value_of(cudaDevAttrHostRegisterSupported);
    p.hostRegisterReadOnlySupported = value_of(cudaDevAttrHostRegisterReadOnlySupported);
    p.memoryPoolsSupported = value_of(cudaDevAttrMemoryPoolsSupported);

    p.textureAlignment = value_of(cudaDevAttrTextureAlignment);
    p.texturePitchAlignment = value_of(cudaDevAttrTexturePitchAlignment);
    p.surfaceAlignment = value_of(cudaDevAttrSurfaceAlignment);
    p.maxTexture1D = value_of(cudaDevAttrMaxTexture1DWidth);
    p.maxTexture1DMipmap = value_of(cudaDevAttrMaxTexture1DMipmappedWidth);
    p.maxTexture2D[0] = value_of(cudaDevAttrMaxTexture2DWidth);
    p.maxTexture2D[1] = value_of(cudaDevAttrMaxTexture2DHeight);
    p.maxTexture2DMipmap[0] = value_of(cudaDevAttrMaxTexture2DMipmappedWidth);
    p.maxTexture2DMipmap[1] = value_of(cudaDevAttrMaxTexture2DMipmappedHeight);
    p.maxTexture2DLinear[0] = value_of(cudaDevAttrMaxTexture2DLinearWidth);
    p.maxTexture2DLinear[1] = value_of(cudaDevAttrMaxTexture2DLinearHeight);
    p.maxTexture2DLinear[2] = value_of(cudaDevAttrMaxTexture2DLinearPitch);
    p.maxTexture2DGather[0] = value_of(cudaDevAttrMaxTexture2DGatherWidth);
    p.maxTexture2DGather[1] = value_of(cudaDevAttrMaxTexture2DGatherHeight);
    p.maxTexture3D[0] = value_of(cudaDevAttrMaxTexture3DWidth);
    p.maxTexture3D[1] = value_of(cudaDevAttrMaxTexture3DHeight);
    p.maxTexture3D[2] = value_of(cudaDevAttrMaxTexture3DDepth);
    p.maxTexture3DAlt[0] = value_of(cudaDevAttrMaxTexture3DWidthAlt);
    p.maxTexture3DAlt[1] = value_of(cudaDevAttrMaxTexture3DHeightAlt);
    p.maxTexture3DAlt[2] = value_of(cudaDevAttrMaxTexture3DDepthAlt);
    p.maxTextureCubemap = value_of(cudaDevAttrMaxTextureCubemapWidth);
    p.maxTexture1DLayered[0] = value_of(cudaDevAttrMaxTexture1DLayeredWidth);
    p.maxTexture1DLayered[1] = value_of(cudaDevAttrMaxTexture1DLayeredLayers);
    p.maxTexture2DLayered[0] = value_of(cudaDevAttrMaxTexture2DLayeredWidth);
    p.maxTexture2DLayered[1] = value_of(cudaDevAttrMaxTexture2DLayeredHeight);
    p.maxTexture2DLayered[2] = value_of(cudaDevAttrMaxTexture2DLayeredLayers);
    p.maxTextureCubemapLayered[0] = value_of(cudaDevAttrMaxTextureCubemapLayeredWidth);
    p.maxTextureCubemapLayered[1] = value_of(cudaDevAttrMaxTextureCubemapLayeredLayers);
    p.maxSurface1D = value_of(cudaDevAttrMaxSurface1DWidth);
    p.maxSurface2D[0] = value_of(cudaDevAttrMaxSurface2DWidth);
    p.maxSurface2D[1] = value_of(cudaDevAttrMaxSurface2DHeight);
    p.maxSurface3D[0] = value_of(cudaDevAttrMaxSurface3DWidth);
    p.maxSurface3D[1] = value_of(cudaDevAttrMaxSurface3DHeight);
    p.maxSurface3D[2] = value_of(cudaDevAttrMaxSurface3DDepth);
    p.maxSurface1DLayered[0] = value_of(cudaDevAttrMaxSurface1DLayeredWidth);
    p.maxSurface1DLayered[1] = value_of(cudaDevAttrMaxSurface1DLayeredLayers);
    p.maxSurface2DLayered[0] = value_of(cudaDevAttrMaxSurface2DLayeredWidth);
    p.maxSurface2DLayered[1] = value_of(cudaDevAttrMaxSurface2DLayeredHeight);
    p.maxSurface2DLayered[2] = value_of(cudaDevAttrMaxSurface2DLayeredLayers);
    p.maxSurfaceCubemap = value_of(cudaDevAttrMaxSurfaceCubemapWidth);
    p.maxSurfaceCubemapLayered[0] = value_of(cudaDevAttrMaxSurfaceCubemapLayeredWidth);
    p.maxSurfaceCubemapLayered[1] = value_of(cudaDevAttrMaxSurfaceCubemapLayeredLayers);
#if CUDART_VERSION < 13000
    p.clockRate = value_of(cudaDevAttrClockRate);
    p.memoryClockRate = value_of(cudaDevAttrMemoryClockRate);
    p.deviceOverlap = value_of(cudaDevAttrGpuOverlap);
    p.computeMode = value_of(cudaDevAttrComputeMode);
    p.singleToDoublePrecisionPerfRatio = value_of(cudaDevAttrSingleToDoublePrecisionPerfRatio);
#endif
    return p;
}

}  // namespace
}  // namespace beaver

using namespace beaver;

extern "C" cudaError_t cudaGetDeviceProperties(cudaDeviceProp *result, int device) {
    return query(__func__, [&] {
        if (!result) return cudaErrorInvalidValue;
        if (const cudaError_t error = check_device(device)) return error;
        *result = properties();
        return cudaSuccess;
    });
}
