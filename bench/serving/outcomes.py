"""What became of a request: an answer, one with a declared fallback, a clear error, a refusal, or none of these."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from enum import StrEnum
from statistics import quantiles
from typing import Any, Literal, cast

from pydantic import BaseModel, ConfigDict, ValidationError

Kind = Literal["ask", "ask-sse", "chat", "chat-sse"]
CLEAR = frozenset({429, 502, 503, 504, 507})
"""Statuses that say truly that the server, or what it needs, could not do it now; 500 is none."""


class Outcome(StrEnum):
    """What a request ended in."""

    ANSWERED = "answered"
    FALLBACK = "answered with a declared fallback"
    CLEAR_ERROR = "clear error"
    REFUSED = "refused at connect"
    WRONG = "wrong"


class Seen(BaseModel):
    """What a body says.

    Args:
        error: Name of the error that it reports; empty for an answer.
        fallbacks: Failures in the answer's ledger, each with what stood in for the stage.
        wrong: What is wrong with the body; empty if it is well formed.
    """

    model_config = ConfigDict(frozen=True)

    error: str = ""
    fallbacks: int = 0
    wrong: str = ""


class Sent(Seen):
    """One request.

    Args:
        kind: Endpoint, and whether a stream was asked for.
        at: When it was sent, seconds since the epoch.
        seconds: Until the last byte, or until the connection was lost.
        status: HTTP status; 0: there was no response.
        refused: There was no response because nobody listened.
    """

    kind: Kind
    at: float
    seconds: float
    status: int
    refused: bool = False

    def outcome(self, within_s: float, *, stopping: bool = False) -> Outcome:
        """What it ended in, given that it had to end in ``within_s`` seconds.

        Only of a server that is ``stopping`` may it be refused at connect.

        An error inside a stream, whose status was sent before, is clear if it has a name of its own.
        """
        if self.refused and stopping:
            return Outcome.REFUSED
        if self.status == 0 or self.wrong or self.seconds > within_s:
            return Outcome.WRONG
        if self.status != 200 or self.error:
            streamed = self.status == 200 and self.kind.endswith("sse") and self.error != "InternalError"
            return Outcome.CLEAR_ERROR if streamed or (self.error and self.status in CLEAR) else Outcome.WRONG
        return Outcome.FALLBACK if self.fallbacks else Outcome.ANSWERED

    @property
    def is_error(self) -> bool:
        """Whether it is anything but an answer."""
        return self.status != 200 or bool(self.error or self.wrong)


class Tally(BaseModel):
    """The requests of one run.

    Args:
        requests: How many.
        outcomes: How many ended in what.
        errors: The errors among them, by status and name.
        wrong: The first few that ended in none of what is allowed.
        p50_ms, p95_ms, p99_ms: Of those that were answered; None for fewer than two.
        slowest_s: Of all.
    """

    model_config = ConfigDict(frozen=True)

    requests: int
    outcomes: dict[Outcome, int]
    errors: dict[str, int]
    wrong: list[Sent]
    p50_ms: float | None
    p95_ms: float | None
    p99_ms: float | None
    slowest_s: float

    @classmethod
    def of(cls, sent: Sequence[Sent], *, within_s: float, stopping: bool = False) -> Tally:
        """Count these requests, each of which had to end in ``within_s`` seconds; ``stopping`` as in `Sent.outcome`."""
        ended = [(s, s.outcome(within_s, stopping=stopping)) for s in sent]
        counts = Counter(outcome for _, outcome in ended)
        p50, p95, p99 = percentiles([1000 * s.seconds for s in sent if not s.is_error])
        return cls(
            requests=len(sent),
            outcomes={outcome: counts[outcome] for outcome in Outcome},
            errors=dict(Counter(f"{s.status} {s.error or s.wrong}" for s in sent if s.is_error)),
            wrong=[s for s, outcome in ended if outcome is Outcome.WRONG][:5],
            p50_ms=p50,
            p95_ms=p95,
            p99_ms=p99,
            slowest_s=round(max((s.seconds for s in sent), default=0.0), 2),
        )


def percentiles(milliseconds: Sequence[float]) -> tuple[float | None, float | None, float | None]:
    """The 50th, the 95th and the 99th; None of fewer than two values."""
    if len(milliseconds) < 2:
        return None, None, None
    cuts = quantiles(milliseconds, n=100, method="inclusive")
    return round(cuts[49], 1), round(cuts[94], 1), round(cuts[98], 1)


def rate(sent: Iterable[Sent], seconds: float) -> float:
    """Answers a second among those that came in the first ``seconds`` seconds; 0 of none."""
    answered = [s for s in sent if not s.is_error]
    start = min((s.at for s in answered), default=0.0)
    return round(sum(s.at + s.seconds <= start + seconds for s in answered) / seconds, 2)


def read(kind: Kind, status: int, body: bytes) -> Seen:
    """What the body of a response says.

    Args:
        kind: What was asked.
        status: Its HTTP status.
        body: All of it.
    """
    try:
        return _answer_of(kind, body) if status == 200 else _error_of(json.loads(body))
    except (ValueError, LookupError, TypeError, ValidationError) as error:
        return Seen(wrong=f"{status}, {type(error).__name__}: {body[-200:].decode(errors='replace')!r}")


def _answer_of(kind: Kind, body: bytes) -> Seen:
    text = body.decode()
    match kind:
        case "ask":
            return _reply_of(json.loads(text))
        case "chat":
            whole = json.loads(text)
            return _reply_of(whole["disco_rag"]) if whole["choices"][0]["message"]["content"] else Seen(wrong="empty")
        case "ask-sse":
            event, data = _events(text)[-1]
            return _error_of(data) if event == "error" else _reply_of(data if event == "answer" else {})
        case _:
            *before, (_, last) = _events(text)
            return _error_of(last) if last != "[DONE]" else _reply_of(before[-1][1]["disco_rag"])


def _reply_of(reply: dict[str, Any]) -> Seen:
    """Raises ``KeyError`` if this is none."""
    stages: list[dict[str, Any]] = reply["ledger"]["stages"]
    empty = not reply["text"].strip() and not reply["answer"]["sentences"]
    return Seen(fallbacks=sum(len(s["failures"]) for s in stages), wrong="the answer is empty" if empty else "")


def _error_of(body: Any) -> Seen:
    error = cast("dict[str, str]", body["error"])
    return Seen(error=error["type"], wrong="" if error["message"] else "the error says nothing")


def _events(text: str) -> list[tuple[str, Any]]:
    """Name and data of the events of a stream; comments are left out."""
    found: list[tuple[str, Any]] = []
    for block in text.split("\n\n"):
        fields = dict(line.split(": ", 1) for line in block.splitlines() if line and not line.startswith(":"))
        if "data" in fields:
            data = fields["data"]
            found.append((fields.get("event", ""), data if data == "[DONE]" else json.loads(data)))
    return found
