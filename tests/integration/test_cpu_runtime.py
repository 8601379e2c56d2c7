"""The CUDA runtime API of the CPU device: programs that the real nvcc built, against what an H200 answered."""

from __future__ import annotations

import asyncio
import os
import re
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import pytest

from engine.devices.cpu.device import CpuDevice
from engine.devices.toolkit import Toolkit

pytestmark = pytest.mark.slow

NEEDS_GPU = 125
SECONDS = 60
API = Path(__file__).parent / "cpu/api"
PROGRAMS = sorted(path.stem for path in API.glob("*.cu"))


class Ended(NamedTuple):
    code: int
    out: str
    err: str


class Workshop:
    """Builds programs as the harness does and runs them on the CPU device."""

    def __init__(self, toolkit: Toolkit, folder: Path) -> None:
        self.toolkit, self.folder = toolkit, folder
        self.device, self.equipment = CpuDevice.of_this_machine(), folder / "equipment"
        self.device.make_ready(toolkit, print)
        self.device.equip(toolkit, self.equipment)

    @property
    def library(self) -> Path:
        (found,) = self.equipment.glob("**/libcudart.so.[0-9]*")
        return found

    def build(self, name: str, sources: Mapping[str, str], *flags: str, include: Path | None = None) -> Path:
        """The folder of the program ``name``: all .cu files of it are compiled and linked together."""
        folder = self.folder / name
        folder.mkdir()
        for source, text in sources.items():
            (folder / source).write_text(text)
        units = [source for source in sources if source.endswith(".cu")]
        command = [str(self.toolkit.nvcc), "-std=c++17", "-w", *self.device.build_flags(""), *flags, "-o", name, *units]
        command += [f"-I{include}"] if include else []
        environment = os.environ | self.device.build_environment(self.toolkit, self.equipment)
        subprocess.run(command, cwd=folder, env=environment, check=True)
        return folder

    def translate(self, built: Path) -> None:
        """What the harness does between build and test."""
        assert asyncio.run(self.device.prepare(built, self.equipment)) == []

    def run(self, folder: Path, *command: str, **settings: str) -> Ended:
        environment = os.environ | self.device.environment(self.toolkit, self.equipment, SECONDS) | settings
        arguments = list(command) or [f"./{folder.name}"]
        ended = subprocess.run(
            arguments, cwd=folder, env=environment, capture_output=True, text=True, timeout=SECONDS, check=False
        )
        return Ended(ended.returncode, ended.stdout, ended.stderr)

    def run_source(self, name: str, text: str, *flags: str, **settings: str) -> Ended:
        built = self.build(name, {f"{name}.cu": text}, *flags)
        self.translate(built)
        return self.run(built, **settings)


@pytest.fixture(scope="module")
def workshop(toolkit: Toolkit, tmp_path_factory: pytest.TempPathFactory) -> Workshop:
    return Workshop(toolkit, tmp_path_factory.mktemp("runtime"))


# ---- against a GPU

FAULT_IS_DELIVERED = "  while the kernel runs 700, then 700; the launch 0, waiting 700, then 700 and 0"
DIFFERENCES = {
    # The kernel has ended when its launch returns, so that its fault is there for whoever waits, for whatever it waits.
    "faults": {
        "cudaStreamSynchronize(quiet)": FAULT_IS_DELIVERED,
        "cudaStreamQuery(0)": FAULT_IS_DELIVERED,
        "cudaEventSynchronize(past)": FAULT_IS_DELIVERED,
    }
}
"""By program and line: the line that follows it on the CPU device, where an H200 has another one."""


def expected(program: str) -> list[str]:
    lines = (API / "recorded" / f"{program}.txt").read_text().splitlines()
    for line, following in DIFFERENCES.get(program, {}).items():
        lines[lines.index(line) + 1] = following
    return lines


@pytest.mark.parametrize("program", PROGRAMS)
def test_calls_return_what_they_return_on_a_gpu(workshop: Workshop, program: str) -> None:
    text = (API / f"{program}.cu").read_text()
    built = workshop.build(program, {f"{program}.cu": text}, include=API)
    workshop.translate(built)
    ended = workshop.run(built)
    assert ended.out.splitlines() == expected(program)
    assert ended.code == 0, ended.err


