"""What the names and expressions of a device function are worth: how they differ between neighbouring threads, and who knows them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Final, NamedTuple

from engine.verdict.structure_nodes import called_name, text_of

if TYPE_CHECKING:
    from tree_sitter import Node

SAME, NEXT, UNKNOWN, FAR = range(4)
"""How a value differs from that of the neighbouring thread: not at all, by one, nobody knows, by a number known at run time."""
DEEPEST: Final = 60
"""Expressions within expressions that are followed: a source can nest ten thousand."""
_THREAD: Final = frozenset({"threadIdx"})
_NUMBERS: Final = frozenset({"blockIdx", "blockDim", "gridDim", "warpSize"})
_RANKS: Final = frozenset({"thread_rank", "num_threads"})
_CASTS: Final = frozenset(
    {"static_cast", "reinterpret_cast", "const_cast", "__builtin_assume_aligned", "int", "size_t", "float"}
)


class Value(NamedTuple):
    """What is known of a value. ``threaded``: it differs between the threads of a block. ``constant``: the compiler knows it.
    ``own``: memory of the block or of the thread, where no access is slow for lying apart."""

    stride: int = SAME
    threaded: bool = False
    constant: bool = True
    own: bool = False
    loaded: bool = False
    """It was read from memory that other threads do not share: nobody knows how large it is."""


CONSTANT: Final = Value()
RUNTIME: Final = Value(constant=False)


def joined(*values: Value) -> Value:
    """The value of a sum: what any part varies with, and known to the compiler where all parts are."""
    return Value(
        max(value.stride for value in values),
        any(value.threaded for value in values),
        all(value.constant for value in values),
        any(value.own for value in values),
        any(value.loaded for value in values),
    )


class Values:
    """The values of names as far as the text of one function tells, and those of expressions made of them."""

    def __init__(self) -> None:
        self.names: dict[str, Value] = {}

    def value(self, node: Node, depth: int = 0) -> Value:
        """What an expression is worth, as the names in it stand now."""
        evaluate = _EVALUATES.get(node.type)
        if depth > DEEPEST:
            return Value(UNKNOWN, constant=False)
        if evaluate is not None:
            return evaluate(self, node, depth + 1)
        inner = node.named_children
        return joined(*(self.value(child, depth + 1) for child in inner)) if inner else CONSTANT

    def _of_name(self, node: Node, _: int) -> Value:
        word = text_of(node)
        return self.names.get(word, CONSTANT)

    def _of_field(self, node: Node, depth: int) -> Value:
        of, field = node.child_by_field_name("argument"), node.child_by_field_name("field")
        owner = "" if of is None else text_of(of)
        if owner in _THREAD:
            return Value(NEXT if field is not None and field.text == b"x" else SAME, threaded=True, constant=False)
        if owner in _NUMBERS:
            return RUNTIME
        return CONSTANT if of is None else self.value(of, depth)

    def _of_binary(self, node: Node, depth: int) -> Value:
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        operator = node.child_by_field_name("operator")
        if left is None or right is None or operator is None:
            return Value(UNKNOWN, constant=False)
        one, two = self.value(left, depth), self.value(right, depth)
        both = joined(one, two)
        if operator.type == "*":
            return both._replace(stride=_product(one, two))
        if operator.type in ("/", ">>"):
            return both._replace(stride=SAME if one.stride <= NEXT else UNKNOWN)
        if operator.type in ("%", "&"):
            return both._replace(stride=min(one.stride, NEXT) if one.stride != FAR else UNKNOWN)
        if operator.type in ("+", "-"):
            return both
        return both._replace(stride=SAME if both.stride == SAME else UNKNOWN)

    def _of_call(self, node: Node, depth: int) -> Value:
        called, given = node.child_by_field_name("function"), node.child_by_field_name("arguments")
        name = "" if called is None else called_name(called)
        last = name.rpartition(".")[2].rpartition("::")[2]
        if last in _RANKS:
            return Value(NEXT, threaded=True, constant=False)
        values = [] if given is None else [self.value(child, depth) for child in given.named_children]
        if last == "meta_group_rank":
            return Value(threaded=True, constant=False)
        if not values:
            return RUNTIME
        whole = joined(*values)
        if last == "min":
            return whole._replace(loaded=all(value.loaded for value in values))
        if last in _CASTS or last == "max":
            return whole
        return whole._replace(stride=SAME if whole.stride == SAME else UNKNOWN, constant=False)

    def _of_subscript(self, node: Node, depth: int) -> Value:
        """What is read from memory: nobody knows how it differs, unless all threads read the same place."""
        base, indices = node.child_by_field_name("argument"), node.child_by_field_name("indices")
        parts = [part for part in (base, indices) if part is not None]
        whole = joined(*(self.value(part, depth) for part in parts)) if parts else RUNTIME
        return whole._replace(
            stride=SAME if whole.stride == SAME else UNKNOWN, constant=False, own=False, loaded=not whole.own
        )

    def _of_pointer(self, node: Node, depth: int) -> Value:
        """``&x[i]`` is x + i, ``*p`` is what lies there."""
        argument, operator = node.child_by_field_name("argument"), node.child_by_field_name("operator")
        if argument is None:
            return RUNTIME
        if operator is not None and operator.type == "&" and argument.type == "subscript_expression":
            parts = [argument.child_by_field_name(field) for field in ("argument", "indices")]
            return joined(*(self.value(part, depth) for part in parts if part is not None))
        value = self.value(argument, depth)
        if operator is not None and operator.type == "*":
            return value._replace(stride=SAME if value.stride == SAME else UNKNOWN, constant=False)
        return value

    def _of_choice(self, node: Node, depth: int) -> Value:
        parts = [node.child_by_field_name(field) for field in ("consequence", "alternative")]
        return joined(*(self.value(part, depth) for part in parts if part is not None)) if any(parts) else RUNTIME

    def _of_nothing(self, node: Node, _: int) -> Value:
        return CONSTANT


def _product(one: Value, two: Value) -> int:
    """The stride of a product: a thread's number times what only the run knows is far, times a constant it is unknown how far."""
    near, other = (one, two) if one.stride >= two.stride else (two, one)
    if near.stride == SAME:
        return SAME
    if other.stride != SAME or near.stride == UNKNOWN:
        return UNKNOWN
    if near.stride == FAR:
        return FAR
    return UNKNOWN if other.constant else FAR


_EVALUATES: Final[Mapping[str, Callable[[Values, Node, int], Value]]] = {
    "identifier": Values._of_name,
    "field_expression": Values._of_field,
    "binary_expression": Values._of_binary,
    "call_expression": Values._of_call,
    "subscript_expression": Values._of_subscript,
    "pointer_expression": Values._of_pointer,
    "conditional_expression": Values._of_choice,
    **dict.fromkeys(
        ("number_literal", "type_descriptor", "qualified_identifier", "sizeof_expression", "lambda_expression"),
        Values._of_nothing,
    ),
}
