"""What a built program defines or asks for and must not: the functions that a clock, a driver's prints and the CUDA runtime consist of.

The candidate is linked into the driver's program, and a definition there comes before any library's. The reference's build of
the same task is the honest twin: what it has as well is the task's own.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from engine.devices.cpu.elf import Elf, ElfError

_CUDA = """
    cudaEventCreate cudaEventCreateWithFlags cudaEventRecord cudaEventRecordWithFlags cudaEventSynchronize cudaEventQuery
    cudaEventElapsedTime cudaEventElapsedTime_v2 cudaEventDestroy cudaDeviceSynchronize cudaThreadSynchronize
    cudaStreamSynchronize cudaStreamWaitEvent cudaStreamQuery cudaStreamCreate cudaStreamCreateWithFlags
    cudaStreamCreateWithPriority cudaStreamDestroy cudaLaunchKernel cudaLaunchKernelExC cudaLaunchCooperativeKernel
    cudaLaunchHostFunc cudaGraphLaunch cudaGetLastError cudaPeekAtLastError cudaGetErrorString cudaGetErrorName cudaMalloc
    cudaMallocAsync cudaMallocManaged cudaFree cudaFreeAsync cudaMemcpy cudaMemcpyAsync cudaMemset cudaMemsetAsync
    cudaGetDeviceProperties cudaDeviceReset cudaSetDevice __cudaRegisterFatBinary __cudaRegisterFunction
    __cudaPushCallConfiguration __cudaPopCallConfiguration cuEventRecord cuEventElapsedTime cuEventSynchronize
    cuCtxSynchronize cuStreamSynchronize cuLaunchKernel cuLaunchKernelEx cuGetProcAddress cuGetProcAddress_v2 cuInit
"""
CUDA = frozenset(_CUDA.split())
"""Per-thread forms (_ptsz, _ptds) count as these."""

_HOST = """
    clock clock_gettime clock_nanosleep gettimeofday time times ftime nanosleep usleep sleep
    read write pread pwrite readv writev open openat open64 close dup dup2 fopen fopen64 fclose fread fwrite fgets fgetc getc
    fputs puts putchar printf fprintf vprintf vfprintf dprintf snprintf vsnprintf __printf_chk __fprintf_chk fflush setvbuf
    fgets_unlocked sscanf fscanf __isoc99_sscanf __isoc23_sscanf getenv secure_getenv setenv putenv system
    strcmp strncmp memcmp memcpy memmove memset strlen strrchr strtod strtol exit _exit _Exit abort atexit __cxa_atexit
    __libc_start_main
    pthread_create pthread_join dlsym dlvsym dlopen dlmopen dlclose dladdr syscall malloc free calloc realloc
    _ZNSt6chrono3_V212steady_clock3nowEv _ZNSt6chrono3_V212system_clock3nowEv
"""
HOST = frozenset(_HOST.split())

_REACHING = """
    dlsym dlvsym dlmopen dlinfo dl_iterate_phdr syscall mprotect pkey_mprotect ptrace process_vm_writev process_vm_readv
    execve execv execvp execvpe execl execlp execle fexecve execveat posix_spawn posix_spawnp system popen fork vfork
    clone prctl personality memfd_create sigaction signal userfaultfd
"""
REACHING = frozenset(_REACHING.split())
"""Imports with which a program can change itself, or become another: no host code of a kernel has a use for them."""

_WORDS = re.compile(
    rb"/\*.*?\*/|//[^\n]*|\b(dlv?sym|dlmopen|syscall|(?:pkey_)?mprotect|ptrace|process_vm_writev|execve(?:at)?|fexecve|memfd_create)\b"
    rb"|(/proc/(?:self|thread-self|\d+)/mem)",
    re.DOTALL,
)
"""The same in a source, comments left out: in a program with a statically linked CUDA runtime these imports are everybody's."""

