"""From a name on the command line, or an entry of a config file, to a fixer."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from engine.errors import ConfigError
from engine.fixers.base import Fixer
from engine.fixers.config import FixerConfig, build_chat

FORMS = "scripted:SCRIPT, scripted:FILE.yaml, replay:RUN_DIR, human:DIR, chat:MODEL, chat:MODEL@URL, or a name from --config"


def parse_fixer(text: str, configured: list[FixerConfig]) -> FixerConfig:
    """The fixer that ``--fixer text`` means. Raises ConfigError, with the forms that are known."""
    for config in configured:
        if config.name == text:
            return config
    kind, _, rest = text.partition(":")
    if kind == "scripted" and rest:
        return FixerConfig(name=text, kind="scripted", script=rest)
    if kind == "replay" and rest:
        return FixerConfig(name=text, kind="replay", path=rest)
    if kind == "human" and rest:
        return FixerConfig(name="human", kind="human", directory=rest)
    if kind == "chat" and rest:
        model, _, url = rest.partition("@")
        return FixerConfig(name=model, kind="chat", model=model, base_url=url or None)
    known = f"; configured are {', '.join(config.name for config in configured)}" if configured else ""
    raise ConfigError(f"--fixer {text}: unknown; use {FORMS}{known}")


def build_fixer(config: FixerConfig, environ: Mapping[str, str]) -> Fixer:
    """A fixer that is ready to propose. What it needs (a key, a file, a run) is looked for now, not in the first iteration."""
    if config.kind == "chat":
        return build_chat(config, environ)
    if config.kind == "scripted":
        from engine.fixers.scripted import ScriptedFixer

        return ScriptedFixer(_given(config, config.script, "script"), name=config.name)
    if config.kind == "human":
        from engine.fixers.human import HumanFixer

        return HumanFixer(Path(_given(config, config.directory, "directory")), name=config.name)
    from engine.sweep.replies import replay_fixer

    return replay_fixer(config.name, Path(_given(config, config.path, "path")))


def _given(config: FixerConfig, value: str | None, field: str) -> str:
    if not value:
        raise ConfigError(f"fixer {config.name!r}: {field} must be given for a {config.kind} fixer")
    return value
