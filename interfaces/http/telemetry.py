"""OpenTelemetry spans of every graph and step, where the extra ``otel`` is installed and an exporter is configured."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from discorag.schema.errors import ConfigError

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import SpanProcessor

ENDPOINT = "OTEL_EXPORTER_OTLP_ENDPOINT"


def trace(*, texts: bool) -> None:
    """Send spans to ``OTEL_EXPORTER_OTLP_ENDPOINT``, if it is set. Without ``texts`` no inputs and outputs.

    Raises:
        ConfigError: It is set, and the extra is not installed.
    """
    if ENDPOINT not in os.environ:
        return
    try:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.trace.export import BatchSpanProcessor

        instrument(BatchSpanProcessor(OTLPSpanExporter()), texts=texts)
    except ImportError as error:
        raise ConfigError(
            f"{ENDPOINT} is set, but OpenTelemetry is not installed ({error.name}).",
            hint="pip install 'disco-rag[otel]', or unset it.",
        ) from error


def instrument(processor: SpanProcessor, *, texts: bool) -> None:
    """Give every span of a graph or step to ``processor``. Raises ``ImportError`` without the extra ``otel``."""
    from openinference.instrumentation import TraceConfig
    from openinference.instrumentation.langchain import LangChainInstrumentor
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import TracerProvider

    provider = TracerProvider(resource=Resource.create({"service.name": "disco-rag"}))
    provider.add_span_processor(processor)
    LangChainInstrumentor().instrument(
        tracer_provider=provider, config=TraceConfig(hide_inputs=not texts, hide_outputs=not texts)
    )
