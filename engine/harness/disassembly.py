"""Compile a source for a look at its instructions: nvcc to a cubin, then cuobjdump or nvdisasm, in the sandbox and without a GPU.

Nothing of the source runs: but a compiler that reads a model's code can be told to include any file, and a disassembler reads what
that compiler was made to write. Where no disassembler is installed, the PTX is counted instead, and said to be.
"""

from __future__ import annotations

import os
import shlex
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final

from engine.devices.toolkit import Toolkit
from engine.errors import ConfigError
from engine.harness.backends import environment, visible_folders
from engine.harness.limits import GIB, Limits
from engine.harness.process import run_step
from engine.harness.sandbox import Box, Sandbox
from engine.harness.uids import unprivileged_uid
from engine.verdict.compiled import Compiled, compiled, read_ptx, read_resources, read_sass

ARCHITECTURE: Final = "sm_90"
"""What is compiled for unless another is asked for: the H200 of the project's own figures."""
_LIMITS: Final = Limits(wall=180.0, memory=6 * GIB, file_size=GIB)
_SHOWN: Final = 2000
_CUBIN, _TEXT, _PTX = "lens.cubin", "lens.sass", "lens.ptx"


async def compiled_structure(
    code: bytes,
    name: str,
    *,
    toolkit: Toolkit,
    sandbox: Sandbox,
    architecture: str = ARCHITECTURE,
    beside: Mapping[str, Path] | None = None,
    includes: Iterable[Path] = (),
    disassemble: bool = True,
) -> Compiled:
    """The compiled structure of one source that is called ``name`` ("solution.cu"). ``beside`` are files that it includes, by their
    path; ``includes`` are folders to look for headers in. Without ``disassemble``, and where no disassembler is, the PTX is counted. Raises ConfigError with the compiler's words when it does not compile.
    """
    if Path(name).suffix == ".py":
        raise ConfigError(f"{name}: CUDA in a Python file is compiled by PyTorch; only its source can be looked at")
    tools = ("cuobjdump", "nvdisasm") if disassemble else ()
    disassembler = next((found for tool in tools if (found := toolkit.program(tool))), None)
    folders = tuple(path.resolve() for path in includes)
    with tempfile.TemporaryDirectory(prefix="beaver-lens-") as scratch:
        workspace = Path(scratch)
        uid = unprivileged_uid() if sandbox.drops_uid else None
        _fill(workspace, {name: code, **{path: source.read_bytes() for path, source in (beside or {}).items()}}, uid)
        box = Box(
            workspace=workspace,
            uid=uid,
            environment=environment(toolkit, () if disassembler is None else (disassembler.parent,)),
            visible=(*visible_folders(toolkit), *_outside(disassembler), *folders),
        )
        ended = await run_step(
            sandbox.launch(_command(name, architecture, folders, disassembler), box, _LIMITS), _LIMITS
        )
        said = ended.stdout.text() + ended.stderr.text()
        text = _listing(workspace / (_TEXT if disassembler is not None else _PTX)) if ended.exit_code == 0 else None
        if text is None:
            raise ConfigError(f"{name} does not compile for {architecture}: {said[-_SHOWN:].strip()}")
    if disassembler is None:
        return compiled(read_resources(said), read_ptx(text), f"PTX for {architecture}", "PTX")
    return compiled(read_resources(said), read_sass(text), f"SASS for {architecture} by {disassembler.name}", "SASS")


def _fill(workspace: Path, files: Mapping[str, bytes], uid: int | None) -> None:
    """The files of a compile, in a folder that belongs to whoever compiles."""
    for path, content in files.items():
        (workspace / path).parent.mkdir(parents=True, exist_ok=True)
        (workspace / path).write_bytes(content)
    if uid is not None:
        for place in (workspace, *workspace.rglob("*")):
            os.chown(place, uid, uid)


def _listing(path: Path) -> str | None:
    """What the disassembler wrote, None where it left no plain file."""
    return None if path.is_symlink() or not path.is_file() else path.read_text("utf-8", "replace")


def _command(name: str, architecture: str, includes: tuple[Path, ...], disassembler: Path | None) -> str:
    base = name.removesuffix(Path(name).suffix)
    folder = str(Path(base).parent)
    options = " ".join(f"-I{shlex.quote(str(path))}" for path in (folder, ".", *includes))
    compile_it = f"nvcc -O3 -std=c++17 -arch={shlex.quote(architecture)} {options} -x cu {shlex.quote(name)}"
    cubin = f"{compile_it} -cubin -Xptxas -v -o {_CUBIN}"
    if disassembler is None:
        return f"{cubin} && {compile_it} -ptx -o {_PTX}"
    option = "-sass" if disassembler.name == "cuobjdump" else "-c"
    return f"{cubin} && {shlex.quote(str(disassembler))} {option} {_CUBIN} > {_TEXT}"


def _outside(program: Path | None) -> tuple[Path, ...]:
    """The folder of a program that does not lie under /usr, which every box sees."""
    return () if program is None or program.is_relative_to("/usr") else (program.parent,)
