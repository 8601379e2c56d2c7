"""The whole metric family of one scoring, as tallies: one call to sum them over groups, one to put intervals on them."""

from __future__ import annotations

from engine.analysis.metrics import (
    compile_rate,
    cost_to_fix,
    debug_rate,
    fix_rate_by_bucket,
    fix_rate_by_category,
    iterations_to_fix,
    pass_at_1,
    pass_at_k,
    seconds_to_fix,
    tokens_to_fix,
    truncated_rate,
)
from engine.analysis.performance import degenerated
from engine.analysis.rates import Tally
from engine.analysis.scoring import Scored
from engine.analysis.stagnation import stagnation_rates
from engine.analysis.transitions import progression_rate, unique_by_task


def family(scored: Scored) -> dict[str, Tally]:
    """Every metric of D.3 that is a ratio of sums, by a short name: scores, fix rates by category and bucket, stagnation,
    progression, approaches, what a fix took, degeneration. The 8x8 matrix and the pooled unique_approach_ratio are not among
    them: they are counts over pairs and over the whole pool (see ``transitions``)."""
    return {
        "pass@1": pass_at_1(scored),
        "pass@k": pass_at_k(scored),
        "debug_rate@k": debug_rate(scored),
        "compile_rate@1": compile_rate(scored),
        "iterations_to_fix": iterations_to_fix(scored),
        "tokens_to_fix": tokens_to_fix(scored),
        "cost_to_fix": cost_to_fix(scored),
        "seconds_to_fix": seconds_to_fix(scored),
        "truncated": truncated_rate(scored.frame),
        "progression_rate": progression_rate(scored),
        "unique_approach_ratio": unique_by_task(scored.frame),
        "degeneration": degenerated(scored),
        **stagnation_rates(scored.frame),
        **{f"fix_rate, first {name}": tally for name, tally in fix_rate_by_category(scored).items()},
        **{
            f"fix_rate, start {name}": tally for name, tally in fix_rate_by_bucket(scored.frame, scored.scoring).items()
        },
    }
