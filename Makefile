# Every target sets the machine up first; each has a `dynaweb` or plain equivalent for a machine without make.
SHELL := bash
VENV ?= .venv
OUT ?= runs
export VENV

.DEFAULT_GOAL := help
.PHONY: help setup demo study learning smoke test check docs clean

help: ## Show this list
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z]+):[^#]*## /\1\t/' | expand -t 10

setup: $(VENV)/.ready ## Environment, packages and Chromium (PYTHON=, TORCH=, TORCH_INDEX=)
	@$(VENV)/bin/pip --version >/dev/null 2>&1 || scripts/setup.sh

$(VENV)/.ready: pyproject.toml constraints.txt scripts/setup.sh
	@scripts/setup.sh

demo: setup ## The whole loop at 8 tasks, with a report (under 20 minutes on 2 cores)
	$(VENV)/bin/dynaweb demo --out $(OUT)/demo

study: setup ## The proof at 25 tasks (up to 90 minutes on 2 cores)
	$(VENV)/bin/dynaweb study --out $(OUT)/study

learning: setup ## Real success against live steps spent, seven arms (about an hour on 2 cores)
	$(VENV)/bin/dynaweb bench learning --jobs 2 --out $(OUT)/learning

smoke: setup ## Every stage, small, as CI runs it (under 3 minutes on 2 cores)
	$(VENV)/bin/dynaweb demo --size smoke --out $(OUT)/smoke

test: setup ## Tests, those in the browser too (not those marked slow or gpu)
	$(VENV)/bin/python -m pytest -n auto --maxprocesses 4 --dist loadfile

check: setup ## Lint, types and the import contracts
	$(VENV)/bin/ruff check
	$(VENV)/bin/ruff format --check
	$(VENV)/bin/mypy
	$(VENV)/bin/lint-imports

docs: setup ## Write the generated pages of docs/ anew
	$(VENV)/bin/python docs/generate.py

clean: ## Remove the environment and caches; runs stay
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis
