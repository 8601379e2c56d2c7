"""What a user may write about a fixer, and what is said about it afterwards."""

from __future__ import annotations

import datetime
from typing import Any

import msgspec
import pytest
import yaml

from engine.errors import ConfigError
from engine.fixers.config import DUMMY_KEY, FixerConfig, build_chat, find_key, hidden_fields, is_local, read_config
from engine.fixers.prices import Price, cost

CLOUD: dict[str, Any] = {"name": "gpt", "model": "gpt-5.4"}
LOCAL: dict[str, Any] = {"name": "qwen:7b", "model": "qwen", "base_url": "http://localhost:11434/v1"}


def read(text: str) -> FixerConfig:
    return read_config(yaml.safe_load(text), "fixers.yaml, entry 1")


def complaint(raw: object) -> str:
    with pytest.raises(ConfigError) as caught:
        read_config(raw, "fixers.yaml, entry 1")
    text = str(caught.value)
    assert text.startswith("fixers.yaml, entry 1: ")
    return text


def test_a_whole_entry_as_it_stands_in_a_file() -> None:
    config = read(
        """
        name: deepseek
        model: deepseek-v4
        base_url: https://api.example.com/v1
        api_key_env: EXAMPLE_KEY
        temperature: 1
        max_tokens: 16384
        seed: 7
        timeouts: {connect: 5, read: 60}
        retries: {attempts: 3}
        prices: {input: 0.27, output: 1.1}
        extra_body: {top_p: 0.95}
        max_concurrency: 8
        """
    )
    assert config.kind == "chat"
    assert (config.temperature, config.seed, config.max_concurrency) == (1.0, 7, 8)
    assert (config.timeouts.connect, config.timeouts.read, config.timeouts.total) == (5.0, 60.0, 1800.0)
    assert config.retries.attempts == 3
    assert config.prices == Price(input=0.27, output=1.1)
    assert config.host == "api.example.com"


def test_a_short_entry_is_enough_for_a_local_model() -> None:
    config = read("{name: 'qwen:7b', model: 'qwen2.5-coder:7b', base_url: 'http://localhost:11434/v1'}")
    assert config.host == "localhost:11434"
    assert find_key(config, {}) == DUMMY_KEY


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"model": ""}, "model must be given"),
        ({"name": " "}, "name must be printable"),
        ({"name": "a\nb"}, "name must be printable"),
        ({"kind": "oracle"}, "oracle"),
        ({"base_url": "localhost:8000"}, "base_url must look like http://localhost:8000/v1"),
        ({"base_url": "http://host:99999/v1"}, "base_url must look like"),
        ({"base_url": "ftp://host/v1"}, "base_url must look like"),
        ({"temperature": 3.5}, "temperature is 3.5, and must be between 0 and 2"),
        ({"temperature": "hot"}, "temperature"),
        ({"max_tokens": 0}, "max_tokens is 0, and must be at least 1"),
        ({"max_concurrency": 0}, "max_concurrency is 0, and must be at least 1"),
        ({"timeouts": {"read": 0}}, "timeouts.read is 0"),
        ({"timeouts": {"reed": 1}}, "reed"),
        ({"retries": {"attempts": 0}}, "retries.attempts is 0"),
        ({"prices": {"input": -1, "output": 1}}, "prices.input is -1"),
        ({"prices": {"input": 1}}, "output"),
        ({"extra_body": {"messages": []}}, "extra_body.messages is set by the fixer itself"),
        ({"temperature": float("nan")}, "temperature is nan, and must be between 0 and 2"),
        ({"temperature": float("inf")}, "temperature is inf, and must be between 0 and 2"),
        ({"max_tokens": "8k"}, "max_tokens"),
        ({"seed": -1}, "seed is -1, and must be between"),
        ({"seed": 1 << 63}, "and must be between"),
        ({"extra_body": {"top_p": float("nan")}}, "extra_body holds what JSON cannot say"),
        ({"extra_body": {"since": datetime.date(2026, 1, 1)}}, "extra_body holds what JSON cannot say"),
        ({"script": "repair"}, "script means nothing to a chat fixer"),
        ({"modle": "x"}, "modle"),
    ],
)
def test_a_mistake_is_named_with_its_place(change: dict[str, Any], words: str) -> None:
    assert words in complaint({**LOCAL, **change})


def test_what_belongs_to_another_kind_is_refused() -> None:
    assert "model" not in complaint({"name": "me", "kind": "human", "temperature": 0.5})
    assert "temperature means nothing to a human fixer" in complaint(
        {"name": "me", "kind": "human", "temperature": 0.5}
    )
    assert read_config({"name": "me", "kind": "human", "directory": "desk"}, "here").directory == "desk"


@pytest.mark.parametrize("field", ["api_key", "apikey", "secret", "password", "token", "auth_token"])
def test_a_key_has_no_place_in_a_file_and_is_not_repeated(field: str) -> None:
    text = complaint({**CLOUD, field: "sk-secret-1"})
    assert "api_key_env" in text
    assert "sk-secret-1" not in text


def test_a_key_where_its_variables_name_belongs_is_not_repeated() -> None:
    text = complaint({**CLOUD, "api_key_env": "sk-secret-1"})
    assert "must be the name of an environment variable, not the key itself" in text
    assert "sk-secret-1" not in text


