"""Device memory of the CPU device: what a plain run may do with it, and what it must not."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from engine.devices.toolkit import Toolkit
from tests.support.cpu_runtime import build_driver

SUCCESS, OUT_OF_MEMORY, INVALID, ILLEGAL, MISALIGNED = 0, 2, 1, 700, 716
Run = Callable[[str], dict[str, str]]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory, toolkit: Toolkit) -> Run:
    source = Path(__file__).parent / "cpu/memory_driver.cpp"
    driver = build_driver(source, tmp_path_factory.mktemp("memory"), toolkit)

    def call(case: str) -> dict[str, str]:
        ended = subprocess.run([str(driver), case], capture_output=True, text=True, timeout=60, check=True)
        return dict(line.split("=", 1) for line in ended.stdout.splitlines())

    return call


def numbers(said: dict[str, str]) -> dict[str, int]:
    return {name: int(value) for name, value in said.items()}


def test_a_kernel_reaches_device_memory_and_host_code_does_not(run: Run) -> None:
    said = numbers(run("device"))
    assert said["in_window"] and said["aligned"] and said["host_faults"]
    assert (said["stored"], said["value"]) == (SUCCESS, 2)
    assert said["storage_of_all"] and not said["storage_over_the_end"]


def test_fresh_device_memory_is_no_number_and_managed_memory_is_zero(run: Run) -> None:
    said = numbers(run("fresh"))
    assert said["float_is_nan"] and said["double_is_nan"] and said["int"] == 0x7FFF7FFF
    assert said["managed"] == said["variable"] == 0


def test_managed_and_pinned_memory_is_one_memory_for_host_and_kernel(run: Run) -> None:
    said = numbers(run("managed"))
    assert said == {"error": SUCCESS, "kept": 77, "from_kernel": 2, "released": SUCCESS, "host_faults": 1}


def test_device_memory_has_a_limit_and_freeing_gives_it_back(run: Run) -> None:
    said = numbers(run("limit"))
    assert (said["total"], said["free"], said["all_free"]) == (8, 2, 1)
    assert (said["fits"], said["managed_may"]) == (SUCCESS, SUCCESS)
    assert (said["too_much"], said["absurd"]) == (OUT_OF_MEMORY, OUT_OF_MEMORY)


def test_addresses_come_again_only_when_the_window_is_used_up(run: Run) -> None:
    assert numbers(run("churn")) == {"reused_after": 1, "kept": 9}


def test_large_freed_memory_faults_and_small_freed_memory_survives_as_on_a_gpu(run: Run) -> None:
    said = numbers(run("freed"))
    assert (said["twice"], said["not_an_allocation"]) == (INVALID, INVALID)
    assert (said["large_faults"], said["small_survives"]) == (ILLEGAL, SUCCESS)
    assert said["freed"] and said["new_address"]


def test_distances_to_the_nearest_allocation_count_as_compute_sanitizer_counts(run: Run) -> None:
    said = numbers(run("freed"))
    assert said["after"] == 1025  # the first byte behind an allocation is 1 byte after it
    assert said["before_window"] == 528


def test_a_plain_run_faults_where_a_gpu_would(run: Run) -> None:
    assert numbers(run("plain_faults")) == {
        "overrun": SUCCESS,
        "beyond_chunk": ILLEGAL,
        "null": ILLEGAL,
        "host": ILLEGAL,
        "misaligned": MISALIGNED,
        "misaligned_vector": MISALIGNED,
        "misaligned_far": MISALIGNED,
        "shared_last": SUCCESS,
        "shared_over": ILLEGAL,
        "shared_below": ILLEGAL,
        "shared_misaligned": MISALIGNED,
        "shared_generic_over": ILLEGAL,
        "shared_not_generic": ILLEGAL,
        "local": SUCCESS,
        "local_generic": SUCCESS,
        "local_over": SUCCESS,  # an H200 has more mapped than a thread uses
    }


def test_generic_addresses_know_their_space(run: Run) -> None:
    assert run("spaces") == {"spaces": "gslp", "shared": "abc", "param_kept": "1", "error": "0"}


def test_registered_host_memory_is_device_memory_until_it_is_unregistered(run: Run) -> None:
    said = numbers(run("registered"))
    assert (said["error"], said["value"], said["kind"]) == (SUCCESS, 63, 1)
    assert (said["no_release"], said["gone"], said["twice"], said["faults"]) == (INVALID, 1, 0, ILLEGAL)
