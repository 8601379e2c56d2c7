"""All sub-rules of the classifier, in the order in which equals are tried, and the ways to look them up.

The paper ships about thirty (Appendix E, Table 5); here each names the tool that prints it. The tables are split by who prints.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from engine.verdict.rule import Rule
from engine.verdict.rules_build import BUILD_RULES
from engine.verdict.rules_cuda import CUDA_RULES
from engine.verdict.rules_link import LINK_RULES
from engine.verdict.rules_preflight import PREFLIGHT_RULES
from engine.verdict.rules_runtime import RUNTIME_RULES
from engine.verdict.rules_sanitizer import SANITIZER_RULES
from engine.verdict.rules_verifier import VERIFIER_RULES

RULES: Final[tuple[Rule, ...]] = (
    PREFLIGHT_RULES + BUILD_RULES + LINK_RULES + SANITIZER_RULES + CUDA_RULES + RUNTIME_RULES + VERIFIER_RULES
)

RULES_BY_ID: Final[Mapping[str, Rule]] = MappingProxyType({rule.id: rule for rule in RULES})
