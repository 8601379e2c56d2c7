"""Evidence to verdict: the deterministic classifier of the paper's Appendix E, with the decisions of protocol.md 1 to 13.

Stages are looked at in order; the first that fired decides. Within it every match counts, structured facts included; the
category is the first by the stage's priority, the others are kept as rivals. With exit 0 and valid pass evidence nothing is
matched at all: a passing program may print what it likes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from engine.evidence import CheckResult, Evidence, SanitizerEvidence, StepEvidence
from engine.text import is_gap
from engine.verdict.attribution import Files, referrers
from engine.verdict.categories import FALLBACK, PRIORITY, UNCLASSIFIED, Category, Stage, outcome_bucket
from engine.verdict.cuda_errors import canonical
from engine.verdict.facts import Fact, facts
from engine.verdict.model import Verdict
from engine.verdict.rule import Cond, Rule, Weight
from engine.verdict.rules import RULES
from engine.verdict.scan import Found, Log, find, plan
from engine.verdict.signature import LONGEST, normalise

LONGEST_LINE: Final = 500
"""Characters of an evidence line that a verdict keeps."""
_BEFORE_TEXTS: Final = -1
_AFTER_TEXTS: Final = 8
"""Stream numbers of matches that come from no text; standard error is 0, standard output 1."""
_ORDER: Final = {rule.id: order for order, rule in enumerate(RULES)}
_LOOK_AROUND: Final = 6
"""Lines around a linker's complaint in which it may say whose it is."""


class Match(NamedTuple):
    """One rule or fact that matched, ready to be compared with others. Order: weight, place in the evidence, then the rules' own order."""

    weight: Weight
    stream: int
    start: int
    order: int
    rule: str
    category: Category
    signature: str
    line: str
    span: str
    yields_to: str = ""


def classify(evidence: Evidence, *, ambiguous_unclassified: bool = False) -> Verdict:
    """The verdict on one candidate.

    ``ambiguous_unclassified`` takes the paper's stricter reading: when several categories match within the deciding stage the
    category is "unclassified" (Appendix E), and the one that priority would have chosen is the first of the rivals.
    """
    files = Files(evidence.solution_file, evidence.harness_files)
    reports = list(_sanitizer_matches(evidence.sanitizer, files)) if evidence.sanitizer else []
    stage, matches = _deciding_stage(evidence, files)
    if stage is None:
        hazards = _hazards(reports, evidence.sanitizer)
        return Verdict(
            category=Category.PASSED, outcome_bucket=outcome_bucket(Category.PASSED), rule="passed", hazards=hazards
        )
    best, rivals = _decide(stage, matches)
    if stage == "test" and best.category == Category.FUNCTIONAL_CORRECTNESS:
        # Appendix E: the sanitizer may override a wrong result. Only what names a fault or a hazard does; a leak explains nothing.
        telling = [report for report in reports if report.weight < Weight.SUMMARY]
        if telling:
            stage = "sanitizer"
            best, rivals = _decide(stage, telling)
    category: str = best.category
    others = tuple(f"{rival.category}/{rival.rule}" for rival in rivals)
    if ambiguous_unclassified and rivals:
        category, others = UNCLASSIFIED, (f"{best.category}/{best.rule}", *others)
    return Verdict(
        category=category,
        outcome_bucket=outcome_bucket(category),
        rule=best.rule,
        signature=best.signature,
        stage=stage,
        rivals=others,
        line=best.line[:LONGEST_LINE],
        span=best.span[:LONGEST],
        hazards=tuple(h for h in _hazards(reports, evidence.sanitizer) if h != best.signature),
    )


def _deciding_stage(evidence: Evidence, files: Files) -> tuple[Stage | None, list[Match]]:
    """The first stage that fired with all that matched in it, or None for a pass."""
    if evidence.preflight:
        return "preflight", list(
            _text_matches("preflight", [("preflight", "\n".join(evidence.preflight))], files, None)
        )
    build, test = evidence.build, evidence.test
    if build is not None and not build.ok:
        return "build", _step_matches("build", build, files)
    if test is None:
        return "test", [_missing_test(build)]
    if test.ok and evidence.pass_evidence is not False and (evidence.check is None or evidence.check.passed):
        return None, []
    matches = _step_matches("test", test, files)
    if evidence.check is not None and not evidence.check.passed:
        matches.append(_check_match(evidence.check))
    if test.ok and evidence.pass_evidence is False:
        matches.append(_no_pass_evidence())
    return "test", matches


