"""The rules are data, so their tables can be checked: every rule fires on its examples, and its words really find them."""

from __future__ import annotations

import re

import pytest

from engine.evidence import StepEvidence
from engine.verdict.attribution import Files
from engine.verdict.categories import PRIORITY, Category
from engine.verdict.classify import matches_in
from engine.verdict.cuda_errors import CUDA_ERRORS, OLD_CODES, canonical
from engine.verdict.rule import Rule
from engine.verdict.rules import RULES, RULES_BY_ID
from engine.verdict.rules_cuda import CUDA_RULES, SLUGS
from tests.unit.rule_examples import EXAMPLES, HARNESS, MAKEFILE, REWRITTEN, SOLUTION

BY_HAND = [rule for rule in RULES if rule not in CUDA_RULES]


def fires(rule: Rule, text: str) -> bool:
    step = StepEvidence(exit_code=1, arch_rewritten=rule.id in REWRITTEN)
    stage = rule.stages[-1] if rule.id.startswith("sanitizer") else rule.stages[0]
    files = Files("Makefile" if rule.id in MAKEFILE else SOLUTION, HARNESS)
    return rule.id in {match.rule for match in matches_in(stage, rule.fields[-1], text, files, step)}


def test_ids_are_unique_and_every_rule_names_its_source() -> None:
    assert len(RULES_BY_ID) == len(RULES) >= 30
    assert all(rule.source for rule in RULES)


def test_every_rule_written_by_hand_has_examples_and_no_example_is_left_over() -> None:
    assert set(EXAMPLES) == {rule.id for rule in BY_HAND}


@pytest.mark.parametrize("rule", BY_HAND, ids=lambda rule: rule.id)
def test_a_rule_fires_on_its_examples(rule: Rule) -> None:
    assert [text for text in EXAMPLES[rule.id] if not fires(rule, text)] == []


@pytest.mark.parametrize("rule", BY_HAND, ids=lambda rule: rule.id)
def test_every_word_of_a_rule_stands_in_an_example_and_every_example_holds_a_word(rule: Rule) -> None:
    texts = [text.lower() for text in EXAMPLES[rule.id]]
    # The compile rules share their words, so they share the examples that show them.
    family = [text.lower() for other in BY_HAND if other.literals == rule.literals for text in EXAMPLES[other.id]]
    assert [word for word in rule.literals if not any(word in text for text in family)] == []
    assert [text for text in texts if not any(word in text for word in rule.literals)] == []


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.id)
def test_words_are_lower_case_and_a_rule_can_decide_in_its_stages(rule: Rule) -> None:
    assert rule.literals and all(word == word.lower() for word in rule.literals)
    assert all(rule.category in PRIORITY[stage] for stage in rule.stages)
    re.compile(rule.pattern)


@pytest.mark.parametrize("error", CUDA_ERRORS, ids=lambda error: str(error.code))
def test_a_cuda_error_is_known_by_name_by_text_and_by_number_and_is_one_signature(error) -> None:  # type: ignore[no-untyped-def]
    want = canonical(f"cudaError{error.runtime}")
    texts = [f"failed: cudaError{error.runtime}", f"CUDA error {error.code}", f"CUDA error: {error.code}"]
    texts += [f"CUDA error at x.cu:12 code={error.code}", f"cudaDeviceSynchronize() returned {error.code}"]
    if error.driver:
        texts.append(f"cuLaunchKernel: CUDA_ERROR_{error.driver}")
    if error.text:
        texts.append(f"GPUassert: {error.text} solution.cu 33")
    for text in texts:
        found = [
            m for m in matches_in("test", "stderr", text, Files(SOLUTION, HARNESS), None) if m.rule.startswith("cuda.")
        ]
        assert {m.category for m in found} == {error.category}, text
        assert {m.signature for m in found} == {want}, text


def test_old_numbers_mean_what_they_meant() -> None:
    for old, new in OLD_CODES.items():
        assert canonical(str(old)) == canonical(str(new))


def test_every_category_but_passed_has_rules() -> None:
    assert {rule.category for rule in RULES} == set(Category) - {Category.PASSED}
    assert set(SLUGS) == {error.category for error in CUDA_ERRORS} | set(SLUGS)
