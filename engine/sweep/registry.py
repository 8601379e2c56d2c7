"""From a name on the command line, or an entry of a config file, to a fixer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from engine.errors import ConfigError
from engine.fixers.base import Fixer
from engine.fixers.config import FixerConfig, build_chat, hidden_fields, read_config
from engine.rundir import RunDirectory

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


def chosen_configs(names: tuple[str, ...], configured: list[FixerConfig]) -> list[FixerConfig]:
    """The fixers of a new run: those that are named, else all that a config file has."""
    configs = [parse_fixer(name, configured) for name in names] if names else configured
    if not configs:
        raise ConfigError("no fixer: give --fixer NAME, for example --fixer scripted:good, or a --config with fixers")
    counts = Counter(config.name for config in configs)
    twice = sorted(name for name, count in counts.items() if count > 1)
    if twice:
        raise ConfigError(f"fixers: the name {twice[0]} is given twice; names must differ")
    return configs


def recorded_configs(run: RunDirectory, configured: list[FixerConfig]) -> list[FixerConfig]:
    """The fixers of a run that goes on, from its record; one that was recorded without its secrets, from ``configured``.

    Raises ConfigError when such a fixer is not there, or is another one than the record describes.
    """
    return [_recorded(run, entry, configured) for entry in run.record.fixers]


def _recorded(run: RunDirectory, entry: dict[str, Any], configured: list[FixerConfig]) -> FixerConfig:
    where = str(run.path / "run.json")
    hidden = hidden_fields(entry)
    if not hidden:
        return read_config(entry, where)
    name = entry.get("name")
    fields = ", ".join(hidden)
    given = next((config for config in configured if config.name == name), None)
    if given is None:
        raise ConfigError(
            f"{where}: the secrets in {fields} of fixer {name!r} were not written down; "
            f"add --config FILE, the file that holds this fixer"
        )
    described = given.describe()
    different = sorted(field for field in {*entry, *described} if entry.get(field) != described.get(field))
    if different:
        raise ConfigError(
            f"{where}: the fixer {name!r} of --config differs from the recorded one in {', '.join(different)}; "
            "rows would not be comparable"
        )
    return given


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
