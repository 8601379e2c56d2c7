// The one device: what it says of itself.
#include <algorithm>
#include <cstring>
#include <iterator>

#include "errors.hpp"
#include "execution.hpp"
#include "memory.hpp"

namespace beaver {
namespace {

constexpr char device_name[] = "beaver-tui CPU device (sm_90)";
constexpr char bus_id[] = "0000:00:00.0";

struct Attribute {
    cudaDeviceAttr attribute;
    int value;
};

// The device's own figures come from execution.hpp, limits of compute capability 9.0 and rates from an H200. What is not offered
// is 0: clusters, IPC, GPUDirect, sparse arrays, interoperation.
constexpr Attribute attributes[] = {
    {cudaDevAttrMaxThreadsPerBlock, max_threads_per_block},
    {cudaDevAttrMaxBlockDimX, 1024},
    {cudaDevAttrMaxBlockDimY, 1024},
    {cudaDevAttrMaxBlockDimZ, 64},
    {cudaDevAttrMaxGridDimX, 2147483647},
    {cudaDevAttrMaxGridDimY, 65535},
    {cudaDevAttrMaxGridDimZ, 65535},
    {cudaDevAttrMaxSharedMemoryPerBlock, shared_per_block},
    {cudaDevAttrTotalConstantMemory, 65536},
    {cudaDevAttrWarpSize, BEAVER_WARP},
    {cudaDevAttrMaxPitch, 2147483647},
    {cudaDevAttrMaxRegistersPerBlock, registers_per_multiprocessor},
    {cudaDevAttrClockRate, 1980000},  // kHz
    {cudaDevAttrTextureAlignment, 512},
    {cudaDevAttrGpuOverlap, 1},
    {cudaDevAttrMultiProcessorCount, multiprocessors},
    {cudaDevAttrKernelExecTimeout, 0},
    {cudaDevAttrIntegrated, 0},
    {cudaDevAttrCanMapHostMemory, 1},
    {cudaDevAttrComputeMode, cudaComputeModeDefault},
    {cudaDevAttrMaxTexture1DWidth, 131072},
    {cudaDevAttrMaxTexture2DWidth, 131072},
    {cudaDevAttrMaxTexture2DHeight, 65536},
    {cudaDevAttrMaxTexture3DWidth, 16384},
    {cudaDevAttrMaxTexture3DHeight, 16384},
    {cudaDevAttrMaxTexture3DDepth, 16384},
    {cudaDevAttrMaxTexture2DLayeredWidth, 32768},
    {cudaDevAttrMaxTexture2DLayeredHeight, 32768},
    {cudaDevAttrMaxTexture2DLayeredLayers, 2048},
    {cudaDevAttrSurfaceAlignment, 512},
    {cudaDevAttrConcurrentKernels, 1},
    {cudaDevAttrEccEnabled, 0},
    {cudaDevAttrPciBusId, 0},
    {cudaDevAttrPciDeviceId, 0},
    {cudaDevAttrTccDriver, 0},
    {cudaDevAttrMemoryClockRate, 3201000},     // kHz
    {cudaDevAttrGlobalMemoryBusWidth, 6016},   // bits
    {cudaDevAttrL2CacheSize, 62914560},
    {cudaDevAttrMaxThreadsPerMultiProcessor, max_threads_per_multiprocessor},
    {cudaDevAttrAsyncEngineCount, 3},
    {cudaDevAttrUnifiedAddressing, 1},
    {cudaDevAttrMaxTexture1DLayeredWidth, 32768},
    {cudaDevAttrMaxTexture1DLayeredLayers, 2048},
    {cudaDevAttrMaxTexture2DGatherWidth, 32768},
    {cudaDevAttrMaxTexture2DGatherHeight, 32768},
    {cudaDevAttrMaxTexture3DWidthAlt, 8192},
    {cudaDevAttrMaxTexture3DHeightAlt, 8192},
    {cudaDevAttrMaxTexture3DDepthAlt, 32768},
    {cudaDevAttrPciDomainId, 0},
    {cudaDevAttrTexturePitchAlignment, 32},
    {cudaDevAttrMaxTextureCubemapWidth, 32768},
    {cudaDevAttrMaxTextureCubemapLayeredWidth, 32768},
    {cudaDevAttrMaxTextureCubemapLayeredLayers, 2046},
    {cudaDevAttrMaxSurface1DWidth, 32768},
    {cudaDevAttrMaxSurface2DWidth, 131072},
    {cudaDevAttrMaxSurface2DHeight, 65536},
    {cudaDevAttrMaxSurface3DWidth, 16384},
    {cudaDevAttrMaxSurface3DHeight, 16384},
    {cudaDevAttrMaxSurface3DDepth, 16384},
    {cudaDevAttrMaxSurface1DLayeredWidth, 32768},
    {cudaDevAttrMaxSurface1DLayeredLayers, 2048},
    {cudaDevAttrMaxSurface2DLayeredWidth, 32768},
    {cudaDevAttrMaxSurface2DLayeredHeight, 32768},
    {cudaDevAttrMaxSurface2DLayeredLayers, 2048},
    {cudaDevAttrMaxSurfaceCubemapWidth, 32768},
    {cudaDevAttrMaxSurfaceCubemapLayeredWidth, 32768},
    {cudaDevAttrMaxSurfaceCubemapLayeredLayers, 2046},
    {cudaDevAttrMaxTexture1DLinearWidth, 268435456},
    {cudaDevAttrMaxTexture2DLinearWidth, 131072},
    {cudaDevAttrMaxTexture2DLinearHeight, 65000},
    {cudaDevAttrMaxTexture2DLinearPitch, 2097120},
    {cudaDevAttrMaxTexture2DMipmappedWidth, 32768},
    {cudaDevAttrMaxTexture2DMipmappedHeight, 32768},
    {cudaDevAttrComputeCapabilityMajor, 9},
    {cudaDevAttrComputeCapabilityMinor, 0},
    {cudaDevAttrMaxTexture1DMipmappedWidth, 32768},
    {cudaDevAttrStreamPrioritiesSupported, 1},
    {cudaDevAttrGlobalL1CacheSupported, 1},
    {cudaDevAttrLocalL1CacheSupported, 1},
    {cudaDevAttrMaxSharedMemoryPerMultiprocessor, shared_per_multiprocessor},
    {cudaDevAttrMaxRegistersPerMultiprocessor, registers_per_multiprocessor},
    {cudaDevAttrManagedMemory, 1},
    {cudaDevAttrIsMultiGpuBoard, 0},
    {cudaDevAttrMultiGpuBoardGroupID, 0},
    {cudaDevAttrHostNativeAtomicSupported, 0},
    {cudaDevAttrSingleToDoublePrecisionPerfRatio, 2},
    {cudaDevAttrPageableMemoryAccess, 0},
    {cudaDevAttrConcurrentManagedAccess, 1},
    {cudaDevAttrComputePreemptionSupported, 1},
    {cudaDevAttrCanUseHostPointerForRegisteredMem, 1},
    {cudaDevAttrCooperativeLaunch, 1},
    {cudaDevAttrMaxSharedMemoryPerBlockOptin, shared_per_block_optin},
    {cudaDevAttrCanFlushRemoteWrites, 0},
    {cudaDevAttrHostRegisterSupported, 1},
    {cudaDevAttrPageableMemoryAccessUsesHostPageTables, 0},
    {cudaDevAttrDirectManagedMemAccessFromHost, 0},
    {cudaDevAttrMaxBlocksPerMultiprocessor, max_blocks_per_multiprocessor},
    {cudaDevAttrMaxPersistingL2CacheSize, 39321600},
    {cudaDevAttrMaxAccessPolicyWindowSize, 134217728},
    {cudaDevAttrReservedSharedMemoryPerBlock, reserved_shared_per_block},
    {cudaDevAttrSparseCudaArraySupported, 0},
    {cudaDevAttrHostRegisterReadOnlySupported, 1},
    {cudaDevAttrTimelineSemaphoreInteropSupported, 0},
    {cudaDevAttrMemoryPoolsSupported, 1},
    {cudaDevAttrGPUDirectRDMASupported, 0},
    {cudaDevAttrGPUDirectRDMAFlushWritesOptions, 0},
    {cudaDevAttrGPUDirectRDMAWritesOrdering, 0},
    {cudaDevAttrMemoryPoolSupportedHandleTypes, 0},
    {cudaDevAttrClusterLaunch, 0},
    {cudaDevAttrDeferredMappingCudaArraySupported, 0},
    {cudaDevAttrIpcEventSupport, 0},
    {cudaDevAttrMemSyncDomainCount, 4},
    {cudaDevAttrNumaConfig, 0},
    {cudaDevAttrNumaId, -1},
    {cudaDevAttrMpsEnabled, 0},
    {cudaDevAttrHostNumaId, 0},
};

const Attribute *find(cudaDeviceAttr wanted) {
    const auto *found = std::find_if(std::begin(attributes), std::end(attributes),
                                     [&](const Attribute &each) { return each.attribute == wanted; });
    return found == std::end(attributes) ? nullptr : found;
}

int value_of(cudaDeviceAttr attribute) {
    const Attribute *const found = find(attribute);
    return found ? found->value : 0;
}

cudaDeviceProp properties() {
    cudaDeviceProp p{};
    std::strcpy(p.name, device_name);
    std::memcpy(p.uuid.bytes, "beaver-tui-cpu-0", sizeof p.uuid.bytes);
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
    p.maxTexture2D[0] = value_of(cudaDevAttrMaxTexture2DWidth);
    p.maxTexture2D[1] = value_of(cudaDevAttrMaxTexture2DHeight);
    p.maxTexture3D[0] = value_of(cudaDevAttrMaxTexture3DWidth);
    p.maxTexture3D[1] = value_of(cudaDevAttrMaxTexture3DHeight);
    p.maxTexture3D[2] = value_of(cudaDevAttrMaxTexture3DDepth);
#if CUDART_VERSION < 13000
    p.clockRate = value_of(cudaDevAttrClockRate);
    p.memoryClockRate = value_of(cudaDevAttrMemoryClockRate);
    p.deviceOverlap = value_of(cudaDevAttrGpuOverlap);
    p.computeMode = value_of(cudaDevAttrComputeMode);
    p.singleToDoublePrecisionPerfRatio = value_of(cudaDevAttrSingleToDoublePrecisionPerfRatio);
#endif
    return p;
}

cudaError_t check_device(int device) {
    return device == 0 ? cudaSuccess : cudaErrorInvalidDevice;
}

}  // namespace
}  // namespace beaver

