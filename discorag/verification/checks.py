"""Checks the quotations, figures, dates, names and citations of a written sentence, without a model."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from discorag.schema.answer import AnswerInputs, Support
from discorag.schema.document import Chunk
from discorag.schema.statements import Quotation, Statement
from discorag.text.cues import stems
from discorag.text.sentences import language_of
from discorag.verification.claims import label
from discorag.verification.figures import Figure, clause_around, find_figures, find_rival, is_stated, read_figures
from discorag.verification.guards import Detail, drop_disclaimers, missing_details
from discorag.verification.statements import StatementIndex

_SHOWN = 3
"""Most missing details that a reason names."""
_LEAST_SHARED = 2
"""Least stems that a sentence shares with a quotation on its subject, apart from what is missing and was asked."""
_TOGETHER = 3
"""Least stems around a figure that a sentence of a passage has too, if it gives the figure for the same thing."""


@dataclass(frozen=True)
class Check:
    """The result of a check.

    Args:
        missing: The details that no source has.
        doubt: Why the sentence should be checked although its sources have all details, in a plain sentence.
        repair: A quotation that is its source, although the sentence does not cite the passage.
        is_corrected: Whether the quotation replaces the passages that the sentence cites.
    """

    missing: tuple[Detail, ...] = ()
    doubt: str = ""
    repair: Quotation | None = None
    is_corrected: bool = False

    @property
    def support(self) -> Support:
        """The state of the sentence."""
        return Support.CHECK if self.missing or self.doubt else Support.CITED

    @property
    def reason(self) -> str:
        """What is missing, doubtful or repaired; empty if nothing is."""
        if self.repair and self.is_corrected:
            return f"The citation was corrected: “{self.repair.text}” says this, and the passages cited do not."
        if self.repair:
            return f"The citation of “{self.repair.text}” was added, since it has what the cited passages lack."
        details = [str(detail) for detail in self.missing[:_SHOWN]]
        return f"In none of its sources: {', '.join(details)}." if details else self.doubt


@dataclass(frozen=True)
class Checker:
    """Checks sentences of an answer to a question over its passages and statements."""

    inputs: AnswerInputs

    def check(self, sentence: str, cited: Collection[int]) -> Check:
        """Compare a sentence, which has no citations, with the passages that it cites (numbers).

        1. If what it says is in a statement that quotes another passage, and in no cited one, its citation is wrong.
           The statement's quotation replaces it if it has the details and the subject of the sentence.
        2. A detail that no cited passage has counts if a statement's quotation has it and the subject of the sentence.
           If nothing is cited, all passages are its sources.
        3. A figure that cited passages give for something else is doubtful if the quotations of the statements that the
           sentence tells have another one of its kind.
        """
        ids = [chunk.id for n, chunk in enumerate(self.inputs.chunks, start=1) if n in cited]
        misplaced = self._misplaced(sentence, ids)
        if misplaced and (quotation := next(self._repairs(sentence, (), misplaced), None)):
            return Check(repair=quotation, is_corrected=True)
        passages = [*self._texts.values()]
        sources = [self._texts[chunk_id] for chunk_id in ids] or passages
        missing = missing_details(sentence, sources, question=self.inputs.query, passages=passages)
        if missing:
            repair = next(self._repairs(sentence, missing, self._statements), None)
            return Check(repair=repair) if repair else Check(tuple(missing))
        if misplaced:
            closest = misplaced[0].quotations[0]
            return Check(doubt=f"The passages cited do not say this. Closest to it is “{closest.text}”.")
        return Check(doubt=self._find_doubt(sentence, ids))

    @cached_property
    def _texts(self) -> dict[str, str]:
        return {chunk.id: _text(chunk) for chunk in self.inputs.chunks}

    @cached_property
    def _statements(self) -> Sequence[Statement]:
        return self.inputs.statements.statements if self.inputs.statements else ()

    @cached_property
    def _index(self) -> StatementIndex | None:
        return StatementIndex(self.inputs.statements) if self.inputs.statements else None

    def _misplaced(self, sentence: str, cited: Collection[str]) -> Sequence[Statement]:
        """The statements that the sentence tells, if all quote other chunks and no cited sentence is as close to it."""
        elsewhere = self._index.find_elsewhere(sentence, cited) if self._index and cited else ()
        if not elsewhere:
            return ()
        own = stems(sentence)
        quoted = max((len(own & stems(q.text)) for s in elsewhere for q in s.quotations), default=0)
        units = (c.slice(span) for c in self.inputs.chunks if c.id in cited for span in c.sentences)
        found = max((len(own & stems(unit)) for unit in units), default=0)
        return elsewhere if quoted > found else ()

    def _repairs(
        self, sentence: str, missing: Sequence[Detail], statements: Sequence[Statement]
    ) -> Iterator[Quotation]:
        """The quotations of statements that have all missing details, and names and subject of the sentence."""
        titles = {chunk.id: chunk.title for chunk in self.inputs.chunks}
        told = stems(sentence) - stems("\n".join([self.inputs.query, *(detail.text for detail in missing)]))
        about = {stem for stem in told if not any(map(str.isdigit, stem))}
        for quotation in (q for statement in statements for q in statement.quotations if q.chunk_id in titles):
            if len(about & stems(quotation.text)) >= _LEAST_SHARED:
                own = [quotation.text, titles[quotation.chunk_id]]
                lacks = missing_details(sentence, own, question=self.inputs.query)
                wanted = [d for d in lacks if not missing or d in missing or d.kind == "name"]
                if not wanted:
                    yield quotation

    def _find_doubt(self, sentence: str, cited: Collection[str]) -> str:
        """Why a figure of the sentence is doubtful; empty if none is."""
        told = self._index.find_told(sentence, cited) if self._index and language_of(sentence) == "en" else ()
        quoted = [q.text for s in told for q in s.quotations if q.chunk_id in cited]
        if not quoted:
            return ""
        claim = drop_disclaimers(sentence)
        labels = (label(c, c.headings) for c in self.inputs.chunks if c.id in cited)
        stated = [*map(read_figures, (self.inputs.query, *labels, *quoted))]
        for figure in find_figures(claim):
            is_backed = any(is_stated(figure, source) for source in stated) or self._gives(figure, claim, cited)
            if not is_backed and (rival := find_rival(figure, claim, quoted)):
                return f"The words that it rests on have {rival}, not {figure.text}."
        return ""

    def _gives(self, figure: Figure, claim: str, cited: Collection[str]) -> bool:
        """Whether a sentence of a cited chunk has the figure, and with the one before it the words around that."""
        about = stems(clause_around(figure, claim)) - stems(figure.text)
        for chunk in (c for c in self.inputs.chunks if c.id in cited):
            before = frozenset[str]()
            for unit in map(chunk.slice, chunk.sentences):
                here = stems(unit)
                if len(about & (before | here)) >= min(_TOGETHER, len(about)) and is_stated(figure, read_figures(unit)):
                    return True
                before = here
        return False


def _text(chunk: Chunk) -> str:
    """A passage with its labels."""
    return f"{label(chunk, chunk.headings)}\n{chunk.text}"
