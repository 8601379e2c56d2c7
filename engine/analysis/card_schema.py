"""The evaluation card's fields, as a JSON Schema.

Every field is required and no other is allowed. Where a number may not exist its place holds {"not_available": reason}: a card says
that something is missing, and why, or it is no card.
"""

from __future__ import annotations

from typing import Any

Schema = dict[str, Any]

CARD_VERSION = 1

TEXT: Schema = {"type": "string"}
WORD: Schema = {"type": "string", "minLength": 1}
YES_OR_NO: Schema = {"type": "boolean"}
COUNT: Schema = {"type": "integer", "minimum": 0}
FIGURE: Schema = {"type": "number"}
AMOUNT: Schema = {"type": "number", "minimum": 0}
SHARE: Schema = {"type": "number", "minimum": 0, "maximum": 1}
COUNTS: Schema = {"type": "object", "additionalProperties": COUNT}
ANYTHING: Schema = {"type": "object"}


def record(**fields: Schema) -> Schema:
    """An object with exactly these fields."""
    return {"type": "object", "properties": fields, "required": list(fields), "additionalProperties": False}


def listed(item: Schema, least: int = 0) -> Schema:
    return {"type": "array", "items": item, "minItems": least}


def one_of(*values: str) -> Schema:
    return {"enum": list(values)}


def known(schema: Schema) -> Schema:
    """A value, or the reason why there is none."""
    return {"anyOf": [schema, {"$ref": "#/$defs/not_available"}]}


RATE = known(record(value=SHARE, numerator=AMOUNT, denominator=AMOUNT))
INTERVAL = known(record(low=SHARE, high=SHARE, level=SHARE, method=WORD))
RATES: Schema = {"type": "object", "additionalProperties": RATE}
"""By name of a category, bucket or signal."""

RUN = record(
    name=TEXT,
    created=WORD,
    setting=WORD,
    schema_version=COUNT,
    tool_version=WORD,
    cells=COUNT,
    plan_sha256=known(WORD),
    two_phase=YES_OR_NO,
    interactive=YES_OR_NO,
    imported=known(record(format=WORD, sha256=WORD, recorded=WORD, unknown=listed(WORD), notes=listed(TEXT))),
    baseline=known(record(tasks=COUNT, devices=listed(WORD, 1), any_device=YES_OR_NO, sha256=WORD)),
    python=WORD,
    system=WORD,
    toolkit=WORD,
    sandbox=WORD,
    limits=ANYTHING,
    hardware=record(kind=WORD, name=WORD, sm=known(COUNT), memory_bytes=known(COUNT), driver=known(WORD)),
)

FIXER = record(
    name=WORD,
    kind=WORD,
    models=known(listed(WORD, 1)),
    backend=known(WORD),
    temperature=known({"anyOf": [FIGURE, WORD]}),
    max_tokens=known(COUNT),
    seed=known(COUNT),
    extra_body=known(ANYTHING),
    prices=known(record(input=AMOUNT, output=AMOUNT)),
)

CORPUS = record(
    name=WORD,
    sha256=WORD,
    tasks=COUNT,
    filters=known(TEXT),
    start_buckets=COUNTS,
    verify=known(record(verdicts=COUNTS, tasks=COUNT)),
)

SETTING = record(
    name=WORD,
    a1_gate=AMOUNT,
    gate_mode=one_of("posthoc", "inloop"),
    a2_sampling=one_of("iterative", "repeated"),
    temperature=AMOUNT,
    a3_feedback=WORD,
    a4_history=COUNT,
    k=COUNT,
    attempts=COUNT,
    early_stop=one_of("stop", "observe"),
    oscillation=record(m=COUNT, n=COUNT),
    no_progress=COUNT,
    stderr_lines=COUNT,
    log_budget=COUNT,
    ambiguous_unclassified=YES_OR_NO,
    stop_on_resubmitted_start=YES_OR_NO,
    launches=COUNT,
    few_shot=record(examples=WORD, seed=COUNT, pool=WORD),
)

