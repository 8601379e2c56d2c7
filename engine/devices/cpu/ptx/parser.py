"""PTX text to a Module: PTX ISA 11, "Directives". The parser takes what compilers write and what the manual says of it."""

from __future__ import annotations

import re

from engine.devices.cpu.ptx.body import BodyParser, skip_statement
from engine.devices.cpu.ptx.constants import literal
from engine.devices.cpu.ptx.declarations import LINKAGES, SPACES, parameters, variables
from engine.devices.cpu.ptx.lexer import Cursor, PtxError
from engine.devices.cpu.ptx.nodes import Function, Loc, Module, Statement, Variable

__all__ = ["PtxError", "parse"]

_ESCAPE = re.compile(rb"\\(?:([0-3][0-7]{2})|(.))", re.DOTALL)

_PERFORMANCE = {
    "maxntid": 3,
    "reqntid": 3,
    "minnctapersm": 1,
    "maxnctapersm": 1,
    "maxnreg": 1,
    "reqnctapercluster": 3,
    "explicitcluster": 0,
    "maxclusterrank": 1,
    "blocksareclusters": 0,
    "noreturn": 0,
    "abi_preserve": 1,
    "abi_preserve_control": 1,
}
"""Directive between a function's head and its body to the most numbers that follow it."""


def parse(text: str) -> Module:
    """The module that ``text`` says. Raises PtxError, with the line, for what is not PTX or not known."""
    cursor = Cursor(text)
    module = Module(version="", target="")
    while cursor.word:
        word = cursor.take()
        if word == ";":
            continue
        if not word.startswith("."):
            cursor.at -= 1
            raise cursor.error(f"a directive expected before {word!r}")
        _top_level(cursor, module, word[1:])
    if not module.version or not module.target:
        raise cursor.error(".version and .target are missing")
    return module


def _top_level(cursor: Cursor, module: Module, word: str) -> None:
    if word == "version":
        module.version = cursor.take()
    elif word == "target":
        module.target = cursor.name()
        while cursor.accept(","):
            cursor.name()  # "debug" and the texture modes
    elif word == "address_size":
        if (bits := literal(cursor)) != 64:
            raise cursor.error(f"addresses of {bits} bits")
    elif word == "file":
        _file(cursor, module)
    elif word == "pragma":
        skip_statement(cursor)
    elif word == "alias":
        name = cursor.name()
        cursor.expect(",")
        module.aliases[name] = cursor.name()
        cursor.expect(";")
    else:
        linkage = ""
        if word in LINKAGES:
            linkage, word = word, cursor.take().removeprefix(".")
        if word in ("entry", "func"):
            _add_function(module, _function(cursor, word, linkage))
        elif word in SPACES and word not in ("reg", "param", "local"):
            for variable in variables(cursor, word, linkage):
                _add_variable(module, variable)
        else:
            cursor.at -= 1
            raise cursor.error(f"unknown directive .{word}")


def _file(cursor: Cursor, module: Module) -> None:
    number = literal(cursor)
    name = cursor.take()
    if name[0] != '"' or len(name) < 2:
        cursor.at -= 1
        raise cursor.error("a file's name in quotes expected")
    module.files[number] = _unescaped(name[1:-1])
    while cursor.accept(","):
        literal(cursor)  # time stamp and size


def _unescaped(name: str) -> str:
    """nvcc writes what is not printable ASCII as octal bytes of UTF-8."""
    raw = _ESCAPE.sub(lambda match: bytes([int(match[1], 8)]) if match[1] else match[2], name.encode())
    return raw.decode("utf-8", "replace")


def _function(cursor: Cursor, kind: str, linkage: str) -> Function:
    returns: tuple[Variable, ...] = ()
    while cursor.accept(".attribute"):
        while cursor.take() != ")":
            pass
    if kind == "func":
        returns = parameters(cursor)
    name = cursor.name()
    params = parameters(cursor)
    limits = _performance(cursor)
    body: tuple[Statement, ...] | None = None
    loc: Loc | None = None
    if not cursor.accept(";"):
        parser = BodyParser(cursor, (*returns, *params))
        body = parser.statements()
        loc = parser.first_loc
    return Function(
        kind=kind,
        name=name,
        returns=returns,
        params=params,
        body=body,
        linkage=linkage,
        max_threads=limits.get("reqntid") or limits.get("maxntid") or (),
        min_blocks=(limits.get("minnctapersm") or (0,))[0],
        cluster=limits.get("reqnctapercluster", ()),
        loc=loc,
    )


def _performance(cursor: Cursor) -> dict[str, tuple[int, ...]]:
    found: dict[str, tuple[int, ...]] = {}
    while cursor.word.startswith("."):
        word = cursor.take()[1:]
        if word == "pragma":
            skip_statement(cursor)
            continue
        if word not in _PERFORMANCE:
            cursor.at -= 1
            raise cursor.error(f"unknown directive .{word}")
        values = []
        if cursor.word[:1].isdigit():
            values.append(literal(cursor))
            while cursor.accept(","):
                values.append(literal(cursor))
        if len(values) > _PERFORMANCE[word]:
            raise cursor.error(f".{word} has {len(values)} numbers")
        found[word] = tuple(values)
    return found


def _add_function(module: Module, function: Function) -> None:
    known = module.functions.get(function.name)
    if known is None or known.body is None:
        module.functions[function.name] = function


def _add_variable(module: Module, variable: Variable) -> None:
    known = module.variables.get(variable.name)
    if known is None or known.linkage == "extern":
        module.variables[variable.name] = variable
