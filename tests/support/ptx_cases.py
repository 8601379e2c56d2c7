"""Runs PTX instructions on rows of values: each case is a kernel that the CPU device's emitter translates, gcc compiles, and this
process calls, one CUDA thread a row. What the runtime would do is a few lines of C here: the kernels under test never wait."""

from __future__ import annotations

import ctypes
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from engine.devices.cpu import emit
from engine.devices.cpu.emit.flags import c_flags
from engine.devices.cpu.ptx.parser import parse

HEADERS = Path(emit.__file__).parent.parent / "runtime"
SLOT = 16
"""Bytes between the values of a row."""

RUNTIME = r"""
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include "kernel_abi.h"

extern const beaver_module_type beaver_module;
enum { CHUNK = 1 << BEAVER_CHUNK_SHIFT };
static _Alignas(64) uint8_t shared[1 << 16], local[1 << 16];

static int at(uint64_t address, size_t size)
{
    const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE;
    void *made = mmap((void *)address, size, PROT_READ | PROT_WRITE, flags, -1, 0);
    return made == (void *)address || (made == MAP_FAILED && errno == EEXIST); /* another library of this process made it */
}

const char *prepare(void)
{
    if (!at(BEAVER_CONTROL, 4096) || !at(BEAVER_PAGES, BEAVER_WINDOW_SIZE >> BEAVER_PAGE_SHIFT) || !at(BEAVER_WINDOW + BEAVER_ALIAS, 3 * CHUNK))
        return "no memory at the fixed addresses";
    memset((void *)BEAVER_PAGES, BEAVER_OPEN, 3 * (CHUNK >> BEAVER_PAGE_SHIFT));
    return NULL;
}

static void place_variables(void)
{
    uint64_t place = BEAVER_WINDOW + 2 * CHUNK;
    for (uint32_t i = 0; i < beaver_module.variable_count; i++) {
        const beaver_variable *v = &beaver_module.variables[i];
        place = (place + v->align - 1) / v->align * v->align;
        *v->address = place;
        memset((void *)(place + BEAVER_ALIAS), 0, v->size);
        if (v->init) memcpy((void *)(place + BEAVER_ALIAS), v->init, v->init_size);
        place += v->size;
    }
}

const char *run(const char *name, uint32_t which, const void *input, size_t input_size, void *output, size_t output_size, uint32_t rows)
{
    const uint64_t params[] = {BEAVER_WINDOW, BEAVER_WINDOW + CHUNK, which};
    beaver_block block = {.ntid = {rows, 1, 1}, .nctaid = {1, 1, 1}, .shared_size = sizeof shared, .dynamic_base = BEAVER_SHARED_BASE,
                          .dynamic_size = sizeof shared, .params_size = sizeof params, .params = (const uint8_t *)params};
    beaver_thread t = {.block = &block, .shared = shared, .shared_limit = sizeof shared, .local = local, .local_top = local,
                       .local_end = local + sizeof local, .stack_limit = NULL};
    for (uint32_t i = 0; i < beaver_module.kernel_count; i++) {
        if (strcmp(beaver_module.kernels[i].name, name) != 0) continue;
        if (!beaver_module.kernels[i].block) return "waits";
        place_variables();
        memcpy((void *)(BEAVER_WINDOW + BEAVER_ALIAS), input, input_size);
        memset((void *)(BEAVER_WINDOW + BEAVER_ALIAS + CHUNK), 0xee, output_size);
        beaver_module.kernels[i].block(&t);
        memcpy(output, (void *)(BEAVER_WINDOW + BEAVER_ALIAS + CHUNK), output_size);
        return t.local_top == local ? NULL : "local memory was not given back";
    }
    return "no such kernel";
}

static void end(const char *what, const beaver_site *site)
{
    fprintf(stderr, "%s at %s:%u\n", what, site->file, site->line);
    abort();
}
uint8_t *beaver_access(beaver_thread *t, uint64_t a, uint32_t n, uint32_t f, const beaver_site *s) { end("access", s); return NULL; }
uint8_t *beaver_shared_access(beaver_thread *t, uint32_t a, uint32_t n, uint32_t f, const beaver_site *s) { end("shared access", s); return NULL; }
uint8_t *beaver_local_access(beaver_thread *t, uint64_t a, uint32_t n, uint32_t f, const beaver_site *s) { end("local access", s); return NULL; }
int beaver_space(beaver_thread *t, uint64_t a) { return a - (uint64_t)local < sizeof local ? 'l' : 'g'; }
void beaver_exit(beaver_thread *t) { abort(); }
void beaver_trap(beaver_thread *t, const beaver_site *s) { end("trap", s); }
void beaver_stack_overflow(beaver_thread *t, const beaver_site *s) { end("stack overflow", s); }
void beaver_unsupported(beaver_thread *t, const char *what, const beaver_site *s) { end(what, s); }
void beaver_poll(beaver_thread *t, const beaver_site *s) { end("poll", s); }
void beaver_yield(beaver_thread *t, const beaver_site *s) { }
uint64_t beaver_clock(void) { return 1; }
uint64_t beaver_nanoseconds(void) { return 2; }
"""


