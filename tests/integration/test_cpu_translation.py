"""Between a build and a run: what a program's kernels become when their translation is stopped, cancelled or hopeless."""

from __future__ import annotations

import asyncio
import subprocess
from pathlib import Path
from uuid import uuid4

import psutil
import pytest

from engine.devices.cpu.device import CpuDevice
from engine.devices.cpu.kernels import programs, translate_program
from engine.devices.toolkit import Toolkit
from tests.support.until import until_async

KERNEL = 'extern "C" __global__ void k(int *p) {{ *p = {number}; }}\nint main() {{ k<<<1, 1>>>(nullptr); }}\n'

MALFORMED = r"""
// what nvcc puts into a program, by hand: a fat binary of one entry, PTX that is none
asm(R"(
    .section .nv_fatbin,"a"
    .align 8
    .long 0xba55ed50
    .short 1, 16
    .quad 2f - 1f
1:  .short 1, 0x101
    .long 64
    .quad 2f - 3f
    .quad 0
    .long 0, 90
    .quad 0, 0, 0, 0
3:  .asciz ".version 9.0\n.target sm_90\n.address_size 64\n.visible .entry k() { @%p9 ret; mul.f32 1; cvt.rn; }"
    .align 8
2:
    .text
)");
int main() {}
"""
"""A host program that carries device code which it never launches."""


@pytest.fixture
def built(toolkit: Toolkit, tmp_path: Path) -> Path:
    """A workspace with a program that no cache holds."""
    folder = tmp_path / "built"
    folder.mkdir()
    (folder / "main.cu").write_text(KERNEL.format(number=uuid4().int % 1_000_000_007))
    flags = ["-w", *CpuDevice.of_this_machine().build_flags("")]
    libraries = [f"-L{toolkit.link_folder}"] if toolkit.link_folder else []
    subprocess.run([str(toolkit.nvcc), *flags, "-c", "main.cu"], cwd=folder, check=True)
    subprocess.run(["g++", "-shared", "-o", "main", "main.o", *libraries], cwd=folder, check=True)
    (folder / "main.o").unlink()
    return folder


@pytest.fixture
def placed(tmp_path: Path) -> Path:
    (tmp_path / "device/kernels").mkdir(parents=True)
    return tmp_path / "device"


def said(placed: Path) -> list[str]:
    return [path.read_text() for path in sorted((placed / "kernels").glob("*.why"))]


def test_a_translation_that_takes_too_long_is_told_and_tried_again(built: Path, placed: Path):
    device = CpuDevice.of_this_machine()
    hurried = CpuDevice(name=device.name, sm=device.sm, memory=device.memory, translation_seconds=0.001)
    assert asyncio.run(hurried.prepare(built, placed)) == []
    assert said(placed) == ["holds kernels whose translation takes more than 0.001 s, or more memory than there is\n"]
    (told,) = (placed / "kernels").iterdir()
    told.unlink()
    assert asyncio.run(device.prepare(built, placed)) == []
    assert [path.suffix for path in (placed / "kernels").iterdir()] == [".so"]


async def test_a_translator_that_is_killed_has_not_ended(built: Path, tmp_path: Path):
    (program,) = programs(built)
    translating = asyncio.create_task(translate_program(program.path, tmp_path, 60.0))
    await until_async(lambda: processes(tmp_path), "the translator runs")
    processes(tmp_path)[0].kill()
    assert await translating is False


async def test_what_is_cancelled_leaves_no_compiler_and_no_folder(built: Path, tmp_path: Path):
    (program,) = programs(built)
    into = tmp_path / "kernels"
    into.mkdir()
    translating = asyncio.create_task(translate_program(program.path, into, 60.0))
    await until_async(lambda: any("kernels.c" in " ".join(one.cmdline()) for one in processes(into)), "gcc runs")
    translating.cancel()
    with pytest.raises(asyncio.CancelledError):
        await translating
    await until_async(lambda: not processes(into), "every process has ended")
    assert list(into.iterdir()) == []


def processes(folder: Path) -> list[psutil.Process]:
    """Those of ours whose command line names the folder."""
    children = psutil.Process().children(recursive=True)
    found = []
    for child in children:
        try:
            if str(folder) in " ".join(child.cmdline()):
                found.append(child)
        except psutil.NoSuchProcess:
            continue
    return found


def test_device_code_that_no_compiler_made_is_no_fault_of_this_machine(tmp_path: Path, placed: Path):
    built = tmp_path / "built"
    built.mkdir()
    (built / "main.cpp").write_text(MALFORMED)
    subprocess.run(["g++", "-o", "main", "main.cpp"], cwd=built, check=True)
    (program,) = programs(built)
    assert len(program.keys) == 1
    assert asyncio.run(CpuDevice.of_this_machine().prepare(built, placed)) == []
    assert len(list((placed / "kernels").iterdir())) == 1


def test_a_damaged_program_is_left_to_whoever_launches_its_kernels(built: Path, placed: Path):
    whole = (built / "main").read_bytes()
    (magic,) = [at for at in range(len(whole)) if whole.startswith(b"\x50\xed\x55\xba\x01\x00", at)][:1]
    (built / "main").write_bytes(whole[:magic] + b"\x01" + whole[magic + 1 :])
    assert asyncio.run(CpuDevice.of_this_machine().prepare(built, placed)) == []
    assert list((placed / "kernels").iterdir()) == []
