"""Names that belong to an installation, not to a candidate: headers, libraries and symbols of the CUDA toolkit and its kin.

When one of these is missing, the machine lacks something; when any other header is missing, the candidate asked for a file
that does not exist (protocol, point 9). Sources: the component list of the CUDA Toolkit release notes, the include folders of
the toolkit's packages, and the usual names of CUTLASS, CCCL, cuDNN, NCCL and PyTorch's C++ API.
"""

from __future__ import annotations

import re
from typing import Final

_TOOLKIT_HEADERS: Final = """
    cuda.h cuda_runtime.h cuda_runtime_api.h cudart_platform.h driver_types.h driver_functions.h vector_types.h
    vector_functions.h device_launch_parameters.h device_functions.h device_types.h host_config.h host_defines.h
    builtin_types.h channel_descriptor.h texture_types.h texture_fetch_functions.h texture_indirect_functions.h
    surface_types.h surface_functions.h surface_indirect_functions.h math_functions.h math_constants.h common_functions.h
    library_types.h cuComplex.h cuda_fp16.h cuda_fp16.hpp cuda_bf16.h cuda_bf16.hpp cuda_fp8.h cuda_fp8.hpp cuda_fp6.h
    cuda_fp6.hpp cuda_fp4.h cuda_fp4.hpp cuda_pipeline.h cuda_pipeline_primitives.h cuda_pipeline_helpers.h
    cuda_awbarrier.h cuda_awbarrier_primitives.h cuda_awbarrier_helpers.h cuda_occupancy.h cuda_profiler_api.h
    cudaProfiler.h cuda_device_runtime_api.h cuda_gl_interop.h cuda_egl_interop.h cuda_vdpau_interop.h cudaGL.h cudaEGL.h
    cudaVDPAU.h cudaTypedefs.h cuda_texture_types.h cuda_surface_types.h cooperative_groups.h mma.h sm_20_atomic_functions.h
    sm_20_intrinsics.h sm_30_intrinsics.h sm_32_atomic_functions.h sm_32_intrinsics.h sm_35_intrinsics.h
    sm_60_atomic_functions.h sm_61_intrinsics.h device_atomic_functions.h device_double_functions.h fatbinary_section.h
    nvrtc.h nvJitLink.h nvPTXCompiler.h nvvm.h nvml.h nvFatbin.h cupti.h cupti_profiler_target.h cupti_target.h
    generated_nvtx_meta.h nvToolsExt.h nvToolsExtCuda.h nvToolsExtCudaRt.h nvToolsExtSync.h nvtx3.hpp
    cublas.h cublas_v2.h cublas_api.h cublasLt.h cublasXt.h cublasmp.h nvblas.h cublasdx.hpp
    cufft.h cufftw.h cufftXt.h cufftMp.h cufftdx.hpp curand.h curand_kernel.h curand_mtgp32.h curand_mtgp32_kernel.h
    curand_mtgp32_host.h curand_mtgp32dc_p_11213.h curand_philox4x32_x.h curand_uniform.h curand_normal.h curand_globals.h
    curand_discrete.h curand_poisson.h curand_lognormal.h curand_precalc.h
    cusolverDn.h cusolverSp.h cusolverRf.h cusolverMg.h cusolverMp.h cusolver_common.h
    cusolverSp_LOWLEVEL_PREVIEW.h cusparse.h cusparse_v2.h cusparseLt.h cutensor.h cutensorMg.h cutensornet.h custatevec.h
    cudss.h amgx_c.h cufile.h npp.h nppcore.h nppdefs.h nppi.h npps.h nvjpeg.h nvjpeg2k.h nvgraph.h nvshmem.h nvshmemx.h
    cudnn.h cudnn_version.h cudnn_ops.h cudnn_cnn.h cudnn_graph.h cudnn_ops_infer.h cudnn_cnn_infer.h cudnn_frontend.h
    nccl.h nccl_device.h NvInfer.h NvInferRuntime.h NvOnnxParser.h optix.h optix_stubs.h
    kittens.cuh Python.h mpi.h omp.h cblas.h lapacke.h mkl.h fftw3.h
    """
TOOLKIT_HEADERS: Final[frozenset[str]] = frozenset(_TOOLKIT_HEADERS.split())
"""Base names; a path before them does not matter ("nvtx3/nvToolsExt.h"). Compared with exact case."""