WIDTHS = {
    **{f"{kind}{width}": width for kind in "bus" for width in (8, 16, 32, 64)},
    "pred": 8,
    "b128": 128,
    "f16": 16,
    "bf16": 16,
    "f32": 32,
    "f64": 64,
    "f16x2": 32,
    "bf16x2": 32,
}


@dataclass(frozen=True)
class Case:
    """``ptx`` with <d>, <e> for results and <a>, <b>, <c>, <f> for sources; ``sources`` and ``results`` are types."""

    name: str
    ptx: str
    sources: str
    results: str

    @property
    def has_floats(self) -> bool:
        """Whether it matters how its registers are declared."""
        return not {"f32", "f64"}.isdisjoint(f"{self.sources} {self.results}".split())

    @property
    def signature(self) -> str:
        return f"{self.sources}|{self.results}".replace(" ", ",")


def declared(kind: str, untyped: bool) -> str:
    """The type of a register for values of ``kind``; ``untyped`` ones hold floats too, as newer compilers declare them."""
    if kind == "pred" or (kind in ("f32", "f64") and not untyped):
        return kind
    return f"b{max(WIDTHS[kind], 16)}"


def one_case(case: Case, untyped: bool) -> str:
    """A scope: the case on its own registers, between copies that only move bits."""
    sources, results = case.sources.split(), case.results.split()
    names = {f"<{letter}>": f"a{i}" for i, letter in enumerate("abcf"[: len(sources)])}
    names |= {f"<{letter}>": f"d{i}" for i, letter in enumerate("de"[: len(results)])}
    text = case.ptx
    for written, register in names.items():
        text = text.replace(written, register)
    lines = [".reg .pred %p<4>; .reg .b16 %h<4>; .reg .b32 %r<4>; .reg .b64 %rd<8>;", "mov.u32 %r0, %tid.x;"]
    for i, kind in enumerate(sources):
        lines.append(f".reg .{declared(kind, untyped)} a{i}; {copy(kind, f'a{i}', f'%s{i}')}")
    lines += [f".reg .{declared(kind, untyped)} d{i};" for i, kind in enumerate(results)]
    stores = [copy(kind, f"%o{i}", f"d{i}") for i, kind in enumerate(results)]
    return "\n".join(["{", *lines, text, *stores, "}"])


def copy(kind: str, target: str, source: str) -> str:
    return f"mov.{'pred' if kind == 'pred' else f'b{max(WIDTHS[kind], 16)}'} {target}, {source};"


