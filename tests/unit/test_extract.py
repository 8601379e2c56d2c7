"""From a reply to the candidate file."""

from __future__ import annotations

import time

import pytest

from engine.extract import extract

START = "#include <cuda_runtime.h>\n__global__ void k(float* x) {\n  x[threadIdx.x] = 1;\n}\n" * 3
FIXED = START.replace("1", "2")


def source(reply: str, **options) -> str | None:
    return extract(reply, suffix=".cu", start=START, **options).source


def problem(reply: str, **options) -> str | None:
    return extract(reply, suffix=".cu", start=START, **options).problem


def test_the_last_whole_block_is_the_file():
    reply = f"First I thought\n```cuda\n{START}```\nbut this is right:\n```cuda\n{FIXED}```\nDone."
    assert source(reply) == FIXED


def test_a_snippet_after_the_file_does_not_win():
    assert source(f"```cuda\n{FIXED}```\nThe point is:\n```cuda\nx[i] = 2;\n```") == FIXED


def test_a_shell_block_after_the_file_does_not_win():
    assert source(f"```cuda\n{FIXED}```\nBuild it:\n```bash\nnvcc solution.cu; ./a.out;\n```") == FIXED


def test_a_reply_without_a_fence_may_be_the_file():
    assert source(FIXED) == FIXED


def test_prose_is_no_file():
    assert problem("I would look at the bounds of the loop; it seems off.") == "no code in the reply"


def test_an_empty_reply_says_so():
    assert problem("  \n") == "the reply is empty"


def test_only_a_snippet_is_not_a_file():
    assert problem("```cuda\nx[i] = 2;\n```") == "only a part of the file in the reply"


SHORT = "#include <thrust/scan.h>\nvoid sums(int* x, int n) {\n  thrust::inclusive_scan(x, x + n, x);\n}\n"


def test_a_short_file_in_the_place_of_a_long_start_is_a_file():
    """Three references of CUDABeaver's cuda family were refused as parts of their long-winded starts."""
    long = START * 20
    assert extract(f"A library does it:\n```cuda\n{SHORT}```", suffix=".cu", start=long).source == SHORT
    module = "import torch\n\nclass ModelNew(torch.nn.Module):\n    forward = torch.nn.functional.relu\n"
    assert extract(f"```python\n{module}```", suffix=".py", start=long).source == module


@pytest.mark.parametrize(
    "snippet",
    [
        "#include <cfloat>\n",
        "#include <cfloat>\n...\nvoid sums(int* x, int n) {\n  ...\n",
        SHORT.partition("\n")[2],
        SHORT.replace("  thrust", "  // ... as before ...\n  thrust"),
    ],
    ids=["headers", "unfinished", "no headers", "left out"],
)
def test_what_does_not_stand_by_itself_is_a_part(snippet: str):
    reply = f"```cuda\n{snippet}```"
    assert extract(reply, suffix=".cu", start=START * 20).problem == "only a part of the file in the reply"


def test_an_example_of_its_use_behind_the_file_does_not_win():
    use = "#include <cstdio>\nint main() { k<<<1, 1>>>(nullptr); }\n"
    assert (
        extract(f"```cuda\n{FIXED * 20}```\nCall it:\n```cuda\n{use}```", suffix=".cu", start=START * 20).source
        == FIXED * 20
    )


def test_an_example_of_its_use_behind_a_short_file_does_not_win():
    use = "#include <cstdio>\nint main() { sums(0, 0); }\n"
    reply = f"```cuda\n{SHORT}```\nCall it:\n```cuda\n{use}```"
    assert extract(reply, suffix=".cu", start=START * 20).source == SHORT


def test_a_diff_is_not_a_file():
    assert problem("```diff\n- x[i] = 1;\n+ x[i] = 2;\n```") == "no code in the reply"


def test_a_cut_reply_is_not_a_file():
    assert problem(f"```cuda\n{FIXED[:100]}", truncated=True) == "cut off by the token limit"


def test_a_whole_block_before_the_cut_counts():
    assert source(f"```cuda\n{FIXED}```\nand furthermore", truncated=True) == FIXED


def test_a_block_that_was_never_closed_counts_when_the_reply_was_not_cut():
    assert source(f"```cuda\n{FIXED}") == FIXED


def test_longer_fences_and_tildes():
    inner = FIXED + "// ```\n"
    assert source(f"````cuda\n{inner}````") == inner
    assert source(f"~~~cuda\n{FIXED}~~~") == FIXED


@pytest.mark.parametrize("ends", ["\r\n", "\r"])
def test_other_line_ends_in_a_reply(ends: str):
    assert source(f"Here:\n```cuda\n{FIXED}```\n".replace("\n", ends)) == FIXED


def test_a_byte_order_mark_hides_no_fence():
    assert source(f"\ufeff```cuda\n{FIXED}```") == FIXED


def test_text_after_the_closing_fence_ends_the_block_all_the_same():
    assert source(f"```cuda\n{FIXED}``` Hope this helps!") == FIXED


def test_a_fence_around_a_fence_is_unwrapped():
    assert source(f"````\n```cuda\n{FIXED}```\n````") == FIXED


def test_a_model_caught_in_a_repetition_costs_no_time():
    """The test for prose was quadratic in the length of a line, that for whole functions in the number of parentheses."""
    began = time.process_time()
    problem("void f;\nAbc" + " a" * 400_000)
    problem("Abc a a a a\n" * 50_000)
    for sign in ")", "(", "{", "#", ") ", "\n":
        extract(f"```cuda\n#include <x>\n{sign * 100_000}\n```", suffix=".cu", start=START * 5_000)
    assert time.process_time() - began < 2.0
