"""What a metric is given, and what it gives back."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from discorag.models.protocol import LanguageModel
from eval.sample import DocSpan, Sample, SourceDocument


@dataclass(frozen=True, kw_only=True)
class Given:
    """One answered question.

    Args:
        sample: The question with its references and gold evidence.
        documents: The benchmark's documents by id (not only the question's own).
        answer: What the system answered.
        evidence: Retrieved stretches, best first, as wide as they were retrieved; metrics cut them to their budget.
        used: Stretches that sentences of the answer rest on.
        unsupported: Share of the answer's sentences that were not traced to a source; None if none were checked.
    """

    sample: Sample
    documents: Mapping[str, SourceDocument]
    answer: str
    evidence: tuple[DocSpan, ...] = ()
    used: tuple[DocSpan, ...] = ()
    unsupported: float | None = None

    def text(self, place: DocSpan) -> str:
        """The characters of a place."""
        return place.span.of(self.documents[place.doc].text)


class Metric(Protocol):
    """Scores one answered question, 0 to 100 (higher is better). Corpus scores are means over scored questions."""

    @property
    def name(self) -> str:
        """As suites and tables name it."""
        ...

    async def score(self, given: Given) -> float | None:
        """The score; None where the metric does not apply (no gold evidence, say).

        Raises:
            NotScorableError: It applies, but this answer cannot be scored; counted, never zero.
        """
        ...


@dataclass(frozen=True)
class Budgeted:
    """A metric over the first ``budget`` words retrieved (documents: chunks), named ``stem@budget``."""

    budget: int
    stem: str

    @property
    def name(self) -> str:
        """With the budget."""
        return f"{self.stem}@{self.budget}"


@dataclass(frozen=True, kw_only=True)
class MetricModels:
    """Models that some metrics need; a metric whose model is missing says so.

    Args:
        judge: Judge of Loong answers, any OpenAI-compatible endpoint behind the gateway.
        judge_prompt: File with the official judge prompt; None: our own wording, whose scores are not comparable.
        reader: Folder of a SQuAD 2.0 reader (`AutoModelForQuestionAnswering`), for Disambig-F1.
        bertscore: Folder of a BERTScore model; layers counted from its end as ``bert_score`` does.
        summac: Folder of the NLI model for SummaC.
    """

    judge: LanguageModel | None = None
    judge_prompt: Path | None = None
    reader: Path | None = None
    bertscore: Path | None = None
    summac: Path | None = None

    @property
    def folders(self) -> dict[str, Path]:
        """The local models that are given, by metric."""
        given = {"squad reader": self.reader, "bertscore": self.bertscore, "summac": self.summac}
        return {name: folder for name, folder in given.items() if folder}
