"""Object files of a task's own sources: compiled once, and nobody can tell but by the clock and the command in the log."""

from __future__ import annotations

import asyncio
import zipfile
from contextlib import closing
from pathlib import Path

import pytest

from engine import events as ev
from engine.devices.choose import choose_device
from engine.devices.cpu.cache import user_cache
from engine.devices.toolkit import Toolkit
from engine.harness import on_demand
from engine.harness.backends import Command
from engine.harness.examine import Harness
from engine.harness.objects import KeptObjects, plan_of
from engine.harness.sandbox import Sandbox
from engine.harness.step import StepRunner
from tests.support.until import until_async

BUILD = "nvcc -arch=native -o driver driver.cpp solution.cu"
GOOD = "float total(const float* x, unsigned long n) { float sum = 0; for (; n; --n) sum += *x++; return sum; }\n"
WARNS = "__global__ void k() { int unused; }\n" + GOOD
FAILS = "__global__ void k() { y = 1; }\n" + GOOD
LACKS = "int nothing;\n"
MAKEFILE = """\
driver: driver.o solution.o
\tnvcc -o $@ $^
%.o: %.cpp
\tnvcc -c -o $@ $<
%.o: %.cu
\tnvcc -c -o $@ $<
"""


@pytest.fixture(autouse=True)
def empty_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Of objects alone: the device's runtime is compiled for minutes."""
    (tmp_path / "beaver-tui").mkdir()
    cpu = user_cache() / "cpu"
    cpu.mkdir(parents=True, exist_ok=True)
    (tmp_path / "beaver-tui" / "cpu").symlink_to(cpu)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))


@pytest.fixture
def cpu(toolkit: Toolkit, sandbox: Sandbox):
    with closing(Harness(device=choose_device("cpu"), sandbox=sandbox, toolkit=toolkit)) as harness:
        yield harness


def nvcc_task(make_task, **changes: object):
    return make_task(spec={"backend": "nvcc", "build_cmd": BUILD, "solution_file": "solution.cu"}, **changes)


def make_task_of(make_task, makefile: str, **changes: object):
    spec = {"backend": "make", "build_cmd": "make driver", "solution_file": "solution.cu"}
    return make_task(spec=spec, files={"Makefile": makefile}, **changes)


def made() -> list[str]:
    """The objects that are kept."""
    return sorted(name for archive in archives() for name in zipfile.ZipFile(archive).namelist())


def archives() -> list[Path]:
    return sorted((user_cache() / "objects").glob("*"))


async def previewed(harness: Harness, task, source: str = GOOD) -> tuple[ev.StepRecord, dict[str, str]]:
    logs: dict[str, str] = {}
    built = await on_demand.preview(harness, task, source.encode(), save_log=logs.__setitem__)
    return built.step, logs


@pytest.mark.parametrize(
    ("text", "linking"),
    [
        (BUILD, "nvcc -arch=native -o driver driver.o solution.cu"),
        ("nvcc -I include -o t solution.cu test/*.cu -lx", "nvcc -I include -o t solution.cu a.o b.o -lx"),
        (
            'nvcc -I "$(dirname $(which nvcc))/x" solution.cu driver.cpp -o t',
            'nvcc -I "$(dirname $(which nvcc))/x" solution.cu driver.o -o t',
        ),
        ("nvcc -o driver solution.cu", None),
        ("nvcc -o driver *.cu", None),
        ("nvcc driver.cpp solution.cu", None),
        ("nvcc -rdc=true -o driver driver.cpp solution.cu", None),
        ("nvcc -x cu -o driver driver.cpp solution.cu", None),
        ("nvcc -optf options -o driver driver.cpp solution.cu", None),
        ("nvcc $(cat flags) -o driver driver.cpp solution.cu", None),
        ("nvcc -o driver driver.cpp solution.cu && ./driver", None),
        ("nvcc -o driver driver.cpp solution.cu > log", None),
        ("g++ -o driver driver.cpp solution.cpp", None),
    ],
)
def test_own_sources_of_one_call_of_nvcc_give_way_to_objects(make_task, text: str, linking: str | None):
    task = nvcc_task(make_task, files={"test/a.cu": "", "test/b.cu": "", "test/more/c.cu": ""})
    plan = plan_of(task, Command(text))
    assert (plan.command.text if plan is not None else None) == linking


