"""A half-open range of characters in a canonical document text."""

from __future__ import annotations

from pydantic import BaseModel, Field, model_validator

from discorag.schema.errors import InvariantError


class Span(BaseModel, frozen=True):
    """Characters ``[start, end)`` of a document's canonical text; never empty.

    Raises:
        InvariantError: ``end <= start`` (pydantic reports it as ``ValidationError``).

    Example:
        >>> from discorag.schema.span import Span
        >>> Span(start=0, end=5).of("tides rise")
        'tides'
    """

    start: int = Field(ge=0)
    end: int = Field(gt=0)

    @model_validator(mode="after")
    def _not_empty(self) -> Span:
        if self.end <= self.start:
            raise InvariantError(f"Span [{self.start}, {self.end}) is empty.")
        return self

    def of(self, text: str) -> str:
        """The characters of ``text`` that this span covers."""
        return text[self.start : self.end]

    def contains(self, other: Span) -> bool:
        """Whether ``other`` lies inside this span."""
        return self.start <= other.start and other.end <= self.end
