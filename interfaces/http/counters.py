"""What this process counts for `GET /metrics`."""

from prometheus_client import CollectorRegistry, Counter, Histogram

from discorag.schema.ledger import Ledger

REGISTRY = CollectorRegistry()
QUESTIONS = Counter("disco_rag_questions", "Questions by outcome.", ["outcome"], registry=REGISTRY)
STAGES = Histogram(
    "disco_rag_stage_seconds",
    "Seconds of each stage of an answer.",
    ["stage"],
    registry=REGISTRY,
    buckets=(0.01, 0.05, 0.1, 0.5, 1, 2.5, 5, 10, 20, 40, 60, 90, 120),  # up to the usual deadline
)
TOKENS = Counter("disco_rag_tokens", "Tokens of language models.", ["kind"], registry=REGISTRY)
FILES = Counter(
    "disco_rag_files", "Uploaded files that were read, by what became of them.", ["status"], registry=REGISTRY
)
FAILURES = Counter(
    "disco_rag_failures", "Failures of stages, of files and of requests, by kind.", ["kind"], registry=REGISTRY
)


def count_answer(ledger: Ledger, *, outcome: str) -> None:
    """Count a question that was answered, its stages, tokens and failures."""
    QUESTIONS.labels(outcome).inc()
    for stage in ledger.stages:
        STAGES.labels(stage.stage).observe(stage.seconds)
    for failure in ledger.failures:
        FAILURES.labels(failure.kind).inc()
    usage = ledger.usage
    for kind, tokens in (("in", usage.tokens_in), ("out", usage.tokens_out), ("cached", usage.tokens_cached)):
        TOKENS.labels(kind).inc(tokens)
