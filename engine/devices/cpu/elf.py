"""A reader of ELF files' sections, for executables, shared objects and cubins: 64 bit, little endian.

Whatever the bytes are, nothing is read beyond what was asked for, and the only exception is ElfError.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass

Read = Callable[[int, int], bytes]
"""(offset, size) to the bytes there; fewer where the file ends."""

_HEADER = struct.Struct("<4sBB42xHHH")
_HEADER_SIZE = 64
_SECTION = struct.Struct("<IIQQQQIIQQ")
_SYMBOL = struct.Struct("<IBBHQQ")
_DYNAMIC = struct.Struct("<qQ")

_SHT_SYMTAB, _SHT_DYNAMIC, _SHT_NOBITS = 2, 6, 8
_DT_NULL, _DT_NEEDED = 0, 1

_MAX_NAME = 1 << 16
"""Mangled names of thrust's kernels reach 10 KiB."""


class ElfError(ValueError):
    """The bytes are no ELF file of this kind, or contradict themselves."""


@dataclass(frozen=True, slots=True)
class Section:
    name: str
    kind: int
    offset: int
    size: int
    link: int
    """The index of a further section, for a symbol table the one of its names."""


@dataclass(frozen=True, slots=True)
class Symbol:
    name: str
    other: int
    """st_other: in a cubin it marks the kernels."""


class Elf:
    """The sections of one file. ``limit`` bounds the bytes of a section that are held in memory at once."""

    def __init__(self, read: Read, limit: int) -> None:
        self._read = read
        self._limit = limit
        self.sections = tuple(self._sections())

    @classmethod
    def of_bytes(cls, data: bytes) -> Elf:
        return cls(lambda offset, size: data[offset : offset + size], len(data))

    def _sections(self) -> Iterator[Section]:
        header = self._exactly(0, _HEADER_SIZE)
        magic, bits, order, entry_size, count, names_index = _HEADER.unpack_from(header[:6] + header[16:])
        if magic != b"\x7fELF" or (bits, order) != (2, 1):
            raise ElfError("not a 64-bit little-endian ELF file")
        (table,) = struct.unpack_from("<Q", header, 40)
        if not count:
            return
        if entry_size != _SECTION.size or names_index >= count:
            raise ElfError("the section headers are damaged")
        rows = list(_SECTION.iter_unpack(self._exactly(table, count * _SECTION.size)))
        names = self._exactly(*rows[names_index][4:6])
        for row in rows:
            yield Section(_string(names, row[0]), row[1], row[4], row[5], row[6])

    def section(self, name: str) -> Section | None:
        """The first section of that name."""
        return next((section for section in self.sections if section.name == name), None)

    def data(self, section: Section) -> bytes:
        return b"" if section.kind == _SHT_NOBITS else self._exactly(section.offset, section.size)

    def symbols(self) -> list[Symbol]:
        """The symbol table, in its order: other sections refer to symbols by their index."""
        table = next((section for section in self.sections if section.kind == _SHT_SYMTAB), None)
        if table is None:
            return []
        names = self._linked(table)
        data = self.data(table)
        rows = _SYMBOL.iter_unpack(data[: len(data) // _SYMBOL.size * _SYMBOL.size])
        return [Symbol(_string(names, name), other) for name, _, other, _, _, _ in rows]

    def needed(self) -> list[str]:
        """The shared libraries that the dynamic section asks for (DT_NEEDED), in order."""
        section = next((section for section in self.sections if section.kind == _SHT_DYNAMIC), None)
        if section is None:
            return []
        names = self._linked(section)
        data = self.data(section)
        found = []
        for tag, value in _DYNAMIC.iter_unpack(data[: len(data) // _DYNAMIC.size * _DYNAMIC.size]):
            if tag == _DT_NULL:
                break
            if tag == _DT_NEEDED:
                found.append(_string(names, value))
        return found

    def _linked(self, section: Section) -> bytes:
        if section.link >= len(self.sections):
            raise ElfError(f"section {section.name!r} refers to one that is not there")
        return self.data(self.sections[section.link])

    def _exactly(self, offset: int, size: int) -> bytes:
        if size > self._limit:
            raise ElfError(f"a part of {size} bytes is larger than the {self._limit} that are read")
        data = self._read(offset, size)
        if len(data) != size:
            raise ElfError("the file ends before the part that a header promises")
        return data


def _string(names: bytes, offset: int) -> str:
    end = names.find(b"\0", offset, offset + _MAX_NAME) if offset < len(names) else -1
    if end < 0:
        raise ElfError("a name lies outside its table")
    return names[offset:end].decode("utf-8", "replace")
