"""What a GPU reaches at most, measured on it by a program of ours (ceilings.cu): once for each GPU, driver and toolkit."""

from __future__ import annotations

import asyncio
import contextlib
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import msgspec

from engine.devices.cpu.cache import digest, user_cache
from engine.devices.toolkit import Toolkit

SOURCE = Path(__file__).with_name("ceilings.cu")
_SECONDS = 120.0


class Ceilings(msgspec.Struct, frozen=True):
    """Bytes per second, operations per second (a multiply-add is two), and the seconds of an empty kernel's launch.

    ``l2`` is what comes from L2, whose size is ``l2_bytes``; ``tensor`` is FP16 by mma.sync with FP32 sums, 0 where there are no
    tensor cores.
    """

    l2_bytes: int
    dram: float
    l2: float
    fp32: float
    tensor: float
    launch: float


class Unmeasured(Exception):
    """The ceilings cannot be measured here; the text says why."""


def _folder() -> Path:
    folder = user_cache() / "ceilings"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _names(uuid: str, driver: str, arch: str, toolkit: Toolkit) -> tuple[Path, Path]:
    """Where the program and its result lie."""
    program = digest([SOURCE.read_bytes(), toolkit.version, arch])
    result = digest([program, uuid, driver])
    return _folder() / f"program-{program}", _folder() / f"{result}.json"


def known(uuid: str, driver: str, arch: str, toolkit: Toolkit) -> Ceilings | None:
    """What was measured before, None when nothing was."""
    with contextlib.suppress(OSError, msgspec.DecodeError):
        return msgspec.json.decode(_names(uuid, driver, arch, toolkit)[1].read_bytes(), type=Ceilings)
    return None


async def build(uuid: str, driver: str, arch: str, toolkit: Toolkit) -> Path:
    """The program, compiled when it is not there yet. Needs no GPU. Raises Unmeasured."""
    program, _ = _names(uuid, driver, arch, toolkit)
    if not program.exists():
        with _whole(program) as name:
            await _run([str(toolkit.nvcc), "-O3", "-std=c++17", f"-arch={arch}", "-o", name, str(SOURCE)], {})
    return program


async def measure(uuid: str, driver: str, arch: str, toolkit: Toolkit) -> Ceilings:
    """Measured now, and kept. The caller holds the GPU. Raises Unmeasured."""
    program = await build(uuid, driver, arch, toolkit)
    said = await _run([str(program)], {"CUDA_VISIBLE_DEVICES": uuid})
    try:
        found = msgspec.json.decode(said, type=Ceilings)
    except msgspec.DecodeError as error:
        raise Unmeasured(f"ceilings: {error}") from error
    if min(found.dram, found.l2, found.fp32, found.launch, found.l2_bytes) <= 0:
        raise Unmeasured(f"ceilings: {found} is not what a GPU reaches")
    _keep(found, _names(uuid, driver, arch, toolkit)[1])
    return found


def _keep(found: Ceilings, result: Path) -> None:
    with _whole(result) as name:
        Path(name).write_bytes(msgspec.json.encode(found))


@contextlib.contextmanager
def _whole(target: Path) -> Iterator[str]:
    """A file to write; it takes ``target``'s place in one step when that went well."""
    descriptor, name = tempfile.mkstemp(dir=target.parent)
    os.close(descriptor)
    try:
        yield name
        Path(name).replace(target)
    finally:
        Path(name).unlink(missing_ok=True)


async def _run(command: list[str], variables: dict[str, str]) -> bytes:
    try:
        process = await asyncio.create_subprocess_exec(
            *command,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env={**os.environ, **variables},
        )
    except OSError as error:
        raise Unmeasured(f"{command[0]}: {error.strerror}") from error
    try:
        async with asyncio.timeout(_SECONDS):
            out, errors = await process.communicate()
    except TimeoutError:
        raise Unmeasured(f"{Path(command[0]).name}: no end within {_SECONDS:.0f} s") from None
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    if process.returncode != 0:
        last = errors.decode("utf-8", "replace").strip().splitlines()[-1:] or ["no reason given"]
        raise Unmeasured(f"{Path(command[0]).name}: exit {process.returncode}: {last[0][:200]}")
    return out
