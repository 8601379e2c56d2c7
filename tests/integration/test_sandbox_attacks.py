"""What a hostile candidate tries, in every sandbox that works here. Each attack was seen to work without its defence."""

from __future__ import annotations

import asyncio
import itertools
import os
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from engine.errors import ConfigError
from engine.harness.backends import environment
from engine.harness.limits import MIB, Limits
from engine.harness.process import Ended, kill_tree, run_step
from engine.harness.sandbox import Box, Bubblewrap, Namespaces, NoSandbox, Sandbox, choose_sandbox
from engine.harness.uids import unprivileged_uid
from tests.support.until import until_async

_numbers = itertools.count(os.getpid() * 1000)


@pytest.fixture
def forever() -> str:
    """Seconds to sleep, as an argument that no other test, worker or checkout uses: processes are found by it."""
    return f"{next(_numbers)}"


LIMITS = Limits(wall=10, file_size=64 * MIB, processes=64)
SECRET = "sk-attack-test-0123456789"


@pytest.fixture(params=["bubblewrap", "namespaces"])
def box_kind(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture
def room(tmp_path_factory: pytest.TempPathFactory, box_kind: str, monkeypatch: pytest.MonkeyPatch):
    """A sandbox of one kind with an empty workspace, and a host folder beside it that must stay out of reach."""
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    host = tmp_path_factory.mktemp("host")
    (host / "reference.cu").write_text("the answer")
    hidden = (host, Path.home(), Path(__file__).resolve().parents[2])
    return Room(choose_sandbox(box_kind, hide=hidden), host)


_made: list[Path] = []


@pytest.fixture(autouse=True)
def leave_no_folder():
    """Rooms lie in /tmp itself; they go with their test."""
    yield
    while _made:
        shutil.rmtree(_made.pop(), ignore_errors=True)


class Room:
    def __init__(self, sandbox: Sandbox, host: Path) -> None:
        self.sandbox, self.host = sandbox, host
        self.uid = unprivileged_uid() if sandbox.drops_uid else None
        # /tmp itself, not pytest's folder: its parents are closed to other users
        self.root = Path(subprocess.check_output(["mktemp", "-d", "/tmp/beaver-test-XXXXXX"], text=True).strip())
        _made.append(self.root)
        self.root.chmod(0o711)
        self.workspace = self.root / "ws"
        for folder in (self.workspace, self.root / "home"):
            folder.mkdir(mode=0o700)
            if self.uid is not None:
                os.chown(folder, self.uid, self.uid)

    def put(self, name: str, content: str) -> None:
        path = self.workspace / name
        path.write_text(content)
        if self.uid is not None:
            os.chown(path, self.uid, self.uid)

    async def run(self, command: str, limits: Limits = LIMITS, **box: object) -> Ended:
        place = Box(workspace=self.workspace, uid=self.uid, environment=environment(None), **box)  # type: ignore[arg-type]
        return await run_step(self.sandbox.launch(command, place, limits), limits, disk=self.workspace)


async def test_an_honest_command_runs(room: Room):
    ended = await room.run("echo hello > made.txt && cat made.txt && exit 3")
    assert (ended.exit_code, ended.stdout.text()) == (3, "hello\n")


async def test_the_system_cannot_be_remounted_or_overwritten(room: Room):
    target = f"/usr/beaver-attack-{os.getpid()}"
    ended = await room.run(f"mount -o remount,rw,bind /usr; mount -o remount,rw /; touch {target} && echo written")
    assert "written" not in ended.stdout.text()
    assert not Path(target).exists()


async def test_home_project_and_reference_are_not_visible(room: Room):
    project = Path(__file__).resolve().parents[2]
    ended = await room.run(f"cat {room.host}/reference.cu {project}/pyproject.toml; ls -A {Path.home()}/ {project}/")
    assert "the answer" not in ended.stdout.text()
    assert "[project]" not in ended.stdout.text()
    assert ended.stdout.text().replace(f"{Path.home()}/:", "").replace(f"{project}/:", "").strip() == ""


async def test_no_key_is_visible_anywhere(room: Room):
    ended = await room.run("env; cat /proc/*/environ 2>/dev/null | tr '\\0' '\\n'; cat /proc/1/cmdline | tr '\\0' ' '")
    assert SECRET not in ended.stdout.text()
    assert "API_KEY" not in ended.stdout.text()


async def test_other_processes_are_not_visible(room: Room):
    ended = await room.run("ls /proc | grep -E '^[0-9]+$' | wc -l")
    assert int(ended.stdout.text()) < 12


async def test_there_is_no_network(room: Room):
    server = await asyncio.start_server(lambda reader, writer: writer.close(), "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    ended = await room.run(
        f"bash -c 'exec 3<>/dev/tcp/127.0.0.1/{port}' && echo connected; ls /sys/class/net 2>/dev/null"
    )
    server.close()
    assert "connected" not in ended.stdout.text()


async def test_it_has_no_capabilities_and_no_way_to_root(room: Room):
    ended = await room.run("grep -E 'CapEff|NoNewPrivs' /proc/self/status")
    assert "CapEff:\t0000000000000000" in ended.stdout.text()
    assert "NoNewPrivs:\t1" in ended.stdout.text()


async def test_a_daemon_dies_with_its_step(room: Room, forever: str):
    ended = await room.run(
        f"(setsid nohup sleep {forever} >/dev/null 2>&1 &) ; (trap '' HUP TERM; sleep {forever} & ) ; echo done"
    )
    assert ended.stdout.text() == "done\n"
    assert not _running(forever)


async def test_a_timeout_kills_the_whole_tree_and_keeps_the_output(room: Room, forever: str):
    ended = await room.run(
        f"echo before; (setsid sleep {forever} &); sleep {forever}", limits=replace(LIMITS, wall=0.5)
    )
    assert ended.timed_out
    assert ended.exit_code is None
    assert ended.signal is None
    assert ended.stdout.text() == "before\n"
    assert not _running(forever)


async def test_a_fork_bomb_ends_with_its_step(room: Room):
    bomb = "bash -c 'f() { f | f & }; f; sleep 60'"
    ended = await room.run(bomb, limits=replace(LIMITS, wall=1.5, processes=40))
    assert ended.seconds < 6
    theirs = psutil.process_iter(["uids", "status"])
    assert not [p for p in theirs if room.uid in (p.info["uids"] or ()) and p.info["status"] != psutil.STATUS_ZOMBIE]


async def test_endless_output_is_bounded_and_counted(room: Room):
    ended = await room.run("yes treacherous", limits=replace(LIMITS, wall=1.0))
    assert ended.timed_out
    assert ended.stdout.total > 32 * MIB
    assert len(ended.stdout.text()) < 9 * MIB


async def test_a_huge_file_stops_at_the_limit(room: Room):
    ended = await room.run("head -c 1G /dev/zero > big; ls -l big | awk '{print $5}'")
    assert int(ended.stdout.text()) <= LIMITS.file_size


async def test_many_files_that_fill_the_disk_end_the_step(room: Room):
    limits = replace(LIMITS, file_size=16 * MIB)
    ended = await room.run("i=0; while :; do i=$((i+1)); head -c 8M /dev/zero > f$i; done", limits=limits)
    assert ended.disk_killed
    assert not ended.timed_out


async def test_a_memory_hog_is_named_as_such(room: Room):
    hog = "python3 -c 'x = bytearray(900 << 20); import time; time.sleep(20)'"
    ended = await room.run(hog, limits=replace(LIMITS, memory=300 * MIB))
    assert ended.memory_killed
    assert not ended.timed_out
    assert ended.peak_memory > 300 * MIB


async def test_cpu_time_ends_with_sigxcpu_not_sigkill(room: Room):
    ended = await room.run("while :; do :; done", limits=replace(LIMITS, cpu=1))
    assert ended.exit_code == 128 + signal.SIGXCPU or ended.signal == signal.SIGXCPU
    assert not ended.memory_killed


async def test_no_descriptor_is_inherited(room: Room):
    read, write = os.pipe()
    os.set_inheritable(write, True)
    ended = await room.run(f"ls /proc/self/fd | wc -l; echo forged >&{write}")
    os.close(write)
    assert os.read(read, 100) == b""
    os.close(read)
    assert int(ended.stdout.text().split()[0]) <= 4  # 0, 1, 2 and ls's own


async def test_terminal_controls_never_reach_the_log(room: Room):
    ended = await room.run("printf '\\033]52;c;ZXZpbA==\\007\\033[2Jclear\\033[31m'")
    assert ended.stdout.text() == "clear"


async def test_a_signal_is_told_from_an_exit_code(room: Room):
    ended = await room.run("kill -SEGV $$")
    assert ended.signal == signal.SIGSEGV or ended.exit_code == 128 + signal.SIGSEGV


async def test_another_workspace_cannot_be_read_or_changed(room: Room):
    other = Room(room.sandbox, room.host)
    other.put("solution.cu", "the reference")
    ended = await room.run(
        f"cat {other.workspace}/solution.cu; echo evil > {other.workspace}/solution.cu; ls {other.root.parent}"
    )
    assert "the reference" not in ended.stdout.text()
    assert other.root.name not in ended.stdout.text()
    assert (other.workspace / "solution.cu").read_text() == "the reference"


async def test_nothing_planted_in_temporary_folders_survives(room: Room):
    name = f"beaver-planted-{os.getpid()}"
    await room.run(f"for place in /tmp /var/tmp /dev/shm; do echo x > $place/{name}; done")
    assert not [place for place in ("/tmp", "/var/tmp", "/dev/shm") if Path(place, name).exists()]


async def test_a_candidate_dies_with_a_killed_harness(room: Room, box_kind: str, forever: str):
    kind = {"bubblewrap": "Bubblewrap", "namespaces": "Namespaces"}[box_kind]
    room.workspace.chmod(0o755)
    script = (
        "import asyncio\nfrom pathlib import Path\n"
        "from engine.harness.limits import Limits\nfrom engine.harness.process import run_step\n"
        f"from engine.harness.sandbox import Box, {kind}\n"
        f"box = Box(workspace=Path({str(room.workspace)!r}), uid={room.uid}, environment={{'PATH': '/usr/bin:/bin'}})\n"
        f"asyncio.run(run_step({kind}().launch('sleep {forever}', box, Limits()), Limits()))\n"
    )
    harness = subprocess.Popen([sys.executable, "-c", script], env={**os.environ, "PYTHONPATH": str(Path.cwd())})
    await until_async(lambda: _running(forever), "the step to run")
    harness.kill()
    harness.wait()
    await until_async(lambda: not _running(forever), "the step to be gone")


async def test_children_that_share_their_parents_memory_are_not_counted_again(room: Room):
    """Copy-on-write children were added up and the tree killed as a memory hog."""
    code = "import os, time\nx = bytearray(150 << 20)\nfor _ in range(4): os.fork() or (time.sleep(1.2), os._exit(0))\ntime.sleep(1.5)"
    room.put("forks.py", code)
    ended = await room.run("python3 forks.py && echo done", replace(LIMITS, memory=400 * MIB))
    assert ended.stdout.text() == "done\n"


async def test_a_program_that_ended_while_we_were_stopped_did_not_time_out(room: Room):
    running = asyncio.create_task(room.run("sleep 0.4; echo done", replace(LIMITS, wall=1.0)))
    await asyncio.sleep(0.1)
    time.sleep(1.5)  # this process is stopped, or busy; the step is not
    ended = await running
    assert not ended.timed_out
    assert ended.stdout.text() == "done\n"


@pytest.fixture
def bubble() -> Room:
    return Room(Bubblewrap(), Path("/nowhere"))


async def test_harness_files_cannot_be_changed_moved_or_replaced(bubble: Room):
    bubble.put("driver.cu", "honest")
    attack = "echo evil > driver.cu; rm -f driver.cu; mv driver.cu other; cp /etc/hostname driver.cu; umount driver.cu; cat driver.cu"
    ended = await bubble.run(attack, readonly=("driver.cu",))
    assert ended.stdout.text() == "honest"
    assert (bubble.workspace / "driver.cu").read_text() == "honest"


async def test_a_frozen_workspace_takes_only_outputs(bubble: Room):
    (bubble.workspace / "out").mkdir()
    os.chown(bubble.workspace / "out", bubble.uid or os.getuid(), -1)
    ended = await bubble.run("touch driver; touch out/y && echo ok", frozen=True, writable=("out",))
    assert ended.stdout.text() == "ok\n"
    assert not (bubble.workspace / "driver").exists()


async def test_there_is_no_unbounded_memory_file_system(bubble: Room):
    """The root and /dev of the sandbox were memory without a limit."""
    ended = await bubble.run(
        "for f in /f /dev/f; do head -c 64M /dev/zero > $f && echo $f; done; df -k /dev/shm | tail -1"
    )
    assert "/f\n" not in ended.stdout.text()
    assert int(ended.stdout.text().split()[-5]) <= 1024 * 1024


async def test_the_disk_of_temporary_files_is_bounded(bubble: Room):
    ended = await bubble.run(
        "head -c 3G /dev/zero > /tmp/big; stat -c %s /tmp/big", limits=replace(LIMITS, file_size=4096 * MIB)
    )
    assert int(ended.stdout.text()) <= 1024 * MIB


async def test_cancelling_kills_the_tree(bubble: Room, forever: str):
    task = asyncio.create_task(bubble.run(f"setsid sleep {forever} & sleep {forever}"))
    await until_async(lambda: _running(forever), "the step to run")
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert not _running(forever)


async def test_killing_one_step_spares_those_whose_number_begins_alike(tmp_path: Path):
    """Step 4-1 was found in the environment of step 4-12 and took it along."""
    for folder in ("ws", "home"):
        (tmp_path / folder).mkdir()
    launch = NoSandbox().launch("sleep 0.3; echo survived", Box(tmp_path / "ws", environment=environment(None)), LIMITS)
    longer = replace(
        launch, environment={**launch.environment, "BEAVER_STEP": launch.marker + "2"}, marker=launch.marker + "2"
    )
    running = asyncio.create_task(run_step(longer, LIMITS))
    await until_async(lambda: _running("0.3"), "0.3 runs")
    kill_tree(2**22 + 1, launch)
    assert (await running).stdout.text() == "survived\n"


async def test_a_hidden_place_may_have_a_space_in_its_name():
    """Such a path was silently not hidden."""
    place = Path(subprocess.check_output(["mktemp", "-d", "/tmp/beaver test XXXXXX"], text=True).strip())
    _made.append(place)
    place.chmod(0o755)
    (place / "reference.cu").write_text("the answer")
    room = Room(Namespaces((place,)), place)
    ended = await room.run(f"cat '{place}/reference.cu'; echo done")
    assert ended.stdout.text() == "done\n"
    boxed = await Room(Namespaces(), place).run(f"cat '{place}/reference.cu'; echo done", hide=(place,))
    assert boxed.stdout.text() == "done\n"


async def test_without_a_sandbox_strays_are_still_killed(tmp_path: Path, forever: str):
    (tmp_path / "ws").mkdir()
    (tmp_path / "home").mkdir()
    box = Box(workspace=tmp_path / "ws", environment=environment(None))
    ended = await run_step(NoSandbox().launch(f"setsid sleep {forever} & echo started", box, LIMITS), LIMITS)
    assert ended.stdout.text() == "started\n"
    assert not _running(forever)


def test_nothing_runs_unprotected_unless_asked(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("engine.harness.sandbox._works", lambda name: False)
    with pytest.raises(ConfigError, match="--sandbox none"):
        choose_sandbox("auto")
    assert choose_sandbox("none").name == "none"


def test_the_strongest_sandbox_is_chosen():
    assert isinstance(choose_sandbox("auto"), Bubblewrap)
    assert isinstance(choose_sandbox("namespaces"), Namespaces)


def _running(argument: str) -> bool:
    return any(
        argument in (process.info["cmdline"] or []) and process.info["status"] != psutil.STATUS_ZOMBIE
        for process in psutil.process_iter(["cmdline", "status"])
    )
