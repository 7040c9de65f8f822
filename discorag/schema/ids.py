"""Deterministic ids and content hashes: the same input always gets the same id (DESIGN: idempotent ingest)."""

from __future__ import annotations

import hashlib
import json
import uuid
from collections.abc import Mapping

_NAMESPACE = uuid.UUID("7d1c1b0e-5a52-5d0b-9c8e-2f6f0c9f7a10")


def stable_id(*parts: str | int) -> str:
    """UUIDv5 of the parts, as a string. Parts are joined unambiguously, so ("a", "bc") != ("ab", "c")."""
    return str(uuid.uuid5(_NAMESPACE, json.dumps(parts, ensure_ascii=False)))


def digest(text: str | bytes) -> str:
    """SHA-256 of ``text`` (UTF-8), 64 hexadecimal digits."""
    data = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
    return hashlib.sha256(data).hexdigest()


def fingerprint(content: str, versions: Mapping[str, str]) -> str:
    """Key of what is stored for a document: its content and every version that shaped it.

    Args:
        content: Digest of the source bytes.
        versions: Stage name (converter, splitter, parser, summariser, encoder) -> version.
    """
    return digest(json.dumps([content, sorted(versions.items())]))[:32]
