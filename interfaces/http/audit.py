"""The audit log: which key did what to which documents, and when; ids only, never a text."""

from __future__ import annotations

from collections.abc import Iterable

import structlog

from interfaces.http.keys import Principal

LOGGER = "disco_rag.audit"
_log = structlog.get_logger(LOGGER)


def tell(what: str, who: Principal | None, *, corpus: str | None = None, documents: Iterable[str] = ()) -> None:
    """One line, with the request's id; nothing if there are neither documents nor a corpus of theirs to name."""
    key = {"key": who.name, "tenant": who.tenant} if who else {}
    _log.info(what, **key, corpus=corpus, documents=sorted(set(documents)))