def _decide(stage: Stage, matches: list[Match]) -> tuple[Match, list[Match]]:
    """The match that decides and the best one of each other category that really names its category."""
    # A weak match ("FAILED") must not outrank a precise one of a category that comes later in the priority.
    candidates = [match for match in matches if match.weight < Weight.WEAK] or matches
    by_category = [[match for match in candidates if match.category == category] for category in PRIORITY[stage]]
    best, *others = (found for found in by_category if found)
    first = min(best)
    # One line is one message: what else could be read into the line that decided is no second fault.
    rivals = [
        [match for match in found if match.weight <= Weight.GENERIC and not _same_line(match, first)]
        for found in others
    ]
    return first, [min(found) for found in rivals if found]


def _same_line(one: Match, other: Match) -> bool:
    return one.stream == other.stream and one.start == other.start and _BEFORE_TEXTS < one.stream < _AFTER_TEXTS


def _step_matches(stage: Stage, step: StepEvidence, files: Files) -> list[Match]:
    matches = [_fact_match(fact) for fact in facts(step, stage)]
    # Standard error first: tools complain there, and what a program buffers on standard output comes late or not at all.
    texts = [("stderr", step.stderr), ("stdout", step.stdout)]
    if stage == "build":
        texts = [(field, without_quotations(text, files.solution)) for field, text in texts]
    matches += _text_matches(stage, texts, files, step)
    if all(match.weight >= Weight.WEAK for match in matches):
        matches.append(_fallback(stage, step))
    return _without_consequences(matches)


_QUOTING = ("#error", "#warning", "static assertion", "#pragma message")
_ECHO = re.compile(r"^[ ]*\d*[ ]\|[^\n]*", re.MULTILINE)


def without_quotations(log: str, solution: str) -> str:
    """A compiler's log without what it only quotes from the solution: the words of #error and its kind, and echoed source
    lines. They are the candidate's, and ``#error No space left on device`` says nothing about any disk."""
    if not any(word in log for word in _QUOTING):
        return log
    words = "|".join(_QUOTING)
    said = re.compile(rf"^(\S*{re.escape(solution)}[:(]\d[^\n]*?(?:{words})(?: failed)?)[^\n]*", re.MULTILINE)
    return _ECHO.sub("", said.sub(r"\1", log))


def _fact_match(fact: Fact) -> Match:
    """A fact beside the texts: a sure one comes first, any other (a signal) only where no text of its weight says more."""
    stream = _BEFORE_TEXTS if fact.weight == Weight.EXACT else _AFTER_TEXTS
    return Match(
        fact.weight, stream, 0, 0, fact.rule, fact.category, fact.signature, fact.line, fact.line, fact.yields_to
    )


def matches_in(stage: Stage, field: str, text: str, files: Files, step: StepEvidence | None = None) -> list[Match]:
    """What the rules find in one text, unsorted and without consequences removed: for tests of rules and for explanations."""
    return list(_text_matches(stage, [(field, text)], files, step))


def _text_matches(
    stage: Stage, texts: Iterable[tuple[str, str]], files: Files, step: StepEvidence | None
) -> Iterator[Match]:
    """What the rules find in the texts of one stage."""

    def accepts(found: Found, log: Log, end: int) -> bool:
        return all(_holds(cond, found, log, end, files, step) for cond in found.rule.when)

    count = 0
    for stream, (field, text) in enumerate(texts):
        if not text:
            continue
        for found in find(Log(text), plan(stage, field), accepts):
            count += 1
            yield Match(
                found.rule.weight,
                stream,
                found.start,
                _ORDER[found.rule.id],
                found.rule.id,
                found.rule.category,
                _signature(found.rule, found),
                found.line.strip(),
                found.match[0].strip(),
                found.rule.yields_to,
            )
    if stage == "preflight" and not count:
        line = next(iter(texts))[1].split("\n", 1)[0]
        yield Match(Weight.GENERIC, 0, 0, 0, "preflight.finding", FALLBACK[stage], normalise(line), line, line)


def _group(found: Found, name: str) -> str | None:
    """A captured text. Patterns with alternatives capture one thing as "file", "file2" and so on; "file" asks for any of them."""
    captured = found.match.groupdict()
    return next((text for key, text in captured.items() if text is not None and key.rstrip("0123456789") == name), None)


