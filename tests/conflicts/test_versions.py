"""Which documents are versions of one another, and which only look so."""

from pathlib import Path

import pytest

from discorag.conflicts.versions import newer
from discorag.schema.chunk import Chunk
from discorag.schema.span import Span
from tests.conftest import Pipelines


def chunk(title: str, date: str) -> Chunk:
    whole = Span(start=0, end=2)
    return Chunk(
        id=title, doc_id=title, order=0, span=whole, text="No", sentences=(whole,), title=title, metadata={"date": date}
    )


@pytest.mark.parametrize(
    ("a", "b", "later"),
    [
        (("Fees 2025", "2025-01-01"), ("Fees 2024", "2024-01-01"), 1),
        (("Handbook v1.2", "2024-01-01"), ("Handbook v1.10", "2025-01-01"), -1),
        (("Fees", "2025-01-01"), ("Fees", "2025-01-01"), 0),
        (("Part 1", "2024-01-01"), ("Part 2", "2025-01-01"), 0),
        (("C++", "2024-01-01"), ("C#", "2025-01-01"), 0),
        (("Fees", "12/01/2024"), ("Fees", "01/02/2025"), 0),
        (("Fees", ""), ("Fees", "2025-01-01"), 0),
    ],
)
def test_a_version_is_newer_by_its_date_under_one_title(a: tuple[str, str], b: tuple[str, str], later: int) -> None:
    assert newer(chunk(*a), chunk(*b)) == later
    assert newer(chunk(*b), chunk(*a)) == -later


async def test_a_newer_version_of_a_document_replaces_what_the_older_says(pipeline: Pipelines, tmp_path: Path) -> None:
    for year, fee in ((2024, 20), (2025, 35)):
        body = f"A lost card is replaced once. The fee for a new library card is {fee} dollars."
        text = f"---\ntitle: Fees {year}\ndate: {year}-01-01\n---\n\n{body}\n"
        (tmp_path / f"fees-{year}.md").write_text(text, "utf-8")
    rag = pipeline()
    await rag.aingest(tmp_path, parser="none")
    result = await rag.aask("What is the fee for a new library card?", parser="rules")
    assert result.answer.sentences[0].text.endswith("35 dollars.")
    [found] = result.answer.disagreements
    assert (str(found.relation), found.b.title, [str(d.kind) for d in found.differs]) == (
        "REPLACES",
        "Fees 2025",
        ["figure"],
    )
