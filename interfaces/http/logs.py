"""Structured logs: one JSON object a line on standard error, uvicorn's own lines included."""

from __future__ import annotations

import logging
import sys
from io import TextIOWrapper
from logging.handlers import WatchedFileHandler
from pathlib import Path
from typing import Any

import structlog
from structlog.tracebacks import ExceptionDictTransformer
from structlog.types import ExcInfo, Processor

from discorag.schema.errors import ConfigError
from interfaces.http.audit import LOGGER

_WHOLE = ExceptionDictTransformer(show_locals=False)


def log_as_json(*, texts: bool, audit: Path | None = None) -> None:
    """Make every logger of this process write JSON. Call it once, when a server starts.

    The audit log goes to the end of the file ``audit``, if given, each line as soon as it is written. Without ``texts``
    errors are logged without their messages, which may quote a question or a document.
    """
    shared: list[Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
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
    if audit:
        _write_audit(audit, handler.formatter)


def _write_audit(file: Path, formatter: logging.Formatter | None) -> None:
    """Raises `ConfigError` if the file cannot be written."""
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        handler = _AuditFile(file, encoding="utf-8")
    except OSError as error:
        raise ConfigError(f"The audit log cannot be written: {error}.", hint="Check DISCO_RAG_API__AUDIT.") from error
    handler.setFormatter(formatter)
    logger = logging.getLogger(LOGGER)
    logger.handlers, logger.propagate = [handler], False


class _AuditFile(WatchedFileHandler):
    """A file that is begun anew where it was moved away. A line is one write: lines of several workers do not mix."""

    def _open(self) -> TextIOWrapper:
        return TextIOWrapper(open(self.baseFilename, "ab", buffering=0), self.encoding, write_through=True)


def _where(exc_info: ExcInfo) -> list[dict[str, Any]]:
    """What kind of error it is, and where it was raised."""
    return [{"exc_type": found["exc_type"], "frames": found["frames"]} for found in _WHOLE(exc_info)]
