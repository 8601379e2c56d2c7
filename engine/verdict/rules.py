"""All sub-rules of the classifier, in the order in which equals are tried, and the ways to look them up.

The paper ships about thirty (Appendix E, Table 5); here each names the tool that prints it. The tables are split by who prints.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from engine.verdict.rule import Rule
from engine.verdict.rules_compile import COMPILE_RULES
from engine.verdict.rules_crash import CRASH_RULES, MEMORY_RULES, TIME_RULES
from engine.verdict.rules_cuda import CUDA_RULES
from engine.verdict.rules_exceptions import EXCEPTION_RULES
from engine.verdict.rules_link import LINK_RULES
from engine.verdict.rules_machine import CONTRACT_RULES, MACHINE_RULES
from engine.verdict.rules_preflight import PREFLIGHT_RULES
from engine.verdict.rules_sanitizer import SANITIZER_RULES
from engine.verdict.rules_toolchain import TOOLCHAIN_RULES
from engine.verdict.rules_verifier import VERIFIER_RULES

RULES: Final[tuple[Rule, ...]] = (
    *PREFLIGHT_RULES,
    *TOOLCHAIN_RULES,
    *COMPILE_RULES,
    *LINK_RULES,
    *SANITIZER_RULES,
    *CUDA_RULES,
    *MACHINE_RULES,
    *CONTRACT_RULES,
    *MEMORY_RULES,
    *CRASH_RULES,
    *TIME_RULES,
    *VERIFIER_RULES,
    *EXCEPTION_RULES,
)

RULES_BY_ID: Final[Mapping[str, Rule]] = MappingProxyType({rule.id: rule for rule in RULES})
