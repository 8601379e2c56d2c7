"""The degeneration lens: it names what was given up, it says nothing of an honest fix, and its score is what the page says."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from engine.corpora import builtin_folder
from engine.extract import extract
from engine.verdict.degeneration import Finding, lens, score
from engine.verdict.degeneration_compiled import COMPILED_KINDS
from engine.verdict.degeneration_rules import KINDS
from engine.verdict.structure import structure
from engine.verdict.structure_rules import FEATURES

CORPUS = builtin_folder()
TASKS = sorted(path.parent.name for path in CORPUS.glob("*/reference.cu"))
PAIRS = Path(__file__).parents[1] / "fixtures" / "lens" / "pairs"

SLOW_STARTS = {"attention_window", "conv1d_causal", "gemm_rect", "layernorm_backward", "segment_sums", "spmv_coo"}
"""Tasks whose broken start has nothing to lose: naive kernels, or a call to a library that is not there."""

NAMED = {
    "shared tiling dropped": ("softmax_rows", "shared_tiling"),
    "vector loads dropped": ("image_luma", "vector_loads"),
    "wmma replaced by scalar loops": ("gemm_wmma", "tensor_cores"),
    "cp.async dropped": ("conv_depthwise", "async_copies"),
    "blocks of one thread": ("spmv_csr", "one_thread"),
    "atomics instead of a reduction": ("histogram_bytes", "atomics"),
    "warp shuffles dropped": ("spmm_ell", "warp_shuffles"),
    "streams dropped": ("gemm_streams", "streams"),
    "graph dropped": ("life_graph", "graphs"),
    "one block": ("wave_cooperative", "launch_shrink"),
    "thread per row": ("layernorm_rows", "parallelism"),
    "rows apart": ("stencil_heat3d", "coalescing"),
    "double precision": ("batchnorm_stats", "precision"),
    "a launch per tap": ("stencil_star", "extra_passes"),
    "smaller digits": ("radix_sort_pairs", "constants"),
    "unequal shares": ("segment_sums", "load_balance"),
    "register tile dropped": ("gemm_rect", "register_tile"),
}
"""What built-in degenerate answers give up: the task and the kind that names it."""

FIXTURES = {
    "atomics_for_a_tree": "atomics",
    "copies_ahead_dropped": "async_copies",
    "fused_kernel_split": "extra_passes",
    "library_for_the_kernel": "library",
    "no_kernel_left": "no_kernel",
    "one_thread": "one_thread",
    "one_thread_behind_a_guard": "one_thread",
    "precision_raised": "precision",
    "register_tile_dropped": "register_tile",
    "waits_between_launches": "host_waits",
    "work_on_the_host": "host_work",
}
"""Small triples of a start, an honest fix and a degenerate one, for kinds that no built-in task shows."""


def answer(task: str, script: str) -> bytes:
    """The last recorded answer of a script, taken out of its reply where it is one."""
    path = sorted((CORPUS / task / "answers" / script).iterdir())[-1]
    if path.suffix == ".md":
        found = extract(path.read_text(), suffix=".cu", start=(CORPUS / task / "broken.cu").read_text())
        assert found.source is not None
        return found.source.encode()
    return path.read_bytes()


def findings(before: bytes, after: bytes) -> tuple[Finding, ...]:
    return lens(structure(before), structure(after))


def against(task: str, baseline: str, candidate: bytes) -> tuple[Finding, ...]:
    return findings((CORPUS / task / f"{baseline}.cu").read_bytes(), candidate)


def kinds(found: tuple[Finding, ...]) -> set[str]:
    return {finding.kind for finding in found}


@pytest.mark.parametrize("task", TASKS)
def test_every_degenerate_answer_is_named(task: str):
    slow = answer(task, "degenerate")
    assert against(task, "reference", slow)
    if task not in SLOW_STARTS:
        assert against(task, "broken", slow)


@pytest.mark.parametrize("task", TASKS)
def test_no_honest_fix_is_named(task: str):
    """Good answers and references against the broken start; against the reference where the start is the slow one."""
    assert against(task, "broken", answer(task, "good")) == ()
    assert against(task, "broken", (CORPUS / task / "reference.cu").read_bytes()) == ()
    if json.loads((CORPUS / task / "input.json").read_text())["start_bucket"] == "perf_broken":
        assert against(task, "reference", answer(task, "good")) == ()


def test_good_answers_against_the_reference_lose_only_what_they_lack():
    named = {task: kinds(against(task, "reference", answer(task, "good"))) for task in TASKS}
    # The good layernorm reads single floats, as its broken start does; the reference reads four at a time.
    assert {task: found for task, found in named.items() if found} == {"layernorm_rows": {"vector_loads"}}


@pytest.mark.parametrize(("task", "kind"), NAMED.values(), ids=NAMED)
def test_the_kind_names_what_was_given_up(task: str, kind: str):
    baseline = "reference" if task in SLOW_STARTS else "broken"
    assert kind in kinds(against(task, baseline, answer(task, "degenerate")))


@pytest.mark.parametrize(("name", "kind"), FIXTURES.items())
def test_kinds_that_no_built_in_task_shows(name: str, kind: str):
    start, honest, degenerate = (
        (PAIRS / name / f"{part}.cu").read_bytes() for part in ("start", "honest", "degenerate")
    )
    assert findings(start, honest) == ()
    assert kind in kinds(findings(start, degenerate))


def test_every_triple_of_the_fixtures_is_tried():
    assert {path.name for path in PAIRS.iterdir()} == set(FIXTURES)


TILED = b"""__global__ void k(const float* x, float* y, int n) {
    __shared__ float tile[256];
    tile[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    y[threadIdx.x] = tile[255 - threadIdx.x];
}
void go(const float* x, float* y, int n) { k<<<n, 256>>>(x, y, n); }
"""
PLAIN = b"""__global__ void k(const float* x, float* y, int n) {
    y[threadIdx.x] = x[255 - threadIdx.x];
}
void go(const float* x, float* y, int n) { k<<<n, 256>>>(x, y, n); }
"""


def test_a_finding_has_words_numbers_and_lines_of_both_sides():
    (found,) = findings(TILED, PLAIN)
    assert found.text == "lost shared tiling (1 -> 0)"
    assert (found.lines_before, found.lines_after) == ((2,), (1,))
    assert (found.severity, found.part) == (1.0, found.weight)


def test_an_added_barrier_is_no_loss():
    assert findings(TILED, TILED.replace(b"    y[", b"    __syncthreads();\n    y[")) == ()


def test_a_shared_tile_that_nothing_uses_is_nothing_to_lose():
    unused = PLAIN.replace(b"    y[", b"    __shared__ float tile[256];\n    y[")
    assert findings(unused, PLAIN) == ()


def test_a_small_launch_after_a_full_one_is_no_loss():
    more = PLAIN.replace(b"(x, y, n); }", b"(x, y, n); k<<<1, 256>>>(y, y, n); }")
    assert findings(PLAIN, more) == ()
    assert kinds(findings(PLAIN, PLAIN.replace(b"<<<n, 256>>>", b"<<<1, 256>>>"))) == {"launch_shrink"}


def test_a_copy_on_the_device_waits_for_nothing():
    copied = PLAIN.replace(b"{ k<<<", b"{ cudaMemcpy(y, x, n, cudaMemcpyDeviceToDevice); k<<<")
    assert findings(PLAIN, copied) == ()
    assert kinds(findings(PLAIN, copied.replace(b"DeviceToDevice", b"DeviceToHost"))) == {"host_waits"}


def test_what_does_not_parse_is_read_around():
    broken = TILED.replace(b"    __syncthreads();", b"    wibble )) ;\n    __syncthreads();")
    assert structure(broken).errors
    assert kinds(findings(broken, PLAIN)) == {"shared_tiling"}
    assert kinds(findings(TILED, PLAIN.replace(b"    y[", b"    wibble )) ;\n    y["))) == {"shared_tiling"}


def test_cuda_in_python_is_seen_too():
    def module(code: bytes) -> bytes:
        return (
            b'from torch.utils.cpp_extension import load_inline\nsource = """\n' + code + b'"""\nload_inline(source)\n'
        )

    (found,) = lens(structure(module(TILED), ".py"), structure(module(PLAIN), ".py"))
    assert (found.kind, found.lines_before) == ("shared_tiling", (4,))
    gone = lens(
        structure(module(TILED), ".py"), structure(b"import torch\n\ndef forward(x):\n    return x.flip(0)\n", ".py")
    )
    assert "no_kernel" in kinds(gone)


def test_nothing_is_lost_against_itself():
    for task in TASKS:
        code = (CORPUS / task / "reference.cu").read_bytes()
        assert findings(code, code) == ()


def part(kind: str, weight: float, severity: float = 1.0) -> Finding:
    return Finding(kind, kind, 1, 0, severity, weight)


def test_the_score_is_one_minus_what_every_finding_leaves():
    assert score(()) == 0.0
    assert score([part("a", 0.5)]) == 0.5
    assert score([part("a", 0.5), part("b", 0.4)]) == pytest.approx(1 - 0.5 * 0.6)
    assert score([part("a", 0.5, 0.5)]) == 0.25
    # Source and compiled code tell of the same loss: it counts once.
    assert score([part("a", 0.5), part("a", 0.4)]) == 0.5


def test_the_score_never_falls_when_a_finding_is_added():
    found = against("gemm_wmma", "broken", answer("gemm_wmma", "degenerate"))
    scores = [score(found[:count]) for count in range(len(found) + 1)]
    assert scores == sorted(scores)
    assert 0.9 < scores[-1] < 1.0


def test_the_table_is_sound():
    assert all(0 < kind.weight < 1 for kind in KINDS)
    features = {feature.name for feature in FEATURES}
    for task in TASKS:
        for finding in against(task, "reference", answer(task, "degenerate")):
            assert 0 < finding.severity <= 1
            assert set(finding.lines_before) <= set(range(1, 400))
    assert {"shared_loops", "strided_accesses", "data_bounds"} <= features


def test_the_page_lists_every_kind_with_its_weight():
    page = (Path(__file__).parents[2] / "docs" / "degeneration.md").read_text()
    for kind in KINDS:
        assert f"| {kind.name} | {kind.weight:g} |" in page, kind.name
    for name, weight in COMPILED_KINDS.items():
        assert f"| {name} | {weight:g} |" in page, name
