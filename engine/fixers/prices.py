"""What a reply cost: a price table per million tokens, as services print it."""

from __future__ import annotations

import msgspec

from engine.errors import ConfigError

TOKENS_PER_PRICE = 1_000_000


class Price(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """US dollars per million tokens. Reasoning tokens are billed as output, as services count them."""

    input: float
    output: float

    def __post_init__(self) -> None:
        for name in ("input", "output"):
            value = getattr(self, name)
            if not 0 <= value < float("inf"):
                raise ConfigError(f"prices.{name} is {value}, and must be 0 or more US dollars per million tokens")


def cost(price: Price | None, tokens_in: int | None, tokens_out: int | None) -> float | None:
    """US dollars, or None when the price or one of the counts is unknown: an unknown cost is never shown as 0."""
    if price is None or tokens_in is None or tokens_out is None:
        return None
    return (tokens_in * price.input + tokens_out * price.output) / TOKENS_PER_PRICE
