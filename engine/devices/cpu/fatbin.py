"""The device code inside an executable or a shared object that nvcc linked: PTX text and register counts.

nvcc puts one *fat binary* per translation unit into the section .nv_fatbin. With -rdc=true the translation units' fat
binaries lie in __nv_relfatbin instead, and .nv_fatbin holds the cubin that they were linked to. Nothing of this is documented;
what is said here was found out with nvcc 13.0 and agrees with fatbinary_section.h and crt/link.stub of the toolkit:

* A fat binary is a header (u32 magic, u16 version 1, u16 size of the header, u64 bytes that follow it) and entries.
* An entry is a header (u16 kind, u16, u32 size of the header, u64 size of the payload, ... u32 SM number at byte 28,
  ... u64 flags at byte 40) and a payload, which for kind 1 is PTX text with NULs at its end and for kind 2 a cubin.
* A program hands the runtime a wrapper {u32 magic 0x466243B1, u32 version, fat binary, list}. For version 1 the fat binary is
  one that was not built with -rdc. For version 2 it is the linked cubin, and ``list`` ends with NULL and points to the
  relocatable fat binaries that were linked, libcudadevrt's among them when it was needed.

The *key* of a unit names it on both sides, here and where the program registers it:

* version 1: the SHA-256, in lower-case hex digits, of the whole fat binary: header and the bytes that follow it;
* version 2: the SHA-256 of the text that is made of the keys of all fat binaries in the list, by the rule above, sorted and
  joined by newlines (none at the end).
"""

from __future__ import annotations

import hashlib
import os
import re
import stat
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from engine.devices.cpu.elf import Elf, ElfError

SM = 90
"""The architecture that the CPU device shows: what an H200 has."""

MAX_SECTION = 1 << 29
"""Bytes. Larger device code is refused: all of it is held in memory at once."""

PLAIN, RELOCATABLE = ".nv_fatbin", "__nv_relfatbin"

_FATBIN = struct.Struct("<IHHQ")
_FATBIN_MAGIC = 0xBA55ED50
_ENTRY = struct.Struct("<HHIQ12xI8xQ")
_PTX, _CUBIN = 1, 2
_COMPRESSED = 0xA000
"""Flags of a payload that is compressed: 0x8000 by zstd, 0x2000 by LZ4 (--compress-mode=speed)."""

_TARGET = re.compile(r"^\s*\.target\s+sm_(\d{1,4})([af]?)\b", re.MULTILINE)
_REGISTERS = struct.Struct("<BBHII")
_EIFMT_SIZED = 4
_EIATTR_REGCOUNT = 0x2F
_STO_CUDA_ENTRY = 0x10


class FatbinError(ValueError):
    """The file cannot be read as a program that nvcc linked."""


@dataclass(frozen=True, slots=True)
class Unit:
    """What is translated into one object of kernels: a fat binary, or all that -rdc linked into one program."""

    key: str
    relocatable: bool
    ptx: list[tuple[str, str]] = field(default_factory=list)
    """(architecture such as "90" or "90a", text) for each fat binary: the newest PTX that an sm_90 device runs."""
    registers: dict[str, int] = field(default_factory=dict)
    """Registers per thread of every kernel by its mangled name, as ptxas chose them for sm_90; without a cubin nothing."""
    problem: str = ""
    """Why the unit cannot be translated, as a sentence's end; ``ptx`` is empty then."""


@dataclass(frozen=True, slots=True)
class _Entry:
    kind: int
    sm: int
    compressed: bool
    payload: bytes


@dataclass(frozen=True, slots=True)
class _FatBinary:
    digest: str
    entries: list[_Entry]

    def of_kind(self, kind: int) -> list[_Entry]:
        return [entry for entry in self.entries if entry.kind == kind]

    def registers(self) -> dict[str, int]:
        found: dict[str, int] = {}
        for entry in self.of_kind(_CUBIN):
            if entry.sm == SM and not entry.compressed:
                found |= _register_counts(entry.payload)
        return found


def images(path: Path) -> list[Unit]:
    """The units of ``path``: plain ones in the file's order, then the one that -rdc linked. None for another file of ELF's kind.

    Raises FatbinError for a file that is damaged, unreadable or no ELF file.
    """
    with _opened(path) as elf:
        plain = list(_fat_binaries(elf, PLAIN))
        parts = list(_fat_binaries(elf, RELOCATABLE))
        kernels = {name for part in parts for name in part.registers()}
        units, linked = [], []
        for one in plain:
            registers = one.registers()
            if one.of_kind(_PTX):
                units.append(_plain_unit(one, registers))
            elif kernels & registers.keys():
                linked.append(registers)
            elif registers:
                units.append(_plain_unit(one, registers))
            # what is left holds nothing: the device linker leaves an empty cubin in every program
        if parts:
            units.append(_linked_unit(parts, linked))
        return units


def is_cuda_program(path: Path) -> bool:
    """Whether ``path`` is an ELF file with device code. Never raises."""
    try:
        with _opened(path) as elf:
            return elf.section(PLAIN) is not None or elf.section(RELOCATABLE) is not None
    except FatbinError:
        return False


def needed(path: Path) -> list[str]:
    """The shared libraries that ``path`` asks the loader for. Raises FatbinError like ``images``."""
    with _opened(path) as elf:
        return elf.needed()


