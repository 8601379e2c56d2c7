"""What threads do together: barriers, shuffles, votes, reductions over a warp. PTX ISA 9.7.9.5 and 9.7.13."""

from __future__ import annotations

from engine.devices.cpu.emit.body import FunctionText, Unsupported
from engine.devices.cpu.ptx import nodes

EVERY_LANE = "0xffffffffu"
"""The mask of instructions that name none: lanes that have ended do not count anyway."""

SHUFFLES = {"up": "BEAVER_SHFL_UP", "down": "BEAVER_SHFL_DOWN", "bfly": "BEAVER_SHFL_BFLY", "idx": "BEAVER_SHFL_IDX"}
VOTES = {"all": "BEAVER_VOTE_ALL", "any": "BEAVER_VOTE_ANY", "uni": "BEAVER_VOTE_UNI", "ballot": "BEAVER_VOTE_BALLOT"}
BLOCK_REDUCTIONS = {"popc": "BEAVER_RED_POPC", "and": "BEAVER_RED_AND", "or": "BEAVER_RED_OR"}
WARP_REDUCTIONS = {
    ("add", "u32"): "BEAVER_REDUX_ADD",
    ("add", "s32"): "BEAVER_REDUX_ADD",
    ("min", "u32"): "BEAVER_REDUX_MIN_U32",
    ("max", "u32"): "BEAVER_REDUX_MAX_U32",
    ("min", "s32"): "BEAVER_REDUX_MIN_S32",
    ("max", "s32"): "BEAVER_REDUX_MAX_S32",
    ("and", "b32"): "BEAVER_REDUX_AND",
    ("or", "b32"): "BEAVER_REDUX_OR",
    ("xor", "b32"): "BEAVER_REDUX_XOR",
}


def _pick(instruction: nodes.Instruction, table: dict[str, str]) -> str:
    for modifier in instruction.modifiers:
        if modifier in table:
            return table[modifier]
    raise Unsupported(instruction.name)


def barrier(body: FunctionText, instruction: nodes.Instruction) -> None:
    """bar and barrier: sync, arrive and red of a block, warp.sync, and those of a cluster that is one block."""
    flags, operands = instruction.modifiers, instruction.operands
    body.wait()
    if flags[0] == "warp":
        body.line(f"beaver_warp_sync(t, {body.read(operands[0], 'u32')}, {body.site});")
        return
    if flags[0] == "cluster":
        if "wait" in flags:
            body.line(f"beaver_cluster_sync(t, {body.site});")
        return
    if "red" in flags:
        operation = _pick(instruction, BLOCK_REDUCTIONS)
        target, number, *count, predicate = operands
        threads = body.read(count[0], "u32") if count else "0"
        text = f"beaver_bar_red(t, {body.read(number, 'u32')}, {threads}, {operation}, {body.read(predicate, 'pred')}, {body.site})"
        body.write(target, "u32" if operation == "BEAVER_RED_POPC" else "pred", text)
        return
    number, *count = operands
    threads = body.read(count[0], "u32") if count else "0"
    function = "beaver_bar_arrive" if "arrive" in flags else "beaver_bar_sync"
    body.line(f"{function}(t, {body.read(number, 'u32')}, {threads}, {body.site});")


def _with_predicate(body: FunctionText, target: nodes.Operand, kind: str, call: str) -> None:
    """d|p = call(..., &predicate, site): ``call`` lacks its last two arguments."""
    first, second = (target.first, target.second) if isinstance(target, nodes.Pair) else (target, nodes.Sink())
    body.line(f"{{ uint8_t predicate; const uint32_t value = {call}, &predicate, {body.site});")
    if not isinstance(first, nodes.Sink):
        body.write(first, kind, "value")
    if not isinstance(second, nodes.Sink):
        body.write(second, "pred", "predicate")
    body.line("}")


def shuffle(body: FunctionText, instruction: nodes.Instruction) -> None:
    body.wait()
    target, value, lane, clamp, *mask = instruction.operands
    members = body.read(mask[0], "u32") if mask else EVERY_LANE
    operands = [body.read(value, "b32"), body.read(lane, "u32"), body.read(clamp, "u32"), members]
    call = f"beaver_shfl(t, {_pick(instruction, SHUFFLES)}, {', '.join(operands)}"
    if isinstance(target, nodes.Pair):
        _with_predicate(body, target, "b32", call)
    else:
        body.write(target, "b32", f"{call}, NULL, {body.site})")


def vote(body: FunctionText, instruction: nodes.Instruction) -> None:
    body.wait()
    target, predicate, *mask = instruction.operands
    mode = _pick(instruction, VOTES)
    members = body.read(mask[0], "u32") if mask else EVERY_LANE
    text = f"beaver_vote(t, {mode}, {body.read(predicate, 'pred')}, {members}, {body.site})"
    body.write(target, "b32" if mode == "BEAVER_VOTE_BALLOT" else "pred", text)


def match(body: FunctionText, instruction: nodes.Instruction) -> None:
    body.wait()
    target, value, mask = instruction.operands
    mode = _pick(instruction, {"any": "BEAVER_MATCH_ANY", "all": "BEAVER_MATCH_ALL"})
    operands = f"{body.read(value, instruction.modifiers[-1])}, {body.read(mask, 'u32')}"
    _with_predicate(body, target, "b32", f"beaver_match(t, {mode}, {operands}")


def reduce(body: FunctionText, instruction: nodes.Instruction) -> None:
    body.wait()
    target, value, mask = instruction.operands
    kind = instruction.modifiers[-1]
    operation = next(
        (WARP_REDUCTIONS.get((flag, kind)) for flag in instruction.modifiers if (flag, kind) in WARP_REDUCTIONS), None
    )
    if operation is None:
        raise Unsupported(instruction.name)
    body.write(
        target, "b32", f"beaver_redux(t, {operation}, {body.read(value, 'b32')}, {body.read(mask, 'u32')}, {body.site})"
    )


def active_mask(body: FunctionText, instruction: nodes.Instruction) -> None:
    body.wait()
    body.write(instruction.operands[0], "b32", f"beaver_active_mask(t, {body.site})")


def elect(body: FunctionText, instruction: nodes.Instruction) -> None:
    body.wait()
    target, mask = instruction.operands
    _with_predicate(body, target, "b32", f"beaver_elect(t, {body.read(mask, 'u32')}")


def sleep(body: FunctionText, instruction: nodes.Instruction) -> None:
    body.wait()
    body.line(f"beaver_yield(t, {body.site});")
