"""Names of a unit: what each module's symbols mean, as nvlink would join them."""

from __future__ import annotations

import re
from dataclasses import dataclass

from engine.devices.cpu.ptx import nodes

STRENGTH = {"visible": 3, "": 3, "weak": 2, "common": 1}
"""Which of several definitions of a name is taken; ``extern`` defines nothing."""


@dataclass(frozen=True, slots=True)
class Definition:
    """A function or variable. ``name`` is its C name; ``module`` the index of the module that defines it."""

    node: nodes.Function | nodes.Variable
    module: int
    name: str


class Linked:
    """The definitions of all modules, and what a name means in one of them."""

    def __init__(self, modules: list[nodes.Module]) -> None:
        self.modules = modules
        self.definitions: list[Definition] = []
        self._local: list[dict[str, Definition]] = [{} for _ in modules]
        self._shared: dict[str, Definition] = {}
        self._taken: set[str] = set()
        for index, module in enumerate(modules):
            declared: list[tuple[str, nodes.Function | nodes.Variable]] = [
                *module.variables.items(),
                *module.functions.items(),
            ]
            for name, node in declared:
                if _is_defined(node):
                    self._define(index, name, node)
        self.definitions = [*self._shared.values(), *(item for local in self._local for item in local.values())]

    def _define(self, index: int, name: str, node: nodes.Function | nodes.Variable) -> None:
        if node.linkage == "":
            self._local[index][name] = Definition(node, index, self._unique(name, node, index))
            return
        known = self._shared.get(name)
        if known is None:
            self._shared[name] = Definition(node, index, self._unique(name, node, None))
        elif STRENGTH[node.linkage] > STRENGTH[known.node.linkage]:
            self._shared[name] = Definition(node, index, known.name)

    def _unique(self, name: str, node: nodes.Function | nodes.Variable, index: int | None) -> str:
        """A C name; what has no linkage carries the number of its module where there are several."""
        kind = "f" if isinstance(node, nodes.Function) else "v"
        number = str(index) if index and len(self.modules) > 1 else ""
        base = f"{kind}{number}_{re.sub(r'[^A-Za-z0-9_]', '_', name)}"
        unique, count = base, 0
        while unique in self._taken:
            count += 1
            unique = f"{base}__{count}"
        self._taken.add(unique)
        return unique

    def add_local(self, index: int, variable: nodes.Variable, function: str) -> Definition:
        """A variable that a function declares for itself."""
        definition = Definition(variable, index, self._unique(f"{function}_{variable.name}", variable, index))
        self.definitions.append(definition)
        return definition

    def find(self, index: int, name: str) -> Definition | None:
        """What ``name`` means in a module; None for what nobody defines."""
        name = self.modules[index].aliases.get(name, name)
        found = self._local[index].get(name) or self._shared.get(name)
        if found is None:
            for module in self.modules:
                target = module.aliases.get(name)
                if target is not None and target != name and target in self._shared:
                    return self._shared[target]
        return found

    def declared(self, index: int, name: str) -> nodes.Function | nodes.Variable | None:
        """The declaration of a name that may lack a definition."""
        module = self.modules[index]
        return module.functions.get(name) or module.variables.get(name)


def _is_defined(node: nodes.Function | nodes.Variable) -> bool:
    if isinstance(node, nodes.Function):
        return node.body is not None
    return node.linkage != "extern" and not node.unsupported
