"""What a user writes down about a fixer. Never holds a key: only the name of the environment variable that does."""

from __future__ import annotations

import ipaddress
import json
import math
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import urlsplit, urlunsplit

import msgspec

from engine.complaints import complaint
from engine.errors import ConfigError
from engine.fixers.prices import Price
from engine.text import MOST_SLUG, slug

if TYPE_CHECKING:
    from engine.fixers.chat import ChatFixer

OPENAI_URL = "https://api.openai.com/v1"
OPENAI_KEY = "OPENAI_API_KEY"
DUMMY_KEY = "none"
"""Sent to local services: most ignore the key, and the client insists on one."""

RESERVED_BODY = ("model", "messages", "stream", "n")
"""What ``extra_body`` may not override, because the reply could not be read or attributed any more."""

CHAT_FIELDS = ("base_url", "api_key_env", "temperature", "max_tokens", "seed", "prices", "extra_body")
FILE_FIELDS = ("script", "path", "directory")
SECRET_NAME = re.compile(
    r"(api|access|private)[_-]?key|secret|password|passwd|authorization|credential|(^|[_-])token$", re.IGNORECASE
)
VOCABULARY_NAME = re.compile(r"(eos|bos|pad|unk|sep|cls|mask|stop|start|end|image)[_-]token", re.IGNORECASE)
"""A word of the model's vocabulary, which a service may be told, is no secret."""

HIDDEN = "***"
"""Stands in a description for what must not be written down."""

MOST_SEED = 1 << 62
"""Leaves room for what ``seed_for`` adds, within the 64 bits that services take."""


def _above_zero(place: str, struct: msgspec.Struct, *names: str) -> None:
    for name in names:
        value = getattr(struct, name)
        if not (value > 0 and math.isfinite(value)):
            raise ConfigError(f"{place}.{name} is {value}, and must be above 0")