_PER_THREAD = re.compile(r"_pt[sd][sz]$")
_LARGEST = 512 << 20
_MOST_FILES = 64
_SYMTAB, _DYNSYM = 2, 11
_SYMBOL = struct.Struct("<IBBHQQ")
_GLOBAL = (1, 2, 10)
"""STB_GLOBAL, STB_WEAK, STB_GNU_UNIQUE: the bindings under which a name is found by others."""


@dataclass(frozen=True)
class Names:
    """Of the programs in a workspace: what they define for others and for themselves alone, and what they ask libraries for.

    The linker makes a name of a statically linked CUDA runtime global in one program and local in the next, as the code
    around it calls it or not.
    """

    defined: frozenset[str]
    imported: frozenset[str]
    local: frozenset[str] = frozenset()


def names_of(built: Path, files: Iterable[str]) -> Names:
    """The names of all ELF programs and libraries among ``files`` of ``built``. Damaged ones have none: they do not run either."""
    defined: set[str] = set()
    imported: set[str] = set()
    local: set[str] = set()
    for path in _programs(built, files):
        try:
            for name, is_global, is_defined in _symbols(path):
                (local if not is_global else defined if is_defined else imported).add(name)
        except (ElfError, OSError):
            continue
    return Names(frozenset(defined), frozenset(imported), frozenset(local))


def suspicions(candidate: Names, reference: Names) -> list[str]:
    """Why a candidate's times cannot be believed, in words; empty for an honest one. What the reference has is allowed."""
    # a runtime that is linked in whole is everybody's; a second definition of one of its names would not have been linked
    usual = {_plain(name) for name in reference.defined} | {_plain(name) for name in reference.local} & CUDA
    own = {_plain(name) for name in candidate.defined} & (CUDA | HOST) - usual
    asked = (candidate.imported - reference.imported) & REACHING
    found = []
    if own:
        found.append(f"the program defines {_listed(own)} itself")
    if asked:
        found.append(f"the program asks for {_listed(asked)}, with which it can change itself")
    return found


def said_in(code: bytes) -> list[str]:
    """What of it a source names outside its comments."""
    found = {(match[1] or match[2]).decode() for match in _WORDS.finditer(code) if match[1] or match[2]}
    return [f"the source names {_listed(found)}, with which a program can change itself"] if found else []


def definitions(candidate: Names) -> list[str]:
    """What a program defines that none does, where no reference's build shows what is usual: a statically linked CUDA runtime
    makes the rest part of every program."""
    own = {_plain(name) for name in candidate.defined} & HOST
    return [f"the program defines {_listed(own)} itself"] if own else []


def _listed(names: set[str] | frozenset[str]) -> str:
    return ", ".join(sorted(names)[:5])


def _plain(name: str) -> str:
    return _PER_THREAD.sub("", name)


def _programs(built: Path, files: Iterable[str]) -> Iterator[Path]:
    """Linked programs and libraries: an object file that lies beside them is part of none, or of one that is seen."""
    seen = 0
    for name in files:
        path = built / name
        try:
            with path.open("rb") as stream:
                head = stream.read(18)
        except OSError:
            continue
        if head[:4] == b"\x7fELF" and head[16:17] in (b"\x02", b"\x03") and seen < _MOST_FILES:
            seen += 1
            yield path


def _symbols(path: Path) -> Iterator[tuple[str, bool, bool]]:
    """Each with whether it is global, and whether it is defined."""
    with path.open("rb") as stream:

        def read(offset: int, size: int) -> bytes:
            stream.seek(offset)
            return stream.read(size)

        elf = Elf(read, _LARGEST)
        for section in elf.sections:
            if section.kind not in (_SYMTAB, _DYNSYM) or section.link >= len(elf.sections):
                continue
            names = elf.data(elf.sections[section.link])
            data = elf.data(section)
            for name, info, _, place, _, _ in _SYMBOL.iter_unpack(data[: len(data) // _SYMBOL.size * _SYMBOL.size]):
                if name:
                    text = names[name : names.find(b"\0", name)].decode("ascii", "replace")
                    yield text.partition("@")[0], info >> 4 in _GLOBAL, place != 0
