"""A trajectory on show is the fold of its events, at any moment of a stored run and at any event of a live one."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from beaver_tui.state.flowing import MOST
from beaver_tui.state.session import Base, Session
from beaver_tui.state.steplogs import LOGS
from engine import events as ev
from engine.corpora import builtin_folder, load_corpus
from engine.journal import read_journal
from engine.protocol import Protocol
from engine.rundir import Cell, RunDirectory
from engine.store import DiskStore, MemoryStore, Store
from engine.text import plain_text

RUN = RunDirectory(Path(__file__).parents[1] / "fixtures" / "h200" / "run")
TASKS = load_corpus(builtin_folder()).tasks
CATEGORIES = [
    "illegal_memory_access",
    "functional_correctness",
    "buildability",
    "illegal_memory_access",
]
"""Of image_luma's stagnating trajectory, repetitions once."""
STAGNATING = Cell("attention_window", "scripted:stagnating")


def stored(cell: Cell, count: int | None = None, store: Store | None = None) -> Session:
    """The cell's session after the first ``count`` events of its journal."""
    session = Session(cell, store or RUN.store(cell), task=TASKS.get(cell.task))
    for event in read_journal(RUN.journal(cell))[:count]:
        session.apply(event)
    return session


def shown(session: Session) -> list[object]:
    """All that a screen could draw of the session."""
    parts: list[object] = [session.rows, session.position, session.following, session.alert, session.protocol]
    for step in range(session.last + 1):
        parts += [session.source(step), session.against(step), session.facts(step), session.error_rows(step)]
        parts += [session.prompt(step), session.reply(step), *(session.log(step, name) for name in LOGS)]
    return parts


@pytest.mark.parametrize("cell", RUN.plan, ids=str)
def test_every_stored_trajectory_is_shown_in_full(cell: Cell):
    session = stored(cell)
    assert [row.number for row in session.rows] == list(range(session.last + 1))
    assert all(row.phase == "closed" and row.category for row in session.rows[1:])
    assert session.rows[-1].passed == session.trajectory.passed
    assert session.facts(session.last).stop_reason == session.trajectory.closed.stop_reason
    texts = [text for text in shown(session) if isinstance(text, str)]
    assert all(text == plain_text(text) for text in texts)
    for row in session.rows[1:]:
        assert "exit" in session.log(row.number, "build") or "preflight" in session.log(row.number, "build")


@settings(max_examples=25, deadline=None)
@given(data=st.data())
def test_seeking_is_folding_a_prefix(data: st.DataObject):
    cell = data.draw(st.sampled_from(RUN.plan))
    session = stored(cell)
    session.go(data.draw(st.integers(0, session.last)))
    count = data.draw(st.integers(0, session.event_count))
    session.seek(count)
    assert shown(session) == shown(stored(cell, count))
    session.seek(session.event_count)
    assert shown(session) == shown(stored(cell))


@settings(max_examples=25, deadline=None)
@given(data=st.data())
def test_a_live_trajectory_ends_as_the_stored_one(data: st.DataObject):
    """Whatever streams past between the events of the journal: replies, and output of any step of the harness."""
    cell = data.draw(st.sampled_from(RUN.plan))
    session = Session(cell, RUN.store(cell), task=TASKS[cell.task])
    session.live = True
    steps = [step for names in LOGS.values() for step in names]
    for event in read_journal(RUN.journal(cell)):
        session.apply(event)
        if isinstance(event, ev.IterationEvent) and session.trajectory.iteration(event.iteration).verdict is None:
            for text in data.draw(st.lists(st.text(max_size=8), max_size=2)):
                session.apply(ev.ReplyDelta(iteration=event.iteration, text=text))
                step = data.draw(st.sampled_from(steps))
                session.apply(ev.OutputArrived(iteration=event.iteration, step=step, stream="stdout", text=text))
                assert session.rows[-1].phase != "closed"
    assert shown(session) == shown(stored(cell))