PER_THREAD = """
#include <cstdio>
__global__ void add(int *sum) { *sum += 1; }
int main() {
    int *sum, value = 0;
    cudaGraph_t graph;
    cudaGraphExec_t executable;
    cudaMalloc(&sum, 4);
    cudaMemset(sum, 0, 4);
    // the default stream is the thread's own here, and unlike the legacy stream it can be captured
    printf("%d\\n", cudaStreamBeginCapture(0, cudaStreamCaptureModeGlobal));
    add<<<1, 1>>>(sum);
    printf("%d\\n", cudaStreamEndCapture(cudaStreamPerThread, &graph));
    cudaGraphInstantiate(&executable, graph, 0);
    cudaGraphLaunch(executable, 0);
    cudaMemcpy(&value, sum, 4, cudaMemcpyDeviceToHost);
    printf("%d\\n", value);
}
"""


def test_the_default_stream_can_be_the_threads_own(workshop: Workshop) -> None:
    ended = workshop.run_source("per_thread", PER_THREAD, "--default-stream", "per-thread")
    assert ended == (0, "0\n0\n1\n", "")


# ---- modules

FIRST = """
#include <cstdio>
static __global__ void same_name(int *out) { *out = 1; }
static __device__ int value = 10;
__constant__ int table[3] = {1, 2, 3};
__managed__ int managed = 77;
__device__ int *pointer = &value;
__device__ const char *text = "hello";
typedef int (*Function)(int);
__device__ int twice(int x) { return 2 * x; }
__device__ Function function = twice;
__global__ void use(int *out) { *out = *pointer + table[2] + function(4) + text[1] + managed; managed = 5; }
void second();
static int *out;
static int result() { int value; cudaMemcpy(&value, out, 4, cudaMemcpyDeviceToHost); return value; }
int main() {
    cudaMalloc(&out, 4);
    same_name<<<1, 1>>>(out);
    printf("%d\\n", result());
    second();
    managed = 100;
    use<<<1, 1>>>(out);
    printf("%d %d\\n", result() - (10 + 3 + 8 + 'e' + 100), managed);
    cudaDeviceReset();
    printf("%d\\n", managed);
    cudaMalloc(&out, 4);
    use<<<1, 1>>>(out);
    printf("%d\\n", result() - (10 + 3 + 8 + 'e' + 77));
}
"""
SECOND = """
#include <cstdio>
static __global__ void same_name(int *out) { *out = 2; }
static __device__ int value = 20;
void second() {
    int *out, kernel, variable;
    cudaMalloc(&out, 4);
    same_name<<<1, 1>>>(out);
    cudaMemcpy(&kernel, out, 4, cudaMemcpyDeviceToHost);
    cudaMemcpyFromSymbol(&variable, value, 4);
    printf("%d %d\\n", kernel, variable);
}
"""


def test_equal_names_in_two_units_are_two_things_and_a_reset_restores_variables(workshop: Workshop) -> None:
    built = workshop.build("units", {"first.cu": FIRST, "second.cu": SECOND})
    workshop.translate(built)
    assert workshop.run(built) == (0, "1\n2 20\n0 5\n77\n0\n", "")


CALLER = """
#include <cstdio>
extern __device__ int far;
__device__ int square(int);
__global__ void other(int *out);
__global__ void near(int *out) { *out = square(3) + far; }
int main() {
    int *out, value;
    cudaMalloc(&out, 4);
    near<<<1, 1>>>(out);
    cudaMemcpy(&value, out, 4, cudaMemcpyDeviceToHost);
    printf("%d\\n", value);
    other<<<1, 1>>>(out);
    cudaMemcpy(&value, out, 4, cudaMemcpyDeviceToHost);
    printf("%d\\n", value);
}
"""
CALLEE = """
__device__ int far = 1000;
__device__ int square(int x) { return x * x; }
__global__ void other(int *out) { *out = 55; }
"""


def test_units_that_were_linked_for_the_device_are_one_module(workshop: Workshop) -> None:
    built = workshop.build("linked", {"caller.cu": CALLER, "callee.cu": CALLEE}, "-rdc=true")
    workshop.translate(built)
    assert workshop.run(built) == (0, "1009\n55\n", "")


