"""What an instruction or name that cannot be run is part of, in the words of the programming guide."""

from __future__ import annotations

import re

FEATURES = (
    (r"__cudaCDP|cudaGetParameterBuffer|cudaLaunchDevice|cudaDeviceSynchronize$", "launching kernels from kernels"),
    (r"mapa\b|getctarank\b|multimem\b|%cluster_\w+|\S*\.multicast::cluster", "thread block clusters"),
    (r"%reserved_smem_offset_\d", "cooperative groups of more than a warp"),
    (r"wgmma\b", "warpgroup matrix multiplication"),
    (r"cp\.\S*tensor", "the tensor memory accelerator"),
    (r"tcgen05\b", "tensor memory"),
    (r"(?:tex|tld4|txq|suld|sust|sured|suq)\b", "textures and surfaces"),
)
"""By how a mnemonic or a name begins."""


def with_feature(what: str) -> str:
    """``what`` behind the feature that it belongs to; alone where that is not known."""
    feature = next((name for pattern, name in FEATURES if re.match(pattern, what)), "")
    return f"{feature} ({what})" if feature else what
