"""The syntax of a CUDA source that structure is read from: launches, calls, types, qualifiers, each with its line.

One walk over the tree of tree-sitter-cuda, in the order of the source. What the parser could not read (ERROR nodes) costs only
itself: its own words and calls are taken as text, what parsed inside counts as ever. Comments, strings and ``#if 0`` never count.
"""

from __future__ import annotations

import functools
import re
from typing import TYPE_CHECKING, Final, NamedTuple

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
    from tree_sitter import Node, Parser


class _Around(NamedTuple):
    """What a node stands in."""

    function: int = -1
    loop: bool = False
    private: bool = False
    alone: str = ""
    """The condition under which one thread runs this; empty once a loop has told of it."""


_ALIGNMENT: Final = re.compile(rb"\b(?:__align__|alignas)\s*\([^()\n]*\)")
"""The grammar does not know it after __shared__, and nothing here asks for it: blanked before parsing."""
_LAUNCHER: Final = re.compile(
    r"cudaLaunch(?:Cooperative)?Kernel(?:ExC?|MultiDevice)?|cuLaunch(?:Cooperative)?Kernel(?:Ex)?"
)
_UNKNOWN: Final = "?"


@functools.cache
def _parser() -> Parser:
    import tree_sitter_cuda
    from tree_sitter import Language, Parser

    return Parser(Language(tree_sitter_cuda.language()))


def find_sites(code: bytes) -> Sites:
    """All sites of a source, in its order. Any bytes will do; nothing is raised for what is no CUDA."""
    blanked = _ALIGNMENT.sub(lambda found: b" " * len(found[0]), code)
    walk = _Walk()
    walk.over(_parser().parse(blanked).root_node)
    return walk.found


