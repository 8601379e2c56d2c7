"""The human fixer, and the many ways in which editors save a file. Real files, real watches, real locks."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import IO, Any

import msgspec
import pytest

from engine.errors import InfraError, RunError
from engine.fixers.base import Reply
from engine.fixers.desk import changed_lines, submit_directory
from engine.fixers.human import Change, HumanFixer
from engine.fixers.watch import FolderWatch
from tests.support.fixing import BROKEN, a_request, a_task

FIXED = BROKEN.replace(b"1.0f\n", b"1.0f;\n")
PATIENCE = 10.0


class Bench:
    """A human fixer at work, and what it tells about its folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.file = folder / "kernel.cu"
        self.fixer = HumanFixer(folder, name="me")
        self.news: asyncio.Queue[Change] = asyncio.Queue()
        self.fixer.subscribe(self.news.put_nowait)
        self.asking: asyncio.Task[Reply] | None = None

    async def ask(self, **changes: Any) -> Change:
        """Begins a request; returns once the person may begin."""
        self.asking = asyncio.create_task(self.fixer.propose(a_request(**changes)))
        return await self.hear("waiting")

    async def hear(self, kind: str, until: Callable[[Change], bool] = lambda change: True) -> Change:
        """The next news of that kind; others are passed over."""
        async with asyncio.timeout(PATIENCE):
            while True:
                change = await self.news.get()
                if change.kind == kind and until(change):
                    return change

    async def reply(self) -> Reply:
        assert self.asking is not None
        return await asyncio.wait_for(self.asking, PATIENCE)

    async def submitted(self) -> bytes:
        """Submits, and returns the bytes that arrive."""
        self.fixer.submit()
        return (await self.reply()).text.encode("utf-8", "surrogateescape")

    async def stop(self) -> None:
        if self.asking is not None:
            self.asking.cancel()
            with contextlib.suppress(asyncio.CancelledError, InfraError):
                await self.asking

    def state(self) -> Any:
        return msgspec.json.decode((self.folder / "waiting.json").read_bytes())


@pytest.fixture
async def bench(tmp_path: Path) -> AsyncIterator[Bench]:
    bench = Bench(tmp_path / "desk")
    yield bench
    await bench.stop()


# Ways to save


def in_place(file: Path) -> None:
    file.write_bytes(FIXED)


def in_two_writes(file: Path) -> None:
    """Truncated first, then written in pieces."""
    with file.open("wb", buffering=0) as stream:
        stream.write(FIXED[:20])
        os.fsync(stream.fileno())
        stream.write(FIXED[20:])


def by_rename(file: Path) -> None:
    """Written beside and renamed over it (VS Code's atomic save, JetBrains' safe write)."""
    beside = file.with_name(".kernel.cu.tmp")
    beside.write_bytes(FIXED)
    beside.replace(file)


def with_a_backup(file: Path) -> None:
    """The old file is renamed to a backup, a new one written, the backup deleted (vim, backupcopy=no)."""
    file.with_name("4913").touch()
    file.with_name("4913").unlink()
    file.rename(file.with_name("kernel.cu~"))
    file.write_bytes(FIXED)
    file.with_name("kernel.cu~").unlink()


def deleted_and_created(file: Path) -> None:
    file.unlink()
    file.write_bytes(FIXED)


def many_times(file: Path) -> None:
    for number in range(50):
        file.write_bytes(b"// draft %d\n" % number + BROKEN)
    file.write_bytes(FIXED)


def through_a_link(file: Path) -> None:
    """The file becomes a link to one elsewhere (a project of the person's own)."""
    elsewhere = file.parent.parent / "elsewhere.cu"
    elsewhere.write_bytes(FIXED)
    file.unlink()
    file.symlink_to(elsewhere)


SAVES = [in_place, in_two_writes, by_rename, with_a_backup, deleted_and_created, many_times, through_a_link]


@pytest.mark.parametrize("save", SAVES)
async def test_every_way_of_saving_is_noticed(bench: Bench, save: Callable[[Path], None]) -> None:
    await bench.ask()

    await asyncio.to_thread(save, bench.file)
    saved = await bench.hear("saved", lambda change: change.lines == 1)

    assert saved.summary == "saved, 1 line changed"
    assert await bench.submitted() == FIXED
    assert (await bench.hear("submitted")).summary == "submitted, 1 line changed"


@pytest.mark.parametrize("save", SAVES)
async def test_a_submission_right_after_a_save_has_what_was_saved(bench: Bench, save: Callable[[Path], None]) -> None:
    await bench.ask()
    save(bench.file)
    assert await bench.submitted() == FIXED


