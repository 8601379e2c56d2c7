"""A trajectory in counts, folded event by event: what a matrix of many shows of each. Texts and logs are not kept."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from beaver_tui.state.lines import one_line
from engine import events as ev


@dataclass
class Tally:
    """Counts after some events. ``speedup`` is the best so far; ``cost`` is in US dollars, None when no price is known;
    ``faults`` are those of the machine that were given up at. ``busy``: a step is under way, or was when its process ended."""

    iterations: int = 0
    speedup: float | None = None
    tokens: int = 0
    cost: float | None = None
    faults: int = 0
    begun: bool = False
    busy: bool = False
    over: bool = False
    passed: bool = False
    stop_reason: str = ""
    _categories: dict[int, str] = field(default_factory=dict)

    @property
    def categories(self) -> tuple[str, ...]:
        """Of the closed iterations, in order."""
        return tuple(self._categories.values())[: self.iterations]

    def after(self, events: Iterable[ev.Event]) -> Tally:
        """The counts after some more events; these stay as they are."""
        tally = replace(self, _categories=dict(self._categories))
        for event in events:
            tally.apply(event)
        return tally

    def apply(self, event: ev.Event) -> None:
        """Fold one event in; one that is not durable says only that something is under way."""
        self.begun = self.busy = True
        if isinstance(event, ev.ReplyReceived):
            self.tokens += (event.tokens_in or 0) + (event.tokens_out or 0)
            if event.cost is not None:
                self.cost = (self.cost or 0.0) + event.cost
        elif isinstance(event, ev.Timed):
            if event.speedup is not None:
                self.speedup = max(event.speedup, self.speedup or 0.0)
        elif isinstance(event, ev.VerdictReached):
            self._categories[event.iteration] = one_line(event.category)
        elif isinstance(event, ev.IterationClosed):
            self.iterations += 1
            self.busy = False  # until the next one begins: in two phases that can be long
        elif isinstance(event, ev.InfraFailed):
            self.faults += event.final
            self.busy = not event.final
        elif isinstance(event, ev.TrajectoryClosed):
            self.over, self.busy = True, False
            self.passed, self.stop_reason = event.passed, one_line(event.stop_reason)
