"""NVML's reasons in words, and a device that NVML does not know."""

from __future__ import annotations

from engine.devices.conditions import reason_words, sample


def test_reasons_are_words_and_an_unknown_one_is_not_lost():
    assert reason_words(0) == reason_words(1) == ()
    assert reason_words(0x4 | 0x40 | 0x1) == ("sw_power_cap", "hw_thermal_slowdown")
    assert reason_words(0x8 | 0x1000) == ("hw_slowdown", "reason_0x1000")


def test_a_gpu_that_is_not_there_has_no_state_and_says_why():
    state = sample("GPU-00000000-0000-0000-0000-000000000000")
    assert state.sm_mhz is None
    assert state.missing