@pytest.mark.parametrize(
    "content",
    [
        FIXED.replace(b"\n", b"\r\n"),
        b"\xef\xbb\xbf" + FIXED,
        FIXED + b"// gr\xfc\xdfe, \xff\xfe\n",
        "// 核函数\n".encode("utf-16"),
        b"no newline at the end",
        b"a\0b\x1b[2J\r",
        b"",
    ],
)
async def test_the_exact_bytes_arrive(bench: Bench, content: bytes) -> None:
    await bench.ask()
    bench.file.write_bytes(content)
    assert await bench.submitted() == content


async def test_other_ends_of_lines_are_a_save_without_changed_lines(bench: Bench) -> None:
    await bench.ask()
    bench.file.write_bytes(BROKEN.replace(b"\n", b"\r\n"))
    assert (await bench.hear("saved")).summary == "saved, no line changed"


async def test_a_deleted_file_is_told_and_may_come_back(bench: Bench) -> None:
    await bench.ask()

    bench.file.unlink()
    assert (await bench.hear("gone")).summary == "kernel.cu is gone; save it again"
    bench.fixer.submit()
    await bench.hear("gone")  # nothing to submit: it goes on waiting
    assert bench.fixer.waiting

    bench.file.write_bytes(FIXED)
    await bench.hear("saved")
    assert await bench.submitted() == FIXED


# What lies in the folder


async def test_the_folder_holds_file_prompt_and_feedback(bench: Bench) -> None:
    await bench.ask(feedback="y: 3 values differ \x1b]0;owned\x07", iteration=2)
    assert bench.file.read_bytes() == BROKEN
    assert (bench.folder / "prompt.txt").read_text() == "Write ones into y."
    assert (bench.folder / "feedback.txt").read_text() == "y: 3 values differ "
    assert bench.state()["file"] == "kernel.cu"
    assert (bench.state()["task"], bench.state()["iteration"], bench.state()["state"]) == ("tests/one", 2, "waiting")


async def test_the_first_feedback_is_the_error_log_of_the_broken_start(bench: Bench) -> None:
    await bench.ask()
    assert (bench.folder / "feedback.txt").read_text() == "kernel.cu(2): error: expected a ';'"


async def test_the_reply_is_a_whole_file_that_cost_nothing(bench: Bench) -> None:
    await bench.ask()
    bench.fixer.submit()
    reply = await bench.reply()
    assert (reply.whole_file, reply.model, reply.calls, reply.cost, reply.finish_reason) == (
        True,
        "me",
        0,
        None,
        "stop",
    )
    assert reply.text == BROKEN.decode()  # unchanged: the loop, not the fixer, judges that


async def test_a_second_iteration_goes_on_from_the_submission(bench: Bench) -> None:
    await bench.ask()
    bench.file.write_bytes(FIXED)
    first = await bench.submitted()
    written = bench.file.stat().st_mtime_ns

    assert (await bench.ask(source=first, iteration=2, feedback="still wrong")).lines == 0

    assert bench.file.stat().st_mtime_ns == written  # the editor need not load it again
    assert [path.name for path in sorted(bench.folder.iterdir())] == [
        "feedback.txt",
        "kernel.cu",
        "prompt.txt",
        "waiting.json",
    ]


async def test_what_was_typed_while_the_harness_ran_stays(bench: Bench) -> None:
    await bench.ask()
    bench.file.write_bytes(FIXED)
    first = await bench.submitted()
    assert bench.state()["state"] == "submitted"
    bench.file.write_bytes(FIXED + b"// and more\n")

    assert (await bench.ask(source=first, iteration=2)).summary == "waiting, 1 line changed"

    assert await bench.submitted() == FIXED + b"// and more\n"


async def test_after_an_interruption_the_unsent_changes_are_still_there(bench: Bench) -> None:
    await bench.ask()
    bench.file.write_bytes(FIXED)
    await bench.stop()
    assert bench.file.read_bytes() == FIXED
    assert bench.state()["state"] == "left"

    assert (await bench.ask()).lines == 1

    assert await bench.submitted() == FIXED


async def test_another_tasks_file_is_laid_aside_not_overwritten(bench: Bench) -> None:
    bench.folder.mkdir()
    bench.file.write_bytes(b"my own work")
    await bench.ask()
    await bench.stop()
    bench.file.write_bytes(b"more of it")

    await bench.ask(task=a_task(broken=b"other"), source=b"other")

    assert bench.file.read_bytes() == b"other"
    assert (bench.folder / "kernel.cu.saved-1").read_bytes() == b"my own work"
    assert (bench.folder / "kernel.cu.saved-2").read_bytes() == b"more of it"


