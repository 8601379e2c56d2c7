"""What the primary error signature keeps and what it takes out (protocol, point 17)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.evidence import Evidence, StepEvidence
from engine.verdict import classify
from engine.verdict.cuda_errors import canonical
from engine.verdict.signature import LONGEST, normalise


def signature(stderr: str) -> str:
    return classify(Evidence(build=StepEvidence(exit_code=0), test=StepEvidence(exit_code=1, stderr=stderr))).signature


@pytest.mark.parametrize(
    ("token", "want"),
    [
        ("Mismatch at index 1023: got 255.75, expected 5.1e+02", "Mismatch at index #: got #, expected #"),
        ("got nan, expected -inf", "got #, expected #"),
        ("Access at 0x7f0b7e000400 is out of bounds", "Access at # is out of bounds"),
        ("/tmp/tmpxft_00001cad_00000000-6_driver.cudafe1.cpp:(.text+0x3d)", "driver.cudafe1.cpp:(.text+#)"),
        ("/home/u/work/solution.cu:12:3: x", "solution.cu: x"),
        ("see solution.cu(12) and ../src/k.cuh:7", "see solution.cu and k.cuh"),
        ("/tmp/ccAb12Cd.o: bad", "tmp.o: bad"),
        ("thread (3,0,0) in block (12, 0, 0)", "thread (#) in block (#)"),
        ("took 12ms, 3.5 GiB, 98.6%", "took #ms, # GiB, #%"),
        ("‘foo’ was not declared", "'foo' was not declared"),
        ("\x1b[31merror\x1b[0m here", "error here"),
        ("rows/columns differ", "rows/columns differ"),
        ("5 / 100 differ", "# / # differ"),
        ("1,024 bytes", "# bytes"),
    ],
)
def test_what_varies_is_taken_out(token: str, want: str) -> None:
    assert normalise(token) == want


@pytest.mark.parametrize(
    "token",
    [
        'identifier "tile16" is undefined',
        "Instruction 'wgmma.fence' not supported on .target 'sm_90'",
        "Unsupported gpu architecture 'compute_120a'",
        "exit code 42",
        "signal 11 (SIGSEGV)",
        "CUDA error 700",
        "cudaErrorIllegalAddress (error 700)",
        "undefined symbol: _Z3foof",
        "libcublas.so.12: cannot open shared object file",
        "error C2065: undeclared",
    ],
)
def test_names_and_codes_stay(token: str) -> None:
    assert normalise(token) == token


@given(st.text(max_size=300))
def test_normalising_twice_changes_nothing_and_it_is_never_long(token: str) -> None:
    once = normalise(token)
    assert len(once) <= LONGEST
    assert normalise(once) == once


def test_a_slash_behind_a_number_begins_no_path() -> None:
    assert normalise("0/@") == normalise(normalise("0/@")) == "#/@"


def test_codes_that_differ_are_other_bugs_and_spellings_of_one_code_are_one() -> None:
    assert signature("CUDA error 700") != signature("CUDA error 716")
    forms = [
        "CUDA error 700",
        "cudaErrorIllegalAddress",
        "an illegal memory access was encountered",
        "CUDA_ERROR_ILLEGAL_ADDRESS",
    ]
    assert {signature(form) for form in forms} == {"cudaErrorIllegalAddress (700)"}
    assert canonical("77") == canonical("700")
    assert canonical("cudaErrorOfTheFuture") == "cudaErrorOfTheFuture"


def test_undefined_names_that_differ_are_other_bugs() -> None:
    line = 'solution.cu({0}): error: identifier "{1}" is undefined'
    assert signature(line.format(3, "foo")) == signature(line.format(99, "foo"))
    assert signature(line.format(3, "foo")) != signature(line.format(3, "bar"))


def test_the_same_mismatch_elsewhere_is_the_same_bug() -> None:
    line = "Mismatch at index {0}: got {1}, expected {2}"
    assert signature(line.format(5, 0.5, 1.25)) == signature(line.format(1023, -3e-7, 512))


def test_the_first_error_of_the_log_gives_the_signature() -> None:
    two = 'solution.cu(3): error: identifier "a" is undefined\nsolution.cu(4): error: expected a ";"\n'
    assert signature(two) == 'identifier "a" is undefined'


def test_an_unknown_failure_is_told_by_its_last_words() -> None:
    assert signature("setup done\nlayer 3 gave up after 12 steps") == "exit code 1: layer # gave up after # steps"


def test_nvccs_hashes_in_local_symbols_do_not_make_a_new_error():
    one = "ptxas error : Entry function '_ZN44_GLOBAL__N__d053fe98_11_solution_cu_d5505a0511conv_kernelEPKf' uses too much shared data"
    two = one.replace("d053fe98", "12ab34cd").replace("d5505a05", "00ff00ff")
    assert normalise(one) == normalise(two)
    assert normalise(one) != normalise(one.replace("conv_kernel", "scan_kernel"))
