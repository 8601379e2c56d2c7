"""cp.async and mbarrier: PTX ISA 9.7.9.25 and 9.7.13.15.

A copy is done when it is asked for, which is one of the times at which the hardware may do it; groups have nothing to wait for.
Copies of tensors need a description that the driver makes, and are unsupported.
"""

from __future__ import annotations

from collections.abc import Callable

from engine.devices.cpu.emit.body import FunctionText, Unsupported
from engine.devices.cpu.emit.memory import space_of
from engine.devices.cpu.ptx import nodes

COPY_MODIFIERS = {
    *("async", "ca", "cg", "shared", "shared::cta", "shared::cluster", "global"),
    *("L2::cache_hint", "L2::64B", "L2::128B", "L2::256B"),
}
BULK_MODIFIERS = COPY_MODIFIERS | {"bulk", "bulk_group", "mbarrier::complete_tx::bytes"}


def copy_async(body: FunctionText, instruction: nodes.Instruction) -> None:
    flags = set(instruction.modifiers)
    if "async" not in flags or "reduce" in flags or "tensor" in flags:
        raise Unsupported(instruction.name)
    if "commit_group" in flags or "wait_group" in flags or "wait_all" in flags:
        return
    if "bulk" in flags:
        _copy_bulk(body, instruction, flags)
        return
    if "mbarrier" in flags:  # all copies are complete: the arrival that they would trigger happens now
        if "noinc" in flags:
            body.line(f"mbarrier_arrive(t, {body.address(instruction.operands[0])}, 1, 0, {body.site});")
        return
    if not flags <= COPY_MODIFIERS:
        raise Unsupported(instruction.name)
    target, source, size, *rest = instruction.operands
    copied = body.read(size, "u32")
    if rest and "L2::cache_hint" in flags:
        rest.pop()
    if rest:
        operand = rest[0]
        is_predicate = isinstance(operand, nodes.Reg) and body.flat.registers.get(operand.name) == "pred"
        copied = f"({body.read(operand, 'pred')} ? 0u : {copied})" if is_predicate else body.read(operand, "u32")
    body.line(
        f"cp_async(t, {body.address(target)}, {body.address(source)}, {body.read(size, 'u32')}, {copied}, {body.site});"
    )


def _copy_bulk(body: FunctionText, instruction: nodes.Instruction, flags: set[str]) -> None:
    """cp.async.bulk of bytes in a row: from global memory to shared memory, then the bytes are counted on an mbarrier; or back."""
    if "prefetch" in flags:
        return
    if flags & {"multicast::cluster", "cp_mask"} or flags - BULK_MODIFIERS:
        raise Unsupported(instruction.name)
    target, source, size = instruction.operands[:3]
    arguments = f"{body.address(target)}, {body.address(source)}, {body.read(size, 'u32')}"
    if instruction.modifiers[2] == "global" and "bulk_group" in flags:
        body.line(f"cp_bulk_to_global(t, {arguments}, {body.site});")
    elif instruction.modifiers[3] == "global" and "mbarrier::complete_tx::bytes" in flags:
        barrier = body.address(instruction.operands[3])
        body.line(f"cp_bulk_to_shared(t, {arguments}, {body.site});")
        body.line(f"mbarrier_transactions(t, {barrier}, -(int32_t){body.read(size, 'u32')}, {body.site});")
    else:
        raise Unsupported(instruction.name)


def barrier_object(body: FunctionText, instruction: nodes.Instruction) -> None:
    """mbarrier.init, inval, arrive, arrive_drop, test_wait, try_wait, expect_tx, complete_tx, pending_count."""
    what, flags = instruction.modifiers[0], set(instruction.modifiers)
    operands = instruction.operands
    if what == "pending_count":
        body.write(operands[0], "u32", f"mbarrier_pending_count({body.read(operands[1], 'b64')})")
        return
    if space_of(instruction) not in ("shared", "generic"):
        raise Unsupported(instruction.name)
    space = space_of(instruction)

    def place(operand: nodes.Operand) -> str:
        return body.address(operand) if space == "shared" else f"shared_offset({body.address(operand)})"

    match what:
        case "init":
            body.line(f"mbarrier_init(t, {place(operands[0])}, {body.read(operands[1], 'u32')}, {body.site});")
        case "inval":
            body.line(f"mbarrier_inval(t, {place(operands[0])}, {body.site});")
        case "expect_tx" | "complete_tx":
            sign = "" if what == "expect_tx" else "-"
            count = body.read(operands[1], "u32")
            body.line(f"mbarrier_transactions(t, {place(operands[0])}, {sign}(int32_t){count}, {body.site});")
        case "arrive" | "arrive_drop":
            _arrive(body, instruction, what, place)
        case "test_wait" | "try_wait":
            target, address, phase = operands[:3]
            body.wait()
            name = "mbarrier_test_parity" if "parity" in flags else "mbarrier_test"
            token = body.read(phase, "u32" if "parity" in flags else "b64")
            body.write(target, "pred", f"{name}(t, {place(address)}, {token}, {body.site})")
        case _:
            raise Unsupported(instruction.name)


def _arrive(
    body: FunctionText, instruction: nodes.Instruction, what: str, place: Callable[[nodes.Operand], str]
) -> None:
    """arrive{.expect_tx} state, [address]{, count}; the state may be missing."""
    operands = list(instruction.operands)
    target = nodes.Sink() if isinstance(operands[0], nodes.Address) else operands.pop(0)
    address, *count = operands
    transactions = "expect_tx" in instruction.modifiers
    value = body.read(count[0], "u32") if count else "1u"
    arrivals, expected = ("1u", value) if transactions else (value, "0u")
    text = f"mbarrier_{what}(t, {place(address)}, {arrivals}, {expected}, {body.site})"
    body.write(target, "b64", text) if not isinstance(target, nodes.Sink) else body.line(f"{text};")
