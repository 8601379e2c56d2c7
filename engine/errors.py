"""One base class for every error that a user can cause or mend; a message names the thing, the place and the next step."""

from __future__ import annotations


class BeaverError(Exception):
    """Something that the user can act on. Printed as one line, without a traceback; the command exits with 2."""


class TaskError(BeaverError):
    """A task or corpus that cannot be read: each of ``faults`` names file, field and reason. As a message, the first."""

    def __init__(self, *faults: str) -> None:
        more = f" (and {len(faults) - 1} more: beaver-tui tasks --check)" if len(faults) > 1 else ""
        super().__init__(faults[0] + more)
        self.faults = faults


class ConfigError(BeaverError):
    """A configuration, option or fixer name that makes no sense."""


class RunError(BeaverError):
    """A run directory that cannot be opened, resumed or written."""


class InfraError(BeaverError):
    """The machine, the network or the model's service failed; never the candidate's fault (protocol: infra_error)."""

    def __init__(self, message: str, *, kind: str = "machine", retryable: bool = True) -> None:
        super().__init__(message)
        self.kind = kind
        self.retryable = retryable


class NoMoreAnswers(BeaverError):
    """A scripted or replayed fixer has no further answer; the trajectory ends there."""