async def test_a_file_that_nobody_touched_is_not_laid_aside(bench: Bench) -> None:
    await bench.ask()
    await bench.stop()
    await bench.ask(source=FIXED)
    assert not list(bench.folder.glob("*.saved-*"))


async def test_only_the_name_of_a_nested_solution_file_matters(bench: Bench) -> None:
    await bench.ask(task=a_task(solution_file="src/gpu/kernel.cu"))
    assert bench.file.read_bytes() == BROKEN


async def test_a_solution_named_like_one_of_our_files_is_refused(bench: Bench) -> None:
    with pytest.raises(RunError, match=r"a solution named prompt\.txt"):
        await bench.fixer.propose(a_request(task=a_task(solution_file="prompt.txt")))


async def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(RunError, match="cannot be used as a folder"):
        await HumanFixer(tmp_path / "file" / "desk").propose(a_request())


# Submitting


async def test_another_process_submits_by_the_folder(bench: Bench) -> None:
    await bench.ask()
    bench.file.write_bytes(FIXED)
    code = f"from pathlib import Path; from engine.fixers.desk import submit_directory as s; print(s(Path({str(bench.folder)!r})).task)"

    run = await asyncio.to_thread(subprocess.run, [sys.executable, "-c", code], capture_output=True, text=True)

    assert run.stdout == "tests/one\n", run.stderr
    assert (await bench.reply()).text.encode() == FIXED
    assert not (bench.folder / "submit").exists()


async def test_touching_a_file_named_submit_is_the_same(bench: Bench) -> None:
    await bench.ask()
    (bench.folder / "submit").touch()
    assert (await bench.reply()).text.encode() == BROKEN


