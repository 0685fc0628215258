# make demo | test | check | bench | fuzz | strength | knock-study | test-train | clean. The first use of any makes .venv from requirements.lock.

SHELL := /bin/bash

# The first Python that runs, is 3.11 to 3.13 and can make a venv. Override: make PYTHON=/path/to/python3.12
PROBE := import sys, venv, ensurepip; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))
PYTHON ?= $(shell for p in python3.13 python3.12 python3.11 python3 python; do \
	"$$p" -c '$(PROBE)' >/dev/null 2>&1 && { echo "$$p"; break; }; done)

VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check
DEPS := $(VENV)/.stamp-deps
READY := $(VENV)/.stamp-ready
TRAIN := $(VENV)/.stamp-train

.PHONY: demo test check format bench fuzz strength knock-study test-train venv train-deps clean

demo: $(READY)
	$(BIN)/gin tournament random simple simple:early=10,until=6,late=0 \
		--games 2000 --rules eaai --seed 1 --out runs/demo

# ARGS goes to pytest: make test ARGS='-k H10 -n 0'
test: $(READY)
	$(BIN)/python -m pytest -n auto $(ARGS)

check: $(READY)
	$(BIN)/python -m ruff check .
	$(BIN)/python -m ruff format --check .
	$(BIN)/python -m mypy

format: $(READY)
	$(BIN)/python -m ruff check --fix-only .
	$(BIN)/python -m ruff format .

bench: $(READY)
	$(BIN)/python -m experiments.bench $(ARGS)

fuzz: $(READY)
	$(BIN)/python -m pytest -n auto -m fuzz --timeout 0 $(ARGS)

# The figures of docs/strength.md; stopped, it goes on from where it was.
PANEL := simple simple:early=10,until=6,late=0 simple:early=10,until=4,late=0
SEARCHES := mc mc:worlds=16 mc:worlds=64 mc:worlds=256 mc:worlds=1024 mc:width=1 mc:prior=0 mc:patient=0 mc:patient=1 \
	mc:deadwood=0,gone=0 mc:game=1 mc:until=8 mc:policy=heuristic mc:policy=heuristic,width=1 ismcts
EVALUATORS := heuristic heuristic:signs=0 heuristic:close=0 heuristic:danger=0,alarm=0 heuristic:ahead=0
strength: $(READY)
	$(BIN)/gin tournament heuristic mc lean ppo $(PANEL) --games 4000 --rules eaai --seed 31 --out runs/strength
	for a in $(SEARCHES); do \
		$(BIN)/gin tournament $$a simple:early=10,until=6,late=0 --games 1000 --rules eaai --seed 32 \
			--out runs/strength-$$a || exit; done
	for a in $(EVALUATORS); do for b in simple simple:early=10,until=6,late=0; do \
		$(BIN)/gin tournament $$a $$b --games 20000 --rules eaai --seed 41 --out runs/strength-$$a-$$b || exit; done; done

# The figures of docs/knock-timing.md at full size: about two hours on two cores; stopped, it goes on from where it was. KNOCK_POSITIONS=100000
# KNOCK_GAMES=1000 is a small one.
KNOCK_CHANGES := least=0 least=6 signs=0 close=0 until=5 until=6 until=8 early=8 late=1 until=0,close=0 until=1000,least=0 \
	until=4,least=0,signs=0,close=0 until=6,least=0,signs=0,close=0 until=8,least=0,signs=0,close=0
KNOCK_RULES := eaai modern historic palace oklahoma
KNOCK_POSITIONS ?= 1000000
KNOCK_GAMES ?= 9000
knock-study: $(READY)
	for r in $(KNOCK_RULES); do \
		$(BIN)/gin knock study --rules $$r --positions $(KNOCK_POSITIONS) --seed 61 --out runs/knock-study-$$r || exit; \
		$(BIN)/gin knock metagame --rules $$r --games $(KNOCK_GAMES) --hands 100000 --seed 62 --out runs/knock-meta-$$r \
			|| exit; done
	$(BIN)/gin knock figures --games $(KNOCK_GAMES) --seed 63 --out runs/knock-figures
	$(BIN)/gin knock change heuristic --to $(KNOCK_CHANGES) --games 10000 --seed 94 --out runs/knock-change
	$(BIN)/gin knock folk runs/knock-study-eaai
	$(BIN)/gin knock report $(KNOCK_RULES:%=runs/knock-study-%) $(KNOCK_RULES:%=runs/knock-meta-%) --out runs/knock-report

# Training, by our loop and by MaskablePPO.
test-train: $(TRAIN)
	$(BIN)/python -m pytest -m train --timeout 0 $(ARGS)

venv: $(READY)

# Torch and friends, into the same .venv (until the lock file next changes).
train-deps: $(TRAIN)

$(DEPS): requirements.lock
	@"$(PYTHON)" -c '$(PROBE)' >/dev/null 2>&1 || { echo >&2 \
		"ginenv needs Python 3.11, 3.12 or 3.13 with the venv module, and found none$(if $(PYTHON), in PYTHON=$(PYTHON)): install one, or name it with make PYTHON=/path/to/python3."; exit 1; }
	@echo "Making $(VENV) with $$("$(PYTHON)" --version) from requirements.lock"
	"$(PYTHON)" -m venv --clear $(VENV)
	$(PIP) install -q -r requirements.lock
	@touch $@

$(READY): $(DEPS) pyproject.toml
	$(PIP) install -q --no-deps --no-build-isolation -e .
	@touch $@

$(TRAIN): $(READY) requirements-train.lock
	$(PIP) install -q -r requirements-train.lock
	@touch $@

clean:
	rm -rf $(VENV) runs build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis .coverage htmlcov
	find ginenv agents experiments tests notebooks -name __pycache__ -prune -exec rm -rf {} + 2>/dev/null || true