def test_what_flows_is_shown_until_the_record_takes_its_place():
    store = MemoryStore()
    session = opened(store)
    changed = session.apply(ev.RequestBuilt(iteration=1, prompt="0" * 64, feedback="L3"))
    assert {"steps", "prompt", "log:build"} <= changed
    assert (session.position, session.rows[1].phase) == (1, "asking")

    assert session.apply(ev.ReplyDelta(iteration=1, text="let me see", reasoning=True)) == {"reply", "steps"}
    assert session.apply(ev.ReplyDelta(iteration=1, text="__global__ ")) == {"reply"}
    session.apply(ev.ReplyDelta(iteration=1, text="void f()"))
    assert session.rows[1].phase == "replying"
    assert session.reply(1) == "── reasoning ──\n\nlet me see\n\n── reply ──\n\n__global__ void f()"

    session.apply(replied(store, "the whole reply"))
    assert session.reply(1) == "the whole reply"
    session.apply(ev.CandidateMade(iteration=1, problem=None))
    output = ev.OutputArrived(iteration=1, step="build", stream="stderr", text="f.cu(3): error: no\n")
    assert session.apply(output) == {"log:build", "steps"}
    assert session.apply(output) == {"log:build"}
    assert session.log(1, "build").count("error: no") == 2
    assert session.unread["build"] == 2
    session.apply(output)
    assert session.log(1, "build").count("error: no") == 3

    record = ev.StepRecord(
        command="nvcc f.cu", exit_code=2, stderr=ev.Excerpt(head="f.cu(3): error: no\n"), seconds=1.5
    )
    session.apply(ev.Built(iteration=1, step=record))
    assert session.log(1, "build") == "$ nvcc f.cu  [exit 2, 1.50 s]\nf.cu(3): error: no"
    assert session.unread["build"] == 3
    session.looked("build")
    assert session.unread == {"build": 0, "test": 0, "sanitizer": 0, "profile": 0}
    assert [(row.file, row.line, row.message) for row in session.error_rows(1)] == [("f.cu", 3, "no")]


@pytest.mark.parametrize("kind", ["memory", "disk"])
def test_the_whole_log_of_the_run_is_preferred_to_the_excerpt(tmp_path: Path, kind: str):
    store = MemoryStore() if kind == "memory" else DiskStore(tmp_path, tmp_path / "logs")
    session = opened(store)
    session.apply(ev.Built(iteration=1, step=ev.StepRecord(command="nvcc", exit_code=0, stdout=ev.Excerpt(head="all"))))
    assert store.read_log(1, "build") is None
    assert session.log(1, "build") == "$ nvcc  [exit 0, 0.00 s]\nall"
    store.save_log(1, "build", "$ nvcc f.cu\nall of it\nto the end\n")
    assert session.log(1, "build") == "$ nvcc f.cu  [exit 0, 0.00 s]\nall of it\nto the end"


def test_a_log_that_cannot_be_read_says_so_in_its_place(tmp_path: Path):
    session = opened(DiskStore(tmp_path, tmp_path / "logs"))
    (tmp_path / "logs" / "1-build.txt").mkdir(parents=True)
    session.apply(ev.Built(iteration=1, step=ev.StepRecord(command="nvcc", exit_code=0)))
    assert "the log cannot be read" in session.log(1, "build")


@pytest.mark.parametrize(
    ("record", "how"),
    [
        (ev.StepRecord(exit_code=1, seconds=0.25), "exit 1, 0.25 s"),
        (ev.StepRecord(signal=11), "signal 11, 0.00 s"),
        (ev.StepRecord(timed_out=True, signal=9, seconds=30), "timed out, 30.00 s"),
        (ev.StepRecord(memory_killed=True, signal=9), "ended for its memory, 0.00 s"),
        (ev.StepRecord(not_run="no GPU here"), "not run: no GPU here"),
    ],
    ids=["exit", "signal", "timeout", "memory", "not run"],
)
def test_a_log_says_how_its_step_ended(record: ev.StepRecord, how: str):
    session = opened(MemoryStore())
    session.apply(ev.Tested(iteration=1, step=record))
    assert session.log(1, "test") == f"$ test  [{how}]"


