"""The plan by rules: a paragraph, English or Chinese, that cites the selected sentences and says what each is for."""

import re
from dataclasses import dataclass
from typing import NamedTuple

from discorag.generation.selection import Role, SelectedSentence, Selection, Selector
from discorag.ingest.segment.sentence_table import Sentence, SentenceTable
from discorag.schema.answer import AnswerInputs, Outcome
from discorag.schema.discourse import ChunkRelation, Nuclearity, Plan, Reference, Relation
from discorag.schema.document import Chunk, UnitKind
from discorag.schema.values import Span
from discorag.text.citations import escape_references, format_reference, steps, unknown_passages
from discorag.text.escaping import one_line
from discorag.text.sentences import language_of

_NAME, _GIST = 60, 90  # characters
_ENDS = " .!?。！？…;:,；：，、"
_NUMBER = re.compile(r"^\d{1,3}[.)]\s+")  # before a heading or an item
_BREAKS = (", ", "; ", ": ", " (", " – ", " — ", "，", "；", "：", "（", "——")


class Words(NamedTuple):
    """A phrase in both languages."""

    english: str
    chinese: str


CONDITION = Words("the condition", "条件")
SUPPORT = Words("what supports it", "佐证")
_PHRASES: dict[Words, tuple[str, str, str]] = {
    Words("who says so", "出处"): ("ATTRIBUTION", "", ""),
    Words("the background", "背景"): ("BACKGROUND CIRCUMSTANCE", "BACKGROUND_FOR", ""),
    Words("the reason", "原因"): ("CAUSE EXPLANATION", "CAUSES JUSTIFIES MOTIVATES", "RESULTS_FROM"),
    Words("the comparison", "比较"): ("COMPARISON", "COMPARES_WITH", "COMPARES_WITH"),
    Words("what is conceded", "让步"): ("CONCESSION", "", ""),
    CONDITION: ("CONDITION", "", ""),
    Words("the contrast", "对照"): ("CONTRAST ANTITHESIS", "", ""),
    Words("what is meant", "含义"): ("DEFINITION CLASSIFICATION", "", ""),
    Words("the details", "细节"): ("ELABORATION", "ELABORATES SPECIFIES", ""),
    Words("how it is judged", "评价"): ("EVALUATION INTERPRETATION", "", ""),
    SUPPORT: ("EVIDENCE", "SUPPORTS", ""),
    Words("an example", "例子"): ("EXAMPLE", "EXEMPLIFIES", ""),
    Words("what it is for", "目的"): ("PURPOSE", "", ""),
    Words("what follows from it", "结果"): ("RESULT CONSEQUENCE", "RESULTS_FROM", "CAUSES"),
    Words("what comes next", "随后"): ("SEQUENCE TEMPORAL", "FOLLOWS", "PRECEDES"),
    Words("what comes before", "此前"): ("", "PRECEDES", "FOLLOWS"),
    Words("the same in other words", "换言之"): ("SUMMARY RESTATEMENT", "", ""),
    Words("what adds to it", "补充"): ("", "SUPPLEMENTS", ""),
}
"""What each phrase is used for: relations of a satellite to its nucleus, or of the second of two nuclei to the first;
relations of a chunk to the one named before it, if the edge starts at the chunk; and the same if it ends there."""
WITHIN = {Relation(name): words for words, (names, _, _) in _PHRASES.items() for name in names.split()}
AS_SOURCE = {ChunkRelation(name): words for words, (_, names, _) in _PHRASES.items() for name in names.split()}
AS_TARGET = {ChunkRelation(name): words for words, (_, _, names) in _PHRASES.items() for name in names.split()}


