"""How the threads of a kernel share its loops and its memory: what names and calls do not tell.

A kernel that keeps its launch and loses its parallelism shows it here: a loop that the threads of a block walked through together
becomes one that every thread walks through alone, neighbouring threads read values that lie a row apart, sums meet in global memory.
One walk over the body of each function that runs on the device, in the order of the source; every name is followed as far as the
function's own text goes, and what cannot be followed is not counted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Final

from engine.verdict.structure_model import Site
from engine.verdict.structure_nodes import called_name, children, declarator_chain, line_of, text_of
from engine.verdict.structure_values import CONSTANT, DEEPEST, FAR, NEXT, RUNTIME, Value, Values, joined
from engine.verdict.structure_words import LOOPS

if TYPE_CHECKING:
    from tree_sitter import Node

_LEAVES: Final = frozenset(
    {
        "identifier",
        "field_identifier",
        "type_identifier",
        "primitive_type",
        "number_literal",
        "type_qualifier",
        "comment",
    }
)
"""Half of all nodes: nothing is visited in them."""
_ATOMICS: Final = ("atomic",)


def accesses(body: Node, function: int) -> list[Site]:
    """The sites of one device function (its definition's node; ``function`` is its place among the functions): "strided" accesses,
    "shared" and "serial" loops, loops whose bound is "loaded", and "block" and "global" atomics."""
    walk = _Access(function)
    walk.over(body)
    return walk.sites


class _Access(Values):
    def __init__(self, function: int) -> None:
        super().__init__()
        self.sites: list[Site] = []
        self._function = function

    def over(self, root: Node) -> None:
        # A stack of its own, as in structure_sites; an exit is marked by the loop's node, to know what lies within loops.
        stack: list[tuple[Node, bool]] = [(root, False)]
        while stack:
            node, loop = stack.pop()
            visit = _VISITS.get(node.type)
            if visit is not None:
                visit(self, node, loop)
            inside = loop or node.type in LOOPS
            stack += [(child, inside) for child in reversed(children(node)) if child.type not in _LEAVES]

    def _add(self, kind: str, text: str, node: Node, loop: bool) -> None:
        self.sites.append(Site(kind, text, line_of(node), self._function, loop))  # type: ignore[arg-type]

    # what gives names a value

    def _parameter(self, node: Node, _: bool) -> None:
        declarator = node.child_by_field_name("declarator")
        name = None if declarator is None else _name_of(declarator)
        if name is not None and node.parent is not None and node.parent.type == "parameter_list":
            self.names[name] = RUNTIME

    def _declaration(self, node: Node, _: bool) -> None:
        memory = any(child.type == "type_qualifier" and child.text == b"__shared__" for child in node.children)
        for declarator in node.children_by_field_name("declarator"):
            name = _name_of(declarator)
            if name is None:
                continue
            array = any(part.type == "array_declarator" for part in declarator_chain(declarator))
            value = declarator.child_by_field_name("value")
            if memory or array:
                self.names[name] = Value(constant=False, own=True)
            elif value is not None:
                self.names[name] = self.value(value)
            else:
                self.names[name] = CONSTANT

    def _assignment(self, node: Node, _: bool) -> None:
        name, value = node.child_by_field_name("left"), node.child_by_field_name("right")
        operator = node.child_by_field_name("operator")
        if name is None or value is None or name.type != "identifier":
            return
        given = self.value(value)
        word = text_of(name)
        plain = operator is not None and operator.type == "="
        before = self.names.get(word, CONSTANT)
        # A value that changes is no constant of the compiler any more; memory stays what it was.
        self.names[word] = (given if plain else joined(before, given))._replace(constant=False)

    # what is counted

    def _for(self, node: Node, loop: bool) -> None:
        begin, test, step = (node.child_by_field_name(field) for field in ("initializer", "condition", "update"))
        name, first = self._counter(begin)
        if name is None or test is None or step is None:
            return
        self.names[name] = first._replace(constant=False)
        if self._data_says(test, name):
            self._add("bound", "loaded", node, loop)
        if _steps_by_one(step, name):
            bound = [self.names[word] for word in _words(test) if word != name and word in self.names]
            # A loop with a barrier in it is one that the block walks through together, tile by tile.
            if any(not value.constant for value in bound) and b"sync" not in (node.text or b""):
                self._add("loop", "serial", node, loop)
        elif first.threaded:
            self._add("loop", "shared", node, loop)

    def _data_says(self, test: Node, counter: str) -> bool:
        """Whether what the counter is compared with was read from memory, and held to nothing by a min()."""
        sides = [test.child_by_field_name(field) for field in ("left", "right")]
        return any(self.value(side).loaded for side in sides if side is not None and text_of(side) != counter)

    def _counter(self, begin: Node | None) -> tuple[str | None, Value]:
        if begin is None:
            return None, CONSTANT
        if begin.type == "declaration":
            declarator = begin.child_by_field_name("declarator")
            value = None if declarator is None else declarator.child_by_field_name("value")
            name = None if declarator is None else _name_of(declarator)
        else:
            left, value = begin.child_by_field_name("left"), begin.child_by_field_name("right")
            name = text_of(left) if left is not None and left.type == "identifier" else None
        return name, CONSTANT if value is None else self.value(value)

    def _while(self, node: Node, loop: bool) -> None:
        """``while (i < n) { ... i += stride; }``: the counter is threaded and moves on by more than one."""
        test, body = node.child_by_field_name("condition"), node.child_by_field_name("body")
        if test is None or body is None:
            return
        counters = {word for word in _words(test) if self.names.get(word, CONSTANT).threaded}
        for statement in body.named_children:
            step = (
                statement.named_children[0]
                if statement.type == "expression_statement" and statement.named_children
                else None
            )
            if step is None or step.type != "assignment_expression":
                continue
            name, operator = step.child_by_field_name("left"), step.child_by_field_name("operator")
            if name is not None and operator is not None and operator.type == "+=" and text_of(name) in counters:
                self._add("loop", "shared", node, loop)
                return

    def _subscript(self, node: Node, loop: bool) -> None:
        base, indices = node.child_by_field_name("argument"), node.child_by_field_name("indices")
        if base is None or indices is None or not indices.named_children:
            return
        of = self.value(base)
        if not of.own and max(of.stride, self.value(indices.named_children[0]).stride) == FAR:
            self._add("access", "strided", node, loop)

    def _field(self, node: Node, loop: bool) -> None:
        """``x[i].r``: neighbouring threads read what lies a structure apart. Vector types have x, y, z and w."""
        of, field = node.child_by_field_name("argument"), node.child_by_field_name("field")
        if of is None or field is None or of.type != "subscript_expression" or field.text in (b"x", b"y", b"z", b"w"):
            return
        base, indices = of.child_by_field_name("argument"), of.child_by_field_name("indices")
        if base is None or indices is None or not indices.named_children or self.value(base).own:
            return
        if self.value(indices.named_children[0]).stride == NEXT:
            self._add("access", "strided", node, loop)

    def _call(self, node: Node, loop: bool) -> None:
        called, given = node.child_by_field_name("function"), node.child_by_field_name("arguments")
        if called is None or given is None or not given.named_children:
            return
        name = called_name(called)
        if name.startswith(_ATOMICS):
            own = self.value(given.named_children[0]).own
            self._add("atomic", "block" if own else "global", node, loop)


def _name_of(declarator: Node) -> str | None:
    found = next((part for part in declarator_chain(declarator) if part.type == "identifier"), None)
    if found is None:
        found = next((child for child in declarator.named_children if child.type == "identifier"), None)
    return None if found is None else text_of(found)


def _steps_by_one(step: Node, name: str) -> bool:
    if step.type == "update_expression":
        return name in _words(step)
    if step.type != "assignment_expression":
        return False
    by = step.child_by_field_name("right")
    return by is not None and by.text in (b"1", b"1u", b"1U")


def _words(node: Node) -> Iterator[str]:
    """The names of an expression, without those of members."""
    stack = [(node, 0)]
    while stack:
        part, depth = stack.pop()
        if part.type == "identifier":
            yield text_of(part)
        elif depth < DEEPEST:
            stack.extend((child, depth + 1) for child in part.named_children)


_VISITS: Final[Mapping[str, Callable[[_Access, Node, bool], None]]] = {
    "parameter_declaration": _Access._parameter,
    "declaration": _Access._declaration,
    "assignment_expression": _Access._assignment,
    "for_statement": _Access._for,
    "while_statement": _Access._while,
    "subscript_expression": _Access._subscript,
    "field_expression": _Access._field,
    "call_expression": _Access._call,
}