def test_looking_back_stops_following_and_the_last_step_follows_again():
    session = stored(STAGNATING, -1)  # all but its end
    assert (session.position, session.following) == (3, True)
    session.go(1)
    session.apply(ev.RequestBuilt(iteration=4, prompt="0" * 64, feedback="L3"))
    assert (session.position, session.following) == (1, False)
    session.go(99)
    session.apply(ev.RequestBuilt(iteration=5, prompt="0" * 64, feedback="L3"))
    assert (session.position, session.following) == (5, True)
    session.go(-1)
    assert session.position == 0


def test_events_are_taken_in_while_an_earlier_moment_is_shown():
    session = stored(STAGNATING)
    session.seek(4)
    assert session.apply(ev.Controlled(action="mode", detail="human")) == frozenset()
    assert (session.shown_events, session.trajectory.controls) == (4, [])
    session.seek(session.event_count)
    assert [control.action for control in session.trajectory.controls] == ["mode"]


def test_the_next_change_of_category_is_found_in_both_directions():
    session = stored(STAGNATING)
    categories = [row.category for row in session.rows]
    assert categories == ["out_of_memory"] * 4
    assert not session.change(-1)
    assert session.position == 3

    session = stored(Cell("image_luma", "scripted:stagnating"))
    session.go(0)
    met = [session.rows[0].category]
    while session.change(1):
        met.append(session.rows[session.position].category)
    assert met == CATEGORIES
    while session.change(-1):
        met.append(session.rows[session.position].category)
    assert met[len(CATEGORIES) :] == CATEGORIES[-2::-1]


def test_code_is_compared_with_what_was_chosen():
    session = stored(STAGNATING)
    assert session.against(1) == ("broken start", TASKS["attention_window"].broken)
    assert session.against(3) == ("step 2", session.source(2))
    session.pin(1)
    assert session.against(3) == ("pinned, step 1", session.source(1))
    assert session.cycle_base() is Base.BEST
    assert session.against(3) == ("best, step 1", session.source(1))
    assert [session.cycle_base() for _ in range(2)] == [Base.PREVIOUS, Base.BROKEN]
    assert session.against(3) == ("broken start", TASKS["attention_window"].broken)


def test_the_reference_is_only_for_those_who_may_see_it():
    task = TASKS["softmax_rows"]
    cell = Cell(task.id, "human")
    assert Session(cell, MemoryStore(), task=task).reference() is None
    assert Session(cell, MemoryStore(), task=task, reference_shown=True).reference() == task.reference.read_bytes()


def test_an_alert_names_its_signal_and_what_can_be_done_until_it_is_read():
    session = stored(STAGNATING)
    alert = session.alert
    assert (alert.signal, alert.iterations, alert.category) == ("no_progress", (1, 2, 3), "out_of_memory")
    assert alert.sentence.startswith("no_progress: out_of_memory")
    assert alert.sentence.endswith("at 1, 2, 3")
    assert [key for key, _ in alert.choices] == ["workbench.observe", "workbench.level", "workbench.human"]
    session.dismiss_alert()
    assert session.alert is None


