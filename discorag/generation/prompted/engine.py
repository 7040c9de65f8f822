"""The prompted engines: graph, plan and answer as turns of one conversation (Disco-RAG section 3, figs. 11, 12, 18).

What a model writes is cleaned: a weak model may copy marks of a tree, whole passages, or our instructions. A mark, a
fence or an escape that no source has itself is ours and is removed. An answer with broken marks, or one that repeats
our instructions, is refused.
"""

import re
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from difflib import SequenceMatcher
from functools import partial
from typing import Any, TypeVar

from discorag.discourse.parse.inline import Layout, unescape
from discorag.generation.narrowing import GAP
from discorag.generation.prompted.conversation import Templates, evidence_block, graph_of, graph_schema, messages_for
from discorag.models.protocol import AskAgainError, LanguageModel, Reply, Request, TokenCounter
from discorag.schema.answer import AnswerInputs, Outcome
from discorag.schema.discourse import BY_CODE, Plan, RhetoricalGraph
from discorag.schema.errors import InvalidOutputError, OutputTruncatedError, Usage
from discorag.schema.ledger import Failure
from discorag.schema.values import words_of
from discorag.text.citation_forms import cited_in_brackets, has_citation
from discorag.text.citations import (
    format_reference,
    references,
    split_references,
    unknown_passages,
    without_references,
    without_unknown,
)
from discorag.text.replies import prose_in, whole_sentences
from discorag.text.sentences import sentence_spans

LINK_TOKENS = 12  # "10":"BACKGROUND_FOR",
ROW_TOKENS = 8  # "c10":{},
MOST_LINKS = 9
"""Links for which each passage has room: all that one of ten can have (Disco-RAG retrieves ten)."""
PLAN_STEP = 48
"""Tokens of a plan for each passage; a plan of the local engine has about 180 tokens for ten passages."""
ANSWER_PART = 72
"""Tokens of an answer for each passage: a sentence or two."""
MOST_ANSWER = 1024
SPARE = 128
"""Tokens for white space and for what a model writes before it starts."""


def plan_tokens(k: int) -> int:
    """Output limit of a plan over ``k`` passages."""
    return SPARE + min(PLAN_STEP * k, MOST_ANSWER)


def graph_tokens(k: int) -> int:
    """A graph over ``k`` passages: every link of every passage, up to ten passages."""
    return SPARE + k * (ROW_TOKENS + LINK_TOKENS * min(max(k - 1, 0), MOST_LINKS))


RUN = 50
"""Words in a row that may be a passage's: the longest of the 725 sentences of `examples/` has 48."""
REPEATED = 4
"""Least words of a sentence that is left out if it comes again; a shorter one ("No.") may answer two things."""
PROMPT_RUN = 8
"""Words in a row that may be those of our prompts."""

_CODES = "|".join(BY_CODE)
_WHOLE = rf"\|\s*\d{{1,5}}\s*[<>=]\s*(?:{_CODES})\s*\|"
_MARK = re.compile(rf"(?<=\s){_WHOLE}[ \t]*|{_WHOLE}")
_BROKEN_MARK = re.compile(rf"\|\s*\d{{1,5}}\s*[<>=]|[<>=]\s*(?:{_CODES})\s*\|")
_FENCE = re.compile(r"</?(?:chunk|question|instruction)\b[^<>\n]*>|^```.*$", re.MULTILINE)
_ENTITY = re.compile(r"&(?:amp|lt|gt|#124);")
_BEGINS = re.compile(
    r"\s*[|<&`\[【［〔⟦(（{^*\\⁰¹²³⁴-⁹][^\n]{0,40}\Z|\n\W*\w{0,12}\Z|\n\W*(?i:sources?|references?|quellen)\W*[:：][\s\S]*\Z"
)
"""What may become something of ours (the longest is a fence, with its source), a citation or a list of sources."""
_CONTEXT = 40
"""Characters before a citation that tell whether it is one."""


def strip_marks(text: str, passages: Sequence[str]) -> str:
    """``text`` without marks, fences, gaps and escapes that are not the passages' own."""
    held = "\n".join(passages)
    text = _ENTITY.sub(lambda m: m[0] if m[0] in held else unescape(m[0]), text)
    for ours in (_FENCE, _MARK):
        text = ours.sub(lambda m: m[0] if m[0].rstrip() in held else "", text)
    if GAP not in held:
        text = text.replace(GAP, "…")
    return re.sub(r"\n{3,}", "\n\n", text).strip()


def said_in(text: str, passages: Sequence[str]) -> str:
    """The prose that a model wrote, without what is ours, its citations in the form that we read.

    Raises:
        ValueError: It is JSON without prose.
    """
    return cited_in_brackets(strip_marks(prose_in(text), passages), passages)


