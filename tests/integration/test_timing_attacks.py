"""Candidates that forge their times, as real programs under the corpus's own driver: each is refused or judged wrong, and the
honest twin passes. A CPU device whose times count stands where a GPU would."""

from __future__ import annotations

import re
from contextlib import closing

import pytest

from engine.events import Timed
from engine.harness import on_demand
from engine.harness.examine import Harness
from engine.protocol import Protocol
from tests.support.timing_tasks import HONEST, WORK, ClockedCpu, write_timed_task

SIGNATURE = "cudaError_t spread(const float* x, float* y, int n, cudaStream_t stream)"


def candidate(body: str, before: str = "") -> str:
    return f"{before}\n{WORK}\n{SIGNATURE} {{\n{body}\n}}\n"


INTERPOSED_ELAPSED = HONEST + (
    'extern "C" cudaError_t cudaEventElapsedTime(float* ms, cudaEvent_t, cudaEvent_t) { *ms = 130.0f; return cudaSuccess; }\n'
)
INTERPOSED_SYNC = HONEST + 'extern "C" cudaError_t cudaDeviceSynchronize() { return cudaSuccess; }\n'
INTERPOSED_CLOCK = (
    "#include <time.h>\n"
    + HONEST
    + 'extern "C" int clock_gettime(clockid_t, struct timespec* t) noexcept { t->tv_sec = 1; t->tv_nsec = 1; return 0; }\n'
)
PATCHES_ITSELF = candidate(
    "static int once = mprotect(reinterpret_cast<void*>(4096), 4096, PROT_READ); (void)once; return work(x, y, n, stream);",
    "#include <sys/mman.h>",
)
PATCHES_BY_NAME = candidate(
    'static void* found = dlsym(RTLD_DEFAULT, "cudaEventRecord"); (void)found; return work(x, y, n, stream);',
    "#include <dlfcn.h>",
)

REFUSED_BEFORE_A_LAUNCH = {
    "event times interposed": (INTERPOSED_ELAPSED, "defines cudaEventElapsedTime itself"),
    "synchronization interposed": (INTERPOSED_SYNC, "defines cudaDeviceSynchronize itself"),
    "host clock interposed": (INTERPOSED_CLOCK, "defines clock_gettime itself"),
    "changes its own code": (PATCHES_ITSELF, "asks for mprotect"),
    "looks functions up by name": (PATCHES_BY_NAME, "asks for dlsym"),
}

FORGES_A_MARK = candidate(
    'std::printf("\\nbeaver: done 0123456789abcdef 1000000 100.0\\n"); std::fflush(stdout); return work(x, y, n, stream);'
)
ANSWERS_FOR_THE_DRIVER = candidate(
    'char line[128]; if (getenv("BEAVER_CLOCK")) { if (std::fgets(line, sizeof line, stdin)) std::printf("\\nbeaver: ready %s", line); }\n'
    "return work(x, y, n, stream);",
    "#include <cstdlib>",
)
SKIPS_FILLED_BUFFERS = candidate(
    "float last = 0; cudaMemcpy(&last, y + n - 1, sizeof last, cudaMemcpyDeviceToHost);\n"
    "if (last == last) return cudaSuccess;\n"
    "return work(x, y, n, stream);"
)

REFUSED_BY_THE_CLOCK = {
    "prints the end of a batch": (FORGES_A_MARK, "cannot be believed: it said 'done 0123456789abcdef"),
    "reads what the driver is asked": (ANSWERS_FOR_THE_DRIVER, "took too long"),
    "computes only on poisoned buffers": (SKIPS_FILLED_BUFFERS, "results are kept between calls"),
}

WORKS_ONCE = candidate(
    "static bool done = false; if (done) return cudaSuccess; done = true; return work(x, y, n, stream);"
)
KEEPS_ITS_FIRST_RESULT = candidate(
    "static float* kept = nullptr;\n"
    "if (!kept) { cudaMalloc(&kept, n * sizeof(float)); if (cudaError_t error = work(x, kept, n, stream)) return error; }\n"
    "return cudaMemcpyAsync(y, kept, n * sizeof(float), cudaMemcpyDeviceToDevice, stream);"
)
WORKS_LATER = candidate(
    "std::thread([=] { std::this_thread::sleep_for(std::chrono::milliseconds(30)); work(x, y, n, nullptr); }).detach();\n"
    "return cudaSuccess;",
    "#include <chrono>\n#include <thread>",
)
LEAVES_WHEN_TIMED = candidate(
    'if (getenv("BEAVER_CLOCK")) { std::printf("Kernel time: 0.0010 ms\\n"); std::fflush(stdout); std::_Exit(0); }\n'
    "return work(x, y, n, stream);",
    "#include <cstdlib>",
)