@dataclass(frozen=True)
class Wording:
    """How plans are written in one language. An empty ``name`` is left out."""

    chinese: bool

    def name(self, title: str) -> str:
        """A title in quotation marks, shortened; empty for an empty one."""
        short = shorten(title, _NAME, at_clause="")
        if not short:
            return ""
        return f"《{escape_references(short)}》" if self.chinese else f"“{escape_references(short)}”"

    def gist(self, sentence: str, citation: str) -> str:
        """What a sentence says, shortened, with its citation."""
        return f"{escape_references(shorten(sentence, _GIST))} {citation}"

    def start(self, name: str, gist: str) -> str:
        """The first step of a plan."""
        return f"先说{name}：{gist}" if self.chinese else f"{' '.join(filter(None, ('Start with', name)))}: {gist}"

    def against(self, name: str, gist: str, *, contradicts: bool) -> str:
        """A step that contradicts the one before it, or says that things are different elsewhere."""
        if self.chinese:
            return f"对照{name}的{'相反说法' if contradicts else '另一种情况'}：{gist}"
        if contradicts:
            return f"set against it {name}, which contradicts it: {gist}" if name else f"set against it: {gist}"
        return f"compare it with {name}, where it is different: {gist}" if name else f"compare it with this: {gist}"

    def then(self, words: Words, name: str, gist: str) -> str:
        """A step that belongs to the one before, with its relation to it."""
        if self.chinese:
            return f"再说{words.chinese}{f'（{name}）' if name else ''}：{gist}"
        return f"then {words.english}{f', in {name}' if name else ''}: {gist}"

    def next(self, words: Words | None, name: str, gist: str, *, turn: int) -> str:
        """A further main point; ``turn`` counts them, so that no two in a row begin alike."""
        if self.chinese:
            what = f"{words.chinese}（{name}）" if words and name else words.chinese if words else name
            return f"{('然后', '接着', '另外')[turn % 3]}说{what}：{gist}"
        what = " in ".join(filter(None, (words.english + "," * bool(name) if words else "", name)))
        opener = ("Then", "Next", "After that")[turn % 3]
        return f"{opener}{',' if what and opener != 'Then' else ''}{f' {what}' if what else ''}: {gist}"

    def sentence(self, clauses: list[str]) -> str:
        """Clauses that belong together."""
        return "；".join(clauses) + "。" if self.chinese else "; ".join(clauses) + "."

    @property
    def between(self) -> str:
        """The separator of two sentences."""
        return "" if self.chinese else " "