@pytest.mark.parametrize("source", [GOOD, WARNS, FAILS], ids=["good", "warns", "fails"])
async def test_a_build_says_what_it_says_without_them(cpu: Harness, make_task, source: str):
    task = nvcc_task(make_task)
    steps = StepRunner(cpu.stand)
    with steps.stand.workspace(task, source.encode(), None) as workspace:
        command = Command(BUILD.replace("native", "sm_90"), flags=cpu.device.build_flags(BUILD))
        plain = await steps.build(workspace, "build", command, 120)
    first, second = await previewed(cpu, task, source), await previewed(cpu, task, source)
    assert made() == ["driver.o"]
    for step, logs in (first, second):
        assert (step.exit_code, step.stdout.text, step.stderr.text) == (
            plain.exit_code,
            plain.stdout.text(),
            plain.stderr.text(),
        )
        assert logs["build"].splitlines()[0].endswith("-o driver driver.o solution.cu")
    assert bool(plain.printed) == (source != GOOD)


async def test_a_linker_still_says_what_the_candidate_lacks(cpu: Harness, make_task):
    step, _ = await previewed(cpu, nvcc_task(make_task), LACKS)
    assert step.exit_code == 1
    assert "undefined reference to `total(float const*, unsigned long)'" in step.stderr.text


@pytest.mark.parametrize(
    ("driver", "says"),
    [
        ('#include "solution.cu"\nint main() {}\n', "multiple definition of `nothing'"),
        ("#warning look\nint main() {}\n", "warning: #warning look"),
    ],
    ids=["needs", "warns"],
)
async def test_a_source_that_needs_the_candidate_or_warns_is_compiled_every_time(
    cpu: Harness, make_task, driver: str, says: str
):
    task = nvcc_task(make_task, driver=driver)
    for _ in range(2):
        step, logs = await previewed(cpu, task, LACKS)
        assert logs["build"].splitlines()[0].endswith("-o driver driver.cpp solution.cu")
        assert says in step.stderr.text
    assert made() == []


async def test_another_driver_is_another_object(cpu: Harness, make_task):
    await previewed(cpu, nvcc_task(make_task))
    step, _ = await previewed(cpu, nvcc_task(make_task, name="other", driver="int main() { return 0 }\n"))
    assert "expected ‘;’" in step.stderr.text or "expected ';'" in step.stderr.text
    assert made() == ["driver.o"]


async def test_make_finds_them_made(cpu: Harness, make_task):
    task = make_task_of(make_task, MAKEFILE)
    for _ in range(2):
        step, _ = await previewed(cpu, task)
        assert step.exit_code == 0, step.stderr.text
        assert step.stdout.text.splitlines() == [
            "nvcc -c -o solution.o solution.cu",
            "nvcc -o driver driver.o solution.o",
        ]
    assert made() == ["driver.o"]


async def test_what_make_would_make_again_is_not_kept(cpu: Harness, make_task):
    task = make_task_of(make_task, MAKEFILE + "driver.o: always\nalways:\n")
    step, _ = await previewed(cpu, task)
    assert step.exit_code == 0, step.stderr.text
    assert made() == []


async def test_a_build_may_remove_them_and_make_them_again(cpu: Harness, make_task):
    """They were protected like the files of the harness: a recipe that tidied up failed, and so did the candidate."""
    tidies = MAKEFILE.replace("\tnvcc -o $@ $^\n", "\tnvcc -o $@ $^\n\trm -f driver.o solution.o\n")
    newer = MAKEFILE + "driver.o: gen.h\ngen.h:\n\techo > gen.h\n"
    for name, makefile in (("tidies", tidies), ("newer", newer)):
        step, _ = await previewed(cpu, make_task_of(make_task, makefile, name=name))
        assert step.exit_code == 0, step.stderr.text
    assert made() == ["driver.o"] * 2