def _holds(cond: Cond, found: Found, log: Log, end: int, files: Files, step: StepEvidence | None) -> bool:
    if cond.group == "step":
        answer = step is not None and bool(getattr(step, cond.test))
    elif cond.group == "referrer":
        around = log.before(found.start, _LOOK_AROUND), log.after(end, _LOOK_AROUND)
        answer = any(files.holds(cond.test, path) for path in referrers(found.line, *around))
    else:
        text = files.solution if cond.group == "solution" else _group(found, cond.group)
        answer = files.holds(cond.test, text)
    return answer is cond.wanted


def _signature(rule: Rule, found: Found) -> str:
    if rule.group == "cuda":
        return canonical(found.match["cuda"])
    text = _group(found, rule.group)
    if rule.name:
        # A fixed name is the whole signature unless the rule captures something that identifies the bug, such as a symbol.
        return f"{rule.name}: {normalise(text)}" if text and rule.group != "token" else rule.name
    return normalise(text if text else found.match[0])


def _without_consequences(matches: list[Match]) -> list[Match]:
    """Drops what only follows from an earlier match (Rule.yields_to)."""

    def follows(match: Match) -> bool:
        return bool(match.yields_to) and any(
            other.rule.startswith(match.yields_to)
            and other.category != match.category
            and other.weight < Weight.SUMMARY
            and (match.stream == _AFTER_TEXTS or (other.stream == match.stream and other.start < match.start))
            for other in matches
        )

    return [match for match in matches if not follows(match)]


def _fallback(stage: Stage, step: StepEvidence) -> Match:
    """Appendix E: a stage that fired and is not understood is buildability at the build, functional_correctness at run time."""
    lines = [
        line
        for text in (step.stderr[-4000:], step.stdout[-4000:])
        for line in reversed(text.split("\n"))
        if line.strip() and not is_gap(line)
    ]
    line = lines[0].strip() if lines else ""
    status = f"exit code {step.exit_code}" if step.exit_code is not None else "no exit code"
    return Match(
        Weight.LAST,
        _AFTER_TEXTS + 1,
        0,
        0,
        f"fallback.{stage}",
        FALLBACK[stage],
        f"{status}: {normalise(line)}" if line else status,
        line or status,
        "",
    )


def _missing_test(build: StepEvidence | None) -> Match:
    """Nothing failed and nothing was tested: no pass without a test."""
    if build is None:
        line = "nothing was built and nothing was tested"
        return Match(
            Weight.EXACT,
            _BEFORE_TEXTS,
            0,
            0,
            "fallback.no_evidence",
            Category.ENVIRONMENT_DEPENDENCY,
            "no evidence",
            line,
            "",
        )
    line = "the build succeeded and no test was reached"
    return Match(
        Weight.EXACT, _BEFORE_TEXTS, 0, 0, "fallback.no_test", Category.FUNCTIONAL_CORRECTNESS, "no test", line, ""
    )


def _check_match(check: CheckResult) -> Match:
    line = check.message or f"{check.output or 'output'}: values differ"
    return Match(
        Weight.EXACT,
        _BEFORE_TEXTS,
        0,
        0,
        "check.mismatch",
        Category.FUNCTIONAL_CORRECTNESS,
        f"check: {normalise(line)}",
        line,
        line,
    )


def _no_pass_evidence() -> Match:
    line = "exit code 0 without the evidence of a pass that the task declares"
    return Match(
        Weight.LAST,
        _AFTER_TEXTS,
        0,
        0,
        "check.no_pass_evidence",
        Category.FUNCTIONAL_CORRECTNESS,
        "no pass evidence",
        line,
        "",
    )


def _sanitizer_matches(sanitizer: SanitizerEvidence, files: Files) -> Iterator[Match]:
    yield from _text_matches("sanitizer", [("output", sanitizer.output)], files, None)


def _hazards(reports: list[Match], sanitizer: SanitizerEvidence | None) -> tuple[str, ...]:
    """The distinct reports in their order; a tool that reports by its exit status alone is not believed to be silent."""
    found = tuple(dict.fromkeys(report.signature for report in sorted(reports, key=lambda m: m.start)))
    if not found and sanitizer is not None and sanitizer.exit_code == SANITIZER_FINDINGS:
        return (f"{sanitizer.tool}: exit code {SANITIZER_FINDINGS} without a known report",)
    return found


SANITIZER_FINDINGS: Final = 99
"""The exit code that the harness asks the tool to use for findings (--error-exitcode)."""
