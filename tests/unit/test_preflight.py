"""Forbidden names: every spelling counts, comments do not."""

from __future__ import annotations

import pytest

from engine.harness.preflight import forbidden


def names(text: str, *entries: str) -> list[str]:
    return [name for _, name, _ in forbidden(text, list(entries))]


def test_a_longer_identifier_counts():
    assert names("cublasSgemm_v2(handle);", "cublasSgemm") == ["cublasSgemm_v2"]


def test_comments_do_not_count():
    assert names("// cublasSgemm\n/* cublasSgemm\n */ int x;", "cublasSgemm") == []


def test_a_string_alone_does_not_count():
    assert names('printf("faster than cublasSgemm");', "cublasSgemm") == []


def test_a_string_counts_where_the_source_loads_libraries():
    found = names('auto f = dlsym(h, "cublasSgemm_v2");', "cublasSgemm")
    assert "dlsym" in found
    assert '"cublasSgemm_v2"' in found


def test_a_macro_alias_counts():
    assert names("#define GEMM cublasSgemm\nGEMM(h);", "cublasSgemm") == ["cublasSgemm"]


def test_pasted_pieces_count():
    text = "#define JOIN(a, b) a##b\nJOIN(cublas, Sgemm)(handle);"
    assert names(text, "cublasSgemm") == ["cublasSgemm put together with ##"]


def test_pasting_other_names_is_fine():
    assert names("#define JOIN(a, b) a##b\nJOIN(row, _sum)();", "cublasSgemm") == []


@pytest.mark.parametrize("text", ["cublas\\\nSgemm(h);", "cublas\\  \nSgemm(h);", "\\u0063ublasSgemm(h);"])
def test_splices_and_escapes_do_not_hide_a_name(text):
    assert names(text, "cublasSgemm") == ["cublasSgemm"]


def test_a_namespace_entry_counts():
    assert names("thrust::sort(a, b);", "thrust::") == ["thrust::sort"]
    assert names("using namespace thrust;", "thrust::") == ["thrust"]
    assert names("int thrusters = 0;", "thrust::") == []


def test_the_line_is_named():
    assert forbidden("int a;\nint b;\ncublasSgemm();\n", ["cublasSgemm"]) == [("cublasSgemm", "cublasSgemm", 3)]


def test_a_comment_mark_inside_a_string_hides_nothing():
    assert names('const char* s = "/*"; cublasSgemm(); // */', "cublasSgemm") == ["cublasSgemm"]
    assert names('auto s = R"x(/* ")x"; cublasSgemm();', "cublasSgemm") == ["cublasSgemm"]


def test_loading_by_another_name_counts():
    """Each of these opened a library past the check."""
    alias = 'extern "C" void* my_open(const char*, int) asm("dl" "open");'
    assert "dlopen" in "".join(names(alias, "cublasSgemm"))
    pasted = "#define P(a, b) a##b\nP(dl, open)(x, 2);"
    assert names(pasted, "cublasSgemm") == ["dlopen put together with ##"]
    assert names('asm("jmp dlopen@PLT");', "cublasSgemm") == ['"jmp dlopen@PLT"']


def test_forbidden_words_in_assembly_count_also_in_pieces():
    assert names('asm volatile("wm" "ma.load.a.sync");', "wmma") == ['"wmma.load.a.sync"']


def test_neighbouring_strings_outside_of_assembly_do_not_count():
    assert names('printf("cub" "lasSgemm");', "cublasSgemm") == []
