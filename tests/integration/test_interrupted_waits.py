"""A service that cannot be reached: its retries are told, an interrupt ends the pauses, and the end says how to go on."""

from __future__ import annotations

import asyncio
import signal
from pathlib import Path

import pytest

from engine.fixers.base import Interrupted
from engine.fixers.chat import ChatFixer
from engine.fixers.config import FixerConfig, Retries
from engine.fixers.human import HumanFixer
from tests.support.fixing import FakeClock, a_request
from tests.support.openai_server import OpenAIServer, status
from tests.support.program import beaver, start_beaver
from tests.support.tasks import write_task
from tests.support.until import until_async

NOWHERE = "http://localhost:9/v1"


def nobody(**fields: object) -> FixerConfig:
    return FixerConfig(name="model", model="m", base_url=NOWHERE, **fields)  # type: ignore[arg-type]


async def test_every_retry_is_told_with_its_number_and_its_wait():
    fixer, told = ChatFixer(nobody(retries=Retries(attempts=3)), clock=FakeClock().clock()), []
    end = fixer.subscribe_notices(told.append)
    with pytest.raises(Exception, match="after 3 calls"):
        await fixer.propose(a_request())
    end()
    await fixer.close()
    assert [line.rpartition("; ")[2] for line in told] == ["try 2 of 3 in 1 s", "try 3 of 3 in 2 s"]
    assert all(line.startswith("model: localhost:9 could not be reached") for line in told)


async def test_an_interrupt_ends_the_pause_before_a_retry_at_once():
    fixer, told = ChatFixer(nobody()), []
    fixer.subscribe_notices(told.append)
    asking = asyncio.create_task(fixer.propose(a_request()))
    await until_async(lambda: told, "a retry is told")
    fixer.interrupt()
    with pytest.raises(Interrupted):
        await asyncio.wait_for(asking, 0.5)
    with pytest.raises(Interrupted):
        await fixer.propose(a_request())
    await fixer.close()


async def test_an_interrupt_lets_a_reply_that_is_on_its_way_arrive():
    with OpenAIServer("an answer") as server:
        fixer = ChatFixer(FixerConfig(name="model", model="m", base_url=server.url))
        asking = asyncio.create_task(fixer.propose(a_request()))
        await until_async(lambda: server.requests, "the request is sent")
        fixer.interrupt()
        assert (await asking).text == "an answer"
        await fixer.close()


async def test_an_interrupt_reaches_who_waits_for_the_desk_too(tmp_path: Path):
    fixer = HumanFixer(tmp_path / "desk")
    asking = [asyncio.create_task(fixer.propose(a_request())) for _ in range(2)]
    await until_async(lambda: fixer.waiting, "the first is waited for")
    fixer.interrupt()
    assert [type(result) for result in await asyncio.gather(*asking, return_exceptions=True)] == [Interrupted] * 2


@pytest.fixture
def words(tmp_path: Path) -> tuple[object, ...]:
    for name in ("a", "b"):
        write_task(tmp_path / "corpus", name)
    return ("--batch", "--corpus", tmp_path / "corpus", "--out", tmp_path / "run", "--format", "plain")


def test_a_batch_with_faults_says_how_to_go_on_when_they_are_mended(tmp_path: Path, words: tuple[object, ...]):
    config = tmp_path / "config.yaml"
    config.write_text(f"fixers: [{{name: model, model: m, base_url: '{NOWHERE}', retries: {{attempts: 2}}}}]\n")
    done = beaver(*words, "--config", config)
    assert done.code == 1
    assert "model: localhost:9 could not be reached" in done.out
    assert "; try 2 of 2 in " in done.out
    go_on = f"when they are mended: beaver-tui --batch --resume {tmp_path / 'run'}"
    assert f"2 trajectories have infrastructure faults; {go_on}" in done.err


def test_a_damaged_run_is_not_told_to_go_on(tmp_path: Path, words: tuple[object, ...]):
    with OpenAIServer() as server:
        server.queue(*[status(401)] * 2)
        config = tmp_path / "config.yaml"
        config.write_text(f"fixers: [{{name: model, model: m, base_url: '{server.url}'}}]\nprotocol: {{k: 1}}\n")
        assert beaver(*words, "--config", config).code == 1
        for journal in (tmp_path / "run").rglob("journal.jsonl"):
            journal.write_bytes(b"{garbage}\n")
        done = beaver("--batch", "--resume", tmp_path / "run")
    assert done.code == 1
    assert "--resume" not in done.err


def test_an_interrupt_ends_a_batch_that_waits_for_a_service(tmp_path: Path, words: tuple[object, ...]):
    with OpenAIServer() as server:
        server.queue(*[status(503, "busy", Retry_After="600")] * 9)
        config = tmp_path / "config.yaml"
        config.write_text(f"fixers: [{{name: model, model: m, base_url: '{server.url}'}}]\n")
        process = start_beaver(*words, "--config", config)
        assert process.stdout is not None
        while "try 2 of 6 in" not in process.stdout.readline():
            pass
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=20)
    assert process.returncode == 130
    assert "infra_error" not in out
    assert "Traceback" not in err
