"""The checkers of the built-in tasks: right outputs are accepted, everything that is easy to fake is not.

The right outputs are computed here, in another way than the checker does it.
"""

from __future__ import annotations

import json
import os
import runpy
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

ROOT = Path(__file__).parents[2]
CHECKLIB = ROOT / "engine" / "harness" / "checklib"
CHECKERS = sorted((ROOT / "corpus").glob("*/checker/check.py"))
SUFFIXES = {".f32": "<f4", ".f16": "<f2", ".u32": "<u4", ".i32": "<i4", ".u8": "u1"}

Outputs = dict[str, np.ndarray]


class Inputs:
    """The input files of a task by their stem; floats come as float64."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __getattr__(self, stem: str) -> Any:
        path = next(self.folder.glob(f"{stem}.*"))
        values = np.fromfile(path, dtype=SUFFIXES[path.suffix])
        return (
            int(values[0])
            if values.size == 1 and values.dtype.kind in "iu"
            else values.astype(np.result_type(values, "f8"))
        )


def attention_window(given: Inputs) -> Outputs:
    q, k, v = (array.reshape(given.tokens, 8) for array in (given.q, given.k, given.v))
    y = np.empty_like(v)
    for first in range(0, given.tokens, 1 << 15):
        tokens = np.arange(first, min(first + (1 << 15), given.tokens))
        seen = tokens[:, None] - np.arange(given.window)
        scores = np.einsum("td,twd->tw", q[tokens], k[np.maximum(seen, 0)]) / np.sqrt(8)
        weights = np.where(seen >= 0, np.exp(scores - scores.max(axis=1, keepdims=True)), 0.0)
        y[tokens] = np.einsum("tw,twd->td", weights, v[np.maximum(seen, 0)]) / weights.sum(axis=1, keepdims=True)
    return {"y.f32": y}


def batchnorm_stats(given: Inputs) -> Outputs:
    channels = given.x.reshape(given.batch, given.channels, given.plane).swapaxes(0, 1).reshape(given.channels, -1)
    return {"mean.f32": channels.mean(axis=1), "variance.f32": channels.var(axis=1)}


def conv1d_causal(given: Inputs) -> Outputs:
    batch, inputs, outputs, steps, dilation = given.shape.astype(int)
    w = given.w.reshape(outputs, inputs, -1)
    times = np.arange(steps)[:, None] - dilation * np.arange(w.shape[2])
    x = given.x.reshape(batch, inputs, steps)
    windows = np.where(times >= 0, x[:, :, np.maximum(times, 0)], 0.0)
    y = np.tensordot(w, windows, ((1, 2), (1, 3))).transpose(1, 0, 2) + given.bias[:, None]
    return {"y.f32": y}


def conv2d_same(given: Inputs) -> Outputs:
    batch, inputs, outputs, height, width = given.shape.astype(int)
    x = np.pad(given.x.reshape(batch, inputs, height, width), ((0, 0), (0, 0), (2, 2), (2, 2)))
    windows = np.lib.stride_tricks.sliding_window_view(x, (5, 5), axis=(2, 3))
    return {
        "y.f32": np.tensordot(windows, given.w.reshape(outputs, inputs, 5, 5), ((1, 4, 5), (1, 2, 3))).transpose(
            0, 3, 1, 2
        )
    }


def conv_depthwise(given: Inputs) -> Outputs:
    batch, channels, height, width = given.shape.astype(int)
    x = np.pad(given.x.reshape(batch, channels, height, width), ((0, 0), (0, 0), (1, 1), (1, 1)))
    windows = np.lib.stride_tricks.sliding_window_view(x, (3, 3), axis=(2, 3))
    return {"y.f32": np.einsum("bchwij,cij->bchw", windows, given.w.reshape(channels, 3, 3))}


def fft_stockham(given: Inputs) -> Outputs:
    x = given.x.reshape(given.rows, given.length, 2) @ [1, 1j]
    turns = np.outer(np.arange(given.length), np.arange(given.length)) % given.length / given.length
    y = x @ np.exp(-2j * np.pi * turns)
    return {"y.f32": np.stack((y.real, y.imag), axis=-1)}


def flash_attention(given: Inputs) -> Outputs:
    q, k, v = (array.reshape(given.heads, given.tokens, -1) for array in (given.q, given.k, given.v))
    scores = np.einsum("htd,hud->htu", q, k) / np.sqrt(q.shape[2])
    weights = np.exp(scores - np.logaddexp.reduce(scores, axis=2, keepdims=True))
    return {"y.f32": np.einsum("htu,hud->htd", weights, v)}


def gemm_rect(given: Inputs) -> Outputs:
    a, b = given.a.reshape(given.m, given.k), given.b.reshape(given.k, given.n)
    return {"c.f32": sum(a[:, i : i + 50] @ b[i : i + 50] for i in range(0, given.k, 50))}


def gemm_streams(given: Inputs) -> Outputs:
    sizes = given.sizes.astype(int).reshape(-1, 3)
    a = np.split(given.a, np.cumsum(sizes[:, 0] * sizes[:, 2]))
    b = np.split(given.b, np.cumsum(sizes[:, 2] * sizes[:, 1]))
    products = [p.reshape(m, k) @ q.reshape(k, n) for (m, n, k), p, q in zip(sizes, a, b, strict=False)]
    return {"c.f32": np.concatenate([product.ravel() for product in products])}


def gemm_wmma(given: Inputs) -> Outputs:
    a, b = given.a.reshape(given.m, given.k), given.b.reshape(given.k, given.n)
    return {"c.f32": sum(a[:, i : i + 33] @ b[i : i + 33] for i in range(0, given.k, 33))}


def histogram_bytes(given: Inputs) -> Outputs:
    values, counts = np.unique(given.data.astype(int), return_counts=True)
    bins = np.zeros(256)
    bins[values] = counts
    return {"bins.u32": bins}


def image_luma(given: Inputs) -> Outputs:
    red, green, blue = given.rgb.reshape(-1, 3).T
    luma = (299 * red + 587 * green + 114 * blue) / 1000
    return {"luma.f32": luma.reshape(given.height, given.width)}


def image_resize(given: Inputs) -> Outputs:
    image = given.image.reshape(given.shape.astype(int))
    across = given.horizontal_first.astype(int) + np.arange(given.horizontal_taps)[:, None]
    weights = given.horizontal_weights.reshape(across.shape)
    rows = sum(image[:, :, at] * weight for at, weight in zip(across, weights, strict=True))
    down = given.vertical_first.astype(int) + np.arange(given.vertical_taps)[:, None]
    weights = given.vertical_weights.reshape(down.shape)
    return {"result.f32": sum(rows[:, at] * weight[:, None] for at, weight in zip(down, weights, strict=True))}


def kb_conv1d_relu(given: Inputs) -> Outputs:
    x = given.x.reshape(8, 96, 2001)
    weight = given.weight.reshape(96, 7)
    y = np.stack([[np.correlate(np.pad(x[b, c], 3), weight[c], "valid") for c in range(96)] for b in range(8)])
    return {"y.f32": np.maximum(0.0, y + given.bias[:, None])}


def kb_linear_relu(given: Inputs) -> Outputs:
    y = np.einsum("ri,oi->ro", given.x.reshape(1000, 700), given.weight.reshape(900, 700), optimize=True) + given.bias
    return {"y.f32": np.where(y > 0, y, 0.0)}


def kb_logsumexp(given: Inputs) -> Outputs:
    return {"y.f32": np.logaddexp.reduce(given.x.reshape(2000, 1000), axis=1)}


def kb_masked_softmax(given: Inputs) -> Outputs:
    scores = given.scores.reshape(2000, 1003)
    y = np.zeros_like(scores)
    for row, length in enumerate(given.lengths.astype(int)):
        seen = scores[row, :length]
        y[row, :length] = np.exp(seen - np.logaddexp.reduce(seen))
    return {"y.f32": y}


def kb_rms_norm(given: Inputs) -> Outputs:
    x = given.x.reshape(3000, 1500)
    return {"y.f32": given.weight * x / np.sqrt(np.einsum("rc,rc->r", x, x) / 1500 + 1e-5)[:, None]}


def layernorm_backward(given: Inputs) -> Outputs:
    dy, x = (array.reshape(given.rows, given.cols) for array in (given.dy, given.x))
    normal = given.rstd[:, None] * (x - given.mean[:, None])
    # A row of dx is orthogonal to the constant and to the normalised row: both parts are projected out.
    dx = dy * given.gamma
    dx = (
        dx
        - np.einsum("rc->r", dx)[:, None] / given.cols
        - normal * np.einsum("rc,rc->r", dx, normal)[:, None] / given.cols
    )
    return {
        "dx.f32": given.rstd[:, None] * dx,
        "dgamma.f32": np.einsum("rc,rc->c", dy, normal),
        "dbeta.f32": np.ones(given.rows) @ dy,
    }


def layernorm_rows(given: Inputs) -> Outputs:
    x = given.x.reshape(given.rows, given.cols)
    scaled = (x - x.mean(axis=1, keepdims=True)) / np.sqrt(x.var(axis=1, keepdims=True) + given.epsilon)
    return {"y.f32": scaled * given.gamma + given.beta}


def life_graph(given: Inputs) -> Outputs:
    board = given.cells.astype(int).reshape(given.height, given.width)
    for _ in range(given.generations):
        torus = np.pad(board, 1, mode="wrap")
        around = np.lib.stride_tricks.sliding_window_view(torus, (3, 3)).sum(axis=(2, 3)) - board
        board = np.isin(10 * board + around, (3, 12, 13)).astype(int)
    return {"result.u8": board}


def radix_sort_pairs(given: Inputs) -> Outputs:
    outputs: Outputs = {}
    for keys, suffix in (("integer", "u32"), ("float", "f32")):
        found = getattr(given, f"{keys}_keys")
        order = np.lexsort((np.arange(given.count), found))
        outputs[f"{keys}_keys.{suffix}"] = found[order]
        outputs[f"{keys}_values.u32"] = given.values[order]
    return outputs


def reduce_argmax(given: Inputs) -> Outputs:
    rows = given.x.reshape(given.rows, given.cols).tolist()
    return {
        "value.f32": np.array([max(row) for row in rows]),
        "index.i32": np.array([row.index(max(row)) for row in rows]),
    }


def scan_lookback(given: Inputs) -> Outputs:
    total, sums = 0, []
    for value in given.x.astype(int).tolist():
        total = (total + value) % 2**32
        sums.append(total)
    return {"y.u32": np.array(sums)}


def scan_rows(given: Inputs) -> Outputs:
    x = given.x.reshape(given.rows, given.cols)
    total, largest = x.copy(), x.copy()
    for column in range(1, given.cols):
        total[:, column] += total[:, column - 1]
        largest[:, column] = np.maximum(largest[:, column], largest[:, column - 1])
    return {"sum.f32": total, "max.f32": largest}


def scan_segmented(given: Inputs) -> Outputs:
    pieces = np.split(given.x, given.offsets[1:-1].astype(int))
    return {"y.f32": np.concatenate([np.cumsum(piece) for piece in pieces])}


def segment_sums(given: Inputs) -> Outputs:
    owners = np.repeat(np.arange(given.segments), np.diff(given.offsets.astype(int)))
    return {"sums.f32": np.bincount(owners, weights=given.x, minlength=given.segments)}


def softmax_rows(given: Inputs) -> Outputs:
    x = given.x.reshape(given.rows, given.cols)
    return {"y.f32": np.exp(x - np.logaddexp.reduce(x, axis=1, keepdims=True))}


def sort_rows(given: Inputs) -> Outputs:
    x = given.x.reshape(given.rows, given.cols)
    return {"y.f32": np.array([sorted(row) for row in x.tolist()])}


def spmm_ell(given: Inputs) -> Outputs:
    there = given.columns >= 0
    values, columns = np.where(there, given.values, 0.0), np.where(there, given.columns, 0).astype(int)
    x = given.x.reshape(given.cols, given.n)
    y = np.einsum("rk,rkn->rn", values.reshape(-1, given.width), x[columns.reshape(-1, given.width)])
    return {"y.f32": y}


def spmv_coo(given: Inputs) -> Outputs:
    y = np.zeros(given.rows)
    np.add.at(y, given.row_of.astype(int), given.values * given.x[given.column_of.astype(int)])
    return {"y.f32": y}


def spmv_csr(given: Inputs) -> Outputs:
    rows = np.repeat(np.arange(given.rows), np.diff(given.offsets.astype(int)))
    products = given.values * given.x[given.columns.astype(int)]
    return {"y.f32": np.bincount(rows, weights=products, minlength=given.rows)}


def stencil_heat3d(given: Inputs) -> Outputs:
    nx, ny, nz = given.box.astype(int)
    flat = given.before
    inside = np.pad(np.ones((nz - 2, ny - 2, nx - 2), dtype=bool), 1).ravel()
    at = np.flatnonzero(inside)
    steps = (1, nx, nx * ny)
    after = flat.copy()
    after[at] = (1 - 6 * given.rate[0]) * flat[at] + given.rate[0] * sum(flat[at - s] + flat[at + s] for s in steps)
    return {"after.f32": after.reshape(nz, ny, nx)}


def stencil_star(given: Inputs) -> Outputs:
    x = given.x.reshape(given.height, given.width)
    rows, columns = np.arange(given.height), np.arange(given.width)
    y = given.weights[0] * x
    for distance in (-3, -2, -1, 1, 2, 3):
        weight = given.weights[abs(distance)]
        y += weight * x[np.clip(rows + distance, 0, given.height - 1)]
        y += weight * x[:, np.clip(columns + distance, 0, given.width - 1)]
    return {"y.f32": y}


def topk_rows(given: Inputs) -> Outputs:
    x = given.x.reshape(given.rows, given.cols)
    outputs: Outputs = {}
    for k in (1, 4, 16):
        best = np.array([sorted(zip(-row, range(given.cols), strict=True))[:k] for row in x])
        outputs[f"values{k}.f32"], outputs[f"columns{k}.i32"] = -best[:, :, 0], best[:, :, 1]
    return outputs


def vector_normalize(given: Inputs) -> Outputs:
    return {"y.f32": given.x / np.linalg.norm(given.x)}


def wave_cooperative(given: Inputs) -> Outputs:
    height, width = given.membrane.astype(int)
    old, v = given.u0.reshape(height, width), given.v0.reshape(height, width)
    inner = np.zeros((height, width))
    inner[1:-1, 1:-1] = 1.0
    u = old
    before = old - inner * v  # the deflection of a step ago: u is a recurrence of two terms
    for _ in range(given.steps):
        around = np.roll(u, 1, 0) + np.roll(u, -1, 0) + np.roll(u, 1, 1) + np.roll(u, -1, 1) - 4.0 * u
        u, before = u + inner * (u - before + given.rate[0] * around), u
    return {"u.f32": u, "v.f32": np.where(inner > 0, u - before, v)}


ORACLES: dict[str, Callable[[Inputs], Outputs]] = {
    oracle.__name__: oracle
    for oracle in (
        attention_window,
        batchnorm_stats,
        conv1d_causal,
        conv2d_same,
        conv_depthwise,
        fft_stockham,
        flash_attention,
        gemm_rect,
        gemm_streams,
        gemm_wmma,
        histogram_bytes,
        image_luma,
        image_resize,
        kb_conv1d_relu,
        kb_linear_relu,
        kb_logsumexp,
        kb_masked_softmax,
        kb_rms_norm,
        layernorm_backward,
        layernorm_rows,
        life_graph,
        radix_sort_pairs,
        reduce_argmax,
        scan_lookback,
        scan_rows,
        scan_segmented,
        segment_sums,
        softmax_rows,
        sort_rows,
        spmm_ell,
        spmv_coo,
        spmv_csr,
        stencil_heat3d,
        stencil_star,
        topk_rows,
        vector_normalize,
        wave_cooperative,
    )
}


class Bench:
    """A checker in a folder of its own, with its inputs generated and its outputs right."""

    def __init__(self, task: str, source: Path, folder: Path) -> None:
        self.folder = folder
        self.script = source
        self.run("generate", apart=True)
        self.right = {
            name: np.ascontiguousarray(values, dtype=SUFFIXES[Path(name).suffix])
            for name, values in ORACLES[task](Inputs(folder / "in")).items()
        }
        (folder / "out").mkdir()
        self.restore()

    def run(self, step: str, *, apart: bool = False) -> int:
        """Runs a step in a process of its own, or in this one, which is faster."""
        if apart:
            environment = {**os.environ, "BEAVER_SEED": "20240229", "PYTHONPATH": str(CHECKLIB)}
            command = [sys.executable, str(self.script), step]
            done = subprocess.run(
                command, cwd=self.folder, env=environment, capture_output=True, text=True, check=False
            )
            assert done.returncode in (0, 1), done.stderr
            return done.returncode
        with pytest.MonkeyPatch.context() as patch, pytest.raises(SystemExit) as ended:
            patch.chdir(self.folder)
            patch.syspath_prepend(str(CHECKLIB))
            patch.setattr(sys, "argv", [str(self.script), step])
            runpy.run_path(str(self.script))
        assert isinstance(ended.value.code, int)
        return ended.value.code

    def write(self, name: str, values: np.ndarray) -> None:
        with np.errstate(invalid="ignore"):  # floats that are no unsigned integers make a wrong answer too
            np.ascontiguousarray(values, dtype=self.right[name].dtype).tofile(self.folder / "out" / name)

    def restore(self) -> None:
        for name, values in self.right.items():
            (self.folder / "out" / name).unlink(missing_ok=True)
            self.write(name, values)

    def result(self) -> dict[str, Any]:
        return json.loads((self.folder / "result.json").read_text())

    def reject(self, what: str) -> dict[str, Any]:
        code = self.run("compare")
        result = self.result()
        self.restore()
        assert code == 1, f"{what} was accepted"
        assert result["passed"] is False
        assert result["message"]
        return result


@pytest.fixture(scope="module", params=CHECKERS, ids=lambda path: path.parents[1].name)
def bench(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    task = request.param.parents[1].name
    assert task in ORACLES, f"{task} has no oracle in this test"
    yield Bench(task, request.param, tmp_path_factory.mktemp(task))


def test_right_outputs_are_accepted(bench: Bench) -> None:
    assert bench.run("compare", apart=True) == 0
    result = bench.result()
    assert result["passed"] is True
    assert result["mismatches"] == []


def test_easy_answers_are_rejected(bench: Bench) -> None:
    for name, values in bench.right.items():
        bench.write(name, np.zeros_like(values))
        bench.reject("zeros")
        bench.write(name, np.full_like(values, values.flat[0]))
        bench.reject("a constant")
        bench.write(name, np.roll(values, 1))
        bench.reject("a shifted answer")
        for path in (bench.folder / "in").iterdir():
            copied = np.fromfile(path, dtype=SUFFIXES[path.suffix])
            if copied.size >= values.size:
                bench.write(name, copied[: values.size])
                bench.reject(f"a copy of {path.name}")


def test_one_wrong_value_is_found_where_it_is(bench: Bench) -> None:
    for name, values in bench.right.items():
        wrong = values.copy()
        at = np.unravel_index(values.size - 1, values.shape)
        wrong[at] += np.asarray(1 if values.dtype.kind in "iu" else np.abs(values).max(), dtype=values.dtype)
        bench.write(name, wrong)
        result = bench.reject("one wrong value")
        assert [entry["index"] for entry in result["mismatches"]] == [[int(i) for i in at]]
        assert result["shape"] == list(values.shape)


def test_half_precision_is_rejected(bench: Bench) -> None:
    for name, values in bench.right.items():
        if values.dtype.kind == "f":
            bench.write(name, values.astype(np.float16))
            bench.reject("half precision")


def test_what_is_not_finite_missing_or_of_another_size_is_rejected(bench: Bench) -> None:
    for name, values in bench.right.items():
        path = bench.folder / "out" / name
        path.write_bytes(b"\xff" * values.nbytes)
        bench.reject("the driver's poison")
        if values.dtype.kind == "f":
            for strange in (np.nan, np.inf):
                one = values.copy()
                one.flat[0] = strange
                bench.write(name, one)
                assert bench.reject(str(strange))["mismatches"][0]["got"] == str(strange)
        path.write_bytes(values.tobytes()[:-1])
        bench.reject("a short file")
        path.write_bytes(values.tobytes() + b"\0")
        bench.reject("a long file")
        path.unlink()
        bench.reject("a missing file")
        path.with_suffix(".moved").write_bytes(values.tobytes())
        path.unlink()
        path.symlink_to(path.with_suffix(".moved").name)
        bench.reject("a link")
        path.with_suffix(".moved").unlink()


def test_inputs_follow_the_seed(bench: Bench, tmp_path: Path) -> None:
    def generate(seed: str) -> dict[str, bytes]:
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("BEAVER_SEED", seed)
            bench.run("generate")
        return {path.name: path.read_bytes() for path in (bench.folder / "in").iterdir()}

    first = {path.name: path.read_bytes() for path in (bench.folder / "in").iterdir()}
    try:
        assert generate("1") != first
    finally:
        assert generate("20240229") == first


def test_checker_without_a_seed_is_at_fault(tmp_path: Path) -> None:
    environment = {key: value for key, value in os.environ.items() if key != "BEAVER_SEED"} | {
        "PYTHONPATH": str(CHECKLIB)
    }
    command = [sys.executable, str(CHECKERS[0]), "generate"]
    assert subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, check=False).returncode == 3


@pytest.mark.parametrize("tolerance", ["(10.0, 0.0)", "(0.0, 1.0)"])
def test_checker_with_a_loose_tolerance_is_at_fault(tmp_path: Path, tolerance: str) -> None:
    script = tmp_path / "check.py"
    script.write_text(
        "import numpy as np\n"
        "import beaver_check as bc\n"
        f"bc.main(lambda: None, lambda: bc.compare('y.f32', np.arange(4.0), bc.Tolerance{tolerance}))\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(CHECKLIB)}
    command = [sys.executable, str(script), "compare"]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 3
    assert "accepts 0 everywhere" in done.stderr
