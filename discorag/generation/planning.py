"""The rule-based plan engine: what was selected, in its order, and in words what each step is for."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from discorag.generation.selection import Role, SelectedSentence, Selection, Selector
from discorag.generation.wording import FROM_TOLD, SUPPORT, TO_TOLD, WITHIN, Wording, Words
from discorag.ingest.segment.sentence_table import Sentence, SentenceTable
from discorag.schema.answer_inputs import AnswerInputs, Outcome
from discorag.schema.chunk import Chunk
from discorag.schema.chunk_relations import ChunkRelation
from discorag.schema.hierarchy import UnitKind
from discorag.schema.plan import Plan, Reference
from discorag.schema.rst_relations import Nuclearity
from discorag.schema.span import Span
from discorag.text.citations import marked, steps
from discorag.text.sentences import language_of


@dataclass(frozen=True)
class RulePlanEngine:
    """A sentence for each main point: from which source, what it says, and what is told beside it and why.

    Example:
        >>> from discorag.generation.planning import RulePlanEngine
        >>> from discorag.text.citations import steps
        >>> for step in steps(asyncio.run(RulePlanEngine(selector).plan(inputs)).value):
        ...     print(step.text)
        Start with “review.md”: Vitamin D did not lower the risk of influenza [2.1].
        Then “trial.md”: Vitamin D lowered the risk of influenza by 12 % in schoolchildren [1.1].
    """

    selector: Selector

    async def plan(self, inputs: AnswerInputs) -> Outcome[Plan]:
        """A paragraph in the question's language that cites each selected sentence as ``[chunk.sentence]``."""
        table, selection = await self.selector.select(inputs)
        if not selection.sentences:
            return Outcome(value=Plan(paragraph="None of the passages holds a statement that answers the question."))
        writer = _Writer(inputs, table, Wording(chinese=language_of(inputs.query) == "zh"))
        return Outcome(value=Plan(paragraph=writer.of(selection)))


def missing(plan: Plan, inputs: AnswerInputs, table: SentenceTable) -> dict[Reference, str]:
    """What the plan cites and there is not, in its order, each with the sentence that says so.

    A number that a passage writes just so is the passage's.
    """
    found: dict[Reference, str] = {}
    for r in (r for step in steps(plan) for r in step.references):
        passages, units = len(inputs.chunks), len(table.of_chunk(r.chunk))
        if r.chunk > passages and not any(marked(r) in chunk.text for chunk in inputs.chunks):
            found[r] = f"The plan cites {marked(r)}; there are {passages} passages."
        elif r.chunk <= passages and (r.last or 0) > units:
            found[r] = f"The plan cites {marked(r)}; the sentences of passage {r.chunk} end at {units}."
    return found


@dataclass
class _Writer:
    """Writes one plan; remembers what it named last."""

    inputs: AnswerInputs
    table: SentenceTable
    wording: Wording
    turn: int = -1  # main points behind the first
    named: tuple[str, str] = ("", "")  # document and section
    phrase: str = ""  # of the last clause
    repeated: int = -1  # how often it was
    relation: Words | None = None  # of the last main point

    def of(self, selection: Selection) -> str:
        """The paragraph."""
        sentences: list[list[str]] = []
        main: SelectedSentence | None = None
        for selected in selection.sentences:
            if main is None or selected.role is Role.ADDS:
                sentences.append([self._main(selected, main)])
                main = selected
            else:
                sentences[-1].append(self._beside(selected))
        return self.wording.between.join(map(self.wording.sentence, sentences))

    def _main(self, selected: SelectedSentence, before: SelectedSentence | None) -> str:
        name, gist = self._said(selected)
        self.phrase, self.repeated = "", -1
        if before is None:
            return self.wording.start(name, gist)
        last, self.relation = self.relation, self._relation(selected.index, before.index)
        self.turn += 1
        words = None if self.relation == last else self.relation
        return self.wording.next(words, name, gist, turn=self.turn)

    def _beside(self, selected: SelectedSentence) -> str:
        name, gist = self._said(selected)
        words = None if selected.role is Role.OPPOSES else self._words(selected)
        contradicts = words is None and self._contradicts(selected)
        last, self.phrase = self.phrase, words.english if words else str(contradicts)
        if last == self.phrase:
            self.repeated += 1
            return self.wording.likewise(name, gist, turn=self.repeated)
        self.repeated = -1
        if words is None:
            return self.wording.against(name, gist, contradicts=contradicts)
        return self.wording.then(words, name, gist)

    def _words(self, selected: SelectedSentence) -> Words:
        found = None if selected.of is None else self._relation(selected.index, selected.of)
        return found or SUPPORT

    def _said(self, selected: SelectedSentence) -> tuple[str, str]:
        """The source, or the section of the one named last, and what it says."""
        unit = self.table.sentences[selected.index]
        chunk, section = self.inputs.chunks[unit.chunk - 1], unit.headings[-1] if unit.headings else ""
        (document, last), self.named = self.named, (chunk.doc_id, section)
        is_new = chunk.doc_id != document
        name = chunk.title if is_new else section if section not in (last, chunk.title) else ""
        text = unit.plain if is_new or unit.kind is UnitKind.TURN else unit.body  # its heading is said once
        return self.wording.name(name), self.wording.gist(text, _cite(self.table, selected.index))

    def _relation(self, new: int, old: int) -> Words | None:
        """What the new unit is to the old one, by their chunk's tree or the graph."""
        a, b = self.table.sentences[new], self.table.sentences[old]
        if a.chunk == b.chunk:
            return _in_tree(self.inputs.chunks[a.chunk - 1], a, b)
        found = dict(self._edges(a.chunk, b.chunk))
        return TO_TOLD.get(found.get((a.chunk, b.chunk), ChunkRelation.UNRELATED)) or FROM_TOLD.get(
            found.get((b.chunk, a.chunk), ChunkRelation.UNRELATED)
        )

    def _contradicts(self, selected: SelectedSentence) -> bool:
        chunks = [self.table.sentences[i].chunk for i in (selected.index, selected.of) if i is not None]
        return ChunkRelation.CONTRADICTS in dict(self._edges(*chunks)).values() if len(chunks) == 2 else False

    def _edges(self, a: int, b: int) -> Iterator[tuple[tuple[int, int], ChunkRelation]]:
        """The relations between two chunks, by the numbers of source and target."""
        for e in self.inputs.graph.edges if self.inputs.graph else ():
            pair = self.inputs.number(e.source), self.inputs.number(e.target)
            if pair in ((a, b), (b, a)):
                yield pair, e.relation


def _in_tree(chunk: Chunk, new: Sentence, old: Sentence) -> Words | None:
    """By the split whose nucleus is about the old unit and whose satellite, or second nucleus, is about the new one."""
    for split in chunk.tree.splits if chunk.tree else ():
        sides = [_headed(chunk, *side) for side in ((split.start, split.mid), (split.mid, split.end))]
        if split.nuclearity is Nuclearity.SN:
            sides.reverse()
        if old.span.contains(sides[0]) and new.span.contains(sides[1]):
            return WITHIN.get(split.relation)
    return None


def _headed(chunk: Chunk, start: int, end: int) -> Span:
    """The EDU that a constituent of the chunk's tree is about."""
    assert chunk.tree
    return chunk.tree.edus[chunk.tree.head(start, end)]


def _cite(table: SentenceTable, i: int) -> str:
    unit, last = table.sentences[i], table.sentences[table.group(i)[-1]]
    return marked(Reference(chunk=unit.chunk, first=unit.number, last=last.number))
