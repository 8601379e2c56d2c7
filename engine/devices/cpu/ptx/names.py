"""Which names are registers. nvcc's have a percent sign; inline asm declares others, in scopes of its own."""

from __future__ import annotations

from collections.abc import Iterable

from engine.devices.cpu.ptx.nodes import Registers, Variable


class ScopeNames:
    """What a scope declares."""

    def __init__(self) -> None:
        self._single: dict[str, bool] = {}
        self._ranges: list[tuple[str, int]] = []

    def add(self, declared: Iterable[Registers | Variable]) -> None:
        for one in declared:
            if isinstance(one, Variable):
                self._single[one.name] = one.space == "reg"
            elif one.count is None:
                self._single[one.name] = True
            elif not one.name.startswith("%"):
                self._ranges.append((one.name, one.count))

    def is_register(self, name: str) -> bool | None:
        """Whether ``name`` is a register here; None when this scope does not declare it."""
        found = self._single.get(name)
        if found is None:
            for stem, count in self._ranges:
                number = name.removeprefix(stem)
                if number != name and number.isdecimal() and len(number) < 10 and int(number) < count:
                    return True
        return found
