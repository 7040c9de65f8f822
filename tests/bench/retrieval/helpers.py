"""Cases as tests write them: documents of words, evidence as words of them."""

from bench.retrieval.questions import Case
from discorag.types.span import Span
from eval.sample import DocSpan, Gold, SourceDocument


def place(text: str, part: str, doc: str = "d") -> DocSpan:
    start = text.index(part)
    return DocSpan(doc=doc, span=Span(start=start, end=start + len(part)))


def document(text: str, doc: str = "d") -> SourceDocument:
    return SourceDocument(id=doc, title="", text=text)


def gold(*places: DocSpan, annotator: int = 0) -> Gold:
    return Gold(label="evidence", anywhere=places, annotator=annotator)


def case(documents: list[SourceDocument], evidence: list[Gold], *, found_in: str = "", said: str = "") -> Case:
    """Gold documents are those with evidence, or those whose ids are the letters of ``found_in``."""
    return Case(
        id="q",
        dataset="qmsum",
        half="development",
        question="Why?",
        documents=tuple(documents),
        evidence=tuple(evidence),
        gold_documents=frozenset(found_in or {p.doc for g in evidence for p in g.anywhere}),
        references=(said,) if said else (),
    )
