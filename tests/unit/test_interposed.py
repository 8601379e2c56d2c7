"""Names that give a program away, in symbol tables and in a source."""

from __future__ import annotations

import pytest

from engine.harness.interposed import Names, definitions, said_in, suspicions

STATIC = Names(frozenset({"main", "cudaEventRecord", "cudaMalloc"}), frozenset({"dlsym", "mprotect", "malloc"}))


def names(*defined: str, asked: tuple[str, ...] = ()) -> Names:
    return Names(frozenset(defined), frozenset(asked))


def test_what_the_references_build_has_too_is_everybodys():
    assert suspicions(STATIC, STATIC) == []


def test_a_definition_that_comes_before_a_librarys_is_named():
    assert suspicions(names("main", "cudaEventElapsedTime"), names("main")) == [
        "the program defines cudaEventElapsedTime itself"
    ]
    assert suspicions(names("cudaEventRecord_ptsz"), names()) == ["the program defines cudaEventRecord itself"]
    assert definitions(names("clock_gettime", "cudaMalloc")) == ["the program defines clock_gettime itself"]


def test_own_names_that_only_look_alike_are_allowed():
    assert suspicions(names("_Z10clock_readv", "read_matrix", "cudaCheck"), names()) == []


def test_an_import_with_which_a_program_changes_itself_is_named():
    found = suspicions(names(asked=("mprotect", "cudaMalloc")), names(asked=("cudaMalloc",)))
    assert found == ["the program asks for mprotect, with which it can change itself"]


@pytest.mark.parametrize(
    "code",
    [
        b'dlsym(nullptr, "x");',
        b'asm volatile("syscall");',
        b'fopen("/proc/self/mem", "r+");',
        b"/* x */ mprotect(p, 1, 7);",
    ],
)
def test_words_of_a_source_are_read(code: bytes):
    assert len(said_in(code)) == 1


@pytest.mark.parametrize(
    "code", [b"// no dlsym here\n", b"/* mprotect\n ptrace */", b"int dlsymbol; my_syscall_count++;"]
)
def test_comments_and_longer_names_are_not(code: bytes):
    assert said_in(code) == []


def test_a_name_of_a_static_runtime_that_the_reference_calls_not_itself_is_everybodys():
    reference = Names(frozenset({"main"}), frozenset(), frozenset({"cudaEventCreateWithFlags", "clock_gettime"}))
    assert suspicions(names("main", "cudaEventCreateWithFlags"), reference) == []
    assert suspicions(names("main", "clock_gettime"), reference) == ["the program defines clock_gettime itself"]