class Shown:
    """The pieces of a stream without marks, fences and escapes, their citations in the form that we read.

    What may become one of these is held back, and so is a whole reply in JSON.
    """

    def __init__(self, passages: Sequence[str] = ()) -> None:
        self._passages = passages
        self._held = ""
        self._before = ""
        self._bare: bool | None = None

    def push(self, piece: str) -> str:
        """What can be shown once ``piece`` has come."""
        self._held += piece
        if not self._before and self._held.lstrip()[:1] in ("{", "`", "~"):
            return ""
        text = self._cleaned(self._held)
        begins = _BEGINS.search(text)
        return self._show(text, begins.start() if begins else len(text))

    def rest(self) -> str:
        """What was held back, at the end; nothing of JSON without prose, which is refused."""
        with suppress(ValueError):
            text = self._cleaned(prose_in(self._held) if not self._before else self._held)
            return self._show(text, len(text))
        return ""

    def _cleaned(self, text: str) -> str:
        text = _FENCE.sub("", _MARK.sub("", text))
        cited = self._cited(text, bare=bool(self._bare))
        if self._bare is None and has_citation(cited):
            self._bare = False
        elif self._bare is None and (bare := self._cited(text, bare=True)) != cited:
            self._bare, cited = True, bare
        return cited

    def _cited(self, text: str, *, bare: bool) -> str:
        if not self._passages:
            return text
        whole = cited_in_brackets(self._before + text, self._passages, bare=bare)
        return whole[len(self._before) :] if whole.startswith(self._before) else text

    def _show(self, text: str, at: int) -> str:
        self._before, self._held = (self._before + text[:at])[-_CONTEXT:], text[at:]
        return unescape(text[:at])


def marks_left(text: str, passages: Sequence[str]) -> bool:
    """Whether ``text`` has marks of ours, whole or broken."""
    return any(not any(m[0] in p for p in passages) for m in _BROKEN_MARK.finditer(text))


def copied(text: str, passages: Sequence[str]) -> int:
    """How many words the longest run has that ``text`` copies from one passage without citing in it."""
    pieces = [_folded(piece) for piece, is_reference in split_references(text) if not is_reference]
    sources = [_folded(passage) for passage in passages]
    pairs = (SequenceMatcher(None, piece, source, autojunk=False) for source in sources for piece in pieces)
    return max((pair.find_longest_match().size for pair in pairs), default=0)


def _folded(text: str) -> list[str]:
    return [word.casefold() for word in words_of(text)]


_LABEL = r"^[\s*_#]*(?:(?:here is|here's|now) )?(?:the |my )?(?:final )?(?:{})(?: to the question)?[\s*_]*:[\s*_]*"
_OWN_LABEL = {name: re.compile(r"\A" + _LABEL[1:].format(name), re.IGNORECASE) for name in ("answer", "plan")}
_OTHER_LABEL = re.compile(_LABEL.format("plan|graph|question|instruction|passages?"), re.IGNORECASE | re.MULTILINE)


def without_label(text: str, name: str, passages: Sequence[str]) -> str:
    """``text`` without a heading of this name, such as "The answer:", at its beginning, unless a passage has it."""
    label = _OWN_LABEL[name].match(text)
    return text[label.end() :] if label and not any(label[0].strip() in p for p in passages) else text


def without_repeats(text: str) -> str:
    """``text`` with each sentence only once: a weak model may repeat one up to its limit.

    >>> without_repeats("The limit is six hours [1]. It was set in 2019 [2]. The limit is six hours [2].")
    'The limit is six hours [1]. It was set in 2019 [2].'
    """
    kept, known, end = "", set[tuple[str, ...]](), 0
    for span in sentence_spans(text):
        words = tuple(_folded(without_references(span.of(text), chunks=10_000)))
        if len(words) < REPEATED or words not in known:
            kept += text[end : span.end]
        known.add(words)
        end = span.end
    return kept.strip()


def scaffolding(text: str, passages: Sequence[str], prompts: Sequence[str]) -> str:
    """What an answer repeats of our instructions: a heading such as "The plan:", or words in a row; "" if nothing."""
    if (label := _OTHER_LABEL.search(text)) and not any(label[0].strip() in p for p in passages):
        return f"the heading {label[0].strip()!r}"
    run = copied(text, prompts)
    return f"{run} words in a row of the instructions" if run > max(PROMPT_RUN, copied(text, passages)) else ""