@pytest.mark.parametrize(
    ("fields", "environ", "key"),
    [
        (CLOUD, {"OPENAI_API_KEY": "sk-1"}, "sk-1"),
        ({**CLOUD, "api_key_env": "MINE"}, {"OPENAI_API_KEY": "sk-1", "MINE": "sk-2"}, "sk-2"),
        ({**CLOUD, "api_key_env": "MINE"}, {"MINE": "  sk-2\n"}, "sk-2"),
        (LOCAL, {"OPENAI_API_KEY": "sk-1"}, DUMMY_KEY),
        ({**LOCAL, "api_key_env": "MINE"}, {}, DUMMY_KEY),
        ({**LOCAL, "api_key_env": "MINE"}, {"MINE": "k"}, "k"),
    ],
)
def test_where_the_key_comes_from(fields: dict[str, Any], environ: dict[str, str], key: str) -> None:
    assert find_key(FixerConfig(**fields), environ) == key


@pytest.mark.parametrize(
    ("fields", "environ", "words"),
    [
        (CLOUD, {}, "api.openai.com needs a key, and OPENAI_API_KEY is not set; export OPENAI_API_KEY"),
        ({**CLOUD, "api_key_env": "MINE"}, {"MINE": " "}, "MINE is not set"),
        ({**CLOUD, "base_url": "https://api.example.com/v1"}, {}, "set api_key_env"),
        (CLOUD, {"OPENAI_API_KEY": "sk-\nsecret"}, "what OPENAI_API_KEY holds cannot be a key"),
        (CLOUD, {"OPENAI_API_KEY": "‘sk-secret’"}, "what OPENAI_API_KEY holds cannot be a key"),
    ],
)
def test_a_missing_or_unusable_key_is_told_by_its_variable(
    fields: dict[str, Any], environ: dict[str, str], words: str
) -> None:
    with pytest.raises(ConfigError, match=r"fixer 'gpt'") as caught:
        build_chat(FixerConfig(**fields), environ)
    assert words in str(caught.value)
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    "url", ["https://api.example.com/v1", "https://api.openai.com.example.com/v1", "http://api.openai.com/v1"]
)
def test_openais_key_goes_to_openai_alone(url: str) -> None:
    with pytest.raises(ConfigError, match="api_key_env"):
        find_key(FixerConfig(**{**CLOUD, "base_url": url}), {"OPENAI_API_KEY": "sk-1"})


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "::1", "10.1.2.3", "192.168.0.9", "vllm", "box.local"])
def test_local_services_need_no_key(host: str) -> None:
    assert is_local(host)


@pytest.mark.parametrize("host", ["api.openai.com", "8.8.8.8", "localhost.example.com"])
def test_other_services_do(host: str) -> None:
    assert not is_local(host)


def test_a_chat_fixer_is_built_with_its_key_hidden() -> None:
    fixer = build_chat(FixerConfig(**CLOUD), {"OPENAI_API_KEY": "sk-secret-1"})
    assert repr(fixer) == "ChatFixer('gpt', model='gpt-5.4', host='api.openai.com')"
    assert "sk-secret-1" not in repr(vars(fixer))


def test_the_description_says_what_was_set_and_no_secret() -> None:
    config = FixerConfig(
        name="gw",
        model="m",
        base_url="https://user:sk-secret@gate.example.com:8443/v1?key=sk-secret",
        api_key_env="GATE_KEY",
        seed=3,
        extra_body={"top_k": 4, "max_think_tokens": 9, "auth_token": "sk-secret", "deep": [{"api_key": "sk-secret"}]},
    )
    described = config.describe()
    assert described == {
        "name": "gw",
        "kind": "chat",
        "model": "m",
        "base_url": "https://***@gate.example.com:8443/v1?***",
        "api_key_env": "GATE_KEY",
        "seed": 3,
        "extra_body": {"top_k": 4, "max_think_tokens": 9, "auth_token": "***", "deep": [{"api_key": "***"}]},
    }
    assert msgspec.json.decode(msgspec.json.encode(described)) == described

    assert hidden_fields(described) == ["base_url", "extra_body"]


@pytest.mark.parametrize(
    "name", ["eos_token", "bos_token", "stop_token", "pad-token", "max_tokens", "max_think_tokens"]
)
def test_words_of_the_vocabulary_are_no_secrets(name: str) -> None:
    described = FixerConfig(**LOCAL, extra_body={name: "</s>"}).describe()
    assert described["extra_body"] == {name: "</s>"}
    assert hidden_fields(described) == []
    assert read_config(described, "run.json").describe() == described


@pytest.mark.parametrize("name", ["token", "hf_token", "x-api-key", "Authorization", "access_key", "client_secret"])
def test_secrets_in_the_body_are_hidden(name: str) -> None:
    described = FixerConfig(**LOCAL, extra_body={"deep": [{name: "sk-secret"}]}).describe()
    assert "sk-secret" not in str(described)
    assert hidden_fields(described) == ["extra_body"]


def test_costs_are_by_the_million_tokens_and_unknown_when_anything_is() -> None:
    price = Price(input=3.0, output=15.0)
    assert cost(price, 1_000_000, 200_000) == pytest.approx(6.0)
    assert cost(price, 0, 0) == 0.0
    assert cost(None, 1, 1) is None
    assert cost(price, None, 1) is None
    assert cost(price, 1, None) is None
