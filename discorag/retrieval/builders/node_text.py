"""Inner nodes over neighbours and the text they get: concatenated, or summarised by the tau rule."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Protocol

from discorag.discourse.parse.inline import escape, unescape
from discorag.discourse.parse.parser import UnitParser, marked
from discorag.discourse.parse.rules import RuleParser
from discorag.models.protocol import LanguageModel, Message, Request, Template
from discorag.retrieval.builders.base import Built, Summariser, Summary, around
from discorag.schema.discourse import Nuclearity, Split
from discorag.schema.errors import InvariantError, ModelError, Usage
from discorag.schema.retrieval_tree import RetrievalNode, RetrievalTree
from discorag.schema.values import count_words, first_words, within
from discorag.text.cut_off import whole_sentences
from discorag.text.sentences import sentence_spans

_TOKENS_PER_WORD = 3
_TOKENS_SPARE = 64


class ExtractiveSummariser:
    """The most nuclear sentences of a parse of the texts, in text order.

    Args:
        parser: Joins their sentences.

    Source: Marcu (2000), "The Theory and Practice of Discourse Parsing and Summarization".
    """

    def __init__(self, parser: UnitParser | None = None) -> None:
        self._parser = parser or RuleParser()

    @property
    def version(self) -> str:
        """The parser's."""
        return f"nuclear:{marked(self._parser)}"

    async def summarise(self, texts: Sequence[str], *, words: int) -> Summary:
        """Sentences under the lightest satellite links, earlier ones first, up to ``words``; all of them if they fit.

        Where already the first is longer, its first words.

        Raises:
            InvariantError: The texts hold no sentence.
        """
        sentences = [span.of(text) for text in texts for span in sentence_spans(text)]
        if not sentences:
            raise InvariantError(f"There is no sentence in {list(texts)[:3]!r}.", hint="Leave blank texts out.")
        sizes = [count_words(s) for s in sentences]
        kept = range(len(sentences))
        if sum(sizes) > words:
            tree = await asyncio.to_thread(self._parser.parse_units, sentences, "sentence")
            weights = tree.satellite_weight
            order = sorted(kept, key=lambda i: weights[i])
            kept = sorted(order[: within((sizes[i] for i in order), words)])
        return Summary(text=first_words((sentences[i] for i in kept), words))


class LlmSummariser:
    """One call of a language model for each text.

    Args:
        model: The gateway.
        template: Prompt with the variables ``texts`` and ``words``.
        fallback: Makes the text where the call fails, and shortens what is too long for one prompt.
        input_words: What one prompt may hold.

    Source: DISRetrieval eq. 2 and appendix D (the prompt, here in other words); RAPTOR section 3.
    """

    def __init__(
        self, model: LanguageModel, template: Template, fallback: ExtractiveSummariser, *, input_words: int = 4000
    ) -> None:
        self._model, self._template, self._fallback = model, template, fallback
        self._input_words = input_words

    @property
    def version(self) -> str:
        """Model, prompt and fallback."""
        return f"llm:{self._model.name}:{self._template.hash[:8]}|{self._fallback.version}"

    async def summarise(self, texts: Sequence[str], *, words: int) -> Summary:
        """The model's summary; after a failed call the fallback's, with the failure told."""
        if sum(map(count_words, texts)) > self._input_words:
            texts = [(await self._fallback.summarise(texts, words=self._input_words)).text]
        try:
            reply = await self._model.complete(self._request(texts, words))
        except ModelError as error:
            made = await self._fallback.summarise(texts, words=words)
            return Summary(text=made.text, usage=error.usage or Usage(), failure=f"{error.kind}: {error}")
        return Summary(text=reply.value, usage=reply.usage)

    def _request(self, texts: Sequence[str], words: int) -> Request[str]:
        prompt = self._template.render(texts=escape("\n\n".join(texts)), words=str(words))
        return Request(
            stage="summarise",
            messages=(Message(role="user", content=prompt),),
            parse=_text,
            cut=whole_sentences,
            max_tokens=_TOKENS_PER_WORD * words + _TOKENS_SPARE,
        )


def _text(reply: str) -> str:
    text = unescape(reply).strip()
    if not text:
        raise ValueError("The reply is empty. Write the summary.")
    return text


ENCODED_WORDS = 256
"""A word is a token or more, so of a text's further words the encoder's window of 256 tokens holds none."""


@dataclass(frozen=True)
class Branch:
    """An inner node before it has text.

    Args:
        children: Indices of the neighbouring nodes that it joins, in text order.
        satellite: The child that only supports the other; None if all are nuclei.
        relation: As in `RetrievalNode`.
        heading: As in `RetrievalNode`.
    """

    children: tuple[int, ...]
    satellite: int | None = None
    relation: str = ""
    heading: str = ""


def binary(splits: Sequence[Split], units: Sequence[int], first: int) -> list[Branch]:
    """The inner nodes of a binary tree, children before parents.

    Args:
        splits: In pre-order.
        units: The nodes that are its leaves, in text order.
        first: Index that the first of the branches will have among the nodes.
    """
    at = {(i, i + 1): unit for i, unit in enumerate(units)}
    branches: list[Branch] = []
    for split in reversed(splits):
        left, right = at[split.start, split.mid], at[split.mid, split.end]
        at[split.start, split.end] = first + len(branches)
        satellite = {Nuclearity.NS: right, Nuclearity.SN: left, Nuclearity.NN: None}[split.nuclearity]
        branches.append(Branch((left, right), satellite, split.relation))
    return branches


