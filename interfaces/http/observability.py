"""Logs, the audit log, and metrics for Prometheus."""

import logging
import sys
from functools import partial
from typing import Any

import structlog
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram
from structlog.tracebacks import ExceptionDictTransformer
from structlog.types import ExcInfo, Processor

from discorag.schema.ledger import Ledger

LOGGER = "disco_rag.audit"
"""The logger of the audit log."""
SECONDS = (0.005, 0.025, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120)
_WHOLE = ExceptionDictTransformer(show_locals=False)


def log_as_json(*, texts: bool) -> None:
    """Make every logger of this process write JSON. Call it once, when a server starts.

    Without ``texts`` errors are logged without their messages, which may quote a question or a document.
    """
    shared: list[Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.processors.TimeStamper(fmt="iso"),
    ]
    structlog.configure(
        processors=[*shared, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
    )
    rendered = [
        structlog.stdlib.ProcessorFormatter.remove_processors_meta,
        structlog.processors.ExceptionRenderer(_WHOLE if texts else _where),
        structlog.processors.JSONRenderer(ensure_ascii=False),
    ]
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(structlog.stdlib.ProcessorFormatter(foreign_pre_chain=shared, processors=rendered))
    logging.basicConfig(handlers=[handler], level=logging.WARNING, force=True)
    for name in ("disco_rag.api", LOGGER):
        logging.getLogger(name).setLevel(logging.INFO)


def _where(exc_info: ExcInfo) -> list[dict[str, Any]]:
    """Kind and place of an error, without its message."""
    return [{"exc_type": error["exc_type"], "frames": error["frames"]} for error in _WHOLE(exc_info)]


class Meters:
    """The counters of one server, in a registry of their own. No label holds text of a user or a document."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        own: dict[str, Any] = {"namespace": "disco_rag", "registry": self.registry}
        counter, gauge = partial(Counter, **own), partial(Gauge, **own)
        histogram = partial(Histogram, **own, buckets=SECONDS)
        self.requests = counter("requests", "Requests answered.", ("route", "method", "status"))
        self.request_seconds = histogram("request_seconds", "Until the last byte of the response.", ("route",))
        self.refused = counter("refused", "Requests refused: no key, over a quota, ...", ("kind",))
        self.under_way = gauge("requests_under_way", "Requests being answered.")
        self.stage_seconds = histogram("stage_seconds", "One stage of one run.", ("stage", "engine"))
        self.tokens = counter("tokens", "Language model tokens.", ("stage", "kind"))
        self.calls = counter("model_calls", "Calls of the language model.", ("stage",))
        self.failures = counter("failures", "Failures of stages.", ("stage", "kind", "fallback"))
        self.documents = counter("documents", "Documents of ingest jobs.", ("status",))
        self.jobs_waiting = gauge("jobs_waiting", "Ingest jobs that wait for their turn.")

    def observe(self, ledger: Ledger) -> None:
        """Add a finished run."""
        for record in ledger.stages:
            usage = record.usage
            self.stage_seconds.labels(record.stage, record.engine).observe(record.seconds)
            if usage.calls:
                self.calls.labels(record.stage).inc(usage.calls)
            for kind, tokens in (("in", usage.tokens_in), ("cached", usage.tokens_cached), ("out", usage.tokens_out)):
                if tokens:
                    self.tokens.labels(record.stage, kind).inc(tokens)
            for failure in record.failures:
                self.failures.labels(failure.stage, failure.kind, "yes" if failure.fallback else "no").inc()
