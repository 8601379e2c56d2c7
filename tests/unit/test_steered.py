"""Who answers when the mode changes in the middle of a question, and what all of it cost."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest

from beaver_tui.live.draft import Draft, DraftFile
from beaver_tui.live.steered import Mode, SteeredFixer
from engine.errors import RunError
from engine.fixers.base import FixRequest, Interrupted, Reply
from engine.fixers.human import HumanFixer
from tests.support.fixing import a_request
from tests.support.until import until_async

FILE = "__global__ void k(float* y) {\n  y[threadIdx.x] = 1.0f;\n}\n"


class Model:
    """Answers when it is told to."""

    name = "model"

    def __init__(self) -> None:
        self.asked: list[FixRequest] = []
        self.go_on = asyncio.Event()

    async def propose(self, request: FixRequest) -> Reply:
        self.asked.append(request)
        await self.go_on.wait()
        return Reply(text=f"```cuda\n{FILE}```", model="m", tokens_in=10, tokens_out=5, cost=0.25, seconds=1.0)

    async def close(self) -> None: ...


@pytest.fixture
def steered(tmp_path: Path) -> Callable[[Mode], tuple[SteeredFixer, Model, list[str]]]:
    def make(mode: Mode) -> tuple[SteeredFixer, Model, list[str]]:
        model, done = Model(), []
        fixer = SteeredFixer(
            model,
            HumanFixer(tmp_path / "desk"),
            mode,
            DraftFile(tmp_path / "draft.json"),
            lambda action, detail, reply: done.append(f"{action}: {detail}"),
            lambda what: None,
        )
        return fixer, model, done

    return make


async def test_a_reply_on_its_way_becomes_a_proposal_when_the_mode_becomes_confirm(steered):
    fixer, model, done = steered("auto")
    asking = asyncio.create_task(fixer.propose(a_request()))
    await until_async(lambda: model.asked, "the model is asked")
    fixer.set_mode("confirm")
    model.go_on.set()
    await until_async(lambda: fixer.proposal, "the reply waits")
    assert (fixer.proposal.code, fixer.proposal.added, fixer.proposal.removed) == (FILE.encode(), 1, 1)
    fixer.accept()
    assert (await asking).tokens_in == 10
    assert len(model.asked) == 1
    assert done == ["mode: auto → confirm · in iteration 1"]


async def test_what_a_model_was_asked_before_a_person_took_over_is_in_the_persons_reply(steered, tmp_path: Path):
    fixer, model, done = steered("confirm")
    model.go_on.set()
    asking = asyncio.create_task(fixer.propose(a_request()))
    await until_async(lambda: fixer.proposal, "a proposal waits")
    fixer.reject("  no  ")
    await until_async(lambda: fixer.proposal and len(model.asked) == 2, "another one waits")
    fixer.set_mode("human")
    await until_async(lambda: (tmp_path / "desk" / "waiting.json").exists(), "the person is waited for")
    (tmp_path / "desk" / "kernel.cu").write_text(FILE)
    (tmp_path / "desk" / "submit").touch()
    reply = await asking
    assert (reply.text, reply.whole_file, reply.model) == (FILE, True, "human")
    assert (reply.tokens_in, reply.tokens_out, reply.cost, reply.calls) == (20, 10, 0.5, 2)
    assert done == [
        "rejected: iteration 1 · 10 + 5 tokens, $0.2500: no",
        "mode: confirm → human · in iteration 1",
    ]
    assert [message["role"] for message in model.asked[1].messages] == ["system", "user", "assistant", "user"]


async def test_cancelling_ends_whoever_is_asked(steered):
    for mode in ("auto", "human", "confirm"):
        fixer, _model, _done = steered(mode)
        asking = asyncio.create_task(fixer.propose(a_request()))
        await asyncio.sleep(0)
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
        assert asyncio.all_tasks() == {asyncio.current_task()}


async def test_an_interrupt_ends_the_wait_for_a_decision_and_keeps_the_reply(steered):
    fixer, model, _done = steered("confirm")
    model.go_on.set()
    asking = asyncio.create_task(fixer.propose(a_request()))
    await until_async(lambda: fixer.proposal, "a proposal waits")
    fixer.interrupt()
    with pytest.raises(Interrupted):
        await asking
    again, other, _done = steered("auto")
    assert (await again.propose(a_request())).tokens_in == 10
    assert other.asked == []


async def test_nothing_can_be_decided_where_nothing_waits(steered):
    fixer, _model, done = steered("confirm")
    for decide in (fixer.accept, lambda: fixer.reject("no"), lambda: fixer.edit(b"x")):
        with pytest.raises(RunError, match="no proposal waits for a decision"):
            decide()
    fixer.set_mode("confirm")
    assert done == []


def test_a_draft_of_another_iteration_or_a_damaged_one_means_nothing(tmp_path: Path):
    file = DraftFile(tmp_path / "draft.json")
    draft = file.save(Draft(attempt=1, iteration=2, waiting=Reply(text="x")))
    assert file.load(1, 2) == draft
    assert file.load(1, 3) == Draft(attempt=1, iteration=3)
    assert file.load(2, 2) == Draft(attempt=2, iteration=2)
    (tmp_path / "draft.json").write_bytes(b"\xff{")
    assert file.load(1, 2) == Draft(attempt=1, iteration=2)


def test_a_reply_that_json_cannot_hold_is_no_error(tmp_path: Path):
    file = DraftFile(tmp_path / "draft.json")
    file.save(Draft(attempt=1, iteration=1, waiting=Reply(text="\ud800")))
    assert file.load(1, 1).waiting is None
