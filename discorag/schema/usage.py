"""Tokens that model calls took."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field


class Usage(BaseModel):
    """Tokens of one or more model calls; adds up with ``+``.

    ``tokens_cached`` counts prompt tokens that the *server* took from its prefix cache; ``disk_hits``
    counts calls answered by our own disk cache, which cost nothing and add no tokens; ``beams_refused``
    calls for which the server refused beam search, so that they were sent without.

    Example:
        >>> from discorag.schema.usage import Usage
        >>> (Usage(tokens_in=900, tokens_cached=600, calls=1) + Usage(tokens_in=100, tokens_out=50, calls=1)).total
        1050
    """

    model_config = ConfigDict(frozen=True)

    tokens_in: int = Field(default=0, ge=0)
    tokens_out: int = Field(default=0, ge=0)
    tokens_cached: int = Field(default=0, ge=0)
    calls: int = Field(default=0, ge=0)
    disk_hits: int = Field(default=0, ge=0)
    repairs: int = Field(default=0, ge=0)
    beams_refused: int = Field(default=0, ge=0)

    @property
    def total(self) -> int:
        """Prompt and output tokens of all calls: the token cost of Disco-RAG table 8."""
        return self.tokens_in + self.tokens_out

    @property
    def recomputed(self) -> int:
        """Prompt tokens that the server did not take from its prefix cache, as far as it tells."""
        return self.tokens_in - self.tokens_cached

    def __add__(self, other: Usage) -> Usage:
        return Usage(**{k: getattr(self, k) + getattr(other, k) for k in type(self).model_fields})
