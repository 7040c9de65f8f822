"""State of the two graphs: ids and JSON values only, because checkpoints copy it."""

import operator
from typing import Annotated, Any, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from discorag.schema.metadata import FILTERS, GivenFilters

Json = dict[str, Any]
Route = Literal["chunks", "sentence tree", "headings", "everything"]
"""How evidence is searched for: by a retriever over chunks or over trees, by a router, or by reading everything."""


class AnswerInput(TypedDict):
    """A question, and optionally which documents it may use."""

    query: Annotated[str, Field(description="The question.")]
    filters: NotRequired[Annotated[GivenFilters, Field(description=f"{FILTERS} They stay in a thread until changed.")]]
    instruction: NotRequired[
        Annotated[
            str, Field(description="How to answer (format, length, options); not searched for; stays in a thread.")
        ]
    ]
    history: NotRequired[
        Annotated[
            list[dict[str, str]],
            Field(description="The conversation before the question, in order: role (user, assistant) and content."),
        ]
    ]
    earlier: NotRequired[
        Annotated[
            list[str],
            Field(
                description="Ids of chunks that answers in the conversation rest on, the latest first: with "
                "preset=written they are candidates again."
            ),
        ]
    ]


class AnswerOutput(TypedDict, total=False):
    """The verified answer and what it cost."""

    answer: Annotated[Json, Field(description="discorag.schema.answer.Answer as JSON: sentences with evidence spans.")]
    ledger: Annotated[list[Json], Field(description="One record per stage: engine, model, tokens, seconds, failures.")]


class AnswerState(AnswerInput, total=False):
    """The state of the answer graph; chunk texts stay in the store."""

    started_with: Annotated[
        Json, Field(description="Format of this state, and the options that the question was asked with.")
    ]
    question: Annotated[str, Field(description="The question made self-contained: what is searched for and answered.")]
    route: Annotated[Route | None, Field(description="How evidence is searched for.")]
    is_written: Annotated[bool, Field(description="Whether a language model relates, plans and writes.")]
    model_failed: Annotated[
        bool,
        Field(description="The language model failed: the run went back to 'prepare', and answers without it."),
    ]
    hits: Annotated[
        list[Json],
        Field(
            description="Retrieved chunk ids with scores, best first; with preset=written the documents in the order "
            "of their best chunk, the chunks of each in the order of its text."
        ),
    ]
    copies: Annotated[
        dict[str, list[str]], Field(description="Document id -> names of other files with the same content.")
    ]
    evidence: Annotated[
        dict[str, list[list[int]]],
        Field(description="Chunk id -> spans that a retriever over trees chose in it, in document offsets."),
    ]
    trees: Annotated[dict[str, Json], Field(description="RST trees made for this query, by chunk id.")]
    passages: Annotated[
        list[Json],
        Field(
            description="The passages to read next to the plan: number, title, heading, text by units ([2.3] cites the "
            "third unit of the second passage) and tree. Nodes read the store instead: edit hits or trees."
        ),
    ]
    statements: Annotated[
        Json | None,
        Field(
            description="What the passages say on the question, as a language model found it: statements with their "
            "quotations, and the relations between them (discorag.schema.statements.StatementGraph)."
        ),
    ]
    graph: Annotated[
        Json | None, Field(description="Rhetorical graph over the hits; if there are statements, it follows from them.")
    ]
    plan: Annotated[
        str | None,
        Field(
            description="The plan; edit it before 'generate' to steer the answer. Over statements each line is a step, "
            "such as '1. answers: It fell {2}', with the numbers of its statements; else it is one paragraph."
        ),
    ]
    at_once: Annotated[
        Json | None,
        Field(
            description="The answer that the language model wrote in the call that found statements and plan, and the "
            "key of what it follows; 'generate' writes another one if any of that was changed."
        ),
    ]
    queries: Annotated[list[str], Field(description="What plan-and-retrieve searches for (graphs.baselines).")]
    markers: Annotated[list[str], Field(description="Lines of discourse markers between the hits (graphs.baselines).")]
    turns: Annotated[
        dict[str, str], Field(description="What plan-and-retrieve's first call wrote, verbatim (graphs.baselines).")
    ]
    draft: Annotated[str, Field(description="The answer with citations, before verification.")]
    written_by: Annotated[str, Field(description="The language model that wrote the draft; empty: the local engine.")]
    rounds: Annotated[
        int, Field(description="Rounds of refinement that are left; none after one that changed nothing.")
    ]
    to_correct: Annotated[
        bool, Field(description="Whether 'correct' writes the sentences again in which the check found a problem.")
    ]
    answerable: Annotated[float | None, Field(description="Probability that the evidence answers the question.")]
    unsure: Annotated[bool, Field(description="Whether the answer is shown as unsure.")]
    because: Annotated[str, Field(description="Why the documents do not answer the question.")]
    answer: Json | None
    ledger: Annotated[list[Json], operator.add]


def fresh_answer(started_with: Json) -> Json:
    """The state of a new question in a thread: all keys that stages write are empty, except the ledger.

    Args:
        started_with: See `nodes.given.started_with`.
    """
    lists: Json = {key: [] for key in ("hits", "passages", "queries", "markers")}
    dicts: Json = {key: {} for key in ("copies", "evidence", "trees", "turns")}
    unknown: Json = dict.fromkeys(("route", "statements", "graph", "plan", "at_once", "answerable", "answer"))
    switches: Json = dict.fromkeys(("is_written", "model_failed", "to_correct", "unsure"), False)
    texts: Json = dict.fromkeys(("draft", "written_by", "because"), "")
    return {**lists, **dicts, **unknown, **switches, **texts, "rounds": 0, "started_with": started_with}


class IngestInput(TypedDict):
    """What to read."""

    path: Annotated[str, Field(description="A file, or a folder that is read recursively.")]


class IngestOutput(TypedDict, total=False):
    """What became of every document."""

    outcomes: Annotated[list[Json], Field(description="uri, status, chunks, note and unread of every document.")]
    ledger: Annotated[list[Json], Field(description="One record per stage and document.")]


class IngestState(IngestInput, total=False):
    """The ingest graph's state: paths and outcomes."""

    files: Annotated[list[str], Field(description="Files to read, as absolute paths.")]
    sent: Annotated[int, Field(description="How many of them were sent out to be read.")]
    outcomes: Annotated[list[Json], operator.add]
    ledger: Annotated[list[Json], operator.add]
