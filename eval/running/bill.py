"""What a run would cost, without asking a model: the real prompts are built and counted, replies are assumed."""

import json
import re
from collections.abc import AsyncIterator, Sequence
from itertools import pairwise, permutations
from pathlib import Path
from typing import Any, Self, TypeVar

from pydantic import BaseModel

from discorag.answering.one_call import ANSWER
from discorag.answering.statements import MOST_STATEMENTS
from discorag.config import LlmSettings
from discorag.discourse.parse.inline import unescape
from discorag.models.protocol import LanguageModel, Message, Reply, Request, TokenCounter
from discorag.retrieval.routers.prompted import REFUSAL
from discorag.retrieval.routers.walk import STAGE
from discorag.schema.answer import Answer, AnswerInputs, JudgeName, Outcome
from discorag.schema.errors import Usage
from discorag.schema.ledger import Ledger
from discorag.verification.tracing import Verifier, check_draft
from nodes.backends import Backends

T = TypeVar("T")
EDU_TOKENS = 11
"""Tokens of an EDU in a tree that is assumed, as the local parser cuts English prose."""
_CHUNK = re.compile(r"^CHUNK\[\d+\]:$", re.MULTILINE)
_PASSAGE = re.compile(r"^<passage\S* (\d+)>\n(?:(?:Source|Continues): .*\n)*(.+)$", re.MULTILINE)
_QUOTED = 60
"""Most characters of a quotation, up to the end of a word."""
ASSUMED = {"relate": 900, "merge": 700, "plan": 180, "generate": 260, "correct": 80, "parse": 0, STAGE: 0}
"""Assumed tokens of a reply by stage, if the one made here is shorter; limited by the request's own limit.

Trees and routes are counted as they are made here, and a stage that is not listed has its limit. A capable model wrote
743 tokens of statements and answer over ten passages (mean of 40 questions).
"""
_PROSE = "Something [1]. Something 7654321 [1]."
"""An answer with a sentence that can be judged, and one in which the check finds a problem."""
_NODE = re.compile(r"^(\t*)(\d+): (=?)", re.MULTILINE)
_TEXT = {
    "plan": "PLAN: Use [1].\nRETRIEVAL HINT:\n- evidence",
    "generate": f"PLAN: Use [1].\nANSWER: {_PROSE}",
}


class Bill(BaseModel, frozen=True):
    """Tokens of one system over the questions that were tried; with no questions, of what is paid once.

    ``cached`` of ``tokens_in`` repeat the beginning of the conversation's last call: a server with a prefix cache does
    not compute them again. ``at_most``: some of it is paid only if the check of an answer finds a problem. ``stages``
    has the tokens in and out of each stage that asked a model.
    """

    system: str
    questions: int
    calls: int
    tokens_in: int
    cached: int
    tokens_out: int
    at_most: bool = False
    stages: dict[str, tuple[int, int]] = {}

    @classmethod
    def of(cls, system: str, ledgers: Sequence[Ledger]) -> Self:
        """The bill of a system's ledgers, one per question."""
        usage = sum((ledger.usage for ledger in ledgers), Usage())
        asked = [record for ledger in ledgers for record in ledger.stages if record.usage.calls]
        by_stage = {
            name: sum((r.usage for r in asked if r.stage == name), Usage()) for name in (r.stage for r in asked)
        }
        stages = {name: (spent.tokens_in, spent.tokens_out) for name, spent in by_stage.items()}
        at_most = "correct" in stages
        return cls.once(system, usage).model_copy(
            update={"questions": len(ledgers), "at_most": at_most, "stages": stages}
        )

    @classmethod
    def once(cls, name: str, usage: Usage) -> Self:
        """The bill of what does not depend on the number of questions."""
        return cls(
            system=name,
            questions=0,
            calls=usage.calls,
            tokens_in=usage.tokens_in,
            cached=usage.tokens_cached,
            tokens_out=usage.tokens_out,
        )

    def for_questions(self, n: int) -> Self:
        """The bill scaled to ``n`` questions; what is paid once stays."""
        return self.scale(n / self.questions).model_copy(update={"questions": n}) if self.questions else self

    def scale(self, by: float) -> Self:
        """So many times the calls and tokens."""
        counts = ("calls", "tokens_in", "cached", "tokens_out")
        stages = {name: (round(read * by), round(written * by)) for name, (read, written) in self.stages.items()}
        return self.model_copy(update={**{k: round(getattr(self, k) * by) for k in counts}, "stages": stages})


