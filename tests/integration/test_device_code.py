"""The device code of programs that the real nvcc built: read from the file, and as the program registers it when it starts."""

from __future__ import annotations

import hashlib
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.devices.cpu.fatbin import FatbinError, Unit, images, is_cuda_program, needed
from engine.devices.cpu.ptx.parser import parse
from engine.devices.toolkit import Toolkit

FLAGS = ["-cudart", "shared", "--no-compress", "-lineinfo"]
SM_90 = ["-gencode", "arch=compute_90,code=[compute_90,sm_90]"]

TWO_KERNELS = """
__device__ int counter;
__device__ __noinline__ int spread(int x) { int a[64]; for (int i = 0; i < 64; i++) a[(i * x) & 63] = i; return a[x & 63]; }
__global__ void scale(float *p, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) p[i] = p[i] * 2 + spread(i); }
template <class T> __global__ void wide(T *p) { double a[4]; for (int i = 0; i < 4; i++) a[i] = p[i] / p[i + 1]; p[5] = a[0] / a[1] + a[2] / a[3]; counter = 3; }
int main() { if (counter == 99) { scale<<<1, 1>>>(nullptr, 0); wide<double><<<1, 1>>>(nullptr); } }
"""
CALLER = """
__device__ int square(int);
__global__ void first(int *p) { p[0] = square(p[1]); }
void second_launch();
void plain_launch();
int main(int count, char **) { if (count > 9) { first<<<1, 1>>>(nullptr); second_launch(); plain_launch(); } }
"""
CALLEE = """
__device__ int shared_by_both;
__device__ int square(int x) { return x * x + shared_by_both; }
__global__ void second(int *p) { p[0] = square(p[1]) + 1; }
void second_launch() { second<<<1, 1>>>(nullptr); }
"""
PLAIN = """
__global__ void apart(int *p) { p[0] = 7; }
void plain_launch() { apart<<<1, 1>>>(nullptr); }
"""
EMPTY_KERNEL = "__global__ void kernel(int *p) { *p = 1; }\nint main() { kernel<<<1, 1>>>(nullptr); }\n"
DEVICE_LAUNCH = """
__global__ void child(int *p) { p[threadIdx.x]++; }
__global__ void parent(int *p) { child<<<1, 32>>>(p); }
int main(int count, char **) { if (count > 9) parent<<<1, 1>>>(nullptr); }
"""

# The interface of crt/host_runtime.h, as far as a program uses it before main. Every fat binary that is registered is printed:
# a line with the wrapper's version, its number of fat binaries and their sizes, then their bytes.
RECORDER = r"""
#include <stdint.h>
#include <stdio.h>
#include <string.h>
struct wrapper { int magic, version; const void *data; const void *const *list; };
static uint64_t size_of(const uint8_t *fat) {
    uint16_t header; uint64_t payload;
    memcpy(&header, fat + 6, 2);
    memcpy(&payload, fat + 8, 8);
    return header + payload;
}
void **__cudaRegisterFatBinary(const struct wrapper *w) {
    static void *handle;
    const void *const one[] = {w->data, NULL};
    const void *const *list = w->version == 2 ? w->list : one;
    printf("%d", w->version);
    for (int i = 0; list[i]; i++) printf(" %llu", (unsigned long long)size_of(list[i]));
    puts("");
    for (int i = 0; list[i]; i++) fwrite(list[i], 1, size_of(list[i]), stdout);
    return &handle;
}
void __cudaRegisterFatBinaryEnd(void **h) { (void)h; }
void __cudaUnregisterFatBinary(void **h) { (void)h; }
int __cudaRegisterFunction(void) { return 0; }
void __cudaRegisterVar(void) {}
char __cudaInitModule(void **h) { (void)h; return 0; }
"""