PLUG_IN = """
static __device__ int counter = 3;
static __global__ void count(int *out) { *out = ++counter; }
extern "C" int call() {
    int *out, value;
    cudaMalloc(&out, 4);
    count<<<1, 1>>>(out);
    cudaMemcpy(&value, out, 4, cudaMemcpyDeviceToHost);
    return value;
}
"""
HOST = """
#include <dlfcn.h>
#include <stdio.h>
typedef int (*Call)(void);
int main(void) {
    void *one = dlopen("./one.so", RTLD_NOW | RTLD_LOCAL), *two = dlopen("./two.so", RTLD_NOW | RTLD_LOCAL);
    if (!one || !two) return puts(dlerror());
    Call first = (Call)dlsym(one, "call"), second = (Call)dlsym(two, "call");
    printf("%d\\n", first());
    printf("%d\\n", first());
    printf("%d\\n", second());
}
"""


def test_plug_ins_with_the_same_device_code_have_variables_of_their_own(workshop: Workshop) -> None:
    built = workshop.build("one.so", {"plug_in.cu": PLUG_IN}, "-Xcompiler", "-fPIC", "-shared")
    (built / "two.so").write_bytes((built / "one.so").read_bytes())
    (built / "host.c").write_text(HOST)
    subprocess.run(["gcc", "-o", "host", "host.c", "-ldl"], cwd=built, check=True)
    workshop.translate(built)
    assert workshop.run(built, "./host") == (0, "4\n5\n4\n", "")


ONE_KERNEL = """
#include <cstdio>
__global__ void kernel(int *out) { *out = 42; }
int main() {
    int *out, value = 0;
    printf("%d\\n", cudaMalloc(&out, 4));
    fflush(stdout);
    kernel<<<1, 1>>>(out);
    cudaMemcpy(&value, out, 4, cudaMemcpyDeviceToHost);
    printf("%d\\n", value);
}
"""


CLUSTERS = r"""
#include <cstdio>
__global__ void __cluster_dims__(2, 1, 1) pairs(int *out) { out[blockIdx.x] = 1; }
__global__ void __cluster_dims__(1, 1, 1) alone(int *out) { out[blockIdx.x] = 1; }
int main() {
    int *out;
    cudaMalloc(&out, 16);
    alone<<<3, 1>>>(out);
    printf("clusters of one block: %d\n", static_cast<int>(cudaDeviceSynchronize()));
    pairs<<<3, 1>>>(out);
    printf("three blocks in pairs: %d\n", static_cast<int>(cudaGetLastError()));
    pairs<<<4, 1>>>(out);
    printf("not reached\n");
}
"""


def test_a_kernel_with_cluster_dims_needs_a_gpu_and_is_never_run_without_them(workshop: Workshop) -> None:
    ended = workshop.run_source("clusters", CLUSTERS)
    assert ended.out == "clusters of one block: 0\nthree blocks in pairs: 912\n"
    assert ended.code == 125
    assert ended.err == "beaver-tui CPU device: kernel pairs(int *) asks for clusters of blocks: needs a GPU\n"


STRAIGHT = r"""
__global__ void straight(int *out, int n) { const int i = blockIdx.x; if (i < n) out[i] = i; }
int main() {
    int *out;
    cudaMalloc(&out, 16);
    straight<<<4000000, 1>>>(out, 4);
    cudaDeviceSynchronize();
}
"""


def test_a_kernel_without_loops_that_uses_up_the_budget_is_named(workshop: Workshop) -> None:
    ended = workshop.run_source("straight", STRAIGHT, BEAVER_CPU_BUDGET="0.05")
    assert "kernel straight(int *, int) still runs after " in ended.err


WILD_CALL = r"""
#include <cstdio>
typedef int (*function)(int);
__device__ int twice(int x) { return 2 * x; }
__device__ function table[2] = {twice, nullptr};
__global__ void call(int *out, int which) { *out = table[which](21); }
int main() {
    int *out, seen = 0;
    cudaMalloc(&out, sizeof *out);
    call<<<1, 1>>>(out, 0);
    cudaMemcpy(&seen, out, sizeof seen, cudaMemcpyDeviceToHost);
    call<<<1, 1>>>(out, 1);
    printf("%d, then %d\n", seen, static_cast<int>(cudaDeviceSynchronize()));
}
"""


def test_a_call_through_a_pointer_to_nothing_is_an_invalid_program_counter(workshop: Workshop) -> None:
    assert workshop.run_source("wild", WILD_CALL).out == "42, then 718\n"


def test_a_binary_that_nobody_translated_is_translated_when_it_starts(workshop: Workshop, tmp_path: Path) -> None:
    built = workshop.build("newborn", {"newborn.cu": ONE_KERNEL})
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    assert workshop.run(built, TMPDIR=str(scratch)) == (0, "0\n42\n", "")
    assert list(scratch.iterdir()) == [], "kernels' objects are gone once they are loaded"