async def test_what_happens_before_the_watch_begins_is_not_missed(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    begin = FolderWatch._observe

    def after_a_submission(watch: FolderWatch) -> Any:
        bench.file.write_bytes(FIXED)
        submit_directory(bench.folder)
        return begin(watch)

    monkeypatch.setattr(FolderWatch, "_observe", after_a_submission)
    await bench.ask()
    assert (await bench.reply()).text.encode() == FIXED


async def test_an_old_submit_file_submits_nothing(bench: Bench) -> None:
    bench.folder.mkdir()
    (bench.folder / "submit").touch()
    await bench.ask()
    assert not (bench.folder / "submit").exists()
    bench.file.write_bytes(FIXED)
    await bench.hear("saved")
    assert bench.fixer.waiting


async def test_submitting_where_nobody_waits_says_so(bench: Bench) -> None:
    with pytest.raises(RunError, match="no such folder"):
        submit_directory(bench.folder)
    bench.folder.mkdir()
    with pytest.raises(RunError, match="no human fixer has ever waited here"):
        submit_directory(bench.folder)
    await bench.ask()
    await bench.submitted()
    with pytest.raises(RunError, match=r"nobody waits here any more \(iteration 1 of tests/one\)"):
        submit_directory(bench.folder)
    with pytest.raises(RunError, match="'me': nothing waits"):
        bench.fixer.submit()
    assert not (bench.folder / "submit").exists()


async def test_submitting_without_the_file_says_so(bench: Bench) -> None:
    await bench.ask()
    bench.file.unlink()
    with pytest.raises(RunError, match=r"kernel\.cu: the file to submit is not there"):
        submit_directory(bench.folder)


WAIT_IN = """
import asyncio, sys
from pathlib import Path
from engine.fixers.human import HumanFixer
from tests.support.fixing import a_request

fixer = HumanFixer(Path(sys.argv[1]))
fixer.subscribe(lambda change: print(change.kind, flush=True))
asyncio.run(fixer.propose(a_request()))
"""


@contextlib.contextmanager
def waiting_process(folder: Path) -> Iterator[tuple[subprocess.Popen[str], IO[str]]]:
    """A process that waits in ``folder``, and its output: one kind of Change a line."""
    root = Path(__file__).parents[2]
    command = [sys.executable, "-c", WAIT_IN, str(folder)]
    with subprocess.Popen(command, cwd=root, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "waiting\n"
        yield process, process.stdout


def test_a_killed_fixer_does_not_wait_any_more(tmp_path: Path) -> None:
    with waiting_process(tmp_path) as (_, output):
        submit_directory(tmp_path, same=True)  # while it lives
        assert output.read() == "submitted\n"
    with waiting_process(tmp_path) as (process, _):
        process.send_signal(signal.SIGKILL)
    with pytest.raises(RunError, match="nobody waits here any more"):
        submit_directory(tmp_path)


async def test_two_fixers_cannot_share_a_folder(bench: Bench) -> None:
    await bench.ask()
    with pytest.raises(RunError, match="another fixer waits here already"):
        await HumanFixer(bench.folder).propose(a_request())
    bench.file.write_bytes(FIXED)
    assert await bench.submitted() == FIXED  # the first is not disturbed


# Ending


async def test_cancelling_ends_the_watch_and_leaves_the_file(bench: Bench) -> None:
    before = set(threading.enumerate())
    await bench.ask()
    bench.file.write_bytes(FIXED)
    assert bench.asking is not None

    bench.asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await bench.asking

    left = {thread for thread in set(threading.enumerate()) - before if not thread.name.startswith("asyncio")}
    assert not left
    assert bench.file.read_bytes() == FIXED
    assert not bench.fixer.waiting


async def test_a_removed_folder_is_a_fault_of_the_machine(bench: Bench) -> None:
    await bench.ask()
    for path in bench.folder.iterdir():
        path.unlink()
    bench.folder.rmdir()
    with pytest.raises(InfraError, match="was removed"):
        await bench.reply()


async def test_without_watches_from_the_kernel_the_folder_is_polled(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    from watchdog import observers

    class NoMoreWatches(observers.Observer):  # type: ignore[misc,valid-type]
        def start(self) -> None:
            raise OSError(28, "inotify watch limit reached")

    monkeypatch.setattr(observers, "Observer", NoMoreWatches)
    monkeypatch.setattr("engine.fixers.watch.POLL_SECONDS", 0.02)
    await bench.ask()
    bench.file.write_bytes(FIXED)
    await bench.hear("saved")
    assert await bench.submitted() == FIXED


async def test_reading_the_file_is_no_news(tmp_path: Path) -> None:
    """Else the fixer would wake itself up for ever."""
    (tmp_path / "kernel.cu").write_bytes(BROKEN)
    async with FolderWatch(tmp_path, settle=0.01) as watch:
        (tmp_path / "other").touch()
        await watch.settled()
        (tmp_path / "kernel.cu").read_bytes()
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.2):
                await watch.settled()


async def test_a_folder_that_is_never_silent_is_still_looked_at(tmp_path: Path) -> None:
    async with FolderWatch(tmp_path, settle=5.0, patience=0.1) as watch:
        watch.touch()
        async with asyncio.timeout(3.0):
            await watch.settled()


# Details


@pytest.mark.parametrize(
    ("old", "new", "lines"),
    [
        (b"a\nb\nc\n", b"a\nb\nc\n", 0),
        (b"a\nb\nc\n", b"a\r\nb\r\nc", 0),
        (b"a\nb\nc\n", b"a\nX\nc\n", 1),
        (b"a\nb\nc\n", b"a\nX\nY\nc\n", 2),
        (b"a\nb\nc\n", b"c\n", 2),
        (b"a\nb\nc\n", b"", 3),
        (b"", b"a\nb\n", 2),
        (b"a\na\na\n", b"a\na\n", 1),
        (b"a\nb\nc\nd\n", b"X\nb\nc\nY\nZ\n", 3),
    ],
)
def test_changed_lines_are_counted_once(old: bytes, new: bytes, lines: int) -> None:
    assert changed_lines(old, new) == lines


@pytest.mark.parametrize("module", ["openai", "watchdog"])
def test_what_is_slow_to_import_is_imported_only_when_used(module: str) -> None:
    code = (
        "import sys, engine.fixers.chat, engine.fixers.human\n"
        "from engine.fixers.config import FixerConfig, build_chat\n"
        "build_chat(FixerConfig(name='m', model='m', base_url='http://localhost/v1'), {})\n"
        f"sys.exit({module!r} in sys.modules)"
    )
    root = Path(__file__).parents[2]
    assert subprocess.run([sys.executable, "-c", code], cwd=root).returncode == 0


async def test_a_second_request_waits_until_the_desk_is_free(bench: Bench) -> None:
    await bench.ask(iteration=1)
    second = asyncio.create_task(bench.fixer.propose(a_request(iteration=2)))
    assert await bench.submitted() == BROKEN
    await bench.hear("waiting")
    assert bench.state()["iteration"] == 2
    bench.fixer.submit()
    assert (await asyncio.wait_for(second, PATIENCE)).whole_file
