"""Run the suite with several CUDA toolkits side by side: the registration that nvcc generates is documented nowhere, and may change.

    .venv/bin/python -P -m tests.conformance.toolkits [--folder FOLDER] [--only-build] [VERSION ...]

VERSION: "13.0", or "newest" for the newest 13.x on PyPI; both by default. The wheels of each go into FOLDER/<version>, about 400 MB,
and are used again the next time. With --only-build the programs are compiled and not run.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

from engine.devices.toolkit import Toolkit
from tests.conformance import suite

PROJECT = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"]
PACKAGES = tuple(re.split(r"[<>=~!]", one)[0] for one in PROJECT["optional-dependencies"]["toolkit"])
NEWEST = "newest"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path, help="where the toolkits are kept; a temporary folder by default")
    parser.add_argument("--only-build", action="store_true")
    parser.add_argument("versions", nargs="*", default=["13.0", NEWEST], metavar="VERSION")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = asked.folder or Path(scratch)
        failed = [version for version in asked.versions if not works(version, folder, asked.only_build)]
    print(f"failed: {', '.join(failed)}" if failed else "all passed")
    return 1 if failed else 0


def works(version: str, folder: Path, only_build: bool) -> bool:
    toolkit = install(version, folder / version)
    environment = os.environ | {"PATH": f"{toolkit.nvcc.parent}:{os.environ['PATH']}", "CUDA_HOME": str(toolkit.root)}
    print(f"{version}: nvcc {toolkit.version}", flush=True)
    if only_build:
        with tempfile.TemporaryDirectory() as scratch:
            return builds(toolkit, environment, Path(scratch, "program"))
    tests = [sys.executable, "-P", "-m", "pytest", "-q", str(suite.HERE)]
    return subprocess.run(tests, env=environment, check=False).returncode == 0


def install(version: str, target: Path) -> Toolkit:
    """The wheels of one version. NVIDIA numbers the wheels of one toolkit differently, but all within 13.x."""
    limit = "<14" if version == NEWEST else f"~={version}.0"
    nvcc = target / "nvidia/cu13/bin/nvcc"
    if not nvcc.exists():
        pip = [sys.executable, "-m", "pip", "install", "--quiet", "--target", str(target)]
        subprocess.run([*pip, *(f"{package}{limit}" for package in PACKAGES)], check=True)
    return Toolkit(nvcc, "wheels")


def builds(toolkit: Toolkit, environment: dict[str, str], output: Path) -> bool:
    """Whether every program compiles and links, faulty ones included. Prints what the compiler has to say."""
    if toolkit.link_folder:
        environment = environment | {"LIBRARY_PATH": str(toolkit.link_folder)}
    good = True
    for program in [*suite.programs(), *suite.fault_programs()]:
        try:
            said = suite.build(program, output, str(toolkit.nvcc), ["-arch=sm_90"], environment)
        except suite.BuildError as error:
            said, good = str(error), False
        print(f"  {program.name}: {said.strip() or 'compiles'}", flush=True)
    return good


if __name__ == "__main__":
    sys.exit(main())