async def test_of_a_build_that_was_killed_nothing_is_kept(cpu: Harness, make_task):
    half = MAKEFILE.replace("%.o: %.cpp\n\tnvcc -c -o $@ $<", "%.o: %.cpp\n\tprintf half > $@; sleep 100")
    steps = StepRunner(cpu.stand)
    assert await KeptObjects(None).of(steps, make_task_of(make_task, half), Command("make driver"), 2) is None
    assert made() == []
    assert 2 <= steps.spent < 60


async def test_of_a_recipe_that_failed_in_silence_nothing_is_kept(cpu: Harness, make_task):
    half = MAKEFILE.replace("%.o: %.cpp\n\tnvcc -c -o $@ $<", "%.o: %.cpp\n\tprintf half > $@; exit 1")
    step, _ = await previewed(cpu, make_task_of(make_task, half))
    assert step.exit_code == 2
    assert "driver.o] Error 1" in step.stderr.text
    assert made() == []


async def test_a_makefile_that_says_more_than_its_recipes_is_obeyed_every_time(cpu: Harness, make_task):
    loud = MAKEFILE.replace("%.o: %.cpp\n\tnvcc -c -o $@ $<", "%.o: %.cpp\n\tnvcc -c -o $@ $< 2>&1")
    task = make_task_of(make_task, loud, driver="#warning look\nint main() {}\n")
    for _ in range(2):
        step, _ = await previewed(cpu, task, LACKS)
        assert "#warning look" in step.stdout.text
    assert made() == []


async def test_a_damaged_archive_is_made_again(cpu: Harness, make_task):
    task = nvcc_task(make_task)
    await previewed(cpu, task)
    whole = archives()[0].read_bytes()
    for damaged in (whole[: len(whole) // 2], b""):
        archives()[0].write_bytes(damaged)
        step, _ = await previewed(cpu, task)
        assert step.exit_code == 0, step.stderr.text
        assert made() == ["driver.o"]


async def test_what_nvcc_is_told_by_its_surroundings_counts(cpu: Harness, make_task, monkeypatch: pytest.MonkeyPatch):
    task = nvcc_task(make_task)
    for place in ("/one", "/two"):
        monkeypatch.setenv("LD_LIBRARY_PATH", place)
        await previewed(cpu, task)
    assert made() == ["driver.o"] * 2


def test_a_workspace_stays_closed_to_others(cpu: Harness, make_task):
    with cpu.stand.workspace(make_task(), b"", None) as workspace:
        before = workspace.path.stat()
        workspace.add({"parts/driver.o": b"an object"})
        assert (workspace.path / "parts" / "driver.o").read_bytes() == b"an object"
        assert workspace.path.stat().st_mode == before.st_mode
        assert (workspace.path / "parts").stat().st_uid == before.st_uid


async def test_a_cancelled_build_of_them_leaves_nothing(cpu: Harness, make_task, tmp_path: Path):
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    waits = MAKEFILE.replace("%.o: %.cpp\n\tnvcc -c -o $@ $<", "%.o: %.cpp\n\tsleep 100")
    building = KeptObjects(scratch).of(
        StepRunner(cpu.stand), make_task_of(make_task, waits), Command("make driver"), 60
    )
    work = asyncio.create_task(building)
    await until_async(lambda: bool(list(scratch.glob("*"))), "a workspace is there")
    work.cancel()
    with pytest.raises(asyncio.CancelledError):
        await work
    assert not list(scratch.glob("*"))
    assert made() == []


async def test_programs_that_are_timed_are_built_whole(harness: Harness, make_task):
    _, logs = await previewed(harness, nvcc_task(make_task))
    assert logs["build"].splitlines()[0].endswith("-o driver driver.cpp solution.cu")
    assert made() == []
