"""The syntax of a CUDA source that structure is read from: launches, calls, types, qualifiers, each with its line.

One walk over the tree of tree-sitter-cuda, in the order of the source. What the parser could not read (ERROR nodes) costs only
itself: its own words and calls are taken as text, what parsed inside counts as ever. Comments, strings and ``#if 0`` never count.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Final, NamedTuple

from engine.verdict.structure_access import accesses
from engine.verdict.structure_model import Function, Launch, Place, Site, Sites
from engine.verdict.structure_nodes import (
    called_name,
    children,
    declarator_chain,
    function_name,
    line_of,
    lines_of,
    own_text,
    strings_of,
    text_of,
)
from engine.verdict.structure_rules import Kind
from engine.verdict.structure_words import LOOPS, THREAD_NUMBERS, bare, launched_by, thread_test, words_of_text

if TYPE_CHECKING:
    from tree_sitter import Language, Node


class _Around(NamedTuple):
    """What a node stands in."""

    function: int = -1
    loop: bool = False
    changing: frozenset[str] = frozenset()
    """Names that the loop of the host around this changes: what does not mention one of them is only repeated, as to measure it."""
    private: bool = False
    alone: str = ""
    """The condition under which one thread runs this; empty once a loop has told of it."""


_ALIGNMENT: Final = re.compile(rb"\b(?:__align__|alignas)\s*\([^()\n]*\)")
"""The grammar does not know it after __shared__, and nothing here asks for it: blanked before parsing."""
_LAUNCHER: Final = re.compile(
    r"cudaLaunch(?:Cooperative)?Kernel(?:ExC?|MultiDevice)?|cuLaunch(?:Cooperative)?Kernel(?:Ex)?"
)
_COPY: Final = re.compile(r"(?:cudaMemcpy|cuMemcpyDtoH)\w*")
_DOUBLE: Final = re.compile(r"double\d?(?:_\w+)?")
_WORD: Final = re.compile(r"[A-Za-z_]\w*")
_CHANGED: Final = re.compile(
    r"(\w+)\s*(?:(?:[-+*/|&^%]|<<|>>)?=(?!=)|\+\+|--)|(?:\+\+|--)\s*(\w+)|\bswap\s*\(([^()]*)\)|\w[\s&*]+(\w+)\s*:(?!:)"
)
_COMMA: Final = re.compile(r",(?![^()]*\))")
_MEMORIES: Final = frozenset({"__shared__", "__constant__"})
_UNKNOWN: Final = "?"
"""A value that no text tells: a parameter's, or one that is counted up."""


@functools.cache
def _language() -> Language:
    import tree_sitter_cuda
    from tree_sitter import Language

    return Language(tree_sitter_cuda.language())


def find_sites(code: bytes) -> Sites:
    """All sites of a source, in its order. Any bytes will do; nothing is raised for what is no CUDA."""
    from tree_sitter import Parser

    blanked = _ALIGNMENT.sub(lambda found: b" " * len(found[0]), code)
    walk = _Walk()
    # A parser has a state: two workers must not share one.
    walk.over(Parser(_language()).parse(blanked).root_node)
    walk.found.sites = [site for site in walk.found.sites if site.kind != "shared" or walk.is_used(site)]
    for function, definition in walk.on_device:
        walk.found.sites += accesses(definition, function)
    return walk.found