class _Walk:
    """One pass over one tree, and what it has to remember on the way: variables that hold the thread's number, the bodies
    (nodes' ids) that one thread runs, and the functions (their places) that all other threads have left."""

    def __init__(self) -> None:
        self.found = Sites()
        self._thread_names: set[str] = set()
        self._bodies_of_one: dict[int, str] = {}
        self._left_by_others: dict[int, str] = {}

    def over(self, root: Node) -> None:
        # A stack of its own: a source that nests ten thousand parentheses must not end the program.
        stack = [(root, _Around())]
        while stack:
            node, around = stack.pop()
            inside = self._visit(node, node.type, around)
            if inside is not None:
                stack.extend((child, inside) for child in reversed(children(node)))

    def _visit(self, node: Node, type_: str, around: _Around) -> _Around | None:
        """Notes what ``node`` shows; returns what its children stand in, None when they are not to be looked at."""
        if node.is_missing or type_ == "ERROR":
            self.found.errors.append(line_of(node))
            if type_ == "ERROR":
                self._text(own_text(node), line_of(node), around)
        match type_:
            case "comment" | "string_literal" | "char_literal" | "raw_string_literal" | "preproc_include":
                return None
            case "identifier" | "field_identifier" | "type_identifier" | "namespace_identifier":
                self._word(node, around)
                return None
            case "__restrict__" | "__restrict":
                self._add("word", type_, node, around)
            case "function_definition":
                return self._function(node, around)
            case "call_expression":
                self._call(node, around)
            case "declaration" | "parameter_declaration" | "field_declaration" | "type_descriptor":
                self._declaration(node, around)
            case "init_declarator" | "assignment_expression" | "optional_parameter_declaration":
                self._value(node)
            case "update_expression":
                self._given(node.child_by_field_name("argument"), _UNKNOWN)
            case "if_statement":
                self._guard(node, around)
            case "namespace_definition":
                return around._replace(private=around.private or node.child_by_field_name("name") is None)
            case "alias_declaration" | "type_definition" | "namespace_alias_definition":
                return around if self._alias(node) else None
            case "gnu_asm_expression":
                self._add("asm", strings_of(node), node, around)
            case "launch_bounds":
                self._add("word", "__launch_bounds__", node, around)
            case "preproc_call":
                self._directive(node, around)
                return None
            case "preproc_def" | "preproc_function_def":
                self._macro(node, around)
                return None
            case _ if type_ in LOOPS:
                return self._loop(node, around)
        condition = self._bodies_of_one.get(node.id)
        return around if condition is None else around._replace(alone=condition)

    def _add(self, kind: Kind, text: str, node: Node, around: _Around) -> None:
        self.found.sites.append(Site(kind, text, line_of(node), around.function, around.loop))

    def _text(self, text: str, line: int, around: _Around) -> None:
        for kind, word, offset in words_of_text(text):
            if kind == "launch":
                kernel, _, configuration = word.partition("<<<")
                grid, block, shared, stream = _four([part.strip() for part in configuration.split(",")])
                launch = Launch(
                    kernel, grid, block, shared, stream, line + offset, loop=around.loop, function=around.function
                )
                self.found.launches.append(launch)
            self.found.sites.append(Site(kind, word, line + offset, around.function, around.loop, approximate=True))

    def _word(self, node: Node, around: _Around) -> None:
        text = text_of(node)
        held = self.found.functions[around.function].mentions if around.function >= 0 else self.found.mentions
        held.add(text)
        if text.isupper() and node.type == "identifier":
            self._add("word", text, node, around)

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
            self._add("kernel" if place == "kernel" else "device_function", shown, node, inside)
        return inside

    def _call(self, node: Node, around: _Around) -> None:
        called = node.child_by_field_name("function")
        if called is None:
            return
        name = called_name(called)
        configuration = next((child for child in node.children if child.type == "kernel_call_syntax"), None)
        if configuration is not None:
            parts = [text_of(child) for child in configuration.named_children if child.type != "comment"]
            self._launch(name, _four(parts), "<<<>>>", node, around)
            return
        self._add("call", name, node, around)
        if _LAUNCHER.fullmatch(name):
            given = node.child_by_field_name("arguments")
            parts = [] if given is None else [text_of(child) for child in given.named_children]
            kernel, shape = launched_by(name, parts)
            self._launch(kernel, shape, name, node, around)
        elif name == "_Pragma":
            self._add("pragma", strings_of(node), node, around)
        elif name in ("asm", "__asm__", "__asm"):
            self._add("asm", strings_of(node), node, around)

    def _launch(self, kernel: str, shape: list[str], how: str, node: Node, around: _Around) -> None:
        grid, block, shared, stream = shape
        self.found.launches.append(
            Launch(bare(kernel), grid, block, shared, stream, line_of(node), how, around.loop, around.function)
        )
        self._add("launch", how, node, around)

    def _declaration(self, node: Node, around: _Around) -> None:
        of_type = node.child_by_field_name("type")
        if of_type is None:
            return
        type_ = bare(text_of(of_type)).removeprefix("typename ")
        declarators = node.children_by_field_name("declarator")
        words = {text_of(child) for child in node.children if child.type == "type_qualifier"}
        scalar = of_type.type in ("primitive_type", "sized_type_specifier")
        for declarator in declarators:
            form = text_of(declarator)
            if "__shared__" in words and (not scalar or "[" in form):
                self._add("shared", form, node, around)
            if "__constant__" in words:
                self._add("constant", form, node, around)
            if node.type == "parameter_declaration":
                self._given(declarator, _UNKNOWN)
        behind = any("pointer" in part.type for declarator in declarators for part in declarator_chain(declarator))
        self._add("pointer" if behind else "type", type_, of_type, around)

    def _value(self, node: Node) -> None:
        assigned = node.type == "assignment_expression"
        name = node.child_by_field_name("left" if assigned else "declarator")
        value = node.child_by_field_name("right" if assigned else "value")
        if name is None or value is None:
            return
        plain = not assigned or any(child.type == "=" for child in node.children)
        self._given(name, text_of(value) if plain else _UNKNOWN)

    def _given(self, name: Node | None, value: str) -> None:
        if name is None or name.type != "identifier":
            return
        word = text_of(name)
        self.found.values.setdefault(word, set()).add(value)
        numbers_thread = re.sub(r"\s|\bint\b", "", value) in THREAD_NUMBERS
        (self._thread_names.add if numbers_thread else self._thread_names.discard)(word)

    def _guard(self, node: Node, around: _Around) -> None:
        """``if (threadIdx.x == 0) ...`` and ``if (threadIdx.x != 0) return;``: from here on one thread works alone."""
        condition, body = node.child_by_field_name("condition"), node.child_by_field_name("consequence")
        if condition is None or body is None or around.function < 0:
            return
        if self.found.functions[around.function].place == "host":
            return
        text = re.sub(r"\s", "", text_of(condition))
        number, said = thread_test(text, {"threadIdx.x", *self._thread_names})
        if number == "one":
            self._bodies_of_one[body.id] = said
        elif number == "others" and text_of(body).lstrip("{ ").startswith("return"):
            self._left_by_others[around.function] = said

    def _loop(self, node: Node, around: _Around) -> _Around:
        condition = around.alone or self._bodies_of_one.get(node.id, "")
        if not condition and not around.loop:
            condition = self._left_by_others.get(around.function, "")
        if condition:
            self._add("guard", condition, node, around)
        return around._replace(loop=True, alone="")

    def _alias(self, node: Node) -> bool:
        """Keeps another name. Says whether to look inside, as into ``typedef struct { ... } T``; what is only named counts
        where the new name is used."""
        names = [child for child in node.named_children if child.type != "comment"]
        if len(names) < 2 or any(child.type.endswith("_specifier") for child in names):
            return True
        name, target = (names[-1], names[0]) if node.type == "type_definition" else (names[0], names[-1])
        self.found.aliases[text_of(name)] = bare(text_of(target)).removeprefix("typename ")
        return False

    def _directive(self, node: Node, around: _Around) -> None:
        argument = node.child_by_field_name("argument")
        if argument is not None and text_of(node).startswith("#pragma"):
            self._add("pragma", text_of(argument), node, around)

    def _macro(self, node: Node, around: _Around) -> None:
        name, value = node.child_by_field_name("name"), node.child_by_field_name("value")
        if name is not None and value is not None:
            text = lines_of(value)
            self._given(name, text.strip() if node.type == "preproc_def" else _UNKNOWN)
            self._text(text, line_of(value), around)
            self.found.mentions.update(re.findall(r"[A-Za-z_]\w*", text))


def _four(parts: list[str]) -> list[str]:
    """Grid, block, shared memory and stream; empty where nothing is given."""
    return [*parts, "", "", "", ""][:4]
