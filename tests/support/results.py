"""Tiny folders of results in the layout of the CUDABeaver release's harness; all of it written for these tests."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

CONFIG = """\
api: {{backend: openai, model: some/model, base_url: http://localhost:1/v1, temperature: 0.7}}
experiment:
  name: {name}
  method: {method}
  max_iterations: 3
  max_history_rounds: 2
  feedback_level: 2
  n_attempts: 3
  tasks: {tasks}
logging: {{level: INFO, save_api_responses: {replies}}}
"""


def row(
    task: str,
    iteration: int,
    category: str,
    code: str | None = None,
    log: str | None = None,
    reply: str | None = None,
    **more: Any,
) -> dict[str, Any]:
    """A row with the texts that it points to, under ``texts``."""
    passed = category == "passed"
    build_ok = category not in ("buildability_bug", "compile_error")
    sample = f"{task.replace('/', '_')}__iter_{iteration:04d}"
    code = f"// {task} {iteration} {category}\n" if code is None else code
    digest = hashlib.sha256(code.encode()).hexdigest()[:16]
    buckets = {
        "buildability_bug": "compile_error",
        "functional_correctness_bug": "logic_error",
        "illegal_memory_access": "memory_crash",
        "timeout": "timeout",
        "passed": "passed",
    }
    printed = "" if passed else f"solution.cu(3): error: {category}" if not build_ok else f"{category} seen"
    text = f"BUILD_OK={build_ok}\n\n[BUILD OUTPUT]\n{printed if not build_ok else ''}"
    text += f"\n\n[TEST OUTPUT]\n{printed}" if build_ok else ""
    record = {
        "sample_id": sample,
        "task_id": task,
        "iteration": iteration,
        "status": "passed" if passed else "failed",
        "five_category": buckets.get(category, "logic_error"),
        "category": category,
        "error_type": None,
        "build_ok": build_ok,
        "difficulty": "unknown",
        "level": "anything",
        "paths": {
            "prompt": f"prompts/{task}.txt",
            "error_code": f"error_code/{digest}.cu",
            "build_log_raw": f"build_log_raw/{sample}.txt",
        },
        "logic_error_detail": None if passed else printed,
        "final_solution_status": "PASSED" if passed else "FAILED_TEST",
        **more,
    }
    texts = {f"error_code/{digest}.cu": code, f"build_log_raw/{sample}.txt": text if log is None else log}
    if reply is not None:
        texts[f"api_responses/{sample}.txt"] = reply
    return {"record": record, "texts": texts}


def api_error(task: str, iteration: int) -> dict[str, Any]:
    """The row of a service that did not answer, as the release writes it."""
    made = row(task, iteration, "compile_error", error_type="api_error", stop_reason="api_error")
    made["record"]["paths"]["error_code"] = None
    return {"record": made["record"], "texts": {}}


def write_results(
    folder: Path,
    rows: Sequence[dict[str, Any]],
    *,
    name: str = "some_iter",
    method: str = "iterative",
    config: bool = True,
    replies: bool = False,
    tasks: Sequence[str] = (),
) -> Path:
    """A folder of results with these rows. JSON as Python writes it: NaN and all."""
    for item in rows:
        for path, text in item["texts"].items():
            _write(folder / path, text)
    lines = "".join(json.dumps(item["record"]) + "\n" for item in rows)
    _write(folder / "index" / "manifest.jsonl", lines)
    _write(folder / "category_passed" / "index" / "manifest.jsonl", lines)
    if config:
        chosen = list(tasks) or sorted({item["record"]["task_id"] for item in rows})
        text = CONFIG.format(name=name, method=method, tasks=json.dumps(chosen), replies=str(replies).lower())
        _write(folder / "config.yaml", text)
    return folder


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
