"""A unit: one PTX module, or the modules of one -rdc link, as one C text."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import prod

from engine.devices.cpu.emit import variables
from engine.devices.cpu.emit.flatten import Flat, flatten
from engine.devices.cpu.emit.function import Emitted, FunctionEmitter, align, parameter_layout, signature
from engine.devices.cpu.emit.link import Definition, Linked
from engine.devices.cpu.emit.shared import BASE, lay_out
from engine.devices.cpu.emit.sites import Sites, quote
from engine.devices.cpu.ptx import nodes


@dataclass(frozen=True, slots=True)
class MissingPiece:
    """What a unit holds but cannot run: where it stands, and what it is."""

    function: str
    what: str
    file: str
    line: int


@dataclass(slots=True)
class Translation:
    text: str
    unsupported: list[MissingPiece] = field(default_factory=list)


@dataclass(slots=True)
class _Reach:
    """What a kernel runs, callees included."""

    functions: set[str]
    waits: bool
    recursive: bool
    local_bytes: int


class _FunctionNames:
    """The names that one function sees; notes which shared variables and functions it uses."""

    def __init__(self, unit: _Unit, definition: Definition, flat: Flat) -> None:
        self.unit, self.module = unit, definition.module
        self.local = {
            name: unit.linked.add_local(definition.module, variable, definition.node.name)
            for name, variable in flat.variables.items()
            if variable.space in ("shared", "global", "const")
        }
        self.shared: set[str] = set()
        self.dynamic_align = 0

    def _find(self, name: str) -> Definition | None:
        return self.local.get(name) or self.unit.linked.find(self.module, name)

    def address(self, name: str) -> str | None:
        found = self._find(name)
        if found is None:
            declared = self.unit.linked.declared(self.module, name)
            if isinstance(declared, nodes.Variable) and declared.space == "shared" and not declared.size:
                self.dynamic_align = max(self.dynamic_align, declared.align)
                return "t->block->dynamic_base"
            return None
        if isinstance(found.node, nodes.Function):
            self.unit.taken.add(found.name)
            return f"(uint64_t)(uintptr_t){found.name}"
        if found.node.space == "shared":
            if not found.node.size:
                self.dynamic_align = max(self.dynamic_align, found.node.align)
                return "t->block->dynamic_base"
            self.shared.add(found.name)
        return found.name

    def is_shared(self, name: str) -> bool:
        found = self._find(name)
        node = found.node if found else self.unit.linked.declared(self.module, name)
        return isinstance(node, nodes.Variable) and node.space == "shared"

    def callee(self, name: str) -> tuple[str, int] | None:
        found = self.unit.linked.find(self.module, name)
        if found is None or not isinstance(found.node, nodes.Function):
            return None
        return found.name, len(found.node.returns) + len(found.node.params)


class _Unit:
    def __init__(self, modules: list[nodes.Module], registers: dict[str, int]) -> None:
        self.linked = Linked(modules)
        self.registers = registers
        self.sites = Sites()
        self.taken: set[str] = set()
        """C names of the functions whose address is taken: what an indirect call may reach."""
        self.functions: dict[str, nodes.Function] = {}
        self.emitted: dict[str, Emitted] = {}
        self.names: dict[str, _FunctionNames] = {}

    def translate(self) -> Translation:
        linked, unsupported = self.linked, []
        for definition in list(linked.definitions):
            if not isinstance(definition.node, nodes.Function):
                continue
            flat = flatten(definition.node)
            names = _FunctionNames(self, definition, flat)
            files = linked.modules[definition.module].files
            made = FunctionEmitter(definition.name, definition.node, flat, names, files, self.sites).emit()
            self.functions[definition.name], self.emitted[definition.name] = definition.node, made
            self.names[definition.name] = names
            unsupported += [MissingPiece(definition.node.name, *item) for item in made.unsupported]
        data, rows = self._variables()
        reach = {name: self._reach(name) for name, node in self.functions.items() if node.kind == "entry"}
        shared, static_shared = self._shared(reach)
        parts = [
            '#include "kernel_abi.h"\n#include "kernel_ops.h"',
            f'_Static_assert(BEAVER_SHARED_BASE == {BASE}, "shared variables are laid out from another address");'
            if shared
            else "",
            self.sites.table(),
            "#define S(number) (&sites[number])",
            *(f"enum {{ {name} = {address} }};" for name, address in shared.items()),
            "\n".join(f"static uint64_t {item.name};" for item in self._device_variables()),
            "\n".join(f"{signature(name, node)};" for name, node in self.functions.items()),
            self._callable(),
            *(made.text for made in self.emitted.values()),
            "\n".join(self._loop(name) for name in reach if not reach[name].waits),
            data,
            self._kernels(reach, static_shared),
            "const beaver_variable variables[] = {" + ",\n    ".join([*rows, "{0}"]) + "};",
            "const beaver_module_type beaver_module = {.abi = BEAVER_ABI, "
            f".kernel_count = {len(reach)}, .kernels = kernels, .variables = variables, .variable_count = {len(rows)}}};",
        ]
        return Translation("\n\n".join(part for part in parts if part) + "\n", unsupported)

    # ---- variables

    def _device_variables(self) -> list[Definition]:
        return [
            item
            for item in self.linked.definitions
            if isinstance(item.node, nodes.Variable) and item.node.space in variables.KINDS
        ]

    def _variables(self) -> tuple[str, list[str]]:
        texts, rows = [], []
        for item in self._device_variables():
            made = variables.image(item, self.linked)
            self.taken |= made.functions
            text, row = variables.describe(item, made)
            texts.append(text)
            rows.append(row)
        return "\n".join(text for text in texts if text), rows

    def _shared(self, reach: dict[str, _Reach]) -> tuple[dict[str, int], dict[str, int]]:
        """Addresses of shared variables, and the static bytes of each kernel."""
        declared = {
            item.name: item.node
            for item in self.linked.definitions
            if isinstance(item.node, nodes.Variable) and item.node.space == "shared" and item.node.size
        }
        used = {
            kernel: set().union(*(self.names[name].shared for name in what.functions)) for kernel, what in reach.items()
        }
        users = {name: {kernel for kernel, names in used.items() if name in names} for name in declared}
        addresses = lay_out(declared, users)
        ends = {name: address + (declared[name].size or 0) for name, address in addresses.items()}
        return addresses, {
            kernel: max((ends[name] for name in names), default=BASE) - BASE for kernel, names in used.items()
        }

    # ---- functions

    def _reach(self, kernel: str) -> _Reach:
        """Follow calls; a call through a pointer may reach every function whose address is taken."""
        seen: set[str] = set()
        deepest: dict[str, int] = {}
        recursive = False

        def visit(name: str, path: frozenset[str]) -> int:
            nonlocal recursive
            if name in path:
                recursive = True
                return 0
            if name in deepest:
                return deepest[name]
            seen.add(name)
            made = self.emitted[name]
            callees = made.calls | (self.taken if made.indirect else set())
            below = max((visit(callee, path | {name}) for callee in sorted(callees)), default=0)
            deepest[name] = made.frame + below
            return deepest[name]

        local_bytes = visit(kernel, frozenset())
        waits = any(self.emitted[name].waits for name in seen)
        recursive = recursive or any(self.emitted[name].indirect for name in seen)
        return _Reach(seen, waits, recursive, local_bytes)

    def _callable(self) -> str:
        """The functions that a call through a pointer may reach."""
        if not any(made.indirect for made in self.emitted.values()):
            return ""
        rows = []
        for name in sorted(self.taken):
            node = self.functions[name]
            if node.kind == "func":
                rows.append(f"    {{(void (*)(void)){name}, {len(node.returns) + len(node.params)}}},")
        table = "\n".join(["static const callable_function callable[] = {", *rows, "    {NULL, 0}};"])
        return f"{table}\n#define call_target(t, address, parameters, site) find_callable(t, callable, address, parameters, site)"

    def _loop(self, name: str) -> str:
        """All threads of a block in turn, for a kernel whose threads never wait for each other."""
        return f"static void block_{name}(beaver_thread *t) {{ FOR_EACH_THREAD(t) {name}(t); }}"

    def _kernels(self, reach: dict[str, _Reach], static_shared: dict[str, int]) -> str:
        texts, rows = [], []
        for name, what in reach.items():
            node, made = self.functions[name], self.emitted[name]
            layout, size = parameter_layout(node)
            parameters = ", ".join(f"{{{offset}, {length}}}" for offset, length in layout)
            if layout:
                texts.append(f"static const beaver_param params_{name}[] = {{{parameters}}};")
            rows.append(
                f"    {{.name = {quote(node.name)}, .thread = {name}, .block = {'NULL' if what.waits else f'block_{name}'}, "
                f".params = {f'params_{name}' if layout else 'NULL'}, .param_count = {len(layout)}, .param_bytes = {size}, "
                f".static_shared = {static_shared[name]}, .local_bytes = {align(what.local_bytes, 16)}, "
                f".recursive = {int(what.recursive)}, .registers = {self.registers.get(node.name, 0)}, "
                f".max_threads = {prod(node.max_threads) if node.max_threads else 0}, "
                f".cluster = {{{', '.join(str(size) for size in _extents(node.cluster))}}}, .site = {made.site}, "
                f".dynamic_align = {max(self.names[function].dynamic_align for function in what.functions)}}},"
            )
        return "\n".join([*texts, "static const beaver_kernel kernels[] = {", *rows, "    {0}};"])


def _extents(cluster: tuple[int, ...]) -> tuple[int, ...]:
    """Blocks of a cluster in x, y and z; zeros where none is asked for."""
    return (*cluster, 1, 1)[:3] if cluster else (0, 0, 0)


def translate_unit(modules: list[nodes.Module], registers: dict[str, int]) -> Translation:
    """The C text of a unit and what in it is unsupported. ``registers`` per thread by kernel name, as the cubin says; may be
    empty. Raises ValueError for modules that contradict themselves."""
    return _Unit(modules, registers).translate()
