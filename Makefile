# Needs git, make and a Python >= 3.12; everything else goes into .venv. `make` lists the targets.
SHELL := /bin/sh
.SHELLFLAGS := -eu -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-builtin-rules --no-print-directory
.DELETE_ON_ERROR:

UV_VERSION := 0.13.9
JOBS ?= 2
ARGS ?=
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.synced

# uv takes the environment that stands here, whatever .python-version says, and never fetches an interpreter.
export UV_PYTHON := $(CURDIR)/$(BIN)/python
export UV_PYTHON_DOWNLOADS := never
export UV_PROJECT_ENVIRONMENT := $(CURDIR)/$(VENV)
unexport VIRTUAL_ENV
unexport PYTHONHOME
unexport PYTHONPATH

.PHONY: help setup demo test check check-lint check-format check-types check-contracts check-architecture
.PHONY: bench format clean

help: ## this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "make %-8s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

setup: $(STAMP) ## creates .venv with everything that uv.lock names (the other targets do it when needed)
	@:

# Every candidate is really run: a pyenv shim exists for versions that it then refuses to start.
$(STAMP): uv.lock pyproject.toml
	@if ! $(BIN)/python -c 'import sys; sys.exit(sys.version_info < (3, 12))' </dev/null 2>/dev/null; then \
	  python=; \
	  for candidate in $${PYTHON:-} python3.12 python3.13 python3.14 python3 \
	      "$${PYENV_ROOT:-$$HOME/.pyenv}"/versions/3.*/bin/python3 /usr/local/bin/python3* /usr/bin/python3; do \
	    if found=$$("$$candidate" -c 'import sys; sys.version_info < (3, 12) and sys.exit(1); print(sys.executable)' \
	        </dev/null 2>/dev/null) && [ -n "$$found" ]; then python=$$found; break; fi; \
	  done; \
	  if [ -z "$$python" ]; then \
	    echo 'No working Python >= 3.12 was found (tried PYTHON=..., python3.12 ... python3, pyenv).' >&2; \
	    echo 'Debian 13, Ubuntu 24.04: sudo apt-get install python3 python3-venv' >&2; \
	    echo 'Debian 12 has 3.11 only: install 3.12 with pyenv or uv, then: make PYTHON=/path/to/python3.12' >&2; \
	    exit 1; \
	  fi; \
	  echo "Python: $$python"; \
	  rm -rf $(VENV); \
	  if "$$python" -c 'import ensurepip' 2>/dev/null; then "$$python" -m venv $(VENV); \
	  elif "$$python" -m virtualenv --version >/dev/null 2>&1; then "$$python" -m virtualenv -q $(VENV); \
	  elif "$$python" -m pip --version >/dev/null 2>&1; then "$$python" -m venv --without-pip $(VENV); \
	    "$$python" -m pip --python $(BIN)/python install -q pip; \
	  else \
	    echo "$$python cannot make virtual environments: its ensurepip is missing, and pip and virtualenv are too." >&2; \
	    echo 'Debian, Ubuntu: sudo apt-get install python3-venv' >&2; \
	    exit 1; \
	  fi; \
	fi
	@$(BIN)/python -m uv --version 2>/dev/null | grep -qF 'uv $(UV_VERSION)' || \
	  $(BIN)/python -m pip install -q --disable-pip-version-check uv==$(UV_VERSION) </dev/null
	@$(BIN)/python -m uv sync --locked --quiet
	@touch $@

demo: $(STAMP) ## the whole issue flow on this machine, no account needed
	@$(BIN)/toban demo $(ARGS)

test: $(STAMP) ## all tests that this machine can run; lists the rest as NOT RUN (ARGS=... goes to pytest)
	@$(BIN)/python -m pytest -n $(JOBS) $(ARGS)

check: check-lint check-format check-types check-contracts check-architecture ## lint, format, types, import contracts, architecture (-k: all of them)
check-lint: $(STAMP)
	@$(BIN)/ruff check .
check-format: $(STAMP)
	@$(BIN)/ruff format --check .
check-types: $(STAMP)
	@$(BIN)/mypy
check-contracts: $(STAMP)
	@$(BIN)/lint-imports --no-logo
check-architecture: $(STAMP)
	@$(BIN)/python -m pytest -q -n $(JOBS) tests/architecture

bench: $(STAMP) ## ratios to floor scripts measured in the same minute (ARGS=... goes to tests.bench)
	@$(BIN)/python -m tests.bench $(ARGS)

format: $(STAMP) ## formats and sorts imports
	@$(BIN)/ruff check --select I --fix .
	@$(BIN)/ruff format .

clean: ## removes what builds and tools left behind, .venv too; never your files
	@rm -rf $(VENV) build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache .coverage .coverage.*
	@find controller tests -name __pycache__ -type d -prune -exec rm -rf {} +
