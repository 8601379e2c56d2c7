"""The table of opcodes. What is not in it is unsupported: it stops the program where it is reached."""

from __future__ import annotations

from collections.abc import Callable

from engine.devices.cpu.emit import (
    asynchronous,
    atomics,
    compare,
    control,
    convert,
    floating,
    integer,
    matrix,
    memory,
    video,
    warp,
)
from engine.devices.cpu.emit.body import FunctionText, Unsupported
from engine.devices.cpu.emit.operation import Operation, emit_operation
from engine.devices.cpu.ptx import nodes

Rule = Callable[[FunctionText, nodes.Instruction], None]
"""Appends the C text of an instruction to a body. Raises Unsupported."""


def nothing(body: FunctionText, instruction: nodes.Instruction) -> None:
    """Hints, and resources that a CPU does not ration."""


def zero(body: FunctionText, instruction: nodes.Instruction) -> None:
    """What has one possible answer here: a cache policy, the rank of the only block in its cluster."""
    target = instruction.operands[0]
    body.write(target, "b32" if instruction.modifiers[-1] in ("u32", "b32") else "b64", "0")


RULES: dict[str, Rule] = {
    "activemask": warp.active_mask,
    "alloca": memory.allocate,
    "applypriority": nothing,
    "atom": atomics.atomic,
    "bar": warp.barrier,
    "barrier": warp.barrier,
    "bra": control.branch,
    "brkpt": control.trap,
    "brx": control.branch_indexed,
    "cp": asynchronous.copy_async,
    "createpolicy": zero,
    "cvt": convert.convert,
    "cvta": memory.convert_address,
    "discard": nothing,
    "elect": warp.elect,
    "exit": control.end_thread,
    "fence": atomics.fence,
    "griddepcontrol": nothing,
    "isspacep": memory.is_space,
    "ld": memory.load,
    "ldmatrix": matrix.load_matrices,
    "ldu": memory.load,
    "lop3": compare.logic_of_three,
    "match": warp.match,
    "mbarrier": asynchronous.barrier_object,
    "membar": atomics.fence,
    "mma": matrix.multiply,
    "mov": memory.move,
    "movmatrix": matrix.transpose,
    "nanosleep": warp.sleep,
    "pmevent": nothing,
    "prefetch": nothing,
    "prefetchu": nothing,
    "red": atomics.atomic,
    "redux": warp.reduce,
    "ret": control.leave,
    "selp": compare.select,
    "set": compare.set_value,
    "setmaxnreg": nothing,
    "setp": compare.set_predicate,
    "shfl": warp.shuffle,
    "slct": compare.select_by_sign,
    "st": memory.store,
    "stackrestore": memory.restore_stack,
    "stacksave": memory.save_stack,
    "stmatrix": matrix.store_matrices,
    "trap": control.trap,
    "vote": warp.vote,
    "wmma": matrix.wmma,
    **{opcode: video.simd if opcode[-1] in "24" else video.scalar for opcode in video.OPCODES},
}

FAMILIES: dict[str, tuple[Operation, ...]] = {
    opcode: (*integer.FAMILIES.get(opcode, ()), *floating.FAMILIES.get(opcode, ()))
    for opcode in (integer.FAMILIES.keys() | floating.FAMILIES.keys()) - RULES.keys()
}


def emit(body: FunctionText, instruction: nodes.Instruction) -> None:
    """Append an instruction's C text. Raises Unsupported for what the table has no form for."""
    family = FAMILIES.get(instruction.opcode)
    if family is not None:
        emit_operation(body, instruction, family)
        return
    rule = RULES.get(instruction.opcode)
    if rule is None:
        raise Unsupported(instruction.name)
    rule(body, instruction)
