"""The three case studies of Disco-RAG (figures 5 to 7), over passages of our own that state the same facts."""

import pytest

from tests.conftest import Pipelines

MUSICAL = {
    "start.md": "The musical The Lion King was first staged in Minneapolis, at the Orpheum Theatre, on July 8, 1997.",
    "previews.md": "The Lion King came to Broadway on October 15, 1997: previews began at the New Amsterdam Theatre.",
    "opening.md": "The Lion King opened on Broadway officially on November 13, 1997, at the New Amsterdam Theatre.",
    "move.md": "On June 13, 2006, the Broadway production of The Lion King moved to the Minskoff Theatre.",
}
FINAL = {
    "score.md": "Italy beat France in the final of the 2006 World Cup on July 9, 2006, on penalties after a 1-1 draw.",
    "place.md": "Italy won the 2006 World Cup at the Olympiastadion in Berlin, before 69,000 spectators.",
    "titles.md": "For Italy it was the fourth title, after 1934, 1938 and 1982.",
    "munich.md": "Munich is the capital of Bavaria. The opening match of the 2006 World Cup was played there.",
}
PLUTO = {
    "old.md": "Pluto was found in 1930. Pluto is the ninth planet of the Solar System, as older textbooks say.",
    "new.md": "Pluto is not a planet but a dwarf planet: in 2006 the Astronomical Union defined the term.",
    "criterion.md": "By the definition of 2006 a planet clears its orbital neighbourhood, which Pluto does not do.",
}


@pytest.mark.parametrize(
    ("texts", "question", "said", "not_said"),
    [
        (MUSICAL, "When did The Lion King debut on Broadway?", ("October 15, 1997", "November 13, 1997"), ()),
        (FINAL, "Where did Italy win the World Cup in 2006?", ("Berlin",), ("Munich",)),
        (PLUTO, "Is Pluto a planet?", ("ninth planet", "dwarf planet"), ()),
    ],
    ids=["figure 5: all dates", "figure 6: the right place", "figure 7: both sides"],
)
def test_an_answer_has_what_the_paper_credits_to_discourse(
    pipeline: Pipelines, texts: dict[str, str], question: str, said: tuple[str, ...], not_said: tuple[str, ...]
) -> None:
    rag = pipeline()
    rag.add_texts(f"# {name.removesuffix('.md').title()}\n\n{text}" for name, text in texts.items())
    answer = rag.ask(question, retriever="dense").answer
    assert [fact for fact in said if fact not in answer.text] == []
    assert [fact for fact in not_said if fact in answer.text] == []
