"""The error codes of the CUDA runtime and driver, with what each means for a repair.

Names and numbers: the enums cudaError_t and CUresult of CUDA 13 (driver_types.h, cuda.h); texts: what cudaGetErrorString and
cuGetErrorString return for them. Since CUDA 10.1 both APIs share their numbers; the few old runtime numbers that are still
seen in logs and mean nothing today are in ``OLD_CODES``.

The category column follows the protocol's point 10: device faults that end the context are illegal_memory_access, a refused
launch configuration or a misused API is functional_correctness, and everything about the driver, the device or the binary's
architecture is environment_dependency.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import Final, NamedTuple

from engine.verdict.categories import Category

_ENV: Final = Category.ENVIRONMENT_DEPENDENCY
_OOM: Final = Category.OUT_OF_MEMORY
_IMA: Final = Category.ILLEGAL_MEMORY_ACCESS
_TIME: Final = Category.TIMEOUT
_LOGIC: Final = Category.FUNCTIONAL_CORRECTNESS
_INTEG: Final = Category.INTEGRATION


class CudaError(NamedTuple):
    """One code. ``plain`` texts are words that programs print for other reasons too; they count beside a mention of CUDA only."""

    code: int
    runtime: str
    driver: str
    text: str
    category: Category
    plain: bool = False


CUDA_ERRORS: Final[tuple[CudaError, ...]] = (
    CudaError(1, "InvalidValue", "INVALID_VALUE", "invalid argument", _LOGIC, True),
    CudaError(2, "MemoryAllocation", "OUT_OF_MEMORY", "out of memory", _OOM),
    CudaError(3, "InitializationError", "NOT_INITIALIZED", "initialization error", _ENV, True),
    CudaError(4, "CudartUnloading", "DEINITIALIZED", "driver shutting down", _LOGIC),
    CudaError(9, "InvalidConfiguration", "", "invalid configuration argument", _LOGIC),
    CudaError(12, "InvalidPitchValue", "", "invalid pitch argument", _LOGIC),
    CudaError(13, "InvalidSymbol", "", "invalid device symbol", _LOGIC),
    CudaError(16, "InvalidHostPointer", "", "invalid host pointer", _LOGIC),
    CudaError(17, "InvalidDevicePointer", "", "invalid device pointer", _LOGIC),
    CudaError(18, "InvalidTexture", "", "invalid texture reference", _LOGIC),
    CudaError(20, "InvalidChannelDescriptor", "", "invalid channel descriptor", _LOGIC),
    CudaError(21, "InvalidMemcpyDirection", "", "invalid copy direction for memcpy", _LOGIC),
    CudaError(34, "StubLibrary", "STUB_LIBRARY", "cuda driver is a stub library", _ENV),
    CudaError(35, "InsufficientDriver", "", "cuda driver version is insufficient", _ENV),
    CudaError(
        36, "CallRequiresNewerDriver", "CALL_REQUIRES_NEWER_DRIVER", "not supported in the installed cuda driver", _ENV
    ),
    CudaError(37, "InvalidSurface", "", "invalid surface reference", _LOGIC),
    CudaError(
        46, "DevicesUnavailable", "DEVICE_UNAVAILABLE", "cuda-capable device(s) is/are busy or unavailable", _ENV
    ),
    CudaError(49, "IncompatibleDriverContext", "", "incompatible driver context", _ENV),
    CudaError(52, "MissingConfiguration", "", "function call is not configured", _LOGIC),
    CudaError(53, "PriorLaunchFailure", "", "launch failure in prior launch", _IMA),
    CudaError(65, "LaunchMaxDepthExceeded", "", "exceed maximum depth of nested launches", _LOGIC),
    CudaError(68, "SyncDepthExceeded", "", "grid depth exceeds cudalimitdevruntimesyncdepth", _LOGIC),
    CudaError(69, "LaunchPendingCountExceeded", "", "exceed cudalimitdevruntimependinglaunchcount", _LOGIC),
    CudaError(98, "InvalidDeviceFunction", "", "invalid device function", _ENV),
    CudaError(100, "NoDevice", "NO_DEVICE", "no cuda-capable device is detected", _ENV),
    CudaError(101, "InvalidDevice", "INVALID_DEVICE", "invalid device ordinal", _ENV),
    CudaError(102, "DeviceNotLicensed", "DEVICE_NOT_LICENSED", "device doesn't have valid grid license", _ENV),
    CudaError(103, "SoftwareValidityNotEstablished", "", "", _ENV),
    CudaError(127, "StartupFailure", "", "startup failure in cuda runtime", _ENV),
    CudaError(200, "InvalidKernelImage", "INVALID_IMAGE", "device kernel image is invalid", _ENV),
    CudaError(201, "DeviceUninitialized", "INVALID_CONTEXT", "invalid device context", _LOGIC),
    CudaError(205, "MapBufferObjectFailed", "MAP_FAILED", "mapping of buffer object failed", _LOGIC),
    CudaError(209, "NoKernelImageForDevice", "NO_BINARY_FOR_GPU", "no kernel image is available", _ENV),
    CudaError(214, "ECCUncorrectable", "ECC_UNCORRECTABLE", "uncorrectable ecc error", _ENV),
    CudaError(215, "UnsupportedLimit", "UNSUPPORTED_LIMIT", "limit is not supported on this architecture", _LOGIC),
    CudaError(216, "DeviceAlreadyInUse", "CONTEXT_ALREADY_IN_USE", "exclusive-thread device already in use", _ENV),
    CudaError(217, "PeerAccessUnsupported", "PEER_ACCESS_UNSUPPORTED", "peer access is not supported between", _ENV),
    CudaError(218, "InvalidPtx", "INVALID_PTX", "a ptx jit compilation failed", _ENV),
    CudaError(219, "InvalidGraphicsContext", "INVALID_GRAPHICS_CONTEXT", "invalid opengl or directx context", _ENV),
    CudaError(220, "NvlinkUncorrectable", "NVLINK_UNCORRECTABLE", "uncorrectable nvlink error", _ENV),
    CudaError(221, "JitCompilerNotFound", "JIT_COMPILER_NOT_FOUND", "ptx jit compiler library not found", _ENV),
    CudaError(222, "UnsupportedPtxVersion", "UNSUPPORTED_PTX_VERSION", "compiled with an unsupported toolchain", _ENV),
    CudaError(223, "JitCompilationDisabled", "JIT_COMPILATION_DISABLED", "ptx jit compilation was disabled", _ENV),
    CudaError(224, "UnsupportedExecAffinity", "UNSUPPORTED_EXEC_AFFINITY", "execution affinity is not supported", _ENV),
    CudaError(
        225, "UnsupportedDevSideSync", "UNSUPPORTED_DEVSIDE_SYNC", "unsupported call to cudadevicesynchronize", _LOGIC
    ),
    CudaError(226, "Contained", "CONTAINED", "invalid access of peer gpu memory", _ENV),
    CudaError(300, "InvalidSource", "INVALID_SOURCE", "", _LOGIC),
    CudaError(301, "FileNotFound", "FILE_NOT_FOUND", "file not found", _ENV, True),
    CudaError(
        302, "SharedObjectSymbolNotFound", "SHARED_OBJECT_SYMBOL_NOT_FOUND", "shared object symbol not found", _ENV
    ),
    CudaError(303, "SharedObjectInitFailed", "SHARED_OBJECT_INIT_FAILED", "shared object initialization failed", _ENV),
    CudaError(304, "OperatingSystem", "OPERATING_SYSTEM", "os call failed or operation not supported on this os", _ENV),
    CudaError(400, "InvalidResourceHandle", "INVALID_HANDLE", "invalid resource handle", _LOGIC),
    CudaError(401, "IllegalState", "ILLEGAL_STATE", "operation cannot be performed in the present state", _LOGIC),
    # A program asks a module for a kernel or variable by a name that the candidate does not provide: a broken contract.
    CudaError(500, "SymbolNotFound", "NOT_FOUND", "named symbol not found", _INTEG),
    CudaError(700, "IllegalAddress", "ILLEGAL_ADDRESS", "illegal memory access", _IMA),
    CudaError(
        701, "LaunchOutOfResources", "LAUNCH_OUT_OF_RESOURCES", "too many resources requested for launch", _LOGIC
    ),
    CudaError(702, "LaunchTimeout", "LAUNCH_TIMEOUT", "launch timed out and was terminated", _TIME),
    CudaError(
        703, "LaunchIncompatibleTexturing", "LAUNCH_INCOMPATIBLE_TEXTURING", "incompatible texturing mode", _LOGIC
    ),
    CudaError(704, "PeerAccessAlreadyEnabled", "PEER_ACCESS_ALREADY_ENABLED", "peer access is already enabled", _LOGIC),
    CudaError(705, "PeerAccessNotEnabled", "PEER_ACCESS_NOT_ENABLED", "peer access has not been enabled", _LOGIC),
    CudaError(708, "SetOnActiveProcess", "PRIMARY_CONTEXT_ACTIVE", "cannot set while device is active", _LOGIC),
    CudaError(709, "ContextIsDestroyed", "CONTEXT_IS_DESTROYED", "context is destroyed", _LOGIC),
    CudaError(710, "Assert", "ASSERT", "device-side assert triggered", _LOGIC),
    CudaError(711, "TooManyPeers", "TOO_MANY_PEERS", "peer mapping resources exhausted", _LOGIC),
    CudaError(
        712,
        "HostMemoryAlreadyRegistered",
        "HOST_MEMORY_ALREADY_REGISTERED",
        "requested memory range is already mapped",
        _LOGIC,
    ),
    CudaError(
        713, "HostMemoryNotRegistered", "HOST_MEMORY_NOT_REGISTERED", "correspond to a registered memory region", _LOGIC
    ),
    CudaError(714, "HardwareStackError", "HARDWARE_STACK_ERROR", "hardware stack error", _IMA),
    CudaError(715, "IllegalInstruction", "ILLEGAL_INSTRUCTION", "an illegal instruction was encountered", _IMA),
    CudaError(716, "MisalignedAddress", "MISALIGNED_ADDRESS", "misaligned address", _IMA),
    CudaError(
        717, "InvalidAddressSpace", "INVALID_ADDRESS_SPACE", "not supported on global/shared address space", _IMA
    ),
    CudaError(718, "InvalidPc", "INVALID_PC", "invalid program counter", _IMA),
    CudaError(719, "LaunchFailure", "LAUNCH_FAILED", "unspecified launch failure", _IMA),
    CudaError(
        720,
        "CooperativeLaunchTooLarge",
        "COOPERATIVE_LAUNCH_TOO_LARGE",
        "too many blocks in cooperative launch",
        _LOGIC,
    ),
    CudaError(721, "TensorMemoryLeak", "TENSOR_MEMORY_LEAK", "tensor memory not completely freed", _LOGIC),
    CudaError(800, "NotPermitted", "NOT_PERMITTED", "operation not permitted", _LOGIC, True),
    CudaError(801, "NotSupported", "NOT_SUPPORTED", "operation not supported", _ENV, True),
    CudaError(802, "SystemNotReady", "SYSTEM_NOT_READY", "system not yet initialized", _ENV),
    CudaError(
        803,
        "SystemDriverMismatch",
        "SYSTEM_DRIVER_MISMATCH",
        "unsupported display driver / cuda driver combination",
        _ENV,
    ),
    CudaError(
        804, "CompatNotSupportedOnDevice", "COMPAT_NOT_SUPPORTED_ON_DEVICE", "forward compatibility was attempted", _ENV
    ),
    CudaError(805, "MpsConnectionFailed", "MPS_CONNECTION_FAILED", "mps client failed to connect", _ENV),
    CudaError(806, "MpsRpcFailure", "MPS_RPC_FAILURE", "between the mps server and the mps client failed", _ENV),
    CudaError(807, "MpsServerNotReady", "MPS_SERVER_NOT_READY", "mps server is not ready", _ENV),
    CudaError(
        808,
        "MpsMaxClientsReached",
        "MPS_MAX_CLIENTS_REACHED",
        "required to create mps client have been exhausted",
        _ENV,
    ),
    CudaError(
        809,
        "MpsMaxConnectionsReached",
        "MPS_MAX_CONNECTIONS_REACHED",
        "support device connections have been exhausted",
        _ENV,
    ),
    CudaError(810, "MpsClientTerminated", "MPS_CLIENT_TERMINATED", "mps client has been terminated", _ENV),
    CudaError(811, "CdpNotSupported", "CDP_NOT_SUPPORTED", "is using cuda dynamic parallelism, but", _ENV),
    CudaError(812, "CdpVersionMismatch", "CDP_VERSION_MISMATCH", "between different versions of cuda dynamic", _ENV),
    CudaError(
        900, "StreamCaptureUnsupported", "STREAM_CAPTURE_UNSUPPORTED", "not permitted when stream is capturing", _LOGIC
    ),
    CudaError(901, "StreamCaptureInvalidated", "STREAM_CAPTURE_INVALIDATED", "a previous error during capture", _LOGIC),
    CudaError(902, "StreamCaptureMerge", "STREAM_CAPTURE_MERGE", "merge of separate capture sequences", _LOGIC),
    CudaError(
        903, "StreamCaptureUnmatched", "STREAM_CAPTURE_UNMATCHED", "capture was not ended in the same stream", _LOGIC
    ),
    CudaError(904, "StreamCaptureUnjoined", "STREAM_CAPTURE_UNJOINED", "capturing stream has unjoined work", _LOGIC),
    CudaError(
        905, "StreamCaptureIsolation", "STREAM_CAPTURE_ISOLATION", "dependency created on uncaptured work", _LOGIC
    ),
    CudaError(906, "StreamCaptureImplicit", "STREAM_CAPTURE_IMPLICIT", "depend on a capturing blocking stream", _LOGIC),
    CudaError(907, "CapturedEvent", "CAPTURED_EVENT", "event last recorded in a capturing stream", _LOGIC),
    CudaError(908, "StreamCaptureWrongThread", "STREAM_CAPTURE_WRONG_THREAD", "thread-local capture sequence", _LOGIC),
    CudaError(909, "Timeout", "TIMEOUT", "wait operation timed out", _TIME),
    CudaError(910, "GraphExecUpdateFailure", "GRAPH_EXEC_UPDATE_FAILURE", "graph update was not performed", _LOGIC),
    CudaError(911, "ExternalDevice", "EXTERNAL_DEVICE", "external entity outside of cuda", _LOGIC),
    CudaError(912, "InvalidClusterSize", "INVALID_CLUSTER_SIZE", "cluster misconfiguration", _LOGIC),
    CudaError(913, "FunctionNotLoaded", "FUNCTION_NOT_LOADED", "function handle is not loaded", _LOGIC),
    CudaError(914, "InvalidResourceType", "INVALID_RESOURCE_TYPE", "not valid resource types", _LOGIC),
    CudaError(
        915, "InvalidResourceConfiguration", "INVALID_RESOURCE_CONFIGURATION", "insufficient or non-applicable", _LOGIC
    ),
    CudaError(999, "Unknown", "UNKNOWN", "unknown error", _LOGIC, True),
)
"""``runtime`` follows "cudaError", ``driver`` follows "CUDA_ERROR_"; texts are lower-case and may be a part of the full one."""

OLD_CODES: Final[dict[int, int]] = {
    30: 999,
    38: 100,
    48: 209,
    59: 710,
    71: 801,
    74: 716,
    75: 717,
    76: 718,
    77: 700,
    78: 218,
}
"""Runtime numbers before CUDA 10.1 that name nothing today, and the codes that took their meaning."""


def with_category(category: Category) -> Iterator[CudaError]:
    return (error for error in CUDA_ERRORS if error.category == category)


@cache
def _by_token() -> dict[str, CudaError]:
    found: dict[str, CudaError] = {}
    for error in CUDA_ERRORS:
        for token in (
            f"cudaError{error.runtime}",
            error.driver and f"CUDA_ERROR_{error.driver}",
            error.text,
            str(error.code),
        ):
            if token:
                found.setdefault(token.lower(), error)
    for old, new in OLD_CODES.items():
        found[str(old)] = found[str(new)]
    return found


def canonical(token: str) -> str:
    """One spelling for one error: 700, "illegal memory access" and CUDA_ERROR_ILLEGAL_ADDRESS give the same string.

    A token that is in no table (a newer toolkit's name) comes back as it is.
    """
    error = _by_token().get(re.sub(r"\s+", " ", token.strip()).lower())
    return f"cudaError{error.runtime} ({error.code})" if error else token