class Compiler:
    """nvcc in a folder of its own."""

    def __init__(self, toolkit: Toolkit, folder: Path) -> None:
        self._nvcc = str(toolkit.nvcc)
        self.folder = folder

    def run(self, *arguments: str, **sources: str) -> str:
        """Write the sources and run nvcc; what it said."""
        for name, text in sources.items():
            (self.folder / f"{name}.cu").write_text(text)
        command = [self._nvcc, *arguments]
        done = subprocess.run(command, cwd=self.folder, capture_output=True, text=True, timeout=300, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout + done.stderr

    def units(self, program: str) -> list[Unit]:
        return images(self.folder / program)

    def registered(self, program: str) -> list[str]:
        """The keys of what the program registers, computed from its memory by the rule that fatbin.py documents."""
        library = self.folder / "libcudart.so.13"
        if not library.exists():
            (self.folder / "recorder.c").write_text(RECORDER)
            (self.folder / "version.map").write_text("libcudart.so.13 { global: *; };\n")
            options = "-shared -fPIC -fno-builtin -Wl,-soname,libcudart.so.13 -Wl,--version-script=version.map"
            command = ["gcc", *options.split(), "-o", library.name, "recorder.c"]
            subprocess.run(command, cwd=self.folder, timeout=60, check=True)
        done = subprocess.run(
            [self.folder / program],
            env={"LD_LIBRARY_PATH": str(self.folder)},
            capture_output=True,
            timeout=60,
            check=True,
        )
        return list(_keys(done.stdout))


def _keys(output: bytes) -> Iterator[str]:
    while output:
        line, _, output = output.partition(b"\n")
        version, *sizes = (int(word) for word in line.split())
        digests = []
        for size in sizes:
            assert output.startswith(b"\x50\xed\x55\xba")
            digests.append(hashlib.sha256(output[:size]).hexdigest())
            output = output[size:]
        yield digests[0] if version == 1 else hashlib.sha256("\n".join(sorted(digests)).encode()).hexdigest()


@pytest.fixture(scope="module")
def nvcc(toolkit: Toolkit, tmp_path_factory: pytest.TempPathFactory) -> Compiler:
    return Compiler(toolkit, tmp_path_factory.mktemp("nvcc"))


@pytest.fixture(scope="module")
def linked(nvcc: Compiler) -> Compiler:
    """A program of two files that -rdc linked and one that was built without."""
    nvcc.run(*FLAGS, *SM_90, "-rdc=true", "-c", "caller.cu", "callee.cu", caller=CALLER, callee=CALLEE)
    nvcc.run(*FLAGS, *SM_90, "-c", "plain.cu", plain=PLAIN)
    nvcc.run(*FLAGS, *SM_90, "caller.o", "callee.o", "plain.o", "-o", "linked")
    return nvcc


def test_a_plain_program_is_one_unit_with_the_registers_that_ptxas_reports(nvcc: Compiler):
    said = nvcc.run(*FLAGS, *SM_90, "-Xptxas", "-v", "two.cu", "-o", "two", two=TWO_KERNELS)
    (unit,) = nvcc.units("two")
    assert not unit.relocatable
    assert not unit.problem
    assert [arch for arch, _ in unit.ptx] == ["90"]
    reported = re.findall(r"entry function '(\w+)' for.*?Used (\d+) registers", said, re.DOTALL)
    assert len(reported) == 2
    assert unit.registers == {name: int(count) for name, count in reported}
    assert len(set(unit.registers.values())) == 2, "two counts, or a wrong pairing would not show"
    assert nvcc.registered("two") == [unit.key]
    assert is_cuda_program(nvcc.folder / "two")
    assert "libcudart.so.13" in needed(nvcc.folder / "two")


def test_relocatable_files_are_one_unit_beside_the_plain_ones(linked: Compiler):
    plain, together = linked.units("linked")
    assert (plain.relocatable, together.relocatable) == (False, True)
    assert set(plain.registers) == {"_Z5apartPi"}
    assert [set(parse(text).functions) for _, text in together.ptx] == [
        {"_Z6squarei", "_Z5firstPi"},
        {"_Z6squarei", "_Z6secondPi"},
    ]
    assert set(together.registers) == {"_Z5firstPi", "_Z6secondPi"}
    assert together.registers["_Z5firstPi"] > 0


def test_a_program_registers_what_the_file_says(linked: Compiler):
    assert sorted(linked.registered("linked")) == sorted(unit.key for unit in linked.units("linked"))


@pytest.mark.slow
def test_the_device_runtime_library_belongs_to_the_key_and_is_not_translated(nvcc: Compiler):
    nvcc.run(*FLAGS, *SM_90, "-rdc=true", "launch.cu", "-o", "launch", launch=DEVICE_LAUNCH)
    (unit,) = nvcc.units("launch")
    assert unit.problem == ""
    assert len(unit.ptx) == 1
    assert {"_Z5childPi", "_Z6parentPi"} <= set(unit.registers)
    assert nvcc.registered("launch") == [unit.key]


@pytest.mark.slow
def test_programs_that_were_linked_apart_are_refused(linked: Compiler):
    linked.run(*FLAGS, *SM_90, "-rdc=true", "-c", "one.cu", "other.cu", one=CALLEE, other=EMPTY_KERNEL)
    linked.run(*SM_90, "-dlink", "one.o", "-o", "one_linked.o")
    linked.run(*SM_90, "-dlink", "other.o", "-o", "other_linked.o")
    # not nvcc: it would link the device code of both once more. Nobody runs this program, so it needs no libcudart
    objects = ["one.o", "one_linked.o", "other.o", "other_linked.o"]
    command = ["g++", *objects, "-Wl,--unresolved-symbols=ignore-all", "-o", "apart"]
    subprocess.run(command, cwd=linked.folder, timeout=60, check=True)
    (unit,) = linked.units("apart")
    assert "2 device programs that were linked apart" in unit.problem
    assert unit.ptx == []


@pytest.mark.slow
@pytest.mark.parametrize(
    ("flags", "problem"),
    [
        (["--no-compress", "-gencode", "arch=compute_90,code=sm_90"], "holds no PTX (built with code=sm_90 only)"),
        (
            ["--no-compress", "-gencode", "arch=compute_80,code=sm_80", "-gencode", "arch=compute_90,code=sm_90"],
            "holds no PTX (built with code=sm_80, sm_90 only)",
        ),
        (
            ["-gencode", "arch=compute_100,code=[compute_100,sm_100]"],
            "holds PTX for compute_100 and newer only; this device runs compute_90 and older",
        ),
        (
            ["--compress-mode=size", *SM_90],
            "holds compressed PTX: it must be built with nvcc --no-compress",
        ),
    ],
    ids=["no PTX", "no PTX for two", "too new", "compressed"],
)
@pytest.mark.parametrize("relocatable", [False, True], ids=["plain", "rdc"])
def test_what_cannot_be_translated_says_why(nvcc: Compiler, flags: list[str], problem: str, relocatable: bool):
    mode = ["-rdc=true"] if relocatable else []
    nvcc.run("-cudart", "shared", *mode, *flags, "empty.cu", "-o", "problem", empty=EMPTY_KERNEL)
    (unit,) = nvcc.units("problem")
    assert unit.problem == problem
    assert unit.ptx == []
    assert unit.relocatable == relocatable


@pytest.mark.slow
def test_the_newest_ptx_that_the_device_runs_is_taken(nvcc: Compiler):
    pairs = [f"arch=compute_{sm},code=compute_{sm}" for sm in ("80", "90", "90a", "100")]
    gencode = [word for pair in pairs for word in ("-gencode", pair)]
    nvcc.run(*FLAGS, *gencode, "empty.cu", "-o", "many", empty=EMPTY_KERNEL)
    (unit,) = nvcc.units("many")
    assert [arch for arch, _ in unit.ptx] == ["90a"]
    assert parse(unit.ptx[0][1]).target == "sm_90a"
    assert unit.registers == {}


def test_a_truncated_program_is_an_error_wherever_it_ends(linked: Compiler):
    data = (linked.folder / "linked").read_bytes()
    cut = linked.folder / "cut"
    for size in range(0, len(data), 997):
        cut.write_bytes(data[:size])
        with pytest.raises(FatbinError):
            images(cut)
        assert is_cuda_program(cut) is False
