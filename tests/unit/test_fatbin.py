"""The reader of device code on files that are put together here, byte by byte: damage, and rules that nvcc has no option for."""

from __future__ import annotations

import hashlib
import os
import random
import struct
from pathlib import Path

import pytest

from engine.devices.cpu.elf import Elf, ElfError
from engine.devices.cpu.fatbin import MAX_SECTION, PLAIN, RELOCATABLE, FatbinError, images, is_cuda_program, needed

SHT_PROGBITS, SHT_SYMTAB, SHT_STRTAB, SHT_DYNAMIC = 1, 2, 3, 6


def elf(sections: dict[str, tuple[int, int, bytes]]) -> bytes:
    """An ELF file of sections: name to (kind, index of the linked section, bytes). The first section has index 1."""
    names = b"\0" + b"".join(name.encode() + b"\0" for name in [*sections, ".shstrtab"])
    rows = {**sections, ".shstrtab": (SHT_STRTAB, 0, names)}
    body, headers, at = b"", bytes(64), 64
    for name, (kind, link, data) in rows.items():
        place = names.index(b"\0" + name.encode() + b"\0") + 1
        headers += struct.pack("<IIQQQQIIQQ", place, kind, 0, 0, at, len(data), link, 0, 1, 0)
        body += data
        at += len(data)
    head = b"\x7fELF" + bytes([2, 1, 1]) + bytes(9)
    head += struct.pack("<HHIQQQIHHHHHH", 2, 62, 1, 0, 0, at, 0, 64, 0, 0, 64, len(rows) + 1, len(rows))
    return head + body + headers


def cubin(**registers: int) -> bytes:
    """What ptxas makes of kernels, as far as register counts go."""
    names = b"\0" + b"".join(name.encode() + b"\0" for name in registers)
    symbols, attributes = bytes(24), b""
    for index, (name, count) in enumerate(registers.items(), 1):
        is_kernel = 0x10 if not name.startswith("device_") else 0
        symbols += struct.pack("<IBBHQQ", names.index(name.encode() + b"\0"), 0x12, is_kernel, 1, 0, 0)
        attributes += struct.pack("<BBH", 3, 0x50, 0) + struct.pack("<BBHII", 4, 0x2F, 8, index, count)
    return elf(
        {
            ".symtab": (SHT_SYMTAB, 2, symbols),
            ".strtab": (SHT_STRTAB, 0, names),
            ".nv.info": (0x70000000, 1, attributes),
        }
    )


def entry(kind: int, sm: int, payload: bytes, flags: int = 0x11) -> bytes:
    payload += bytes(-len(payload) % 8)
    return (
        struct.pack("<HHIQIIIIIIQ", kind, 0x101, 64, len(payload), 0, 0, 0x90000, sm, 0, 0, flags) + bytes(16) + payload
    )


def ptx(sm: str, flags: int = 0x11) -> bytes:
    text = f"\n.version 9.0\n.target sm_{sm}\n.address_size 64\n"
    return entry(1, int(sm.rstrip("af")), text.encode(), flags)


def fat_binary(*entries: bytes) -> bytes:
    body = b"".join(entries)
    return struct.pack("<IHHQ", 0xBA55ED50, 1, 16, len(body)) + body


def write(folder: Path, data: bytes) -> Path:
    path = folder / "program"
    path.write_bytes(data)
    return path


def program(folder: Path, plain: bytes, relocatable: bytes | None = None) -> Path:
    sections = {".text": (SHT_PROGBITS, 0, b"\xc3"), PLAIN: (SHT_PROGBITS, 0, plain)}
    if relocatable is not None:
        sections[RELOCATABLE] = (SHT_PROGBITS, 0, relocatable)
    return write(folder, elf(sections))