def shorten(text: str, length: int, *, at_clause: str = "…") -> str:
    """The head of a text on one line, without its number: whole if it fits, else cut after a clause or a word.

    ``at_clause`` replaces the rest after a whole clause, an ellipsis that after a word; neither counts.
    """
    line = _NUMBER.sub("", one_line(text, None)).strip(_ENDS)
    if len(line) <= length:
        return line
    head = line[:length]
    clause, word = max(head.rfind(mark) for mark in _BREAKS), head.rfind(" ")
    if clause > length // 2:
        return head[:clause].rstrip(_ENDS) + at_clause
    return head[: word if word > length // 2 else length].rstrip(_ENDS) + "…"


@dataclass(frozen=True)
class RulePlanEngine:
    """A sentence for each main point: its source, what it says, and what is added to it and why."""

    selector: Selector

    async def plan(self, inputs: AnswerInputs) -> Outcome[Plan]:
        """A paragraph in the question's language that cites each selected sentence as ``[chunk.sentence]``."""
        table, selection = await self.selector.select(inputs)
        if not selection.sentences:
            return Outcome(value=Plan(paragraph="None of the passages holds a statement that answers the question."))
        writer = _Writer(inputs, table, Wording(chinese=language_of(inputs.query) == "zh"))
        return Outcome(value=Plan(paragraph=writer.write(selection)))


def missing_references(plan: Plan, inputs: AnswerInputs, table: SentenceTable) -> dict[Reference, str]:
    """References of the plan to passages that do not exist, in order, each with an error message."""
    found: dict[Reference, str] = {}
    cited = [r for step in steps(plan) for r in step.references]
    unknown = unknown_passages(cited, [chunk.text for chunk in inputs.chunks])
    for r in cited:
        if r in unknown:
            found[r] = f"The plan cites {format_reference(r)}; there are {len(inputs.chunks)} passages."
        elif r.chunk <= len(inputs.chunks) and (r.last or 0) > (units := len(table.of_chunk(r.chunk))):
            found[r] = f"The plan cites {format_reference(r)}; the sentences of passage {r.chunk} end at {units}."
    return found


@dataclass
class _Writer:
    """Writes one plan; remembers what it named last."""

    inputs: AnswerInputs
    table: SentenceTable
    wording: Wording
    turn: int = -1  # main points after the first
    named: tuple[str, str] = ("", "")  # document and section
    relation: Words | None = None  # of the last main point

    def write(self, selection: Selection) -> str:
        """The paragraph: a sentence for each main point, with a clause for each sentence that belongs to it."""
        sentences: list[list[str]] = []
        main: SelectedSentence | None = None
        for selected in selection.sentences:
            if main is None or selected.role is Role.ADDS:
                sentences.append([self._main_point(selected, main)])
                main = selected
            else:
                sentences[-1].append(self._companion(selected))
        return self.wording.between.join(map(self.wording.sentence, sentences))

    def _main_point(self, selected: SelectedSentence, before: SelectedSentence | None) -> str:
        name, gist = self._name_and_gist(selected)
        if before is None:
            return self.wording.start(name, gist)
        last, self.relation = self.relation, self._relation(selected.index, before.index)
        self.turn += 1
        words = None if self.relation == last else self.relation
        return self.wording.next(words, name, gist, turn=self.turn)

    def _companion(self, selected: SelectedSentence) -> str:
        name, gist = self._name_and_gist(selected)
        relation = None if selected.of is None else self._relation(selected.index, selected.of)
        if selected.role is Role.OPPOSES:
            return self.wording.against(name, gist, contradicts=self._contradicts(selected))
        return self.wording.then(relation or SUPPORT, name, gist)

    def _name_and_gist(self, selected: SelectedSentence) -> tuple[str, str]:
        """The source, or the section of the source named last, and what the sentence says."""
        unit = self.table.sentences[selected.index]
        chunk, section = self.inputs.chunks[unit.chunk - 1], unit.headings[-1] if unit.headings else ""
        (document, last), self.named = self.named, (chunk.doc_id, section)
        is_new = chunk.doc_id != document
        name = chunk.title if is_new else section if section not in (last, chunk.title) else ""
        text = unit.plain if is_new or unit.kind is UnitKind.TURN else unit.body  # a heading is named once
        last_unit = self.table.sentences[self.table.group(selected.index)[-1]]
        citation = format_reference(Reference(chunk=unit.chunk, first=unit.number, last=last_unit.number))
        return self.wording.name(name), self.wording.gist(text, citation)

    def _relation(self, new: int, old: int) -> Words | None:
        """What the new sentence is to the old one, by their chunk's tree or by the graph."""
        a, b = self.table.sentences[new], self.table.sentences[old]
        if a.chunk == b.chunk:
            return _in_tree(self.inputs.chunks[a.chunk - 1], a, b)
        to, back = self._edges(a.chunk, b.chunk)
        return AS_SOURCE.get(to) or AS_TARGET.get(back)

    def _contradicts(self, selected: SelectedSentence) -> bool:
        if selected.of is None:
            return False
        a, b = self.table.sentences[selected.index].chunk, self.table.sentences[selected.of].chunk
        return ChunkRelation.CONTRADICTS in self._edges(a, b)

    def _edges(self, a: int, b: int) -> tuple[ChunkRelation, ChunkRelation]:
        """The relations from chunk ``a`` to chunk ``b`` and back."""
        edges = self.inputs.graph.edges if self.inputs.graph else ()
        found = {(self.inputs.number(e.source), self.inputs.number(e.target)): e.relation for e in edges}
        return found.get((a, b), ChunkRelation.UNRELATED), found.get((b, a), ChunkRelation.UNRELATED)


def _in_tree(chunk: Chunk, new: Sentence, old: Sentence) -> Words | None:
    """By the split whose nucleus is about the old unit and whose satellite, or second nucleus, is about the new one."""
    for split in chunk.tree.splits if chunk.tree else ():
        sides = [_head_of(chunk, *side) for side in ((split.start, split.mid), (split.mid, split.end))]
        if split.nuclearity is Nuclearity.SN:
            sides.reverse()
        if old.span.contains(sides[0]) and new.span.contains(sides[1]):
            return WITHIN.get(split.relation)
    return None


def _head_of(chunk: Chunk, start: int, end: int) -> Span:
    """The head EDU of a constituent of the chunk's tree."""
    assert chunk.tree
    return chunk.tree.edus[chunk.tree.head(start, end)]