@contextmanager
def _opened(path: Path) -> Iterator[Elf]:
    # a candidate may leave a FIFO or a device where a program is expected: opening one must not wait
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        raise FatbinError(f"{path}: {error.strerror}") from error
    try:
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            raise FatbinError(f"{path}: not a file")
        size = os.fstat(fd).st_size
        yield Elf(lambda offset, count: os.pread(fd, count, offset) if offset < size else b"", MAX_SECTION)
    except ElfError as error:
        raise FatbinError(f"{path}: {error}") from error
    except OSError as error:
        raise FatbinError(f"{path}: {error.strerror}") from error
    finally:
        os.close(fd)


def _fat_binaries(elf: Elf, name: str) -> Iterator[_FatBinary]:
    section = elf.section(name)
    data = b"" if section is None else elf.data(section)
    at = 0
    while at + _FATBIN.size <= len(data):
        magic, version, header, size = _FATBIN.unpack_from(data, at)
        if magic == 0:
            at += 4  # the linker fills with zeros up to the next one's alignment
            continue
        end = at + header + size
        if magic != _FATBIN_MAGIC or version != 1 or header < _FATBIN.size or end > len(data):
            raise FatbinError(f"{name} is damaged: no fat binary at byte {at}")
        yield _FatBinary(hashlib.sha256(data[at:end]).hexdigest(), list(_entries(data, at + header, end)))
        at = end


def _entries(data: bytes, at: int, end: int) -> Iterator[_Entry]:
    while at + _ENTRY.size <= end:
        kind, _, header, size, sm, flags = _ENTRY.unpack_from(data, at)
        start = at + header
        if header < _ENTRY.size or start + size > end:
            raise FatbinError(f"a fat binary is damaged: its entry at byte {at} does not fit")
        yield _Entry(kind, sm, bool(flags & _COMPRESSED), data[start : start + size])
        at = start + size


def _plain_unit(one: _FatBinary, registers: dict[str, int]) -> Unit:
    ptx, problem = _best_ptx(one)
    return Unit(one.digest, False, [] if ptx is None else [ptx], registers, problem)


def _linked_unit(parts: list[_FatBinary], linked: list[dict[str, int]]) -> Unit:
    key = hashlib.sha256("\n".join(sorted(part.digest for part in parts)).encode()).hexdigest()
    found = [_best_ptx(part) for part in parts if not _is_device_runtime(part)]
    problem = next((problem for _, problem in found if problem), "")
    if len(linked) > 1:
        problem = f"holds {len(linked)} device programs that were linked apart (-dlink more than once)"
    return Unit(
        key,
        True,
        [ptx for ptx, _ in found if ptx is not None and not problem],
        # the linker raises a kernel's count to what the functions that it calls need
        linked[0] if len(linked) == 1 else {},
        problem,
    )


def _is_device_runtime(part: _FatBinary) -> bool:
    """libcudadevrt, which nvcc adds to links with -rdc: always compressed, with cubins for every GPU and PTX only for what
    comes after the newest. What a kernel calls of it is missing by name, where it is called."""
    ptx, cubins = part.of_kind(_PTX), part.of_kind(_CUBIN)
    return (
        all(entry.compressed for entry in part.entries)
        and any(entry.sm == SM for entry in cubins)
        and bool(ptx)
        and all(entry.sm > SM for entry in ptx)
    )


def _best_ptx(one: _FatBinary) -> tuple[tuple[str, str] | None, str]:
    """The (architecture, text) to translate, or the problem."""
    ptx = one.of_kind(_PTX)
    if not ptx:
        built = sorted({entry.sm for entry in one.entries})
        codes = ", ".join(f"sm_{sm}" for sm in built) or "nothing"
        return None, f"holds no PTX (built with code={codes} only)"
    old_enough = [entry for entry in ptx if entry.sm <= SM]
    if not old_enough:
        oldest = min(entry.sm for entry in ptx)
        return None, f"holds PTX for compute_{oldest} and newer only; this device runs compute_{SM} and older"
    if any(entry.compressed for entry in old_enough):
        return None, "holds compressed PTX: it must be built with nvcc --no-compress"
    candidates = []
    for entry in old_enough:
        text = entry.payload.rstrip(b"\0").decode("utf-8", "replace")
        match = _TARGET.search(text)
        if match is None:
            return None, "holds PTX without a .target"
        candidates.append((int(match[1]), match[2], text))
    sm, suffix, text = max(candidates)
    return (f"{sm}{suffix}", text), ""


def _register_counts(cubin: bytes) -> dict[str, int]:
    """Kernels and their registers per thread. ptxas writes them into .nv.info, as attributes (u8 format, u8 attribute, and
    for the sized format u16 size, u32 symbol, u32 value)."""
    try:
        elf = Elf.of_bytes(cubin)
        section = elf.section(".nv.info")
        if section is None:
            return {}
        symbols, data = elf.symbols(), elf.data(section)
    except ElfError as error:
        raise FatbinError(f"a cubin is damaged: {error}") from error
    found: dict[str, int] = {}
    at = 0
    while at + 4 <= len(data):
        shape, attribute, size = struct.unpack_from("<BBH", data, at)
        if attribute == _EIATTR_REGCOUNT and shape == _EIFMT_SIZED and at + _REGISTERS.size <= len(data):
            _, _, _, index, count = _REGISTERS.unpack_from(data, at)
            if index < len(symbols) and symbols[index].other & _STO_CUDA_ENTRY:
                found[symbols[index].name] = count
        at += 4 + (size if shape == _EIFMT_SIZED else 0)
    return found