class Texts(Protocol):
    """The texts of one document's nodes while they are made."""

    async def add(self, branches: Sequence[Branch]) -> list[Summary]:
        """The text of each, in order; children are earlier nodes, those added before or earlier branches."""
        ...


class NodeText(Protocol):
    """A way to give inner nodes their text."""

    @property
    def version(self) -> str:
        """Everything that shapes the texts."""
        ...

    def start(self, leaves: Sequence[str]) -> Texts:
        """For a document with these leaves."""
        ...


@dataclass(frozen=True)
class Concat:
    """All text below a node, as far as the encoder reads it.

    Args:
        words: Where a text is cut; without it, texts of a deep tree would take quadratic space.
    """

    words: int = ENCODED_WORDS

    @property
    def version(self) -> str:
        """The limit."""
        return f"concat-1/{self.words}"

    def start(self, leaves: Sequence[str]) -> Texts:
        """For a document with these leaves."""
        return _Concat(list(leaves), self.words)


@dataclass(frozen=True)
class Tau:
    """The children's texts together if they are short, else a summary of them, under the heading if there is one.

    Args:
        summariser: Makes the summaries; those of one layer at the same time.
        tau: From how many words of the children's texts together on there is a summary.
        words: Of a summary.

    Source: DISRetrieval eq. 2; section 4.1 has tau 0 for QASPER and 100 for QuALITY, appendix D 200 words.
    """

    summariser: Summariser
    tau: int = 100
    words: int = 200

    @property
    def version(self) -> str:
        """Limits and summariser."""
        return f"tau-1/{self.tau}/{self.words}/{self.summariser.version}"

    def start(self, leaves: Sequence[str]) -> Texts:
        """For a document with these leaves."""
        return _Tau(self, leaves)


@dataclass
class _Concat:
    texts: list[str]
    words: int

    async def add(self, branches: Sequence[Branch]) -> list[Summary]:
        first = len(self.texts)
        for branch in branches:
            self.texts.append(first_words((self.texts[c] for c in branch.children), self.words))
        return [Summary(text) for text in self.texts[first:]]


class _Tau:
    def __init__(self, rule: Tau, leaves: Sequence[str]) -> None:
        self._rule = rule
        self._texts, self._layers = list(leaves), [0] * len(leaves)

    async def add(self, branches: Sequence[Branch]) -> list[Summary]:
        first = len(self._texts)
        for branch in branches:
            self._layers.append(1 + max(self._layers[c] for c in branch.children))
        made = [Summary("")] * len(branches)
        self._texts += [""] * len(branches)
        order = sorted(range(len(branches)), key=lambda i: self._layers[first + i])
        for _, group in groupby(order, key=lambda i: self._layers[first + i]):
            layer = list(group)
            for i, summary in zip(layer, await asyncio.gather(*(self._one(branches[i]) for i in layer)), strict=True):
                made[i], self._texts[first + i] = summary, summary.text
        return made

    async def _one(self, branch: Branch) -> Summary:
        texts = [self._texts[c] for c in branch.children]
        if sum(map(count_words, texts)) < self._rule.tau:
            return Summary(" ".join(texts))
        made = await self._rule.summariser.summarise(texts, words=self._rule.words)
        text = f"{branch.heading}\n{made.text}" if branch.heading else made.text
        return Summary(text, made.usage, made.failure)


@dataclass
class Growth:
    """A tree while it is built: leaves first, then branch after branch.

    Args:
        nodes: The leaves, at the start.
        texts: Of the nodes above them.
    """

    nodes: list[RetrievalNode]
    texts: Texts
    usage: Usage = field(default_factory=Usage)
    failures: list[str] = field(default_factory=list[str])

    @classmethod
    def over(cls, leaves: Sequence[RetrievalNode], text: NodeText) -> Growth:
        """Nothing but leaves yet."""
        return cls(list(leaves), text.start([leaf.text for leaf in leaves]))

    async def add(self, branches: Sequence[Branch]) -> None:
        """Nodes for ``branches``, each with one span that covers all of its children."""
        for branch, summary in zip(branches, await self.texts.add(branches), strict=True):
            self.nodes.append(_node([self.nodes[c] for c in branch.children], branch, summary.text))
            self.usage += summary.usage
            self.failures += [summary.failure] if summary.failure else []

    def built(self, builder: str, *, parsed: int = 0, reused: int = 0) -> Built:
        """The tree as far as it has grown, with what it cost."""
        tree = RetrievalTree(builder=builder, nodes=tuple(self.nodes))
        return Built(tree, self.usage, tuple(self.failures), parsed, reused)


def _node(children: Sequence[RetrievalNode], branch: Branch, text: str) -> RetrievalNode:
    return RetrievalNode(
        text=text,
        spans=(around(children),),
        children=tuple(sorted(branch.children)),
        layer=1 + max(child.layer for child in children),
        heading=branch.heading,
        relation=branch.relation,
    )
