"""Every error this project raises on purpose, as one tree; and `Usage`, which errors of models carry.

Each error says what happened (``str(error)``) and what to do about it (``error.hint``). Catch `DiscoRagError` to catch
them all. ``error.kind`` is the name under which the ledger counts a failure (`discorag.schema.ledger.Failure`).
"""

from __future__ import annotations

from pydantic import BaseModel, Field


class Usage(BaseModel, frozen=True):
    """Tokens of one or more model calls; adds up with ``+``.

    ``tokens_cached`` counts prompt tokens that the *server* took from its prefix cache. ``disk_hits`` counts calls
    answered by our own disk cache, which cost nothing and add no tokens. ``beams_refused`` counts calls that were sent
    without beam search, because the server refused it.
    """

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

    def __add__(self, other: Usage) -> Usage:
        return Usage(**{k: getattr(self, k) + getattr(other, k) for k in type(self).model_fields})


class DiscoRagError(RuntimeError):
    """Base of all errors raised on purpose. LangGraph's server shows only messages of a `RuntimeError`, so it is one.

    Args:
        message: What happened, with the offending value.
        hint: What the user can do about it.
    """

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    @property
    def kind(self) -> str:
        """Name under which this error is counted."""
        return type(self).__name__

    def __str__(self) -> str:
        return f"{self.message} {self.hint}".strip()


class ConfigError(DiscoRagError):
    """Settings contradict each other or name something that does not exist."""


class UnknownNameError(ConfigError, KeyError):
    """No part of this name is registered; the hint lists those that are."""

    __str__ = DiscoRagError.__str__


class InvariantError(DiscoRagError, ValueError):
    """A value would break an invariant of its type (tree, graph, hierarchy, span).

    It is a ``ValueError`` so that pydantic reports it as a validation error on construction.
    """


class InputError(DiscoRagError):
    """The user's input cannot be used as it is."""


class MissingPathError(InputError):
    """A path does not exist."""


class UnknownFormatError(InputError):
    """No loader reads files of this kind."""


class DecodingError(InputError):
    """A file cannot be read as what it claims to be: not UTF-8, damaged, or locked by a password."""


class ConversionError(InputError):
    """Converting a file took too much time, memory or text, or ended the process that converted it."""


class QueryError(InputError):
    """The query is empty or too long."""


class EmptyCorpusError(InputError):
    """There is nothing to retrieve from in this scope."""


class StoreError(DiscoRagError):
    """The store cannot do what was requested."""


class ReadOnlyStoreError(StoreError):
    """Nothing can be stored where the store is; it can be read."""


class StoreFullError(ReadOnlyStoreError):
    """The disk is full, or nearly: nothing is stored until there is room."""


class StoreDamagedError(StoreError):
    """The stored data are not what was written."""


class NotFoundError(StoreError):
    """A document or node id is not in this scope."""


class ModelError(DiscoRagError):
    """A model call failed for good: every retry and the one repair are used up; ``usage`` is what it cost."""

    def __init__(self, message: str, *, hint: str = "", usage: Usage | None = None) -> None:
        super().__init__(message, hint=hint)
        self.usage = usage


class ModelUnavailableError(ModelError):
    """The endpoint timed out, refused the connection, or answered 5xx to the end."""


class RateLimitedError(ModelError):
    """The endpoint answered 429 to the end."""


class ModelRejectedError(ModelError):
    """The endpoint refused the request (401, 403, 404, 400): retrying would not help."""


class ContextTooLongError(ModelError):
    """The prompt does not fit the model's context."""


class OutputTruncatedError(ModelError):
    """The model stopped at its token limit (``finish_reason == "length"``)."""


class InvalidOutputError(ModelError, ValueError):
    """The model's output does not satisfy its schema or its checks, even after one repair."""
