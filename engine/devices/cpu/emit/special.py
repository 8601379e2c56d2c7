"""Special registers (PTX ISA 10): what a kernel reads of its thread, block and grid.

A launch without clusters is a grid of clusters of one block each.
"""

from __future__ import annotations

VECTORS = {
    "%tid": "t->tid[{}]",
    "%ntid": "t->block->ntid[{}]",
    "%ctaid": "t->block->ctaid[{}]",
    "%nctaid": "t->block->nctaid[{}]",
    "%clusterid": "t->block->ctaid[{}]",
    "%nclusterid": "t->block->nctaid[{}]",
    "%cluster_ctaid": "0u",
    "%cluster_nctaid": "1u",
}
"""u32 each; {} is 0, 1 or 2 for x, y and z."""

MISSING_COMPONENT = {"%tid": "0u", "%ctaid": "0u", "%clusterid": "0u", "%cluster_ctaid": "0u"}
"""What .w reads; 1 for the sizes."""

SCALARS = {
    "%laneid": ("u32", "t->lane"),
    "%warpid": ("u32", "(t->linear / BEAVER_WARP)"),
    "%nwarpid": ("u32", "64u"),
    "%smid": ("u32", "multiprocessor(t)"),
    "%nsmid": ("u32", "BEAVER_MULTIPROCESSORS"),
    "%gridid": ("u64", "t->block->grid"),
    "%lanemask_eq": ("u32", "(1u << t->lane)"),
    "%lanemask_lt": ("u32", "((1u << t->lane) - 1u)"),
    "%lanemask_le": ("u32", "((2u << t->lane) - 1u)"),
    "%lanemask_gt": ("u32", "-(2u << t->lane)"),
    "%lanemask_ge": ("u32", "-(1u << t->lane)"),
    "%clock": ("u32", "(uint32_t)beaver_clock()"),
    "%clock_hi": ("u32", "(uint32_t)(beaver_clock() >> 32)"),
    "%clock64": ("u64", "beaver_clock()"),
    "%globaltimer": ("u64", "beaver_nanoseconds()"),
    "%globaltimer_lo": ("u32", "(uint32_t)beaver_nanoseconds()"),
    "%globaltimer_hi": ("u32", "(uint32_t)(beaver_nanoseconds() >> 32)"),
    "%dynamic_smem_size": ("u32", "t->block->dynamic_size"),
    "%total_smem_size": ("u32", "t->block->shared_size"),
    "%aggr_smem_size": ("u32", "(t->block->shared_size + BEAVER_SHARED_BASE)"),
    "%reserved_smem_offset_begin": ("u32", "0u"),
    "%reserved_smem_offset_end": ("u32", "BEAVER_SHARED_BASE"),
    "%reserved_smem_offset_cap": ("u32", "BEAVER_SHARED_BASE"),
    "%is_explicit_cluster": ("pred", "0"),
    "%cluster_ctarank": ("u32", "0u"),
    "%cluster_nctarank": ("u32", "1u"),
    "%envreg1": ("u32", "(uint32_t)(t->block->workspace >> 32)"),
    "%envreg2": ("u32", "(uint32_t)t->block->workspace"),
    "WARP_SZ": ("u32", "BEAVER_WARP"),
}


def special_register(name: str, component: str | None) -> tuple[str, str] | None:
    """(type, C expression), or None for a name that is no special register that we know."""
    if name in VECTORS and component is not None:
        if component == "w":
            return "u32", MISSING_COMPONENT.get(name, "1u")
        return "u32", VECTORS[name].format("xyz".index(component))
    return SCALARS.get(name)