def sha(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def test_the_key_of_a_plain_unit_is_the_digest_of_its_fat_binary(tmp_path: Path):
    first, second = fat_binary(ptx("90")), fat_binary(ptx("80"), entry(2, 90, cubin(kernel=12)))
    units = images(program(tmp_path, first + second))
    assert [unit.key for unit in units] == [sha(first), sha(second)]
    assert [unit.registers for unit in units] == [{}, {"kernel": 12}]


def test_the_key_of_a_linked_unit_is_the_digest_of_the_sorted_digests(tmp_path: Path):
    parts = [fat_binary(ptx("90"), entry(2, 90, cubin(**{name: 20}))) for name in ("a", "b", "c")]
    linked = fat_binary(entry(2, 90, cubin(a=30, b=31, c=32, device_helper=9)))
    (unit,) = images(program(tmp_path, linked, b"".join(parts)))
    assert unit.key == sha("\n".join(sorted(sha(part) for part in parts)).encode())
    assert unit.relocatable
    assert unit.registers == {"a": 30, "b": 31, "c": 32}, "the linker's counts, of kernels only"
    assert len(unit.ptx) == 3


def test_a_fat_binary_without_ptx_and_kernels_is_no_unit(tmp_path: Path):
    assert images(program(tmp_path, fat_binary(entry(2, 90, cubin())))) == []


def test_zeros_between_fat_binaries_are_the_linkers_alignment(tmp_path: Path):
    one = fat_binary(ptx("90"))
    assert len(images(program(tmp_path, one + bytes(12) + one + bytes(8)))) == 2


@pytest.mark.parametrize(
    ("built", "taken"), [(["90", "80"], "90"), (["90", "90a", "75"], "90a"), (["120", "90"], "90")]
)
def test_the_best_ptx_for_the_device_is_taken(tmp_path: Path, built: list[str], taken: str):
    (unit,) = images(program(tmp_path, fat_binary(*[ptx(sm) for sm in built])))
    ((arch, text),) = unit.ptx
    assert arch == taken
    assert f"sm_{taken}\n" in text


def test_the_zeros_behind_a_text_are_not_part_of_it(tmp_path: Path):
    (unit,) = images(program(tmp_path, fat_binary(ptx("90"))))
    assert "\0" not in unit.ptx[0][1]


@pytest.mark.parametrize("flags", [0x8011, 0x2011], ids=["zstd", "LZ4"])
def test_compressed_ptx_is_a_problem_that_names_the_option(tmp_path: Path, flags: int):
    (unit,) = images(program(tmp_path, fat_binary(ptx("90", flags))))
    assert "--no-compress" in unit.problem
    assert unit.ptx == []


def test_one_part_with_a_problem_spoils_what_was_linked_with_it(tmp_path: Path):
    parts = fat_binary(ptx("90")) + fat_binary(ptx("100"))
    (unit,) = images(program(tmp_path, b"", parts))
    assert "compute_100" in unit.problem
    assert unit.ptx == []


def test_the_device_runtime_library_is_passed_over(tmp_path: Path):
    library = fat_binary(entry(2, 80, b"zstd", 0x8011), entry(2, 90, b"zstd", 0x8011), ptx("121", 0x8011))
    (unit,) = images(program(tmp_path, b"", fat_binary(ptx("90")) + library))
    assert not unit.problem
    assert [arch for arch, _ in unit.ptx] == ["90"]


def test_needed_libraries_are_listed_in_order(tmp_path: Path):
    names = b"\0libcudart.so.13\0libc.so.6\0"
    dynamic = b"".join(struct.pack("<qQ", tag, value) for tag, value in [(1, 1), (5, 77), (1, 17), (0, 0), (1, 1)])
    path = write(tmp_path, elf({".dynamic": (SHT_DYNAMIC, 2, dynamic), ".dynstr": (SHT_STRTAB, 0, names)}))
    assert needed(path) == ["libcudart.so.13", "libc.so.6"]
    assert not is_cuda_program(path)


@pytest.mark.parametrize(
    "data", [b"", b"#!/bin/sh\n", b"\x7fELF", b"\x7fELF\x01\x01" + bytes(100)], ids=["empty", "script", "cut", "32 bit"]
)
def test_other_files_are_no_cuda_programs(tmp_path: Path, data: bytes):
    path = write(tmp_path, data)
    assert not is_cuda_program(path)
    with pytest.raises(FatbinError):
        images(path)


def test_what_is_no_file_is_refused_without_waiting(tmp_path: Path):
    os.mkfifo(tmp_path / "fifo")
    for path in (tmp_path / "fifo", tmp_path, tmp_path / "absent", Path("/dev/zero")):
        assert not is_cuda_program(path)
        with pytest.raises(FatbinError):
            needed(path)


def test_a_section_that_would_fill_the_memory_is_refused(tmp_path: Path):
    data = bytearray(elf({PLAIN: (SHT_PROGBITS, 0, fat_binary(ptx("90")))}))
    (table,) = struct.unpack_from("<Q", data, 40)
    struct.pack_into("<Q", data, table + 64 + 32, MAX_SECTION + 1)
    path = write(tmp_path, bytes(data))
    with pytest.raises(FatbinError, match=str(MAX_SECTION)):
        images(path)


def test_damage_is_an_error_or_goes_unnoticed_but_never_crashes(tmp_path: Path):
    whole = program(
        tmp_path,
        fat_binary(ptx("90"), entry(2, 90, cubin(kernel=12))) + fat_binary(entry(2, 90, cubin(linked=8))),
        fat_binary(ptx("90"), entry(2, 90, cubin(linked=8))),
    ).read_bytes()
    dice = random.Random(1)
    refused = 0
    for _ in range(1000):
        data = bytearray(whole)
        for _ in range(dice.choice([1, 1, 2, 8])):
            data[dice.randrange(len(data))] = dice.choice([0, 1, 0x7F, 0x80, 0xFF, dice.randrange(256)])
        path = write(tmp_path, bytes(data[: dice.choice([len(data)] * 3 + [dice.randrange(len(data))])]))
        try:
            images(path)
        except FatbinError:
            refused += 1
    assert 100 < refused < 1000


def test_an_elf_file_is_not_read_beyond_its_limit():
    data = elf({".text": (SHT_PROGBITS, 0, bytes(1000))})
    reader = Elf(lambda offset, size: data[offset : offset + size], 999)
    section = reader.section(".text")
    assert section is not None
    with pytest.raises(ElfError, match="999"):
        reader.data(section)