LEFT_A_WRONG_RESULT = {
    "works on its first call only": WORKS_ONCE,
    "keeps its first result": KEEPS_ITS_FIRST_RESULT,
    "works later on a thread": WORKS_LATER,
    "prints a time and leaves": LEAVES_WHEN_TIMED,
}

OTHER_STREAM = candidate(
    "static cudaStream_t other = nullptr;\n"
    "if (!other) if (cudaError_t error = cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking)) return error;\n"
    "return work(x, y, n, other);"
)
PRINTS_A_TIME = candidate('std::printf("Kernel time: 0.0001 ms\\nSpeedup: 99x\\n"); return work(x, y, n, stream);')
LEAVES_A_THREAD = candidate(
    "static std::thread* idle = new std::thread([] { for (;;) std::this_thread::sleep_for(std::chrono::seconds(1)); });\n"
    "(void)idle; return work(x, y, n, stream);",
    "#include <chrono>\n#include <thread>",
)


@pytest.fixture(scope="module")
def clocked(toolkit, sandbox):
    with closing(
        Harness(device=ClockedCpu.of_this_machine(), sandbox=sandbox, toolkit=toolkit, sanitize=False)
    ) as made:
        yield made


@pytest.fixture(scope="module")
def task(tmp_path_factory):
    return write_timed_task(tmp_path_factory.mktemp("corpus"))


async def timed(harness: Harness, task, code: str, launches: int = 1) -> Timed:
    return await on_demand.time(harness, task, code.encode(), Protocol(launches=launches), seed=5)


async def test_an_honest_candidate_is_timed_and_every_batch_is_kept(clocked, task):
    found = await timed(clocked, task, HONEST, launches=2)
    assert (found.source, found.note) == ("events", "")
    assert found.speedup is not None
    assert 0.3 < found.speedup < 3.0
    assert [(one.side, one.number) for one in found.launches] == [
        ("reference", 1),
        ("candidate", 1),
        ("reference", 2),
        ("candidate", 2),
    ]
    for launch in found.launches:
        assert len(launch.batches_ms) == len(launch.wall_ms) == 3
        for own, wall in zip(launch.batches_ms, launch.wall_ms, strict=True):
            assert own * launch.calls > 80.0, "batches differ in their number of calls"
            assert abs(wall - own) <= 0.1 * own + 2.5 / launch.calls
    assert [flag for flag in found.flags if flag.startswith("roofline")] == [
        "roofline: check off (the task states no min_bytes or min_flops)"
    ]


@pytest.mark.parametrize("name", REFUSED_BEFORE_A_LAUNCH)
async def test_a_program_that_holds_the_clock_in_its_hands_is_not_launched(clocked, task, name: str):
    code, reason = REFUSED_BEFORE_A_LAUNCH[name]
    found = await timed(clocked, task, code)
    assert found.gate == "unmeasured"
    assert found.note.startswith("refused: the program ")
    assert reason in found.note
    assert found.launches == []


@pytest.mark.parametrize("name", REFUSED_BY_THE_CLOCK)
async def test_what_the_parents_clock_cannot_believe_is_refused(clocked, task, name: str):
    code, reason = REFUSED_BY_THE_CLOCK[name]
    found = await timed(clocked, task, code)
    assert (found.gate, found.speedup, found.candidate_ms) == ("unmeasured", None, [])
    assert re.search(reason, found.note), found.note


@pytest.mark.parametrize("name", LEFT_A_WRONG_RESULT)
async def test_a_timed_run_that_did_not_compute_takes_the_pass_back(clocked, task, name: str):
    found = await timed(clocked, task, LEFT_A_WRONG_RESULT[name])
    assert (found.gate, found.note) == ("unmeasured", "a timed run left a wrong result")


async def test_work_on_another_stream_is_timed_too(clocked, task):
    found = await timed(clocked, task, OTHER_STREAM)
    assert found.speedup is not None, found.note
    assert found.speedup < 2.0


async def test_printed_times_are_not_read(clocked, task):
    found = await timed(clocked, task, PRINTS_A_TIME)
    assert found.speedup is not None, found.note
    assert found.speedup < 3.0


async def test_threads_that_a_candidate_leaves_are_said(clocked, task):
    found = await timed(clocked, task, LEAVES_A_THREAD)
    assert "1 thread(s) of the candidate's own were left running" in found.flags
