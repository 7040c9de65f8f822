"""The plan by rules: a paragraph that cites the selected sentences and says what each is for."""

import re
from collections import Counter
from dataclasses import dataclass

from discorag.generation.selection import Role, SelectedSentence, Selection, Selector
from discorag.ingest.segment.sentence_table import Sentence, SentenceTable, sentences_in
from discorag.schema.answer import AnswerInputs, Outcome
from discorag.schema.discourse import ChunkRelation, Nuclearity, Plan, Reference, Relation, RstTree
from discorag.schema.document import UnitKind
from discorag.text.citations import escape_references, format_reference, steps, unknown_passages
from discorag.text.escaping import one_line

_NAME, _GIST = 60, 90  # characters
_ENDS = " .!?。！？…;:,；：，、"
_NUMBER = re.compile(r"^\d{1,3}[.)]\s+")  # before a heading or an item
_BREAKS = (", ", "; ", ": ", " (", " – ", " — ", "，", "；", "：", "（", "——")

SUPPORT = "what supports it"
_PHRASES: dict[str, tuple[str, str, str]] = {
    "who says so": ("ATTRIBUTION", "", ""),
    "the background": ("BACKGROUND CIRCUMSTANCE", "BACKGROUND_FOR", ""),
    "the reason": ("CAUSE EXPLANATION", "CAUSES JUSTIFIES MOTIVATES", "RESULTS_FROM"),
    "the comparison": ("COMPARISON", "COMPARES_WITH", "COMPARES_WITH"),
    "what is conceded": ("CONCESSION", "", ""),
    "the condition": ("CONDITION", "", ""),
    "the contrast": ("CONTRAST ANTITHESIS", "", ""),
    "what is meant": ("DEFINITION CLASSIFICATION", "", ""),
    "the details": ("ELABORATION", "ELABORATES SPECIFIES", ""),
    "how it is judged": ("EVALUATION INTERPRETATION", "", ""),
    SUPPORT: ("EVIDENCE", "SUPPORTS", ""),
    "an example": ("EXAMPLE", "EXEMPLIFIES", ""),
    "what it is for": ("PURPOSE", "", ""),
    "what follows from it": ("RESULT CONSEQUENCE", "RESULTS_FROM", "CAUSES"),
    "what comes next": ("SEQUENCE TEMPORAL", "FOLLOWS", "PRECEDES"),
    "what comes before": ("", "PRECEDES", "FOLLOWS"),
    "the same in other words": ("SUMMARY RESTATEMENT", "", ""),
    "what adds to it": ("", "SUPPLEMENTS", ""),
}
"""Phrase -> the relations that it stands for, in three places: in a tree, of a satellite (or second nucleus) to the
nucleus; from a chunk to the one named before it; from the one named before it to this chunk."""
WITHIN = {Relation(name): words for words, (names, _, _) in _PHRASES.items() for name in names.split()}
AS_SOURCE = {ChunkRelation(name): words for words, (_, names, _) in _PHRASES.items() for name in names.split()}
AS_TARGET = {ChunkRelation(name): words for words, (_, _, names) in _PHRASES.items() for name in names.split()}


def quoted_name(title: str) -> str:
    """A title in quotation marks, shortened; empty for an empty one."""
    short = shorten(title, _NAME, at_clause="")
    return f"“{escape_references(short)}”" if short else ""


def gist_of(sentence: str, citation: str) -> str:
    """What a sentence says, shortened, with its citation."""
    return f"{escape_references(shorten(sentence, _GIST))} {citation}"


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
        """A paragraph that cites each selected sentence as ``[chunk.sentence]``."""
        table, selection = await self.selector.select(inputs)
        if not selection.sentences:
            return Outcome(value=Plan(paragraph="None of the passages holds a statement that answers the question."))
        return Outcome(value=Plan(paragraph=_Writer(inputs, table).write(selection)))