COVERAGE = record(
    planned=COUNT,
    counted=COUNT,
    missing=COUNT,
    unfinished=COUNT,
    infra_excluded=COUNT,
    interactive_left_out=COUNT,
    interactive_counted=COUNT,
    needs_device=COUNT,
    no_answer=COUNT,
    damaged=COUNT,
    infra_overcome=COUNT,
    feedback_fell_back=COUNT,
    truncated_replies=COUNT,
    unmeasured_passes=COUNT,
    noisy_timings=COUNT,
    planned_runs=known(record(planned=COUNT, missing=listed(WORD))),
    gaps=listed(record(run=TEXT, task=TEXT, fixer=TEXT, attempt=COUNT, why=WORD, detail=TEXT)),
)

RESULT = record(
    setting=WORD,
    fixer=WORD,
    gate=AMOUNT,
    k=COUNT,
    tasks=COUNT,
    trajectories=COUNT,
    pass_at_1=RATE,
    pass_at_k=RATE,
    pass_at_k_correct=RATE,
    pass_at_k_wilson=INTERVAL,
    pass_at_k_bootstrap=INTERVAL,
    debug_rate=RATE,
    compile_rate_at_1=RATE,
    fix_rate_by_category=RATES,
    fix_rate_by_bucket=RATES,
    stagnation_of_all=RATE,
    stagnation_of_failing=RATE,
    stagnation_mix=RATES,
    progression=RATE,
    oscillation=RATE,
    unique_approach_pooled=RATE,
    unique_approach_per_task=RATE,
    iterations_to_fix=known(AMOUNT),
    tokens_to_fix=known(AMOUNT),
    cost_to_fix=known(AMOUNT),
    p_curve=known(listed(record(p=AMOUNT, pass_at_k=RATE), 1)),
    degeneration=known(
        record(
            first_median=known(AMOUNT), later_median=known(AMOUNT), rate=RATE, first_passes=COUNT, later_passes=COUNT
        )
    ),
)

TAU_INTERVAL = known(record(**{"from": FIGURE, "to": FIGURE, "level": SHARE, "method": WORD}))
"""tau lies between -1 and 1: its bounds are no shares."""

ROBUSTNESS = record(
    swing=known(listed(record(axis=WORD, fixer=WORD, swing=SHARE, lowest=WORD, highest=WORD, settings=COUNT), 1)),
    tau=known(
        listed(
            record(
                axis=WORD,
                first=WORD,
                second=WORD,
                tau=known(FIGURE),
                interval=TAU_INTERVAL,
                fixers=COUNT,
                tasks=COUNT,
                tasks_left_out=COUNT,
            ),
            1,
        )
    ),
    flips=known(listed(record(axis=WORD, setting=WORD, ahead_at_base=WORD, ahead_here=WORD, resolved=YES_OR_NO))),
)

CARD: Schema = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "title": "beaver-tui evaluation card",
    **record(
        schema_version={"const": CARD_VERSION},
        made=WORD,
        tool_version=WORD,
        runs=listed(RUN, 1),
        fixers=listed(FIXER, 1),
        corpus=CORPUS,
        settings=listed(SETTING, 1),
        asymmetry=record(on=YES_OR_NO, rule=WORD, tasks_with_known_source=COUNT, trajectories_on_own_starts=COUNT),
        prompts_shared_across_settings=known(YES_OR_NO),
        coverage=COVERAGE,
        denominators={"type": "object", "additionalProperties": WORD},
        results=known(listed(RESULT, 1)),
        robustness=ROBUSTNESS,
        deviations=listed(record(topic=WORD, paper=WORD, here=WORD)),
    ),
    "$defs": {"not_available": record(not_available=WORD)},
}
"""JSON Schema, draft 2020-12."""