class _Walk:
    """One pass over one tree, and what it has to remember on the way: variables that hold the thread's number, the bodies
    (nodes' ids) that one thread runs, and the functions (their places) that all other threads have left."""

    def __init__(self) -> None:
        self.found = Sites()
        self.on_device: list[tuple[int, Node]] = []
        self._shared: dict[str, int] = {}
        self._thread_names: set[str] = set()
        self._bodies_of_one: dict[int, str] = {}
        self._left_by_others: dict[int, str] = {}

    def over(self, root: Node) -> None:
        # A stack of its own: a source that nests ten thousand parentheses must not end the program.
        stack = [(root, _Around())]
        while stack:
            node, around = stack.pop()
            visit = _VISITS.get(node.type)
            inside = around if visit is None else visit(self, node, around)
            if inside is None:
                continue
            condition = self._bodies_of_one.get(node.id)
            if condition is not None and node.type not in LOOPS:
                inside = inside._replace(alone=condition)
            if node.has_error:
                self.found.errors += [line_of(child) for child in node.children if child.is_missing]
            stack += [(child, inside) for child in reversed(children(node))]

    def _add(self, kind: Kind, text: str, node: Node, around: _Around) -> None:
        self.found.sites.append(Site(kind, text, line_of(node), around.function, around.loop))

    def _text(self, text: str, line: int, around: _Around) -> None:
        for kind, word, offset in words_of_text(text):
            if kind == "launch":
                kernel, _, configuration = word.partition("<<<")
                grid, block, shared, stream = _four([part.strip() for part in _COMMA.split(configuration)])
                launch = Launch(
                    bare(kernel), grid, block, shared, stream, line + offset, loop=around.loop, function=around.function
                )
                self.found.launches.append(launch)
            self.found.sites.append(Site(kind, word, line + offset, around.function, around.loop, approximate=True))

    def is_used(self, shared: Site) -> bool:
        """Whether anything but its declaration names an array in shared memory; of what was read as text nobody knows."""
        found = _WORD.search(shared.text)
        if shared.approximate or found is None or self._shared.get(found[0], 2) > 1:
            return True
        return any(function.place == "macro" and found[0] in function.mentions for function in self.found.functions)

    def _error(self, node: Node, around: _Around) -> _Around:
        self.found.errors.append(line_of(node))
        text = own_text(node)
        self._text(text, line_of(node), around)
        words = _WORD.findall(text)
        self._mentions(around).update(words)
        for word in self._shared.keys() & set(words):
            self._shared[word] += 1
        return around

    def _mentions(self, around: _Around) -> set[str]:
        return self.found.functions[around.function].mentions if around.function >= 0 else self.found.mentions

    def _word(self, node: Node, around: _Around) -> None:
        text = text_of(node)
        self._mentions(around).add(text)
        if text in self._shared:
            self._shared[text] += 1
        if text.isupper() and node.type == "identifier":
            self._add("word", text, node, around)

    def _qualifier(self, node: Node, around: _Around) -> None:
        self._add("word", text_of(node).partition("(")[0].strip(), node, around)

    def _nothing(self, node: Node, around: _Around) -> None:
        """Comments, strings and includes: they never count."""

    def _function(self, node: Node, around: _Around) -> _Around:
        words = {text_of(child) for child in node.children[:-1] if child.child_count < 2}
        place: Place = "kernel" if "__global__" in words else "device" if "__device__" in words else "host"
        name = function_name(node)
        number = len(self.found.functions)
        hidden = place != "host" or around.private or "static" in words
        free = name is not None and name.type in ("identifier", "template_function")
        shown = "" if name is None else bare(text_of(name))
        self.found.functions.append(Function(shown, place, line_of(node), open=not free or not hidden))
        inside = _Around(number, private=around.private)
        if place != "host":
            self.on_device.append((number, node))
            self._add("kernel" if place == "kernel" else "device_function", shown, node, inside)
        return inside

    def _call(self, node: Node, around: _Around) -> _Around:
        called = node.child_by_field_name("function")
        name = "" if called is None else called_name(called)
        configuration = next((child for child in node.children if child.type == "kernel_call_syntax"), None)
        if configuration is not None:
            parts = [text_of(child) for child in configuration.named_children if child.type != "comment"]
            self._launch(name, _four(parts), "<<<>>>", node, around)
            return around
        if _COPY.fullmatch(name):
            text = text_of(node)
            if "cudaMemcpyDeviceToHost" in text:
                self._add("copy", "to host", node, around)
            elif "cudaMemcpyDeviceToDevice" in text:
                # It waits for nothing on the host.
                name = "cudaMemcpyDeviceToDevice"
        self.found.sites.append(Site("call", name, line_of(node), around.function, self._varies(node, around)))
        if _LAUNCHER.fullmatch(name):
            given = node.child_by_field_name("arguments")
            parts = [] if given is None else [text_of(child) for child in given.named_children]
            kernel, shape = launched_by(name, parts)
            self._launch(kernel, shape, name, node, around)
        elif name == "_Pragma":
            self._add("pragma", strings_of(node), node, around)
        elif name in ("asm", "__asm__", "__asm"):
            self._add("asm", strings_of(node), node, around)
        return around

    def _asm(self, node: Node, around: _Around) -> _Around:
        self._add("asm", strings_of(node), node, around)
        return around

    def _launch(self, kernel: str, shape: list[str], how: str, node: Node, around: _Around) -> None:
        grid, block, shared, stream = shape
        self.found.launches.append(
            Launch(
                bare(kernel),
                grid,
                block,
                shared,
                stream,
                line_of(node),
                how,
                self._varies(node, around),
                around.function,
            )
        )
        self._add("launch", how, node, around)

    def _declaration(self, node: Node, around: _Around) -> _Around:
        of_type = node.child_by_field_name("type")
        if of_type is None:
            return around
        declarators = node.children_by_field_name("declarator")
        memory = {text_of(child) for child in node.named_children if child.type == "type_qualifier"} & _MEMORIES
        scalar = of_type.type in ("primitive_type", "sized_type_specifier")
        on_device = around.function >= 0 and self.found.functions[around.function].place != "host"
        if on_device and _DOUBLE.fullmatch(text_of(of_type)):
            self._add("double", text_of(of_type), node, around)
        for declarator in declarators:
            if on_device and node.type == "declaration" and not memory and "[" in text_of(declarator).partition("=")[0]:
                self._add("local", text_of(declarator).partition("=")[0].strip(), node, around)
            if "__shared__" in memory and (not scalar or "[" in text_of(declarator)):
                self._add("shared", text_of(declarator), node, around)
                named = _WORD.search(text_of(declarator))
                if named is not None:
                    self._shared.setdefault(named[0], 0)
            if "__constant__" in memory:
                self._add("constant", text_of(declarator), node, around)
            if node.type == "parameter_declaration":
                self._given(declarator, _UNKNOWN)
        if not scalar:
            behind = any("pointer" in part.type for declarator in declarators for part in declarator_chain(declarator))
            self._add("pointer" if behind else "type", bare(text_of(of_type)), of_type, around)
        return around

    def _value(self, node: Node, around: _Around) -> _Around:
        name, value = node.child_by_field_name("declarator"), node.child_by_field_name("value")
        if name is not None and value is not None:
            self._given(name, text_of(value))
        return around

    def _assignment(self, node: Node, around: _Around) -> _Around:
        name, value = node.child_by_field_name("left"), node.child_by_field_name("right")
        operator = node.child_by_field_name("operator")
        if name is not None and name.type == "subscript_expression" and around.loop and self._on_host(around):
            self._add("host_loop", "store", node, around)
        if name is not None and value is not None:
            self._given(name, text_of(value) if operator is not None and operator.type == "=" else _UNKNOWN)
        return around

    def _update(self, node: Node, around: _Around) -> _Around:
        argument = node.child_by_field_name("argument")
        if argument is not None:
            self._given(argument, _UNKNOWN)
        return around

    def _namespace(self, node: Node, around: _Around) -> _Around:
        return around._replace(private=around.private or node.child_by_field_name("name") is None)

    def _given(self, name: Node, value: str) -> None:
        if name.type != "identifier":
            return
        word = text_of(name)
        self.found.values.setdefault(word, set()).add(value)
        numbers_thread = re.sub(r"\s|\bint\b", "", value) in THREAD_NUMBERS
        (self._thread_names.add if numbers_thread else self._thread_names.discard)(word)

    def _guard(self, node: Node, around: _Around) -> _Around:
        """``if (threadIdx.x == 0) ...`` and ``if (threadIdx.x != 0) return;``: from here on one thread works alone."""
        condition, body = node.child_by_field_name("condition"), node.child_by_field_name("consequence")
        if condition is None or body is None or self._on_host(around):
            return around
        text = re.sub(r"\s", "", text_of(condition))
        number, said = thread_test(text, {"threadIdx.x", *self._thread_names})
        if number == "one":
            self._bodies_of_one[body.id] = said
        elif number == "others" and text_of(body).lstrip("{ ").startswith("return"):
            self._left_by_others[around.function] = said
        return around

    def _on_host(self, around: _Around) -> bool:
        return around.function < 0 or self.found.functions[around.function].place == "host"

    def _loop(self, node: Node, around: _Around) -> _Around:
        condition = around.alone or self._bodies_of_one.get(node.id, "")
        if not condition and not around.loop:
            condition = self._left_by_others.get(around.function, "")
        if condition:
            self._add("guard", condition, node, around)
        changing = around.changing
        if self._on_host(around):
            found = (group for groups in _CHANGED.findall(text_of(node)) for group in groups)
            changing |= frozenset(word for group in found for word in _WORD.findall(group))
        return around._replace(loop=True, alone="", changing=changing)

    def _varies(self, node: Node, around: _Around) -> bool:
        """Whether a call in a loop of the host is another one each time."""
        return around.loop and not around.changing.isdisjoint(_WORD.findall(text_of(node)))

    def _alias(self, node: Node, around: _Around) -> _Around | None:
        """Another name. What is only named counts where the new name is used; ``typedef struct { ... } T`` is looked into."""
        names = [child for child in node.named_children if child.type != "comment"]
        if len(names) < 2 or any(child.type.endswith("_specifier") for child in names):
            return around
        name, target = (names[-1], names[0]) if node.type == "type_definition" else (names[0], names[-1])
        self.found.aliases[text_of(name)] = bare(text_of(target)).removeprefix("typename ")
        return None

    def _directive(self, node: Node, around: _Around) -> None:
        argument = node.child_by_field_name("argument")
        if argument is not None and text_of(node).startswith("#pragma"):
            self._add("pragma", text_of(argument), node, around)

    def _macro(self, node: Node, around: _Around) -> None:
        """A macro counts where something that counts names it; one that launches is taken to be used elsewhere."""
        name, value = node.child_by_field_name("name"), node.child_by_field_name("value")
        if name is not None and value is not None:
            text = lines_of(value)
            self._given(name, text.strip() if node.type == "preproc_def" else _UNKNOWN)
            number = len(self.found.functions)
            words = set(_WORD.findall(text))
            self.found.functions.append(Function(text_of(name), "macro", line_of(node), "<<<" in text, words))
            self._text(text, line_of(value), around._replace(function=number))


