"""Questions to single nodes of a tree of tree-sitter-cuda."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from engine.text import plain_text
from engine.verdict.structure_words import bare

if TYPE_CHECKING:
    from tree_sitter import Node

_LONGEST = 4000
"""Bytes of a node that are read: names, values and asm statements are shorter, and nesting must not make it quadratic."""
_NAMES = frozenset({"identifier", "template_function", "qualified_identifier", "dependent_name"})


def text_of(node: Node) -> str:
    """The node's source on one line, harmless to show, cut where it is very long."""
    text = (node.text or b"")[:_LONGEST].decode("utf-8", "replace")
    return text if text.isidentifier() else " ".join(plain_text(text).split())


def lines_of(node: Node) -> str:
    """The node's source with its line ends, harmless to show."""
    return plain_text((node.text or b"").decode("utf-8", "replace"))


def line_of(node: Node) -> int:
    """The line on which the node begins, counted from 1."""
    return node.start_point[0] + 1


def children(node: Node) -> list[Node]:
    """The children that count: named ones, and those of qualifiers. Those of ``#if 0`` do not, its alternative does."""
    if node.type == "preproc_if":
        condition = node.child_by_field_name("condition")
        if condition is not None and condition.text in (b"0", b"false"):
            alternative = node.child_by_field_name("alternative")
            return [] if alternative is None else [alternative]
    # Punctuation tells nothing, and it is half of all nodes; only these two words of the language stand without a name.
    return node.children if node.type == "type_qualifier" else node.named_children


def called_name(node: Node) -> str:
    """What a call names: "ns::function" without template arguments, "object.method", "_.method" of a nameless object."""
    if node.type == "field_expression":
        of, method = node.child_by_field_name("argument"), node.child_by_field_name("field")
        owner = text_of(of) if of is not None and of.type == "identifier" else "_"
        return f"{owner}.{'' if method is None else bare(text_of(method))}"
    return bare(text_of(node)) if node.type in _NAMES else "_"


def declarator_chain(declarator: Node) -> Iterator[Node]:
    """A declarator and those within it: pointer to array of name."""
    inner: Node | None = declarator
    while inner is not None:
        yield inner
        inner = inner.child_by_field_name("declarator") or next(
            (child for child in inner.named_children if child.type.endswith("declarator")), None
        )


def function_name(definition: Node) -> Node | None:
    """The node that names a function where it is defined, None for what only looks like one."""
    declarator = definition.child_by_field_name("declarator")
    if declarator is None:
        return None
    function = next((part for part in declarator_chain(declarator) if part.type == "function_declarator"), None)
    return None if function is None else function.child_by_field_name("declarator")


def strings_of(node: Node) -> str:
    """The string literals of an asm statement or of a call's arguments, joined by blanks; operands' constraints stay out."""
    given = node.child_by_field_name("arguments") or node
    literals: list[Node] = []
    for child in given.named_children:
        literals += child.named_children if child.type == "concatenated_string" else [child]
    contents = (part for literal in literals if "string_literal" in literal.type for part in literal.named_children)
    return " ".join(text_of(part) for part in contents if part.type in ("string_content", "raw_string_content"))


def own_text(error: Node) -> str:
    """The part of an ERROR node that is in no parsed child, with its line ends: what was read stays out, to count once."""
    source = error.text or b""
    kept = bytearray(source)
    for child in error.children:
        if child.child_count:
            begin, end = child.start_byte - error.start_byte, child.end_byte - error.start_byte
            # The opening bracket stays: an argument list may have parsed where its call has not.
            for place in range(begin + 1, end):
                if kept[place] != 10:
                    kept[place] = 32
    return plain_text(kept.decode("utf-8", "replace"))
