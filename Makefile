# The door to the project: `make demo` walks the whole road, `make test` runs the tests.
# Both need only Python 3.11+, make and git; they make their own environment in .venv.
PYTHON ?= python3.11
VENV ?= .venv
BIN := $(VENV)/bin
# What the demo needs; and then what the tests need besides.
WALK := $(VENV)/.walk
READY := $(VENV)/.ready
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt
# The tests start many processes: modules are compiled once.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help demo test check attacks fix slow clean

help:  ## what each target does
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

$(WALK): pyproject.toml constraints.txt
	@echo "making the environment in $(VENV) (a few minutes, once)"
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade 'pip==26.3'
	$(INSTALL) --editable '.[local,openai,data,eval,serve,train]'
	@touch $@

$(READY): $(WALK)
	$(INSTALL) --editable '.[all]' --group dev
	@touch $@

demo: $(WALK)  ## generate, train, evaluate, serve, judge: meant for under five minutes, no network
	PATH="$(BIN):$$PATH" bash scripts/demo.sh

test: $(READY)  ## the tests, on every core
	$(BIN)/python -m pytest -n auto

check: $(READY)  ## lint, types, architecture, attacks and tests: what CI runs
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(MAKE) attacks
	$(MAKE) test

attacks: $(READY)  ## whether rules and cascade accept responses that try to manipulate them
	$(BIN)/gradegpt data attacks-check
	$(BIN)/gradegpt eval.attacks attacks-check --overwrite

fix: $(READY)  ## mend what lint and format can mend by themselves
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

slow: $(READY)  ## the tests that take longer: QLoRA on a CPU, training from the wheel
	$(BIN)/python -m pytest -m slow

clean:  ## remove the environment and all outputs
	rm -rf $(VENV) runs data dist build
