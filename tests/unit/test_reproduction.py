"""The copied command says what it must, and is one that the command line takes."""

from __future__ import annotations

import shlex
from pathlib import Path

import msgspec
import pytest

from beaver_tui.batch.command import batch
from beaver_tui.state.reproduction import reproduction
from engine.errors import RunError
from engine.protocol import EarlyStop, Feedback, Protocol
from engine.rundir import Cell, ImportRecord, RunDirectory
from engine.sweep.replies import replay_fixer

STORED = Path(__file__).resolve().parents[1] / "fixtures" / "h200" / "run"


def test_one_of_several_fixers_is_named_and_the_command_is_understood():
    run = RunDirectory(STORED)
    cell = Cell("softmax_rows", "scripted:stagnating")
    words = shlex.split(reproduction(run, cell))
    assert words[:2] == ["beaver-tui", "--batch"]
    given = batch.make_context("beaver-tui --batch", words[2:]).params
    assert given["fixers"] == (f"replay:{STORED}::scripted:stagnating",)
    assert given["tasks"] == ("softmax_rows",)
    assert given["seed"] == run.record.seed
    _, _, path = given["fixers"][0].partition(":")
    assert replay_fixer("again", Path(path)).name == "again"


def test_what_differs_from_the_defaults_is_said_and_names_with_blanks_are_quoted():
    run = RunDirectory(STORED)
    protocol = Protocol(k=7, feedback=Feedback.L1, early_stop=EarlyStop.OBSERVE)
    run.record = msgspec.structs.replace(run.record, corpus="/my tasks", protocol=protocol)
    command = reproduction(run, Cell("a [b]", "me", 2))
    given = batch.make_context("beaver-tui --batch", shlex.split(command)[2:]).params
    assert (given["k"], given["feedback"], given["observe"], given["corpus"]) == (7, "L1", True, "/my tasks")
    assert given["tasks"] == ("a [[]b]",)
    assert given["attempts"] == 2


def test_what_an_imported_run_does_not_know_stands_in_no_command():
    run, cell = RunDirectory(STORED), Cell("softmax_rows", "scripted:stagnating")
    told = ImportRecord(source="/results", format="f", sha256="0", unknown=["version of the corpus"])
    run.record = msgspec.structs.replace(run.record, corpus="/checkout", seed="unknown", imported=told)
    words = shlex.split(reproduction(run, cell))
    given = batch.make_context("beaver-tui --batch", words[2:]).params
    assert (given["corpus"], given["seed"]) == ("/checkout", None)
    untold = msgspec.structs.replace(told, unknown=["corpus"])
    run.record = msgspec.structs.replace(run.record, corpus="unknown", imported=untold)
    with pytest.raises(RunError, match="/results does not say which corpus softmax_rows is from"):
        reproduction(run, cell)