using namespace beaver;

extern "C" {

cudaError_t cudaGetDeviceCount(int *count) {
    return query(__func__, [&] {
        if (!count) return cudaErrorInvalidValue;
        *count = 1;
        return cudaSuccess;
    });
}

cudaError_t cudaGetDevice(int *device) {
    return query(__func__, [&] {
        if (!device) return cudaErrorInvalidValue;
        *device = 0;
        return cudaSuccess;
    });
}

cudaError_t cudaSetDevice(int device) {
    return query(__func__, [&] { return check_device(device); });
}

cudaError_t cudaInitDevice(int device, unsigned, unsigned) {
    return query(__func__, [&] { return check_device(device); });
}

cudaError_t cudaSetValidDevices(int *devices, int count) {
    return query(__func__, [&] {
        for (int i = 0; devices && i < count; ++i)
            if (const cudaError_t error = check_device(devices[i])) return error;
        return cudaSuccess;
    });
}

cudaError_t cudaChooseDevice(int *device, const cudaDeviceProp *wanted) {
    return query(__func__, [&] {
        if (!device || !wanted) return cudaErrorInvalidValue;
        *device = 0;
        return cudaSuccess;
    });
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp *result, int device) {
    return query(__func__, [&] {
        if (!result) return cudaErrorInvalidValue;
        if (const cudaError_t error = check_device(device)) return error;
        *result = properties();
        return cudaSuccess;
    });
}

cudaError_t cudaDeviceGetAttribute(int *value, cudaDeviceAttr attribute, int device) {
    return query(__func__, [&] {
        if (!value) return cudaErrorInvalidValue;
        if (const cudaError_t error = check_device(device)) return error;
        const Attribute *const found = find(attribute);
        if (!found) return cudaErrorInvalidValue;
        *value = found->value;
        return cudaSuccess;
    });
}

cudaError_t cudaDeviceGetPCIBusId(char *text, int size, int device) {
    return query(__func__, [&] {
        if (!text || size < static_cast<int>(sizeof bus_id)) return cudaErrorInvalidValue;
        if (const cudaError_t error = check_device(device)) return error;
        std::memcpy(text, bus_id, sizeof bus_id);
        return cudaSuccess;
    });
}

cudaError_t cudaDeviceGetByPCIBusId(int *device, const char *text) {
    return query(__func__, [&] {
        if (!device || !text) return cudaErrorInvalidValue;
        if (std::strcmp(text, bus_id) != 0) return cudaErrorInvalidDevice;
        *device = 0;
        return cudaSuccess;
    });
}

// The versions are those of the toolkit that the runtime was built with: a program may compare the two.
cudaError_t cudaDriverGetVersion(int *version) {
    return query(__func__, [&] {
        if (!version) return cudaErrorInvalidValue;
        *version = CUDART_VERSION;
        return cudaSuccess;
    });
}

cudaError_t cudaRuntimeGetVersion(int *version) {
    return query(__func__, [&] {
        if (!version) return cudaErrorInvalidValue;
        *version = CUDART_VERSION;
        return cudaSuccess;
    });
}

// ---- peers: a device has none but itself, and is not its own

cudaError_t cudaDeviceCanAccessPeer(int *can, int device, int peer) {
    return query(__func__, [&] {
        if (!can) return cudaErrorInvalidValue;
        *can = 0;
        return device == 0 ? check_device(peer) : cudaErrorInvalidDevice;
    });
}

cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned) {
    return in_context(__func__, [&] { return peer == 0 ? cudaErrorPeerAccessUnsupported : cudaErrorInvalidDevice; });
}

cudaError_t cudaDeviceDisablePeerAccess(int peer) {
    return in_context(__func__, [&] { return peer == 0 ? cudaErrorPeerAccessNotEnabled : cudaErrorInvalidDevice; });
}

cudaError_t cudaDeviceGetP2PAttribute(int *, cudaDeviceP2PAttr, int, int) {
    return query(__func__, [] { return cudaErrorInvalidDevice; });
}

}