_SOURCES = r"(?:passages?|documents?|sources?|texts?|chunks?|evidence)"
_SAYS = r"(?:\w+ )?(?:answer|address|say|speak|mention|contain|provide|include)"
_DECLINES = re.compile(
    rf"\W*(?:(?:(?:the|these|given|provided|retrieved) )*{_SOURCES} (?:(?:do|does) not|don't|doesn't|cannot|can't)"
    rf"|(?:no|none of (?:the|these)) (?:\w+ )?{_SOURCES}) {_SAYS}",
    re.IGNORECASE,
)

_BUT = re.compile(r"[,;:] (?:but|however|although|though|only)\b", re.IGNORECASE)
_ABOUT_PASSAGES = re.compile(
    rf"\W*(?:(?:(?:the|these|given|provided|retrieved) )*{_SOURCES}|they|none|instead|i|please|therefore)\b",
    re.IGNORECASE,
)
"""How a sentence begins that says more of what the passages lack or hold."""


def declined(text: str) -> str:
    """Why a model says that the passages do not answer the question; "" where it answers all or a part of it.

    >>> declined("The passages do not answer the question; none speaks of chess [1].")
    'The passages do not answer the question; none speaks of chess.'
    >>> declined("None of the passages says anything about chess.")
    'None of the passages says anything about chess.'
    >>> declined("The passages do not answer for whom. It lowered the risk [1].")
    ''
    >>> declined("The passages do not say who drives it. The van may weigh 3.5 t.")
    ''
    """
    first, *others = [span.of(text) for span in sentence_spans(text)] or [""]
    cites = bool(references(text))
    if not _DECLINES.match(first) or (cites and _BUT.search(first)):
        return ""
    if any(references(sentence) or not (cites or _ABOUT_PASSAGES.match(sentence)) for sentence in others):
        return ""
    return without_references(text, chunks=10_000).strip()


T = TypeVar("T")


@dataclass(frozen=True, kw_only=True)
class Sampling:
    """How a language model is asked: temperature, beam width (1: none), and the answer's limit in tokens, if any."""

    temperature: float = 0.0
    beam_width: int = 1
    answer_tokens: int | None = None

    def for_answer(self, k: int) -> int:
        """The limit of an answer from ``k`` passages."""
        return self.answer_tokens or min(2 * SPARE + ANSWER_PART * k, MOST_ANSWER)


def readable_chunks(
    inputs: AnswerInputs, templates: Templates, sampling: Sampling, *, context_tokens: int, counter: TokenCounter
) -> int:
    """How many of the best chunks fit the model's context with their trees, the prompts and all replies; at least one.

    ``counter`` estimates the model's tokens.
    """
    frame = messages_for("graph", replace(inputs, chunks=()), templates, structured=True)
    turns = [message.content for message in frame] + [templates.plan.render(), templates.answer.render()]
    numbered = (replace(inputs, chunks=(chunk,)) for chunk in inputs.chunks)
    sizes = [len(tokens) for tokens in counter.token_offsets([*turns, *map(evidence_block, numbered)])]
    room, sizes = context_tokens - sum(sizes[: len(turns)]), sizes[len(turns) :]
    for k in range(len(sizes), 1, -1):
        replies = graph_tokens(k) + plan_tokens(k) + sampling.for_answer(k)
        if sum(sizes[:k]) + replies <= room:
            return k
    return 1


