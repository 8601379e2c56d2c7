# make run: a sweep of the built-in tasks with the scripted fixer. make test: all checks and tests but the slow ones.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
# without a CUDA toolkit on PATH the compiler comes as wheels
EXTRAS := $(if $(shell command -v nvcc 2>/dev/null),,toolkit)
comma  := ,

.PHONY: run test test-all check clean

run: $(VENV)/.installed
	$(BIN)/beaver-tui --batch --fixer scripted:good --fixer scripted:stagnating

test: $(VENV)/.installed-dev check
	$(BIN)/python -P -m pytest -n 2 --dist loadgroup -m "not slow and not gpu"

test-all: $(VENV)/.installed-dev check
	$(BIN)/python -P -m pytest -n 2 --dist loadgroup

check: $(VENV)/.installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.installed: $(VENV)/bin/python pyproject.toml
	$(BIN)/pip install --quiet --disable-pip-version-check -e ".$(if $(EXTRAS),[$(EXTRAS)])"
	touch $@

$(VENV)/.installed-dev: $(VENV)/bin/python pyproject.toml
	$(BIN)/pip install --quiet --disable-pip-version-check -e ".[dev$(if $(EXTRAS),$(comma)$(EXTRAS))]"
	touch $@ $(VENV)/.installed

clean:
	rm -rf $(VENV) dist build .mypy_cache .ruff_cache .pytest_cache