def test_a_program_without_ptx_runs_up_to_its_first_launch_and_says_what_it_lacks(workshop: Workshop) -> None:
    folder = workshop.folder / "no_ptx"
    folder.mkdir()
    (folder / "no_ptx.cu").write_text(ONE_KERNEL)
    environment = os.environ | workshop.device.build_environment(workshop.toolkit, workshop.equipment)
    command = [
        str(workshop.toolkit.nvcc),
        "-cudart",
        "shared",
        "-arch=compute_90",
        "-code=sm_90",
        "-o",
        "no_ptx",
        "no_ptx.cu",
    ]
    subprocess.run(command, cwd=folder, env=environment, check=True)
    workshop.translate(folder)
    ended = workshop.run(folder)
    assert (ended.code, ended.out) == (NEEDS_GPU, "0\n")
    assert re.search(
        r"^beaver-tui CPU device: no translated code for kernel\(int ?\*\): .*needs a GPU$", ended.err, re.M
    )


# ---- faults and errors that a GPU does not have in this form

HANDLES = """
#include <cstdio>
#define SAY(call) printf("%s %d\\n", #call, call)
int main() {
    cudaStream_t stream, junk = (cudaStream_t)0x12345670;
    cudaEvent_t event, made;
    int *memory;
    cudaMalloc(&memory, 4);
    cudaStreamCreate(&stream);
    cudaStreamDestroy(stream);
    cudaEventCreate(&event);
    cudaEventDestroy(event);
    cudaEventCreate(&made);
    SAY(cudaStreamSynchronize(stream));
    SAY(cudaStreamDestroy(stream));
    SAY(cudaMemsetAsync(memory, 0, 4, stream));
    SAY(cudaMemsetAsync(memory, 0, 4, junk));
    SAY(cudaEventRecord(event, 0));
    SAY(cudaEventRecord(made, stream));
    SAY(cudaEventSynchronize(event));
    SAY(cudaStreamWaitEvent(0, event, 0));
}
"""


def test_handles_of_what_was_destroyed_are_known_as_such(workshop: Workshop) -> None:
    ended = workshop.run_source("handles", HANDLES)
    answers = [line.rsplit(" ", 1)[1] for line in ended.out.splitlines()]
    assert answers == ["400"] * 8


BLOCKING = """
#include <cstdio>
__global__ void fault() { *(volatile int *)16 = 1; }
int main() {
    fault<<<1, 1>>>();
    printf("%d\\n", cudaGetLastError());
}
"""


def test_a_blocking_launch_delivers_its_own_fault(workshop: Workshop) -> None:
    built = workshop.build("blocking", {"blocking.cu": BLOCKING})
    workshop.translate(built)
    assert workshop.run(built).out == "0\n"
    assert workshop.run(built, CUDA_LAUNCH_BLOCKING="1").out == "700\n"


UNDER_MEMCHECK = """
__global__ void kernel() {}
int main() {
    int *lost;
    cudaMalloc(&lost, 100);
    kernel<<<1, 2000>>>();
    cudaGetLastError();
    cudaDeviceReset();
}
"""


def test_memcheck_hears_of_errors_where_they_occur_and_where_they_are_asked_for(workshop: Workshop) -> None:
    built = workshop.build("under_memcheck", {"under_memcheck.cu": UNDER_MEMCHECK})
    workshop.translate(built)
    tool = workshop.device.sanitizer(workshop.toolkit, workshop.equipment)
    said = workshop.run(built, str(tool), "--leak-check", "full", "./under_memcheck").out
    assert re.findall(r"on CUDA API call to (\w+)\.", said) == ["cudaLaunchKernel", "cudaGetLastError"]
    assert "========= LEAK SUMMARY: 100 bytes leaked in 1 allocations\n" in said, "a reset loses what was not freed"


BEYOND_SHARED = """
#include <cstdio>
#include <cstdlib>
extern __shared__ float behind[];
__global__ void unnamed(int i) {
    __shared__ float tile[6];
    tile[i] = 1;
    if (i < 0) printf("%f", tile[i + 1]);
}
__global__ void named(int i) {
    __shared__ float tile[6];
    behind[i] = 1;
    if (i < 0) printf("%f", tile[i + 1] + behind[i + 2]);
}
int main(int, char **given) {
    const int i = atoi(given[2]);
    given[1][0] == 'u' ? unnamed<<<1, 1, 24>>>(i) : named<<<1, 1, 24>>>(i);
    printf("%s\\n", cudaGetErrorName(cudaDeviceSynchronize()));
}
"""