def write_bills(folder: Path, name: str, bills: Sequence[Bill], official: int | None = None) -> None:
    """Write ``bill.json`` into a run's folder: as counted, and scaled to the official test set if its size is given."""
    scaled = [b.for_questions(official) for b in bills] if official else []
    body = {
        "suite": name,
        "counted": [b.model_dump() for b in bills],
        "official": [b.model_dump() for b in scaled],
        "assumed tokens of a reply": ASSUMED,
    }
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "bill.json").write_text(json.dumps(body, indent=2) + "\n", encoding="utf-8")


class CountingModel(LanguageModel):
    """Stands where a model would: counts each prompt and gives the shortest reply that the engines accept.

    A router takes every passage that it sees, and unfolds one heading at each step, as far as it may.

    Args:
        counter: The encoder's tokenizer; a generator's own counts differ by a tenth or two.
        settings: The model's context, and whether its replies are cached: a tree is then paid for once.
        sent: Hashes of the prompts so far. Counts that share it share the cache.
    """

    def __init__(
        self, counter: TokenCounter, settings: LlmSettings | None = None, sent: set[int] | None = None
    ) -> None:
        settings = settings or LlmSettings()
        self._counter, self._context_tokens, self._caches = counter, settings.context_tokens, bool(settings.cache)
        self._sent: set[int] = set() if sent is None else sent

    @property
    def name(self) -> str:
        """Shown in ledgers."""
        return "dry run"

    async def context_tokens(self) -> int:
        """As given."""
        return self._context_tokens

    async def complete(self, request: Request[T]) -> Reply[T]:
        """See `LanguageModel.complete`; never fails."""
        text = self._tree(request) if request.stage == "parse" else _reply(request)
        if request.stage == STAGE and not _is_accepted(request, text):
            text = REFUSAL
        return Reply(text=text, value=request.parse(text), usage=self._usage(request, text))

    async def stream(self, request: Request[str]) -> AsyncIterator[str | Reply[str]]:
        """See `LanguageModel.stream`."""
        reply = await self.complete(request)
        yield reply.text
        yield reply

    def _tree(self, request: Request[T]) -> str:
        """A tree in which each EDU elaborates on the one before it, in the form that the request asks for."""
        text = unescape(request.messages[-1].content.rpartition("<chunk>")[2].rpartition("</chunk>")[0].strip())
        starts = [start for start, _ in self._counter.token_offsets([text])[0][::EDU_TOKENS]]
        edus = [" ".join(text[a:b].split()) for a, b in pairwise([0, *starts[1:], len(text)])]
        n, label = len(edus), "ELABORATION"
        if request.schema is not None:
            nodes = [{"left": [i, i], "right": [i + 1, n], "relation": label, "nuclearity": "NS"} for i in range(1, n)]
            return json.dumps({"edus": edus, "nodes": nodes})
        pairs = [f"RELATION(EDU{i + 1}, EDU{i}): {label}" for i in range(1, n)]
        drawn = [f"|--- SATELLITE[{i}] {edu} (S): {label}" for i, edu in enumerate(edus[1:], start=2)]
        listed = [f"[{i}] {edu}" for i, edu in enumerate(edus, start=1)]
        root = [f"ROOT[1-{n}]", f"|--- NUCLEUS[1] {edus[0]} (N)"]
        return "\n".join(["EDUs:", *listed, "RST ANALYSIS:", *pairs, "TREE STRUCTURE:", *root, *drawn])

    def _usage(self, request: Request[T], text: str) -> Usage:
        if self._caches and request.stage == "parse" and hash(request.messages) in self._sent:
            return Usage(disk_hits=1)
        written = len(self._counter.token_offsets([text])[0])
        out = min(max(ASSUMED.get(request.stage, request.max_tokens), written), request.max_tokens)
        tokens, cached = sum(self._count(m) for m in request.messages), self._count_repeated(request.messages)
        self._sent.add(hash(request.messages))
        return Usage(calls=1, tokens_in=tokens, tokens_out=out, tokens_cached=cached)

    def _count_repeated(self, messages: tuple[Message, ...]) -> int:
        """Tokens of all but the last two turns, if a call has sent just these; other switches may have made them."""
        last = messages[:-2]
        return sum(self._count(m) for m in last) if hash(last) in self._sent else 0

    def _count(self, message: Message) -> int:
        return len(self._counter.token_offsets([message.content])[0])


