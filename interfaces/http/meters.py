"""Numbers for Prometheus: requests, and what every stage of every run cost, from its ledger."""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from discorag.schema.ledger import Ledger, StageRecord

SECONDS = (0.005, 0.025, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120)


class Meters:
    """The counters of one server, in a registry of their own. No label holds text of a user or a document."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self.requests = self._counter("requests", "Requests answered.", "route", "method", "status")
        self.request_seconds = self._histogram("request_seconds", "Until the last byte of the response.", "route")
        self.refused = self._counter("refused", "Requests turned away: no key, over a quota, ...", "kind")
        self.under_way = self._gauge("requests_under_way", "Requests being answered.")
        self.stage_seconds = self._histogram("stage_seconds", "One stage of one run.", "stage", "engine")
        self.tokens = self._counter("tokens", "Language model tokens.", "stage", "kind")
        self.calls = self._counter("model_calls", "Calls of the language model.", "stage")
        self.failures = self._counter("failures", "Failures of stages.", "stage", "kind", "fallback")
        self.documents = self._counter("documents", "Documents of ingest jobs.", "status")
        self.jobs_waiting = self._gauge("jobs_waiting", "Ingest jobs that wait for their turn.")

    def _counter(self, name: str, said: str, *labels: str) -> Counter:
        return Counter(f"disco_rag_{name}", said, labels, registry=self.registry)

    def _gauge(self, name: str, said: str) -> Gauge:
        return Gauge(f"disco_rag_{name}", said, registry=self.registry)

    def _histogram(self, name: str, said: str, *labels: str) -> Histogram:
        return Histogram(f"disco_rag_{name}", said, labels, registry=self.registry, buckets=SECONDS)

    def observe(self, ledger: Ledger) -> None:
        """Add a finished run."""
        for record in ledger.stages:
            self._stage(record)

    def _stage(self, record: StageRecord) -> None:
        self.stage_seconds.labels(record.stage, record.engine).observe(record.seconds)
        usage = record.usage
        if usage.calls:
            self.calls.labels(record.stage).inc(usage.calls)
        kinds = {"in": usage.tokens_in, "cached": usage.tokens_cached, "out": usage.tokens_out}
        for kind, tokens in kinds.items():
            if tokens:
                self.tokens.labels(record.stage, kind).inc(tokens)
        for failure in record.failures:
            self.failures.labels(failure.stage, failure.kind, "yes" if failure.fallback else "no").inc()

    def text(self) -> bytes:
        """Everything in Prometheus' text format."""
        return generate_latest(self.registry)