_VISITS: Final[Mapping[str, Callable[[_Walk, Node, _Around], _Around | None]]] = {
    "ERROR": _Walk._error,
    **dict.fromkeys(("identifier", "field_identifier", "type_identifier", "namespace_identifier"), _Walk._word),
    **dict.fromkeys(("__restrict__", "__restrict", "launch_bounds"), _Walk._qualifier),
    **dict.fromkeys(("comment", "string_literal", "char_literal", "raw_string_literal"), _Walk._nothing),
    "preproc_include": _Walk._nothing,
    "function_definition": _Walk._function,
    "call_expression": _Walk._call,
    "gnu_asm_expression": _Walk._asm,
    **dict.fromkeys(
        ("declaration", "parameter_declaration", "field_declaration", "type_descriptor"), _Walk._declaration
    ),
    **dict.fromkeys(("init_declarator", "optional_parameter_declaration"), _Walk._value),
    "assignment_expression": _Walk._assignment,
    "update_expression": _Walk._update,
    "if_statement": _Walk._guard,
    **dict.fromkeys(LOOPS, _Walk._loop),
    "namespace_definition": _Walk._namespace,
    **dict.fromkeys(("alias_declaration", "type_definition", "namespace_alias_definition"), _Walk._alias),
    "preproc_call": _Walk._directive,
    **dict.fromkeys(("preproc_def", "preproc_function_def"), _Walk._macro),
}
"""What to do with a node of each type; all others are only walked through."""


def _four(parts: list[str]) -> list[str]:
    """Grid, block, shared memory and stream; empty where nothing is given."""
    return [*parts, "", "", "", ""][:4]