def test_a_log_that_does_not_end_is_kept_up_to_its_limit():
    session = opened(MemoryStore())
    session.apply(ev.RequestBuilt(iteration=1, prompt="0" * 64, feedback="L3"))
    for _ in range(10):
        session.apply(ev.OutputArrived(iteration=1, step="test", stream="stdout", text="x" * (MOST // 8)))
    assert len(session.log(1, "test")) == MOST


HOSTILE = "a\x1b[2J\x1b]0;title\x07[/b][red]\x00\x9b2J\rb"


def test_hostile_text_comes_out_harmless_everywhere():
    store = MemoryStore()
    session = opened(store, device=HOSTILE)
    session.apply(ev.RequestBuilt(iteration=1, prompt=store.put("prompts", HOSTILE.encode()), feedback="L3"))
    session.apply(ev.ReplyDelta(iteration=1, text=HOSTILE))
    assert_harmless(session.reply(1))
    session.apply(ev.OutputArrived(iteration=1, step="build", stream="stdout", text=HOSTILE))
    assert_harmless(session.log(1, "build"))
    session.apply(replied(store, HOSTILE, reasoning=HOSTILE))
    session.apply(ev.CandidateMade(iteration=1, solution=store.put("solutions", HOSTILE.encode())))
    session.apply(ev.PreflightDone(iteration=1, findings=[HOSTILE]))
    record = ev.StepRecord(command=HOSTILE, exit_code=1, stdout=ev.Excerpt(head=f"{HOSTILE}.cu(3): error: {HOSTILE}"))
    session.apply(ev.Built(iteration=1, step=record, rewrites=[HOSTILE]))
    session.apply(ev.Tested(iteration=1, step=record))
    session.apply(
        ev.Sanitized(iteration=1, tool=HOSTILE, exit_code=99, output=ev.Excerpt(head=f"========= Invalid {HOSTILE}"))
    )
    session.apply(ev.Timed(iteration=1, note=HOSTILE, gate=HOSTILE))
    session.apply(ev.Profiled(iteration=1, figures={HOSTILE: {HOSTILE: 1.0}}, note=HOSTILE))
    session.apply(
        ev.VerdictReached(
            iteration=1,
            category=HOSTILE,
            outcome_bucket=HOSTILE,
            rule=HOSTILE,
            signature=HOSTILE,
            stage="build",
            line=HOSTILE,
            span=HOSTILE,
            rivals=[HOSTILE],
            hazards=[HOSTILE],
        )
    )
    session.apply(ev.SignalRaised(iteration=1, name=HOSTILE, iterations=[1]))
    session.apply(ev.IterationClosed(iteration=1, passed=False))
    session.apply(ev.InfraFailed(iteration=2, kind=HOSTILE, message=HOSTILE, final=True))
    session.apply(ev.TrajectoryClosed(stop_reason=HOSTILE, passed=False, iterations=1))
    seen = [part for part in shown(session) if not isinstance(part, bytes)]
    assert sum("[/b][red]" in repr(part) for part in seen) > 5
    for text in strings(seen):
        assert_harmless(text)


def opened(store: Store, device: str = "cpu") -> Session:
    """A live trajectory of which nothing is known but its opening."""
    session = Session(Cell("t", "f"), store)
    session.live = True
    session.apply(
        ev.TrajectoryOpened(
            run="r", task="t", fixer="f", attempt=1, protocol=Protocol(), device=device, sandbox="none", broken="0" * 64
        )
    )
    return session


def test_a_step_that_nobody_goes_on_with_is_left_open():
    session = opened(MemoryStore())
    session.apply(ev.RequestBuilt(iteration=1, prompt="0" * 64, feedback="L3"))
    assert [row.phase for row in session.shown_rows] == ["start", "asking"]
    session.live = False
    assert [row.phase for row in session.shown_rows] == ["start", "left open"]
    session.apply(ev.InfraFailed(iteration=1, kind="api", message="down", final=True))
    assert [row.phase for row in session.shown_rows] == ["start", "fault"]


def replied(store: MemoryStore, text: str, reasoning: str = "") -> ev.ReplyReceived:
    thoughts = store.put("responses", reasoning.encode()) if reasoning else None
    return ev.ReplyReceived(iteration=1, response=store.put("responses", text.encode()), reasoning=thoughts)


def strings(value: object) -> list[str]:
    """All texts in a value, those in its dataclasses and tuples included."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, list | tuple):
        return [text for item in value for text in strings(item)]
    return strings(list(vars(value).values())) if hasattr(value, "__dataclass_fields__") else []


def assert_harmless(text: str) -> None:
    assert all(character in "\n\t" or character.isprintable() for character in text), repr(text)