class Timeouts(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Seconds. ``connect``: to reach the service; ``read``: silence between two pieces (a local model reads a long
    prompt in silence); ``total``: one request from its start to its last piece."""

    connect: float = 10.0
    read: float = 300.0
    total: float = 1800.0

    def __post_init__(self) -> None:
        _above_zero("timeouts", self, "connect", "read", "total")


class Retries(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """``attempts``: requests for one reply, the first included; ``deadline``: seconds that all of them may take."""

    attempts: int = 6
    deadline: float = 3600.0

    def __post_init__(self) -> None:
        _above_zero("retries", self, "attempts", "deadline")


class FixerConfig(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One entry of a fixer list. It has the fields of every kind; those that its own kind does not know are refused.

    ``temperature``: None takes the protocol's, a number overrides it, "default" sends none (some models refuse any).
    ``stream``: without it a reply comes in one piece; for services that tell their token counts only then.
    ``seed``: the first draw's; every further attempt and iteration has its own, counted from it. ``extra_body``:
    further fields of the request's JSON, for a service's own options.
    """

    name: str
    kind: Literal["chat", "scripted", "replay", "human"] = "chat"
    model: str = ""
    base_url: str | None = None
    api_key_env: str | None = None
    temperature: float | Literal["default"] | None = None
    max_tokens: int | None = None
    seed: int | None = None
    stream: bool = True
    timeouts: Timeouts = Timeouts()
    retries: Retries = Retries()
    prices: Price | None = None
    extra_body: dict[str, Any] = {}
    max_concurrency: int = 4
    script: str | None = None
    path: str | None = None
    directory: str | None = None

    def __post_init__(self) -> None:
        for field, reason in self.problems():
            raise ConfigError(f"fixer {_short(self.name)!r}: {field} {reason}")

    def problems(self) -> list[tuple[str, str]]:
        """What a schema cannot say, as (field, reason) pairs. A reason never repeats a value that may be a key."""
        found = []
        if not self.name.strip() or not self.name.isprintable():
            found.append(("name", "must be printable and not empty"))
        elif len(slug(self.name)) > MOST_SLUG:
            found.append(
                ("name", f"is too long to name a folder; at most {MOST_SLUG} bytes, where / and the like count three")
            )
        if self.max_concurrency < 1:
            found.append(("max_concurrency", f"is {self.max_concurrency}, and must be at least 1"))
        if self.seed is not None and not 0 <= self.seed < MOST_SEED:
            found.append(("seed", f"is {self.seed}, and must be between 0 and 2^62"))
        if self.kind == "chat":
            found += self._chat_problems()
        foreign = FILE_FIELDS if self.kind == "chat" else CHAT_FIELDS
        found += [(name, f"means nothing to a {self.kind} fixer") for name in foreign if getattr(self, name)]
        return found

    def _chat_problems(self) -> list[tuple[str, str]]:
        found = []
        if not self.model.strip():
            found.append(("model", "must be given: the name that the service knows"))
        if not _is_web_address(self.url):
            found.append(("base_url", "must look like http://localhost:8000/v1"))
        if self.api_key_env is not None and not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", self.api_key_env):
            found.append(("api_key_env", "must be the name of an environment variable, not the key itself"))
        if isinstance(self.temperature, float) and not 0 <= self.temperature <= 2:
            found.append(("temperature", f"is {self.temperature}, and must be between 0 and 2"))
        if self.max_tokens is not None and self.max_tokens < 1:
            found.append(("max_tokens", f"is {self.max_tokens}, and must be at least 1"))
        try:
            json.dumps(self.extra_body, allow_nan=False)
        except (TypeError, ValueError, RecursionError):
            found.append(("extra_body", "holds what JSON cannot say, such as a date or .nan"))
        reserved = [name for name in RESERVED_BODY if name in self.extra_body]
        found += [(f"extra_body.{name}", "is set by the fixer itself") for name in reserved]
        return found

    @property
    def url(self) -> str:
        return self.base_url or OPENAI_URL

    @property
    def host(self) -> str:
        """Host and port of the service, without user, password, path or query: fit for messages."""
        parts = urlsplit(self.url)
        host = parts.hostname or ""
        host = f"[{host}]" if ":" in host else host
        return f"{host}:{parts.port}" if parts.port else host

    def describe(self) -> dict[str, Any]:
        """The configuration for run.json and reports: only what was set, with HIDDEN in the place of secrets."""
        plain: dict[str, Any] = msgspec.to_builtins(self)
        defaults: dict[str, Any] = msgspec.to_builtins(FixerConfig(name="-", kind="human"))
        kept = {name: value for name, value in plain.items() if value != defaults[name] or name in ("name", "kind")}
        if self.kind == "chat":
            kept["base_url"] = _address_without_secrets(self.url, self.host)
        if self.extra_body:
            kept["extra_body"] = _without_secrets(self.extra_body)
        return kept


def hidden_fields(described: Mapping[str, Any]) -> list[str]:
    """The fields of a description in which something is hidden: it cannot be turned back into a configuration."""
    return [name for name, value in described.items() if _hides(value)]


def read_config(raw: object, where: str) -> FixerConfig:
    """A FixerConfig from what a YAML file held; ``where`` names file and entry in the ConfigError."""
    for name in raw if isinstance(raw, Mapping) else ():
        if name not in FixerConfig.__struct_fields__ and is_secret_name(str(name)):
            raise ConfigError(f"{where}: {name} has no place in a file; name its environment variable with api_key_env")
    try:
        return msgspec.convert(raw, FixerConfig)
    except msgspec.ValidationError as error:
        inside = where if where.endswith("]") else f"{where}: "  # "config.yaml: fixers[0]", or a file that is all fixer
        raise ConfigError(complaint(error, FixerConfig, inside)) from None
    except ConfigError as error:
        raise ConfigError(f"{where}: {error}") from None


def build_chat(config: FixerConfig, environ: Mapping[str, str]) -> ChatFixer:
    """A chat fixer with its key from ``environ``; a ConfigError names the variable when the key is missing."""
    from engine.fixers.chat import ChatFixer

    return ChatFixer(config, api_key=find_key(config, environ))


def find_key(config: FixerConfig, environ: Mapping[str, str]) -> str:
    """The API key for ``config``. OPENAI_API_KEY is taken unasked for OpenAI's own address only."""
    variable = config.api_key_env
    if variable is None and config.url.startswith(OPENAI_URL):
        variable = OPENAI_KEY
    key = environ.get(variable, "").strip() if variable else ""
    if key:
        if not key.isascii() or not key.isprintable():
            raise ConfigError(f"fixer {config.name!r}: what {variable} holds cannot be a key; set it again")
        return key
    if is_local(urlsplit(config.url).hostname or ""):
        return DUMMY_KEY
    if variable is None:
        raise ConfigError(
            f"fixer {config.name!r}: {config.host} needs a key; set api_key_env to the name of the environment "
            f"variable that holds it (one that holds {DUMMY_KEY!r} will do for a service without keys)"
        )
    raise ConfigError(f"fixer {config.name!r}: {config.host} needs a key, and {variable} is not set; export {variable}")


def is_loopback(host: str) -> bool:
    """True for this machine's own names and addresses, which no proxy can reach."""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def is_local(host: str) -> bool:
    """True where a service without keys is usual: this machine, private addresses, names without a dot, ``.local``."""
    if is_loopback(host) or host.endswith((".local", ".internal")):
        return True
    try:
        return ipaddress.ip_address(host).is_private
    except ValueError:
        return "." not in host


def unset_key(config: FixerConfig, environ: Mapping[str, str]) -> str | None:
    """What a user should know who named a key that is not there, and whose service is asked without one; else None."""
    variable = config.api_key_env
    if config.kind != "chat" or variable is None or environ.get(variable, "").strip():
        return None
    return f"fixer {config.name!r}: {variable} is not set; {config.host} is asked without a key"


def _short(text: str) -> str:
    return text if len(text) <= 60 else f"{text[:59]}…"


def _is_web_address(url: str) -> bool:
    parts = urlsplit(url)
    try:
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:  # a port that is no number, or too large
        return False


def is_secret_name(name: str) -> bool:
    """Whether what a field of that name holds must not be shown."""
    return SECRET_NAME.search(name) is not None and VOCABULARY_NAME.fullmatch(name) is None


def _address_without_secrets(url: str, host: str) -> str:
    parts = urlsplit(url)
    user = f"{HIDDEN}@" if "@" in parts.netloc else ""
    return urlunsplit((parts.scheme, user + host, parts.path, HIDDEN if parts.query else "", ""))


def _without_secrets(value: Any) -> Any:
    if isinstance(value, dict):
        return {k: HIDDEN if is_secret_name(str(k)) else _without_secrets(v) for k, v in value.items()}
    if isinstance(value, list):
        return [_without_secrets(item) for item in value]
    return value


def _hides(value: Any) -> bool:
    if isinstance(value, dict):
        return any(_hides(inner) for inner in value.values())
    if isinstance(value, list):
        return any(_hides(inner) for inner in value)
    return isinstance(value, str) and HIDDEN in value