@dataclass(frozen=True)
class LlmEngine:
    """Graph, plan and answer by one language model.

    ``spent`` is the cost of the call that tested what the model can read (`discorag.generation.prompted.probe`); every
    outcome includes it.

    Raises:
        ModelError: From every method, when the gateway gives up; see `discorag.models.protocol`.
    """

    model: LanguageModel
    templates: Templates
    sampling: Sampling = Sampling()
    layout: Layout = "inline"
    spent: Usage = field(default_factory=Usage)

    async def relate(self, inputs: AnswerInputs) -> Outcome[RhetoricalGraph]:
        """All ordered pairs in one call (listwise, fig. 11). Fewer than two chunks need no call."""
        k = len(inputs.chunks)
        if k < 2:
            return Outcome(value=RhetoricalGraph(chunks=tuple(c.id for c in inputs.chunks)))
        request = self._request("relate", inputs, lambda text: graph_of(inputs, text), graph_tokens(k))
        return self._outcome("relate", await self.model.complete(replace(request, schema=graph_schema(k))))

    async def plan(self, inputs: AnswerInputs) -> Outcome[Plan]:
        """One paragraph that cites the chunks (fig. 12); wrong citations are reported and left out."""
        limit = plan_tokens(len(inputs.chunks))
        request = self._request("plan", inputs, lambda text: plan_of(text, inputs), limit)
        outcome = self._outcome("plan", await self.model.complete(replace(request, cut=whole_sentences)))
        unknown = unknown_passages(references(outcome.text), [c.text for c in inputs.chunks])
        failures = [
            Failure.of(
                "plan",
                InvalidOutputError(f"The plan cites {format_reference(r)}; there are {len(inputs.chunks)} passages."),
                fallback="the rest of the plan",
            )
            for r in unknown
        ]
        return replace(outcome, failures=(*outcome.failures, *failures))

    async def answer(self, inputs: AnswerInputs, *, structured: bool) -> AsyncIterator[str | Outcome[str]]:
        """Pieces of the answer as they come, at last the checked answer (fig. 18; fig. 14 when not structured)."""
        ask, prompts = self.templates.own_words.render(), self.templates.instructions(self.layout)
        limit = self.sampling.for_answer(len(inputs.chunks))
        read = partial(answer_of, inputs=inputs, ask=ask, prompts=prompts)
        request = self._request("generate", inputs, read, limit, structured=structured)
        shown = Shown([c.text for c in inputs.chunks])
        async for piece in self.model.stream(replace(request, cut=whole_sentences)):
            if text := shown.push(piece) if isinstance(piece, str) else shown.rest():
                yield text
            if isinstance(piece, Reply):
                yield self._outcome("generate", piece)

    def _request(
        self, stage: str, inputs: AnswerInputs, parse: Callable[[str], T], limit: int, *, structured: bool = True
    ) -> Request[T]:
        turn = {"relate": "graph", "plan": "plan", "generate": "answer"}[stage]
        current = inputs if turn == "graph" else _current(inputs)
        return Request(
            stage=stage,
            messages=messages_for(turn, current, self.templates, structured=structured, layout=self.layout),
            parse=parse,
            max_tokens=limit,
            temperature=self.sampling.temperature,
            beam_width=self.sampling.beam_width,
        )

    def _outcome(self, stage: str, reply: Reply[Any]) -> Outcome[Any]:
        outcome = outcome_of(stage, reply)
        return replace(outcome, usage=outcome.usage + self.spent)


def plan_of(text: str, inputs: AnswerInputs) -> Plan:
    """The plan that a model wrote, without citations of passages that do not exist.

    Raises:
        ValueError: It says nothing.
    """
    passages = [c.text for c in inputs.chunks]
    paragraph = without_unknown(without_label(said_in(text, passages), "plan", passages), passages)
    _check_says(paragraph, inputs)
    return Plan(paragraph=paragraph)


def answer_of(text: str, inputs: AnswerInputs, ask: str, prompts: Sequence[str] = ()) -> str:
    """The answer that a model wrote, each sentence once, without what it copied of our prompts.

    Raises:
        ValueError: It says nothing, or cites passages that do not exist. A citation that a passage itself contains does
            not count.
        AskAgainError: It parrots: marks or headings of ours are left in it, more than `RUN` words in a row are a
            passage's, or more than `PROMPT_RUN` our prompts'. ``ask`` is how it is asked for again.
    """
    passages = [c.text for c in inputs.chunks]
    answer = without_repeats(without_label(said_in(text, passages), "answer", passages))
    _check_says(answer, inputs)
    if repeated := scaffolding(answer, passages, prompts):
        raise AskAgainError(f"It repeats {repeated}.", ask)
    if marks_left(answer, passages):
        raise AskAgainError("It contains marks that were copied from the passages' trees.", ask)
    if (run := copied(answer, passages)) > RUN:
        raise AskAgainError(f"It copies {run} words in a row from a passage, without a citation.", ask)
    if unknown := sorted({r.chunk for r in unknown_passages(references(answer), passages)}):
        raise ValueError(f"It cites passages {unknown}, but there are only {len(passages)}.")
    return answer


def outcome_of(stage: str, reply: Reply[T]) -> Outcome[T]:
    """The outcome of a reply; one that was cut off has a failure."""
    cut = OutputTruncatedError("The output was cut off at its limit.")
    failures = (Failure.of(stage, cut, fallback="the part before the cut"),) if reply.cut else ()
    return Outcome(
        value=reply.value, text=reply.text, usage=reply.usage, prompt_hash=reply.prompt_hash, failures=failures
    )


def _current(inputs: AnswerInputs) -> AnswerInputs:
    """The inputs; without the model's own turn on the graph if a person has edited the graph since."""
    turn = inputs.turns.get("graph")
    if turn is None or inputs.graph is None:
        return inputs
    return inputs if graph_of(inputs, turn).edges == inputs.graph.edges else replace(inputs, turns={})


def _check_says(text: str, inputs: AnswerInputs) -> None:
    if not any(c.isalnum() for c in without_references(text, chunks=len(inputs.chunks))):
        raise ValueError("The output says nothing.")