def missing_references(plan: Plan, inputs: AnswerInputs) -> dict[Reference, str]:
    """References of the plan to passages that do not exist, in order, each with an error message."""
    found: dict[Reference, str] = {}
    cited = [r for step in steps(plan) for r in step.references]
    unknown = unknown_passages(cited, [chunk.text for chunk in inputs.chunks])
    counts = Counter(u.chunk for u in sentences_in(inputs.chunks)) if any(r.last for r in cited) else Counter[int]()
    for r in cited:
        if r in unknown:
            found[r] = f"The plan cites {format_reference(r)}; there are {len(inputs.chunks)} passages."
        elif r.chunk <= len(inputs.chunks) and (r.last or 0) > (units := counts[r.chunk]):
            found[r] = f"The plan cites {format_reference(r)}; the sentences of passage {r.chunk} end at {units}."
    return found


@dataclass
class _Writer:
    """Writes one plan; remembers what it named last."""

    inputs: AnswerInputs
    table: SentenceTable
    turn: int = -1  # main points after the first
    named: tuple[str, str] = ("", "")  # document and section
    relation: str = ""  # of the last main point

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
        return " ".join(f"{'; '.join(clauses)}." for clauses in sentences)

    def _main_point(self, selected: SelectedSentence, before: SelectedSentence | None) -> str:
        name, said = self._name_and_gist(selected)
        if before is None:
            return f"{' '.join(filter(None, ('Start with', name)))}: {said}"
        last, self.relation = self.relation, self._relation(selected.index, before.index)
        self.turn += 1
        relation = "" if self.relation == last else self.relation
        what = " in ".join(filter(None, (relation + "," * bool(relation and name), name)))
        opener = ("Then", "Next", "After that")[self.turn % 3]  # no two in a row begin alike
        return f"{opener}{',' if what and opener != 'Then' else ''}{f' {what}' if what else ''}: {said}"

    def _companion(self, selected: SelectedSentence) -> str:
        name, said = self._name_and_gist(selected)
        if selected.role is Role.OPPOSES:
            return self._other_side(selected, name, said)
        relation = "" if selected.of is None else self._relation(selected.index, selected.of)
        return f"then {relation or SUPPORT}{f', in {name}' if name else ''}: {said}"

    def _other_side(self, selected: SelectedSentence, name: str, said: str) -> str:
        if selected.of is not None:
            a, b = self.table.sentences[selected.index].chunk, self.table.sentences[selected.of].chunk
            if ChunkRelation.CONTRADICTS in self._edges(a, b):
                return f"set against it {name}, which contradicts it: {said}" if name else f"set against it: {said}"
        return f"compare it with {name}, where it is different: {said}" if name else f"compare it with this: {said}"

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
        return quoted_name(name), gist_of(text, citation)

    def _relation(self, new: int, old: int) -> str:
        """What the new sentence is to the old one, by their chunk's tree or by the graph."""
        a, b = self.table.sentences[new], self.table.sentences[old]
        if a.chunk == b.chunk:
            tree = self.inputs.chunks[a.chunk - 1].tree
            return _in_tree(tree, a, b) if tree else ""
        to, back = self._edges(a.chunk, b.chunk)
        return AS_SOURCE.get(to) or AS_TARGET.get(back, "")

    def _edges(self, a: int, b: int) -> tuple[ChunkRelation, ChunkRelation]:
        """The relations from chunk ``a`` to chunk ``b`` and back."""
        edges = self.inputs.graph.edges if self.inputs.graph else ()
        found = {(self.inputs.number(e.source), self.inputs.number(e.target)): e.relation for e in edges}
        return found.get((a, b), ChunkRelation.UNRELATED), found.get((b, a), ChunkRelation.UNRELATED)


def _in_tree(tree: RstTree, new: Sentence, old: Sentence) -> str:
    """By the split whose nucleus is about the old unit and whose satellite, or second nucleus, is about the new one."""
    for split in tree.splits:
        heads = [tree.edus[tree.head(*side)] for side in ((split.start, split.mid), (split.mid, split.end))]
        if split.nuclearity is Nuclearity.SN:
            heads.reverse()
        if old.span.contains(heads[0]) and new.span.contains(heads[1]):
            return WITHIN.get(split.relation, "")
    return ""
