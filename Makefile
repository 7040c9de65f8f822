# Every target sets up what it needs and is quick when run again.
PYTHON ?= python3
BIN := .venv/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt
# No phone calls home, no thread storms on small machines.
export LANGSMITH_TRACING := false
export LANGGRAPH_CLI_NO_ANALYTICS := 1
export HF_HUB_OFFLINE := 1
export OMP_WAIT_POLICY := passive
export PYTHONPATH := .

.PHONY: demo test lint types arrows unit studio clean help
help: ## What there is to make
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*##/\t/'

.venv/run.stamp: pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv
	@echo "Installing (a few minutes the first time) ..."
	$(PIP) -e .
	@touch $@

.venv/dev.stamp: .venv/run.stamp
	$(PIP) -e ".[dev]"
	@touch $@

demo: .venv/run.stamp ## Ingest examples/ and answer three questions
	$(BIN)/python examples/demo.py

test: lint types arrows unit ## Everything that CI checks

lint: .venv/dev.stamp
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: .venv/dev.stamp
	$(BIN)/pyright

arrows: .venv/dev.stamp
	$(BIN)/lint-imports

unit: .venv/dev.stamp
	$(BIN)/pytest --cov --cov-report=term

studio: .venv/dev.stamp ## Serve both graphs to LangGraph Studio
	$(BIN)/langgraph dev --no-browser

clean: ## Remove the environment and the demo's store
	rm -rf .venv .disco-rag .langgraph_api
