"""What a KernelBench-style solution may not do, seen in its text: python static.py SOLUTION. Exit 1 names each place.

The work must be done by the solution's own kernels. So the Python around them allocates, launches and holds parameters, and
nothing more: no operation of PyTorch that computes, no way back when a kernel fails, no module that reaches out of the program.
A file that does not parse is left to the build, which says so.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

MODULES = {"torch", "math", "typing", "__future__", "functools", "dataclasses"}

NAMES = {"eval", "exec", "compile", "open", "__import__", "globals", "locals", "vars", "setattr", "getattr", "delattr"}

_COMPUTES = """
    matmul mm bmm addmm addbmm baddbmm einsum tensordot mv dot inner outer linear bilinear conv1d conv2d conv3d conv_transpose1d
    conv_transpose2d conv_transpose3d softmax log_softmax logsumexp layer_norm batch_norm group_norm instance_norm rms_norm
    normalize norm sum mean var std prod cumsum cumprod max min amax amin argmax argmin sort topk exp log sqrt rsqrt sigmoid tanh
    relu gelu silu mish elu selu leaky_relu hardtanh softplus clamp where add sub mul div pow abs scatter_add index_add bincount
    histc unique embedding embedding_bag cross_entropy mse_loss dropout pad interpolate max_pool1d max_pool2d avg_pool1d
    avg_pool2d scaled_dot_product_attention
"""
COMPUTES = frozenset(_COMPUTES.split())
"""Names of operations, as functions and as methods (with or without the underscore of in-place ones)."""

CONTAINERS = {"Module", "Parameter", "ParameterList", "ParameterDict", "ModuleList", "ModuleDict"}


def findings(source: str) -> list[tuple[int, str]]:
    """Places (line, what), in order. Raises SyntaxError."""
    tree = ast.parse(source)
    found = {place for node in ast.walk(tree) for place in _of(node)}
    return sorted(found)


def _of(node: ast.AST) -> Iterator[tuple[int, str]]:
    if isinstance(node, ast.Try):
        yield node.lineno, "try: a kernel that fails must fail the test"
    elif isinstance(node, ast.Import | ast.ImportFrom):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else [node.module or ""]
        for name in names:
            if name.partition(".")[0] not in MODULES:
                yield node.lineno, f"import of {name}"
    elif isinstance(node, ast.ClassDef):
        for base in node.bases:
            if (name := ast.unparse(base)) not in ("nn.Module", "torch.nn.Module", "Module"):
                yield node.lineno, f"class {node.name} inherits from {name}"
    elif isinstance(node, ast.Name) and node.id in NAMES:
        yield node.lineno, f"use of {node.id}"
    elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult):
        yield node.lineno, "a matrix product by @"
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        name, owner = node.func.attr, ast.unparse(node.func.value)
        if owner in ("F", "nn.functional", "torch.nn.functional") or (
            owner == "torch" and name.rstrip("_") in COMPUTES
        ):
            yield node.lineno, f"{owner}.{name} computes"
        elif owner in ("nn", "torch.nn") and name not in CONTAINERS:
            yield node.lineno, f"{owner}.{name} is a layer of PyTorch"
        elif name.rstrip("_") in COMPUTES and owner not in ("math", "torch") and not _is_kernel(owner):
            yield node.lineno, f".{name}() computes"


def _is_kernel(owner: str) -> bool:
    """A call of the solution's own extension: a module is held in a plain name or an attribute of one of these endings."""
    return (
        owner.rpartition(".")[2]
        .rstrip("_")
        .endswith(("ext", "extension", "kernel", "kernels", "module", "lib", "cuda", "ops"))
    )


def main(path: str) -> int:
    try:
        found = findings(Path(path).read_text("utf-8"))
    except SyntaxError:
        return 0
    for line, what in found:
        print(f"{path}:{line}: anti-cheat: {what}", file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
