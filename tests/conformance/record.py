"""Build and run the whole suite on this machine's GPU, and write down what it prints.

    python3 -m tests.conformance.record [OUT]        from the repository's root; OUT: tests/conformance/recorded

Needs Python 3.11, nvcc, a GPU, and compute-sanitizer for what the tools say. Writes <program>.txt for each program, faults.json
and device.json. A program that does not build and a case that fails are told, and stop nothing else.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.conformance import suite

GPU_PROCESSES = 8
"""Programs that share the GPU at a time: starting one takes most of its time, and that runs side by side."""
FAULT_SECONDS = 20
ARCHITECTURE = "-arch=sm_90"
SLOW_TO_BUILD = ("libraries", "synchronization", "groups")


def find(name: str) -> str | None:
    return shutil.which(name) or shutil.which(name, path="/usr/local/cuda/bin:/opt/cuda/bin")


def main(out: Path) -> int:
    began = time.monotonic()
    nvcc = find("nvcc")
    if nvcc is None:
        print("nvcc: not found")
        return 1
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        built = build_all(Path(scratch), nvcc)
        print(f"built {len(built)} programs in {time.monotonic() - began:.0f} s", flush=True)
        cases, odd = record_cases(built, out)
        print(f"{cases} cases, {odd} of them odd, after {time.monotonic() - began:.0f} s", flush=True)
        record_faults(built, out)
    about = {
        **gpu(),
        "toolkit": version(nvcc),
        "date": time.strftime("%Y-%m-%d"),
        "cases": cases,
        "seconds": round(time.monotonic() - began),
    }
    (out / "device.json").write_text(json.dumps(about, indent=1) + "\n")
    print(json.dumps(about))
    missing = len(suite.programs()) + len(suite.fault_programs()) - len(built)
    return 1 if missing or odd else 0


def build_all(folder: Path, nvcc: str) -> dict[str, Path]:
    """Executables by name, "faults/" before the faulty ones'. The slow ones start first."""
    wanted = {program.name: program for program in suite.programs()}
    wanted |= {f"faults/{program.name}": program for program in suite.fault_programs()}
    (folder / "faults").mkdir()
    order = sorted(wanted, key=lambda name: name not in SLOW_TO_BUILD)

    def make(name: str) -> tuple[str, str | None]:
        try:
            said = suite.build(wanted[name], folder / name, nvcc, [ARCHITECTURE])
        except suite.BuildError as error:
            return name, f"does not build:\n{error}"
        return name, said or None

    built = {}
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for name, said in pool.map(make, order):
            if said:
                print(f"{name}: {said}", flush=True)
            if (folder / name).exists():
                built[name] = folder / name
    return built


def record_cases(built: dict[str, Path], out: Path) -> tuple[int, int]:
    """Numbers of cases, and of those that failed where they must not."""
    count, odd = 0, 0
    with ThreadPoolExecutor(GPU_PROCESSES) as pool:
        runs = {
            name: [(case, pool.submit(suite.run_case, executable, case)) for case in suite.case_names(executable)]
            for name, executable in sorted(built.items())
            if not name.startswith("faults/")
        }
        for name, cases in runs.items():
            texts = []
            for case, future in cases:
                text = future.result()
                texts.append(text)
                if re.search(r"^(unexpected |exit code |signal |hangs)", text, re.MULTILINE):
                    odd += 1
                    print(f"{name} {case}: {text.strip().splitlines()[-2:]}", flush=True)
            (out / f"{name}.txt").write_text("".join(texts))
            count += len(cases)
    return count, odd


def record_faults(built: dict[str, Path], out: Path) -> None:
    """Plain runs, then the tools; last what never ends, since it slows down everything else on the GPU."""
    sanitizer = find("compute-sanitizer")
    found: dict[str, dict[str, object]] = {}

    def examine(fault: suite.Fault) -> None:
        executable = built.get(f"faults/{fault.program}")
        if executable is None:
            return
        plain = suite.run([str(executable), fault.name], seconds=FAULT_SECONDS)
        found[fault.name] = {
            "error": suite.printed_error(plain),
            "ended": plain.ended,
            "printed": plain.output.splitlines(),
            "complaints": suite.complaints(plain),
        }
        if fault.tool and sanitizer:
            tool = suite.run(sanitizer_command(sanitizer, fault, executable), seconds=3 * FAULT_SECONDS)
            found[fault.name]["tool"] = {"ended": tool.ended, "report": headlines(tool.output)}

    faults = suite.faults()
    for patient in (True, False):
        with ThreadPoolExecutor(GPU_PROCESSES) as pool:
            list(pool.map(examine, [fault for fault in faults if (fault.error != "hangs") is patient]))
    ordered = {fault.name: found[fault.name] for fault in faults if fault.name in found}
    (out / "faults.json").write_text(json.dumps(ordered, indent=1) + "\n")
    for fault in faults:
        error = found.get(fault.name, {}).get("error")
        if error != fault.error:
            print(f"{fault.name}: expected {fault.error}, found {error}", flush=True)


def sanitizer_command(sanitizer: str, fault: suite.Fault, executable: Path) -> list[str]:
    return [sanitizer, "--error-exitcode", "99", "--tool", *fault.tool, str(executable), fault.name]


def headlines(report: str) -> list[str]:
    """The first lines of a tool's report, without the host's stack."""
    lines = [line for line in report.splitlines() if line.startswith("=========")]
    return [line for line in lines if not re.search(r"Host Frame|Host Backtrace|Saved host backtrace", line)][:14]


def version(nvcc: str) -> str:
    said = subprocess.run([nvcc, "--version"], capture_output=True, text=True, check=False).stdout
    match = re.search(r"release (\S+), (\S+)", said)
    return f"{match[1]} ({match[2]})" if match else "unknown"


def gpu() -> dict[str, str]:
    """Name and driver, as nvidia-smi gives them."""
    program = find("nvidia-smi")
    command = [program or "nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"]
    try:
        said = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True).stdout
    except (OSError, subprocess.SubprocessError) as error:
        return {"device": f"none ({error})", "driver": ""}
    name, driver = said.splitlines()[0].split(", ")
    return {"device": name, "driver": driver}


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]) if len(sys.argv) > 1 else suite.RECORDED))
