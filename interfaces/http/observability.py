"""The log, whose lines are JSON."""

import logging
import sys
from typing import Any

import structlog
from structlog.tracebacks import ExceptionDictTransformer
from structlog.types import ExcInfo, Processor

LOGGER = "disco_rag.audit"
"""The logger of the audit log."""
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