def kernel(name: str, cases: Sequence[Case], untyped: bool) -> str:
    """A kernel that applies case number ``which``, of several with one signature, to row %tid.x."""
    sources, results = cases[0].sources.split(), cases[0].results.split()
    lines = [f".visible .entry {name}(.param .u64 in, .param .u64 out, .param .u32 which) {{"]
    lines += [f".reg .{declared(kind, True)} %s{i};" for i, kind in enumerate(sources)]
    lines += [f".reg .{declared(kind, True)} %o{i};" for i, kind in enumerate(results)]
    lines += [".reg .b16 %x; .reg .b32 %row, %which; .reg .b64 %in, %out;"]
    lines += ["ld.param.u64 %in, [in]; ld.param.u64 %out, [out]; ld.param.u32 %which, [which]; mov.u32 %row, %tid.x;"]
    lines += [
        f"mad.wide.u32 %in, %row, {SLOT * len(sources)}, %in; mad.wide.u32 %out, %row, {SLOT * len(results)}, %out;"
    ]
    for i, kind in enumerate(sources):
        if kind == "pred":
            lines.append(f"ld.global.u8 %x, [%in+{SLOT * i}]; setp.ne.u16 %s{i}, %x, 0;")
        else:
            lines.append(f"ld.global.b{WIDTHS[kind]} %s{i}, [%in+{SLOT * i}];")
    lines.append(f"CASES: .branchtargets {', '.join(f'CASE{i}' for i in range(len(cases)))};")
    lines.append("brx.idx %which, CASES;")
    for i, case in enumerate(cases):
        lines += [f"CASE{i}:", one_case(case, untyped), "bra STORE;"]
    lines.append("STORE:")
    for i, kind in enumerate(results):
        if kind == "pred":
            lines.append(f"selp.u16 %x, 1, 0, %o{i}; st.global.u8 [%out+{SLOT * i}], %x;")
        else:
            lines.append(f"st.global.b{WIDTHS[kind]} [%out+{SLOT * i}], %o{i};")
    return "\n".join([*lines, "ret; }"])


class Kernels:
    """The compiled cases; ``run`` gives the results of every row as bits."""

    def __init__(self, cases: Sequence[Case], folder: Path, globals_: str = "") -> None:
        self.cases = {case.name: case for case in cases}
        text = [".version 9.0", ".target sm_90a", ".address_size 64", globals_]
        self.place: dict[str, tuple[str, int]] = {}
        """The kernel of a case, without its ending, and its number there."""
        alike: dict[str, list[Case]] = {}
        for case in cases:
            alike.setdefault(case.signature, []).append(case)
        for number, group in enumerate(alike.values()):
            self.place |= {case.name: (f"group{number}", i) for i, case in enumerate(group)}
            text.append(kernel(f"group{number}_typed", group, False))
            if group[0].has_floats:
                text.append(kernel(f"group{number}_untyped", group, True))
        self.ptx = "\n".join(text)
        made = emit.translate_unit([parse(self.ptx)], {})
        assert not made.unsupported, made.unsupported
        (folder / "kernels.c").write_text(made.text)
        (folder / "runtime.c").write_text(RUNTIME)
        library = folder / "kernels.so"
        subprocess.run(
            [
                "gcc",
                *c_flags(made.text),
                f"-I{HEADERS}",
                "-shared",
                "-o",
                str(library),
                "kernels.c",
                "runtime.c",
                "-lm",
            ],
            cwd=folder,
            check=True,
            timeout=300,
        )
        self.library = ctypes.CDLL(str(library))
        self.library.prepare.restype = self.library.run.restype = ctypes.c_char_p
        problem = self.library.prepare()
        assert problem is None, problem

    def run(self, name: str, rows: Sequence[tuple[int, ...]], untyped: bool = False) -> list[tuple[int, ...]]:
        case = self.cases[name]
        results = case.results.split()
        data = b"".join(value.to_bytes(SLOT, "little") for row in rows for value in row)
        output = ctypes.create_string_buffer(SLOT * len(results) * len(rows))
        group, which = self.place[name]
        kernel_name = f"{group}_{'untyped' if untyped else 'typed'}".encode()
        problem = self.library.run(
            kernel_name, which, data, ctypes.c_size_t(len(data)), output, ctypes.c_size_t(len(output)), len(rows)
        )
        assert problem is None, f"{name}: {problem.decode()}"
        found = []
        for row in range(len(rows)):
            values = []
            for column, kind in enumerate(results):
                start = SLOT * (row * len(results) + column)
                values.append(int.from_bytes(output.raw[start : start + WIDTHS[kind] // 8], "little"))
            found.append(tuple(values))
        return found
