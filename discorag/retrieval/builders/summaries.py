"""Texts that stand for others: the most nuclear sentences, or what a language model writes."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from discorag.discourse.parse.inline import escape, unescape
from discorag.discourse.parse.parser import UnitParser, embedded_version
from discorag.discourse.parse.rules import RuleParser
from discorag.models.protocol import LanguageModel, Message, Request, Template
from discorag.schema.errors import ModelError, Usage
from discorag.schema.values import count_words, first_words, within
from discorag.text.replies import whole_sentences
from discorag.text.sentences import sentence_spans

_TOKENS_PER_WORD = 3
_TOKENS_SPARE = 64


@dataclass(frozen=True)
class Summary:
    """A text that stands for others; ``failure`` says why a model's was replaced by an extractive one."""

    text: str
    usage: Usage = field(default_factory=Usage)
    failure: str = ""


class Summariser(Protocol):
    """Makes one text of several."""

    @property
    def version(self) -> str:
        """Model and prompt."""
        ...

    async def summarise(self, texts: Sequence[str], *, words: int) -> Summary:
        """A text of at most about ``words`` words that stands for ``texts``, which are in reading order."""
        ...


class ExtractiveSummariser:
    """The most nuclear sentences of a parse of the texts, in text order.

    Source: Marcu (2000), "The Theory and Practice of Discourse Parsing and Summarization".
    """

    def __init__(self, parser: UnitParser | None = None) -> None:
        self._parser = parser or RuleParser()
        self.version = f"nuclear:{embedded_version(self._parser)}"

    async def summarise(self, texts: Sequence[str], *, words: int) -> Summary:
        """The sentences with the least `RstTree.satellite_weight`, up to ``words``; all if they fit."""
        sentences = [span.of(text) for text in texts for span in sentence_spans(text)]
        sizes = [count_words(s) for s in sentences]
        chosen = range(len(sentences))
        if sum(sizes) > words:
            tree = await asyncio.to_thread(self._parser.parse_units, sentences, "sentence")
            order = sorted(chosen, key=tree.satellite_weight.__getitem__)
            chosen = sorted(order[: within((sizes[i] for i in order), words)])
        return Summary(text=first_words((sentences[i] for i in chosen), words))


class LlmSummariser:
    """Calls a language model once for each text; its prompt has the variables ``texts`` and ``words``.

    The fallback makes the text if the call fails, and shortens texts that have more than ``input_words``.

    Source: DISRetrieval eq. 2 and appendix D (the prompt, here in other words); RAPTOR section 3.
    """

    def __init__(
        self, model: LanguageModel, template: Template, fallback: ExtractiveSummariser, *, input_words: int = 4000
    ) -> None:
        self._model, self._template, self._fallback = model, template, fallback
        self._input_words = input_words
        self.version = f"llm:{model.name}:{template.hash[:8]}|{fallback.version}"

    async def summarise(self, texts: Sequence[str], *, words: int) -> Summary:
        """The model's summary; if the call fails, the fallback's summary with the failure."""
        if sum(map(count_words, texts)) > self._input_words:
            texts = [(await self._fallback.summarise(texts, words=self._input_words)).text]
        prompt = self._template.render(texts=escape("\n\n".join(texts)), words=str(words))
        request = Request(
            stage="summarise",
            messages=(Message(role="user", content=prompt),),
            parse=_read_reply,
            cut=whole_sentences,
            max_tokens=_TOKENS_PER_WORD * words + _TOKENS_SPARE,
        )
        try:
            reply = await self._model.complete(request)
        except ModelError as error:
            extract = await self._fallback.summarise(texts, words=words)
            return Summary(text=extract.text, usage=error.usage or Usage(), failure=f"{error.kind}: {error}")
        return Summary(text=reply.value, usage=reply.usage)


def _read_reply(reply: str) -> str:
    text = unescape(reply).strip()
    if not text:
        raise ValueError("The reply is empty. Write the summary.")
    return text
