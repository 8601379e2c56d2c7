"""PTX to C: the kernels of a program as C11 text for the host compiler.

A rule or a C expression for every opcode is in one table (table.py); what is not in it ends the program where it is reached, with
a sentence that names it. The C helpers are runtime/kernel_ops*.h, the contract with the runtime is runtime/kernel_abi.h.
"""

from __future__ import annotations

from engine.devices.cpu.emit.unit import MissingPiece, Translation, translate_unit
from engine.devices.cpu.ptx import nodes

__all__ = ["MissingPiece", "Translation", "emit_unit", "translate_unit"]


def emit_unit(modules: list[nodes.Module], registers: dict[str, int]) -> str:
    """The C text of a unit: one plain module, or the modules of one -rdc link. See translate_unit."""
    return translate_unit(modules, registers).text