_FOLDERS: Final = """
    thrust/ cub/ cuda/ nv/ nvtx3/ cooperative_groups/ crt/ libcudacxx/ cccl/ cutlass/ cute/ cudnn_frontend/ torch/ ATen/ c10/
    pybind11/ nvshmem/ npp/ rmm/ raft/ mathdx/ kittens/ rapids/
    """
TOOLKIT_HEADER_FOLDERS: Final[tuple[str, ...]] = tuple(_FOLDERS.split())
"""Headers asked for by a path that starts so come with a toolkit or a library, whatever their base name."""

_STANDARD_HEADERS: Final = """
    algorithm any array atomic barrier bit bitset cassert cctype cerrno cfenv cfloat charconv chrono cinttypes climits
    clocale cmath codecvt compare complex concepts condition_variable coroutine csetjmp csignal cstdarg cstddef cstdint
    cstdio cstdlib cstring ctime cuchar cwchar cwctype deque exception execution expected filesystem format forward_list
    fstream functional future generator initializer_list iomanip ios iosfwd iostream istream iterator latch limits list
    locale map mdspan memory memory_resource mutex new numbers numeric optional ostream print queue random ranges ratio
    regex scoped_allocator semaphore set shared_mutex source_location span spanstream sstream stack stacktrace stdexcept
    stdfloat stop_token streambuf string string_view strstream syncstream system_error thread tuple type_traits typeindex
    typeinfo unordered_map unordered_set utility valarray variant vector version
    assert.h complex.h ctype.h errno.h fenv.h float.h inttypes.h limits.h locale.h malloc.h math.h setjmp.h signal.h
    stdalign.h stdarg.h stdatomic.h stdbool.h stddef.h stdint.h stdio.h stdlib.h string.h strings.h tgmath.h threads.h
    time.h unistd.h wchar.h wctype.h dlfcn.h fcntl.h pthread.h sched.h semaphore.h dirent.h getopt.h immintrin.h
    sys/mman.h sys/stat.h sys/time.h sys/types.h sys/wait.h sys/resource.h sys/ioctl.h
    bits/stdc++.h features.h gnu/stubs-32.h crtdefs.h
    """
STANDARD_HEADERS: Final[frozenset[str]] = frozenset(_STANDARD_HEADERS.split())
"""The host compiler's own: missing means that the compiler is too old or half installed."""

TOOLKIT_LIBRARY: Final = re.compile(
    r"^(?:cuda\w*|cu(?:blas\w*|fft\w*|rand\w*|solver\w*|sparse\w*|dnn\w*|tensor\w*|pti|file\w*|dss|statevec)|nccl\w*|npp\w+|nv\w+"
    r"|culibos|curand_static|OpenCL|optix|torch\w*|c10\w*|ATen\w*|python[\d.]*|cutlass\w*|gomp|stdc\+\+\w*|pthread|dl|rt|m|gcc\w*|c)$"
)
"""What may follow -l for a library of the toolkit, of PyTorch or of the host compiler."""

TOOLKIT_SYMBOL: Final = re.compile(
    r"^(?:(?:cublas|cublasLt|cufft|curand|cusolver|cusparse|cudnn|cutensor|nccl|nvjpeg|nvrtc|nvJitLink|nvml|nvtx|nvshmem)[A-Z]\w*"
    r"|npp[a-z]\w*_\w+|cuda[A-Z]\w*|cu[A-Z]\w*|__cuda[A-Z_]\w*|__nv\w*|__fatbin\w*)$"
)
"""C symbols of the toolkit's libraries. A name with an argument list is C++, and so the candidate's own."""


def is_toolkit_header(path: str) -> bool:
    """Whether an include path names a header of the toolkit, of a library built on it, or of the host compiler."""
    path = path.replace("\\", "/").removeprefix("./")
    base = path.rsplit("/", 1)[-1]
    if path in STANDARD_HEADERS or base in TOOLKIT_HEADERS:
        return True
    return path.startswith(TOOLKIT_HEADER_FOLDERS)


def is_toolkit_symbol(symbol: str) -> bool:
    """Whether a linker's symbol is the toolkit's: cublasSgemm_v2, cuLaunchKernel, __cudaRegisterFunction."""
    return TOOLKIT_SYMBOL.match(symbol) is not None


def is_toolkit_library(name: str) -> bool:
    """Whether -l<name> asks for a library that an installation brings along, not one of a candidate's own invention."""
    return TOOLKIT_LIBRARY.match(name.removeprefix(":").removeprefix("lib")) is not None
