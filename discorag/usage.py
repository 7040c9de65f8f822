"""Tokens that model calls took."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field


class Usage(BaseModel):
    """Tokens of one or more model calls; adds up with ``+``.

    ``tokens_cached`` counts prompt tokens that the *server* took from its prefix cache; ``disk_hits``
    counts calls answered by our own disk cache, which cost nothing and add no tokens.
    """

    model_config = ConfigDict(frozen=True)

    tokens_in: int = Field(default=0, ge=0)
    tokens_out: int = Field(default=0, ge=0)
    tokens_cached: int = Field(default=0, ge=0)
    calls: int = Field(default=0, ge=0)
    disk_hits: int = Field(default=0, ge=0)
    repairs: int = Field(default=0, ge=0)

    def __add__(self, other: Usage) -> Usage:
        return Usage(**{k: getattr(self, k) + getattr(other, k) for k in type(self).model_fields})
