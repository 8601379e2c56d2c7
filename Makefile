# make run: a sweep of some built-in tasks with the scripted fixer (make run TASKS='*': of all). make test: all checks and tests but the slow ones.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
# without a CUDA toolkit on PATH the compiler comes as wheels
EXTRAS := $(if $(shell command -v nvcc 2>/dev/null),,toolkit)
comma  := ,

TASKS  := softmax_rows reduce_argmax scan_rows histogram_bytes gemm_rect vector_normalize

.PHONY: run test test-all check clean

run: $(VENV)/.installed
	$(BIN)/beaver-tui --batch --fixer scripted:good --fixer scripted:stagnating $(foreach task,$(TASKS),--tasks '$(task)')

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