class CountingBackends(Backends):
    """Backends of a bill, without the work that no language model does and that changes no prompt."""

    encodes_sentences = False

    def verifier(self, judge: JudgeName) -> Verifier:
        """A verifier that calls no encoder and no reranker; the call of a language model as the judge is counted."""
        return super().verifier(judge) if judge == "llm" else _Unplaced()


class _Unplaced:
    """A verifier that looks for no evidence."""

    async def verify(self, inputs: AnswerInputs, draft: str) -> Outcome[Answer]:
        """See `Verifier.verify`."""
        return check_draft(inputs, draft)


def _statements(prompt: str) -> str:
    """A statement for each passage, as many as there may be, which quotes the beginning of its first line."""
    found: list[tuple[str, str]] = _PASSAGE.findall(prompt)[:MOST_STATEMENTS]
    quoted = [(int(n), (text + " ")[:_QUOTED].rpartition(" ")[0] or text[:_QUOTED]) for n, text in found]
    statements = [
        {"id": n, "says": "Something", "role": "answers", "quotations": [{"passage": n, "text": text}]}
        for n, text in quoted
    ]
    return json.dumps({"statements": statements, "relations": [], "order": [[n] for n, _ in quoted], "missing": ""})


def _route(prompt: str) -> str:
    """What a router writes that takes every passage, and unfolds the first heading that seems to hide passages."""
    lines = [(len(tabs), node, bool(mark)) for tabs, node, mark in _NODE.findall(prompt.rpartition("<document>")[2])]
    below = [*(depth for depth, _, _ in lines[1:]), 0]
    passages = [node for depth, node, is_heading in lines if depth and not is_heading]
    hiding = [n for (depth, n, is_heading), after in zip(lines, below, strict=True) if is_heading and after <= depth]
    chosen = [*(f"[ANSWER] {node}:" for node in passages), *(f"[EXPAND] {node}:" for node in hiding[:1])]
    return "\n".join(chosen) or REFUSAL


def _is_accepted(request: Request[Any], text: str) -> bool:
    """Whether the request takes the text: a heading whose passages were all shown hides none."""
    try:
        request.parse(text)
    except ValueError:
        return False
    return True


def _reply(request: Request[T]) -> str:
    if request.stage == "relate" and ANSWER in request.messages[0].content:
        return f"{_statements(request.messages[0].content)}\n{ANSWER}{_PROSE}"
    if request.schema and "statements" in request.schema.get("properties", {}):
        return _statements(request.messages[-1].content)
    if request.stage == "merge":
        return json.dumps({"same": [], "roles": [], "relations": [], "order": [[1]], "missing": ""})
    if request.schema is not None:
        rows: dict[str, dict[str, str]] = request.schema.get("properties", {})
        return json.dumps({key: {} if row.get("type") == "object" else [] for key, row in rows.items()})
    prompt = request.messages[-1].content
    if request.stage == "relate":  # as printed: a line for every ordered pair, three pairs in two chunks related
        pairs = permutations(range(1, len(_CHUNK.findall(prompt)) + 1), 2)
        related, other = ("however", "NONE") if "NONE" in prompt else ("SUPPORTS", "UNRELATED")
        return "\n".join(f"CHUNK[{i}] -> CHUNK[{j}]: {related if j in (i + 1, i + 5) else other}" for i, j in pairs)
    if request.stage == STAGE:
        return _route(prompt)
    if request.stage == "generate" and "PLAN:" not in prompt:
        return _PROSE
    return _TEXT.get(request.stage, _TEXT["generate"])