def test_shared_memory_ends_where_a_gpus_does(workshop: Workshop) -> None:
    """Static and dynamic lay 128 bytes apart, and what went over the end of the static ones was not seen.

    24 and 24 bytes end at 0x430 on an H200 where no array names the dynamic ones (task cuda_142 of CUDABeaver). Where one does, ptxas
    lets it begin at a multiple of 16, which is how nvcc declares it.
    """
    built = workshop.build("beyond", {"beyond.cu": BEYOND_SHARED})
    workshop.translate(built)
    tool = workshop.device.sanitizer(workshop.toolkit, workshop.equipment)

    def said(kernel: str, index: int) -> list[str]:
        return re.findall(r"Access to (\w+) is out", workshop.run(built, str(tool), "./beyond", kernel, str(index)).out)

    assert [said("unnamed", index) for index in (11, 12)] == [[], ["0x430"]]
    assert [said("named", index) for index in (5, 6)] == [[], ["0x438"]]


UNSUPPORTED = """
#include <cstdio>
int main() {
    cudaTextureObject_t texture;
    cudaResourceDesc what = {};
    cudaTextureDesc how = {};
    for (int i = 0; i < 2; i++) printf("%d\\n", cudaCreateTextureObject(&texture, &what, &how, nullptr));
    printf("%d\\n", cudaGetLastError());
}
"""


def test_what_is_not_offered_links_and_is_named_once(workshop: Workshop) -> None:
    ended = workshop.run_source("unsupported", UNSUPPORTED)
    assert ended.out == "801\n801\n801\n"
    assert ended.err == (
        "beaver-tui CPU device: cudaCreateTextureObject is not offered by the CPU device: needs a GPU\n"
    )


THREADS = """
#include <cstdio>
#include <thread>
#include <vector>
__global__ void add(int *sum, int value) { *sum += value; }
static void work(int index, int *result) {
    int *sum;
    cudaStream_t stream;
    cudaEvent_t event;
    cudaStreamCreate(&stream);
    cudaMalloc(&sum, 4);
    cudaMemsetAsync(sum, 0, 4, stream);
    for (int i = 0; i < 100; i++) {
        add<<<1, 1, 0, stream>>>(sum, index);
        cudaEventCreate(&event);
        cudaEventRecord(event, stream);
        cudaEventSynchronize(event);
        cudaEventDestroy(event);
    }
    cudaMemcpyAsync(result, sum, 4, cudaMemcpyDeviceToHost, stream);
    cudaStreamSynchronize(stream);
    cudaFree(sum);
    cudaStreamDestroy(stream);
}
int main() {
    int results[8] = {};
    std::vector<std::thread> threads;
    for (int i = 0; i < 8; i++) threads.emplace_back(work, i, results + i);
    for (auto &thread : threads) thread.join();
    for (int result : results) printf("%d ", result);
    printf("%d\\n", cudaGetLastError());
}
"""


def test_host_threads_may_call_at_the_same_time(workshop: Workshop) -> None:
    assert workshop.run_source("threads", THREADS).out == "0 100 200 300 400 500 600 700 0\n"


# ---- the library

DECLARED = re.compile(r"CUDARTAPI\s+(cuda[A-Za-z0-9_]+)\s*\(")
RENAMED = re.compile(r"__CUDART_API_(PTSZ|PTDS)\((cuda[A-Za-z0-9_]+)\)")


def test_every_function_that_the_toolkit_declares_is_exported(workshop: Workshop) -> None:
    names = set()
    for header in ("cuda_runtime_api.h", "cuda_profiler_api.h"):
        path = workshop.toolkit.include_folder / header
        if path.is_file():
            text = path.read_text("utf-8", "replace")
            names |= set(DECLARED.findall(text))
            names |= {f"{name}_{suffix.lower()}" for suffix, name in RENAMED.findall(text)}
    listed = subprocess.run(
        ["nm", "-D", "--defined-only", workshop.library], capture_output=True, text=True, check=True
    )
    exported = {line.split()[2].split("@")[0] for line in listed.stdout.splitlines()}
    assert len(names) > 300
    assert names - exported == set()
    assert {name for name in exported if not name.startswith(("cuda", "__cuda", "beaver_", "libcudart"))} == set()
