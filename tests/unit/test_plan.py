"""One-at-a-time designs: which runs there are, which setting each answers, what they may cost."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.analysis.plan import Answer, attempts_of, config_protocol, design, load_of, read_values
from engine.config import read_protocol
from engine.errors import ConfigError
from engine.fixers.config import FixerConfig
from engine.fixers.prices import Price
from engine.prompts import build_messages, encode_messages
from engine.protocol import GateMode, Protocol, Sampling
from engine.rundir import Cell
from tests.support.tasks import write_task

ALL = read_values(("A1,A2", "A3,A4"), ())


def test_the_papers_design_shares_the_default_run_and_plays_no_gate_of_its_own():
    runs = design(Protocol(), ALL)
    assert [run.name for run in runs] == [
        *("default", "A2-repeated", "A3-L0", "A3-L1", "A3-L2", "A3-L3raw", "A4-1", "A4-2", "A4-3")
    ]
    default = {str(answer) for answer in runs[0].answers}
    assert {"A1=0.7", "A1=1.5 (re-scored)", "A2=iterative", "A3=L3", "A4=4"} <= default
    assert sum(answer.axis == "A1" for run in runs for answer in run.answers) == 8


def test_one_axis_changes_at_a_time_and_repeated_sampling_has_its_own_temperature():
    base = Protocol(temperature=0.3)
    for run in design(base, ALL)[1:]:
        (answer,) = run.answers
        changed = {name for name in base.__struct_fields__ if getattr(run.protocol, name) != getattr(base, name)}
        assert changed == ({"sampling", "temperature"} if answer.axis == "A2" else changed)
        assert len(changed) == (2 if answer.axis == "A2" else 1)
    repeated = next(run for run in design(base, ALL) if run.name == "A2-repeated")
    assert repeated.protocol.effective_temperature == 1.0


def test_in_the_loop_one_run_at_the_highest_gate_answers_all_above_the_base():
    runs = design(Protocol(gate_mode=GateMode.INLOOP), {"A1": (0.5, 0.7, 0.9, 1.5)})
    assert [[str(answer) for answer in run.answers] for run in runs] == [
        ["A1=0.5 (re-scored)", "A1=0.7"],
        ["A1=0.9 (re-scored)", "A1=1.5"],
    ]
    assert runs[1].protocol.gate == 1.5


def test_a_history_that_no_prompt_can_show_gets_no_run():
    runs = design(Protocol(k=3), {"A4": (1, 2, 3, 4)})
    assert [run.name for run in runs] == ["default", "A4-1"]
    assert Answer("A4", 3, "K=3 shows 2 rounds at most") in runs[0].answers


@pytest.mark.parametrize(
    ("base", "axis", "reason"),
    [
        (Protocol(sampling=Sampling.REPEATED), "A3", "with repeated sampling"),
        (Protocol(k=1), "A4", "K=1"),
        (Protocol(history=0), "A3", "history 0"),
        (read_protocol(None, {"feedback": "L0"}), "A4", "feedback L0"),
    ],
)
def test_an_axis_that_would_change_nothing_is_refused(base: Protocol, axis: str, reason: str):
    with pytest.raises(ConfigError, match=f"--axis {axis}: .*{reason}"):
        design(base, {axis: (1, 2)})


@pytest.mark.parametrize(
    ("axes", "values", "reason"),
    [
        ((), (), "name at least one of A1, A2, A3, A4"),
        (("A9",), (), "--axis A9: unknown"),
        (("A1",), ("A3=L0",), "A3 is not swept"),
        (("A4",), ("A4=one",), "are numbers"),
        (("A4",), ("A4",), "write it as"),
        (("A1",), ("A1=inf",), "finite numbers"),
    ],
)
def test_wrong_axes_and_settings_are_told(axes: tuple[str, ...], values: tuple[str, ...], reason: str):
    with pytest.raises(ConfigError, match=reason):
        read_values(axes, values)


def test_own_settings_replace_the_papers_and_are_checked():
    assert read_values(("A3",), ("A3=L0,L4,L0",)) == {"A3": ("L0", "L4")}
    with pytest.raises(ConfigError, match="--values A3=L9"):
        design(Protocol(), {"A3": ("L9",)})
    with pytest.raises(ConfigError, match="history=-1"):
        design(Protocol(), {"A4": (-1,)})


def test_the_load_of_repeated_sampling_is_its_first_prompt_k_times(tmp_path: Path):
    """Known prompts: nothing is estimated but the tokens in a character."""
    task = write_task(tmp_path)
    protocol = Protocol(sampling=Sampling.REPEATED)
    (run,) = design(protocol, {"A1": (0.7,)})
    cells = [Cell(task.id, "m", attempt) for attempt in range(1, attempts_of(protocol, None) + 1)]
    config = FixerConfig(name="m", model="m", max_tokens=1000, prices=Price(input=3.0, output=6.0))
    load = load_of(run, config, cells, {task.id: task})
    prompt = -(-len(encode_messages(build_messages(task, protocol, []))) // 3)
    assert (load.trajectories, load.calls, load.tokens_in) == (5, 5, 5 * prompt)
    assert load.most == pytest.approx((5 * prompt * 3 + 5 * 1000 * 6) / 1e6)


def test_prompts_grow_with_what_they_remember(tmp_path: Path):
    task = write_task(tmp_path)
    config = FixerConfig(name="m", model="m")

    def tokens(**fields: object) -> int:
        (run,) = design(read_protocol(None, fields), {"A1": (0.7,)})
        return load_of(run, config, [Cell(task.id, "m")], {task.id: task}).tokens_in

    assert tokens(feedback="L0") < tokens(feedback="L1") < tokens(feedback="L2") < tokens(feedback="L3")
    assert tokens(history=1) < tokens(history=2) < tokens(history=4)
    assert tokens(k=2) < tokens(k=3)


def test_an_unknown_cost_is_no_zero_and_a_recorded_fixer_costs_nothing(tmp_path: Path):
    task = write_task(tmp_path)
    (run,) = design(Protocol(), {"A2": ("iterative",)})
    cells, tasks = [Cell(task.id, "m")], {task.id: task}
    unpriced = load_of(run, FixerConfig(name="m", model="m"), cells, tasks)
    assert (unpriced.about, unpriced.most, unpriced.why) == (None, None, "no prices given")
    endless = load_of(run, FixerConfig(name="m", model="m", prices=Price(input=1, output=1)), cells, tasks)
    assert endless.about is not None and endless.most is None and endless.why == "no max_tokens given"
    scripted = load_of(run, FixerConfig(name="m", kind="scripted", script="good"), cells, tasks)
    assert (scripted.calls, scripted.about, scripted.most) == (5, 0.0, 0.0)


def test_the_protocol_of_a_config_file_is_read_back_as_it_was():
    for run in design(Protocol(k=3, no_progress_c=2, stderr_lines=10), ALL):
        assert read_protocol(None, config_protocol(run.protocol)) == run.protocol
