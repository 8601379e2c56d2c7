"""Programs made from a header alone: every declared function gets a body that computes nothing."""

from __future__ import annotations

import pytest

from engine.corpora import builtin_folder, load_corpus
from engine.verify.wrong_programs import Function, declared_functions, interface, wrong_programs

TASKS = load_corpus(builtin_folder()).tasks


@pytest.mark.parametrize(
    ("header", "found"),
    [
        ("void f();", [Function("void", "f", "")]),
        ("cudaError_t f(const float* x,\n   int n, cudaStream_t s);", [Function("cudaError_t", "f", "const float* x, int n, cudaStream_t s")]),
        ("#pragma once\n#define F(x) void g(x);\n// void h();\n/* void i(); */ int f(int);", [Function("int", "f", "int")]),
        ('extern "C" {\nvoid f(int);\n}\nextern "C" int g();', [Function("void", "f", "int"), Function("int", "g", "")]),
        ("namespace a { namespace b::c { float f(); } int g(); }", [Function("float", "a::b::c::f", ""), Function("int", "a::g", "")]),
        ("struct S { int a; int method(int); };\nvoid f(S s);", [Function("void", "f", "S s")]),
        ("enum class E { A, B };\nvoid f(E e = E::A, int n = 3);", [Function("void", "f", "E e, int n")]),
        ("struct S;\nconst S* make(S** out);", [Function("const S*", "make", "S** out")]),
        ("inline int half(int n) { return n / 2; }\nint f();", [Function("int", "f", "")]),
        ("static int local(); template <class T> T any(T); typedef int (*callback)(int); using F = int(int);", []),
        ("int table[4]; extern int value;", []),
    ],
)  # fmt: skip
def test_declarations_are_found_and_definitions_are_not(header: str, found: list[Function]):
    assert declared_functions(header) == found


@pytest.mark.parametrize("name", sorted(TASKS))
def test_every_built_in_task_has_an_interface_and_three_wrong_programs(name: str):
    assert interface(TASKS[name]) is not None or TASKS[name].spec.backend == "kernelbench"
    assert set(wrong_programs(TASKS[name], "")) == {"empty", "exit", "print"}


def test_what_is_printed_is_a_literal_whatever_it_holds(make_task):
    task = make_task()
    folder = task.folder / "testbench"
    (folder / "solution.h").write_text("#include <cstddef>\nfloat total(const float* x, std::size_t n);\n")
    task.harness_files["solution.h"] = folder / "solution.h"
    source = wrong_programs(task, 'say "x\\n" ??/ \x07ü\n')["print"].decode()
    assert r'std::puts("say \042x\134n\042 \077\077/ \007\303\274");' in source
    assert 'std::puts("PASS");' in source


def test_a_task_without_a_declared_interface_has_no_wrong_programs(make_task):
    assert wrong_programs(make_task(), "") == {}


def test_a_pytorch_module_that_prints_holds_any_text():
    task = next(task for task in TASKS.values() if task.spec.backend == "kernelbench")
    source = wrong_programs(task, 'say "x\\n" ü\n')["print"].decode()
    compile(source, "solution.py", "exec")
    assert "print('PASS', flush=True)" in source
