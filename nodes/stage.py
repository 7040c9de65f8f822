"""What every node of the answer graph does around its work: time it, stream it, record it."""

import time
from collections.abc import AsyncIterator, Callable, Sequence
from typing import Any, TypeVar

from langgraph.config import get_stream_writer

from discorag.models.protocol import TreeParser
from discorag.retrieval.builders.base import Built
from discorag.schema.answer import Answer, Outcome
from discorag.schema.discourse import RstTree
from discorag.schema.document import Chunk
from discorag.schema.errors import (
    ContextTooLongError,
    DiscoRagError,
    InvalidOutputError,
    ModelError,
    OutputTruncatedError,
    Usage,
)
from discorag.schema.ledger import WITHOUT_MODEL, Failure, Ledger, StageRecord
from discorag.schema.statements import Statement
from nodes.state import AnswerState, Json

T = TypeVar("T")
PREVIEW = 200  # characters of a stage's text preview


def is_out_of_reach(error: ModelError) -> bool:
    """Whether the language model cannot be asked at all: another request would fail too."""
    return not isinstance(error, ContextTooLongError | InvalidOutputError | OutputTruncatedError)


def ledger_of(state: AnswerState) -> Ledger:
    """What the stages have recorded so far."""
    return Ledger(stages=tuple(map(StageRecord.model_validate, state.get("ledger", []))))


class Stage:
    """One run of one stage; ``done`` makes its ledger record and streams the stage event."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.failures: list[Failure] = []
        self.usage = Usage()
        self.prompt_hash = ""
        self.counts: dict[str, int] = {}
        self.decisions: list[str] = []
        self._started = time.perf_counter()
        self.emit({"stage": name, "event": "start"})

    def emit(self, event: Json) -> None:
        """Send an event to the caller's ``custom`` stream."""
        get_stream_writer()(event)

    def show_statement(self, statement: Statement) -> None:
        """Send a statement that the language model has just written."""
        self.emit({"stage": self.name, "event": "statement", "statement": statement.model_dump(mode="json")})

    def show_token(self, text: str) -> None:
        """Send a piece of the draft."""
        self.emit({"stage": "generate", "event": "token", "token": text})

    def void_tokens(self) -> None:
        """Declare the pieces of the draft that were sent so far void."""
        self.emit({"stage": "generate", "event": "restart"})

    def replace_tokens(self, text: str) -> None:
        """Declare the pieces that were sent so far void, and send ``text`` instead."""
        self.void_tokens()
        self.show_token(text)

    async def stream(self, answer: AsyncIterator[str | Outcome[T]], text: Callable[[T], str] = str) -> Outcome[T]:
        """Send an answer's pieces as they come; returns the outcome at its end.

        ``text`` returns the answer in the outcome's value.

        Raises:
            ModelError: The model failed, or the stream ended without an outcome.
        """
        pieces: list[str] = []
        async for piece in answer:
            if isinstance(piece, str):
                pieces.append(piece)
                self.show_token(piece)
            else:
                if (whole := text(piece.value)) != "".join(pieces):  # repaired, or cleaned
                    self.replace_tokens(whole)
                return piece
        raise ModelError("The stream ended without a reply.", hint="Check the endpoint's log.")

    def failed(self, error: DiscoRagError, *, fallback: str, of: str = "") -> None:
        """Count an error, with what is used instead, and the tokens that it cost.

        ``of``: the earlier stage that is at fault; empty: this one.
        """
        self.failures.append(Failure.of(of or self.name, error, fallback=fallback))
        self.decisions.append(f"{fallback} instead: {error.kind}")
        usage = getattr(error, "usage", None)
        if isinstance(usage, Usage):
            self.usage = self.usage + usage
        self.emit({"event": "failure", **self.failures[-1].model_dump()})

    def start_again(
        self, error: ModelError, *, strict: bool, engine: str = "llm", model: str = "", of: str = ""
    ) -> Json:
        """Count an error of the language model, in this stage or ``of`` an earlier one; ``engine`` made this stage.

        After the returned update the run goes back to `nodes.answer.prepare` and answers without the model; what was
        streamed of the draft is void. If ``strict``, the error is raised instead.
        """
        if strict:
            raise error
        self.void_tokens()
        self.failed(error, fallback=WITHOUT_MODEL, of=of)
        return {"is_written": True, "model_failed": True, "ledger": self.done(engine=engine, model=model)}

    def record_route(self, where: str, why: str) -> None:
        """Record that the run goes to this node, and why."""
        self.decisions.append(f"{where}: {why}")

    def record_trees(self, built: Sequence[Built]) -> None:
        """Record what building retrieval trees cost, and what failed in it."""
        for tree in built:
            self.usage += tree.usage
            for message in tree.failures:
                failure = Failure(stage=self.name, kind="summary", message=message, fallback="extractive text")
                self.failures.append(failure)
        self.counts = {"trees built": len(built)}

    async def parse(self, chunk: Chunk, parser: TreeParser, fallback: TreeParser) -> RstTree:
        """The parser's tree; on a model's failure the fallback's, and the failure is counted."""
        try:
            parsed = await parser.parse(chunk)
        except ModelError as error:
            self.failed(error, fallback=fallback.version)
            parsed = await fallback.parse(chunk)
        self.usage += parsed.usage
        self.prompt_hash = self.prompt_hash or parsed.prompt_hash
        return parsed.value

    def done(
        self, *, engine: str, model: str = "", outcome: Outcome[Any] | None = None, preview: str = ""
    ) -> list[Json]:
        """The ledger update of this stage."""
        for failure in outcome.failures if outcome else ():
            self.failures.append(failure)
            self.decisions.append(f"{failure.fallback} instead: {failure.kind}")
        record = self.record(engine=engine, model=model, outcome=outcome)
        self.emit({"stage": self.name, "event": "end", "preview": preview[:PREVIEW], "seconds": record.seconds})
        return [record.model_dump(mode="json")]

    def record(self, *, engine: str, model: str = "", outcome: Outcome[Any] | None = None) -> StageRecord:
        """The stage's line of the ledger so far."""
        return StageRecord(
            stage=self.name,
            engine=engine,
            model=model,
            prompt_hash=outcome.prompt_hash if outcome else self.prompt_hash,
            seconds=time.perf_counter() - self._started,
            usage=self.usage + (outcome.usage if outcome else Usage()),
            failures=tuple(self.failures),
            counts={**self.counts, **(outcome.counts if outcome else {})},
            decisions=tuple(self.decisions),
        )

    def finish_batch(self, n: int, *, engine: str, model: str, preview: str = "") -> list[Json]:
        """Like `done`, for ``n`` pieces of work; if some failed, engine and model name what was used instead too."""
        others = dict.fromkeys(failure.fallback for failure in self.failures)
        if others and len(self.failures) >= n:
            engine, model = "local", ", ".join(others)
        elif others:
            engine, model = f"{engine}+local", ", ".join([model, *others])
        return self.done(engine=engine, model=model, preview=preview)

    def with_notes(self, answer: Answer, state: AnswerState) -> Answer:
        """The answer with notes on the failures of all stages so far, and with what `nodes.answer.assess` found."""
        notes = Ledger(stages=(*ledger_of(state).stages, self.record(engine="local"))).notes
        unsure = state.get("unsure", False) and not answer.abstained
        return answer.model_copy(update={"notes": notes, "answerable": state.get("answerable"), "unsure": unsure})
