"""Counting a query's tokens, and the scripted model that the count is made with."""

from collections.abc import Sequence

import pytest

from bench.cost import cost_of
from bench.replies import answer, graph_json, graph_lines, plan, respond, turn_of
from bench.tokens import Tokenizer
from bench.watch import Exchange
from discorag.models.protocol import Message
from discorag.prompted.as_printed import graph_of as papers
from discorag.prompted.graph import graph_of as ours
from discorag.prompted.pairs import pair_labels
from discorag.text.citations import references
from discorag.types.case import Case
from discorag.types.chunk import Chunk
from discorag.types.chunk_relations import ChunkRelation
from discorag.types.span import Span
from prompts import load


class Letters(Tokenizer):
    """A token is a character; a turn ends with a full stop."""

    def prompt(self, messages: Sequence[Message]) -> list[int]:
        return self.text("".join(m.content + "." for m in messages))

    def text(self, text: str) -> list[int]:
        return [ord(c) for c in text]


def user(text: str) -> Message:
    return Message(role="user", content=text)


def passage(i: int) -> Chunk:
    span = Span(start=0, end=5)
    return Chunk(id=f"c{i}", doc_id="d", order=i, span=span, text="Text.", sentences=(span,))


def said(text: str) -> Message:
    return Message(role="assistant", content=text)


def test_a_conversation_computes_only_what_is_new() -> None:
    first = Exchange("relate", (user("a" * 30),), "b" * 16)  # 31 tokens in, 17 out, 47 held: two blocks of 16
    second = Exchange("plan", (user("a" * 30), said("b" * 16), user("c" * 10)), "d")  # 59 in, 32 of them held
    cost = cost_of([first, second], Letters())
    assert (cost.calls, cost.prompt, cost.output) == (2, 31 + 59, 17 + 2)
    assert cost.recomputed == 31 + (59 - 32)
    assert cost.total == 31 + 59 + 17 + 2


def test_prompts_that_share_no_beginning_are_computed_whole() -> None:
    exchanges = [Exchange("plan", (user(letter * 40),), "x") for letter in "ab"]
    assert cost_of(exchanges, Letters()).recomputed == 82


@pytest.mark.parametrize("k", [2, 3, 10, 50])
def test_the_scripted_graph_is_the_same_in_both_forms_and_has_about_one_and_a_half_edges_a_chunk(k: int) -> None:
    case = Case(query="?", chunks=tuple(passage(i) for i in range(k)))
    graph = ours(case, graph_json(k))
    labels = pair_labels(graph_lines(k), range(1, k + 1), k, known=frozenset(ChunkRelation))
    assert set(graph.edges) == set(papers(case, labels).edges)
    assert k == 2 or 1.3 <= len(graph.edges) / k <= 1.5


def test_the_scripted_answer_cites_only_passages_that_exist_and_copies_none() -> None:
    passages = ["one two three four five six seven eight nine ten " * 6, "red [9] green blue " * 12]
    text = answer(passages, cited=True)
    assert {r.chunk for r in references(text)} == {1, 2}
    assert "four five six" not in text
    assert not references(answer(passages, cited=False))


def test_the_scripted_plan_cites_only_passages_that_exist() -> None:
    assert {r.chunk for r in references(plan(2))} == {1, 2}


@pytest.mark.parametrize("name", ["paper-graph", "paper-plan", "paper-answer", "paper-standard"])
def test_the_papers_prompts_are_told_apart(name: str) -> None:
    prompt = load(name)
    assert turn_of(prompt.render(**dict.fromkeys(prompt.meta.variables, "graph"))) == name


@pytest.mark.parametrize("name", ["graph", "plan", "answer", "answer-plain"])
def test_our_turns_are_told_apart(name: str) -> None:
    assert turn_of("<chunk>Now the graph.</chunk>\n\n" + load(name).text) == name


def test_an_unknown_prompt_is_not_answered() -> None:
    with pytest.raises(StopIteration):
        respond({"messages": [{"role": "user", "content": "Hello"}]})
