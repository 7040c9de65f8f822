"""Reads the conversation before a question: messages, and earlier results with the passages that they rest on."""

from collections.abc import Sequence
from itertools import chain

from discorag.models.protocol import Message
from discorag.schema.document import Scope
from discorag.store.store import Store
from interfaces.results import AskResult

History = Sequence[Message | AskResult]
"""The conversation before a question, in order. An earlier result is the question and the answer in one."""


def read_history(history: History, store: Store, scope: Scope) -> tuple[list[Message], list[str]]:
    """The turns before a question, and the ids of the chunks that earlier results rest on, the latest first. Blocks.

    Sentences that rest on documents which are no longer stored are left out, and so are their chunks.
    """
    results = [turn for turn in history if isinstance(turn, AskResult)]
    cited = [list(dict.fromkeys(e.chunk_id for s in r.answer.sentences for e in s.evidence)) for r in results]
    known = store.known_chunks(scope, list(chain.from_iterable(cited)))
    turns = chain.from_iterable([turn] if isinstance(turn, Message) else _turns_of(turn, known) for turn in history)
    latest = chain.from_iterable(reversed(cited))
    return list(turns), [chunk_id for chunk_id in dict.fromkeys(latest) if chunk_id in known]


def _turns_of(result: AskResult, known: set[str]) -> list[Message]:
    """The question, and the sentences of its answer whose chunks are all known."""
    answer = result.answer
    left = [s.text for s in answer.sentences if known.issuperset(e.chunk_id for e in s.evidence)]
    said = answer.text if answer.abstained else " ".join(left)
    question = Message(role="user", content=answer.query)
    return [question, Message(role="assistant", content=said)] if said else [question]
