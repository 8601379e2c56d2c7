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

LOADED = {"u8": "b8", "pred": "u8"}

RUNTIME = r"""
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include "kernel_abi.h"

extern const beaver_module_type beaver_module;
enum { CHUNK = 1 << BEAVER_CHUNK_SHIFT };
static beaver_control *control;
static uint8_t shared[1 << 16], local[1 << 16];
static char last[200];

static void *at(uint64_t address, size_t size)
{
    void *made = mmap((void *)address, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    return made == (void *)address ? made : NULL;
}

const char *prepare(void)
{
    static int done;
    if (!done++ && (!at(BEAVER_CONTROL, 4096) || !at(BEAVER_CHUNKS, BEAVER_WINDOW_SIZE >> BEAVER_CHUNK_SHIFT) || !at(BEAVER_WINDOW + BEAVER_ALIAS, 3 * CHUNK)))
        return "no memory at the fixed addresses";
    memset((void *)BEAVER_CHUNKS, BEAVER_OPEN, 3);
    uint64_t place = BEAVER_WINDOW + 2 * CHUNK;
    for (uint32_t i = 0; i < beaver_module.variable_count; i++) {
        const beaver_variable *v = &beaver_module.variables[i];
        place = (place + v->align - 1) / v->align * v->align;
        *v->address = place;
        if (v->init) memcpy((void *)(place + BEAVER_ALIAS), v->init, v->init_size);
        place += v->size;
    }
    return NULL;
}

const char *run(const char *name, const void *input, size_t input_size, void *output, size_t output_size, uint32_t rows)
{
    const uint64_t params[] = {BEAVER_WINDOW, BEAVER_WINDOW + CHUNK};
    beaver_block block = {.ntid = {rows, 1, 1}, .nctaid = {1, 1, 1}, .shared_size = sizeof shared, .dynamic_base = BEAVER_SHARED_BASE,
                          .dynamic_size = sizeof shared, .params_size = sizeof params, .params = (const uint8_t *)params};
    beaver_thread t = {.block = &block, .shared = shared, .shared_limit = sizeof shared, .local = local, .local_top = local,
                       .local_end = local + sizeof local, .stack_limit = NULL};
    for (uint32_t i = 0; i < beaver_module.kernel_count; i++) {
        if (strcmp(beaver_module.kernels[i].name, name) != 0) continue;
        if (!beaver_module.kernels[i].block) return "waits";
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


@dataclass(frozen=True)
class Case:
    """``ptx`` with {d}, {e} for results and {a}, {b}, {c} for sources; ``sources`` and ``results`` are types."""

    name: str
    ptx: str
    sources: str
    results: str

    @property
    def has_floats(self) -> bool:
        """Whether it matters how its registers are declared."""
        return not {"f32", "f64"}.isdisjoint(f"{self.sources} {self.results}".split())


def kernel(case: Case, name: str, untyped: bool) -> str:
    """A kernel that applies the case to row %tid.x. ``untyped`` registers hold floats too, as newer compilers declare them."""

    def declared(kind: str) -> str:
        if kind == "pred":
            return "pred"
        width = WIDTHS[kind]
        return f"b{max(width, 16)}" if untyped or kind not in ("f32", "f64") else kind

    def moved(kind: str) -> str:
        return f"b{WIDTHS[kind]}"

    sources, results = case.sources.split(), case.results.split()
    lines = [f".visible .entry {name}(.param .u64 in, .param .u64 out) {{"]
    lines += [f".reg .{declared(kind)} %s{i};" for i, kind in enumerate(sources)]
    lines += [f".reg .{declared(kind)} %d{i};" for i, kind in enumerate(results)]
    lines += [".reg .pred %p<8>; .reg .b16 %h<8>; .reg .b32 %r<8>; .reg .b64 %rd<8>;"]
    lines += ["ld.param.u64 %rd0, [in]; ld.param.u64 %rd1, [out]; mov.u32 %r0, %tid.x;"]
    lines += [
        f"mad.wide.u32 %rd2, %r0, {SLOT * len(sources)}, %rd0; mad.wide.u32 %rd3, %r0, {SLOT * len(results)}, %rd1;"
    ]
    for i, kind in enumerate(sources):
        if kind == "pred":
            lines.append(f"ld.global.u8 %h0, [%rd2+{SLOT * i}]; setp.ne.u16 %s{i}, %h0, 0;")
        else:
            lines.append(f"ld.global.{moved(kind)} %s{i}, [%rd2+{SLOT * i}];")
    names = {letter: f"%s{i}" for i, letter in enumerate("abcfghijk"[: len(sources)])}
    names |= {letter: f"%d{i}" for i, letter in enumerate("de"[: len(results)])}
    text = case.ptx
    for letter, register in names.items():
        text = text.replace(f"<{letter}>", register)
    lines.append(text)
    for i, kind in enumerate(results):
        if kind == "pred":
            lines.append(f"selp.u16 %h0, 1, 0, %d{i}; st.global.u8 [%rd3+{SLOT * i}], %h0;")
        else:
            lines.append(f"st.global.{moved(kind)} [%rd3+{SLOT * i}], %d{i};")
    return "\n".join([*lines, "ret; }"])


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


class Kernels:
    """The compiled cases; ``run`` gives the results of every row as bits."""

    def __init__(self, cases: Sequence[Case], folder: Path, globals_: str = "") -> None:
        self.cases = {case.name: case for case in cases}
        text = [".version 9.0", ".target sm_90a", ".address_size 64", globals_]
        for case in cases:
            text.append(kernel(case, f"{case.name}_typed", False))
            if case.has_floats:
                text.append(kernel(case, f"{case.name}_untyped", True))
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
        kernel_name = f"{name}_{'untyped' if untyped else 'typed'}".encode()
        problem = self.library.run(
            kernel_name, data, ctypes.c_size_t(len(data)), output, ctypes.c_size_t(len(output)), len(rows)
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
