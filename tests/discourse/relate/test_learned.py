from dataclasses import replace

import pytest

from discorag.conflicts.claims.effects import stems
from discorag.conflicts.detection import opposed
from discorag.conflicts.statement import Compared, Statement
from discorag.discourse.relate.learned import (
    LearnedGraphEngine,
    load_model,
)
from discorag.discourse.relate.stated import by_date, opening_relation, stated
from discorag.models.protocol import Encoder
from discorag.schema.answer import AnswerInputs
from discorag.schema.discourse import ChunkRelation
from discorag.schema.document import Chunk
from discorag.schema.errors import ConfigError
from discorag.schema.values import Span
from tests.conftest import EXAMPLES
from tests.discourse.relate.test_rules import FLU, GOLD, SCHOOL, disagreements
from tests.inputs import inputs_from, load_inputs

R = ChunkRelation
DAM = "The dam held back the river for a century, and the valley below it was farmed."


async def related(inputs: AnswerInputs, encoder: Encoder) -> AnswerInputs:
    return replace(inputs, graph=(await LearnedGraphEngine(encoder).relate(inputs)).value)


@pytest.mark.parametrize(
    ("source", "relation"),
    [
        ("The steel gate prevents the river from flooding the valley.", R.PREVENTS),
        ("A new canal enabled the valley to be farmed.", R.ENABLES),
        ("The concrete barrier replaced the old dam on the river.", R.REPLACES),
        ("Heavy rain led to the dam and the river failing.", R.CAUSES),
        ("Fish vanished because of the dam on the river.", R.RESULTS_FROM),
        ("After the dam held back the river, a town was built.", R.FOLLOWS),
        ("Before the dam held back the river, a town was built.", R.PRECEDES),
        ("In particular, the river valley was farmed.", None),
        ("The tax prevents the market from crashing.", None),
    ],
)
def test_a_relation_is_stated_only_by_a_cue_that_governs_words_of_the_target(
    source: str, relation: ChunkRelation | None
) -> None:
    found = stated([source], [stems(DAM)])
    assert (found.relation if found else None) is relation


@pytest.mark.parametrize(
    ("opening", "relation"),
    [
        ("For example, light roasts are ready early.", R.EXEMPLIFIES),
        ("As a result, prices rose.", R.RESULTS_FROM),
        ("Then the beans are sold.", R.FOLLOWS),
        ("Meanwhile, the harvest began.", R.SIMULTANEOUS),
        ("In particular, robusta suffers.", R.SPECIFIES),
        ("In short, coffee is grown in the tropics.", R.GENERALIZES),
        ("However, tea is cheaper.", R.COMPARES_WITH),
        ("Beans keep for weeks.", None),
        ("例如，浅烘焙的豆子很早就好了。", R.EXEMPLIFIES),
    ],
)
def test_the_opening_of_a_chunk_says_what_it_is_to_the_one_before(opening: str, relation: ChunkRelation | None) -> None:
    assert opening_relation(opening) is relation


def test_years_order_two_texts_only_where_they_do_not_overlap() -> None:
    assert by_date((1990, 1995), (1996,)) is R.PRECEDES
    assert by_date((1996,), (1990, 1995)) is R.FOLLOWS
    assert by_date((1990, 1997), (1996,)) is None
    assert by_date((), (1996,)) is None


@pytest.mark.parametrize(
    ("a", "b", "cosine", "relation"),
    [
        ("The dog is running on the beach.", "The dog is not running on the beach.", 0.9, R.CONTRADICTS),
        ("The population was 300,000 in 1990.", "The population was 410,000 in 2010.", 0.9, R.CONTRASTS_WITH),
        ("The bridge was finished in 1931.", "The bridge was finished in 1934.", 0.95, R.CONTRADICTS),
        ("The dog is running on the beach.", "The dog is running on the beach fast.", 0.9, None),
        ("The dog is running on the beach.", "The cat is not sleeping on the sofa.", 0.9, None),
        ("The dog may be running on the beach.", "The dog is not running on the beach.", 0.9, None),
        ("The dog is running on the beach.", "The dog is not running on the beach.", 0.3, None),
        ("The fine for a book is 20 cents.", "The deposit for a laptop is 50 euros.", 0.9, None),
    ],
    ids=[
        "denied",
        "other years",
        "figure",
        "the same",
        "another matter",
        "possibility",
        "far",
        "other figures",
    ],
)
def test_two_statements_are_opposed_only_if_they_say_the_same_of_the_same_but_for_one_point(
    a: str, b: str, cosine: float, relation: ChunkRelation | None
) -> None:
    pair = Compared(Statement(a), Statement(b), cosine)
    assert [said.relation for said in opposed([pair, pair.turned])] == [relation, relation]


@pytest.mark.parametrize(
    ("corpus", "query", "least", "debatable"), [("vitamin-d", FLU, 4, 0), ("school-start", SCHOOL, 2, 1)]
)
async def test_sources_that_disagree_are_found_as_the_rules_find_them(
    corpus: str, query: str, least: int, debatable: int, encoder: Encoder
) -> None:
    inputs = await related(await load_inputs(corpus, query, encoder, k=40), encoder)
    gold = {frozenset({p["a"]["text"], p["b"]["text"]}) for p in GOLD[corpus]}
    found = disagreements(inputs)
    assert len(found & gold) >= least
    assert len(found - gold) <= debatable
    assert inputs.graph is not None
    assert all(0 <= (edge.confidence or 0) <= 1 for edge in inputs.graph.edges)
    assert len({frozenset({edge.source, edge.target}) for edge in inputs.graph.edges}) == len(inputs.graph.edges)


@pytest.mark.parametrize("corpus", sorted(p.name for p in EXAMPLES.glob("[!_]*") if p.is_dir() and p.name not in GOLD))
async def test_concordant_sources_give_no_disagreement(corpus: str, encoder: Encoder) -> None:
    inputs = await load_inputs(corpus, "What is known?", encoder, k=60)
    assert disagreements(await related(inputs, encoder)) == set()


async def test_neighbours_in_a_document_take_the_relation_that_the_later_one_states(encoder: Encoder) -> None:
    inputs = await inputs_from({"a": "Beans are roasted. " * 120}, "coffee", encoder)
    first, then = inputs.chunks[:2]
    for opening, relation in (
        ("For example, beans are roasted.", R.EXEMPLIFIES),
        ("As a result, the beans were roasted.", R.RESULTS_FROM),
    ):
        other = _with_text(then, opening)
        for chunks in ((first, other), (other, first)):
            graph = (await LearnedGraphEngine(encoder).relate(AnswerInputs(query="coffee", chunks=chunks))).value
            assert [(e.source, e.relation) for e in graph.edges] == [(other.id, relation)]


def _with_text(chunk: Chunk, text: str) -> Chunk:
    span = Span(start=chunk.span.start, end=chunk.span.start + len(text))
    return chunk.model_copy(update={"text": text, "span": span, "sentences": (span,), "tree": None})


async def test_what_one_document_states_of_another_points_from_the_one_that_states_it(encoder: Encoder) -> None:
    texts = {
        "a": "The river dam near Elmton was built by the county in spring.",
        "b": "The salmon disappeared because of the river dam near Elmton that was built by the county.",
    }
    for order in (("a", "b"), ("b", "a")):
        inputs = await inputs_from({k: texts[k] for k in order}, "dam", encoder)
        graph = (await LearnedGraphEngine(encoder).relate(inputs)).value
        [edge] = graph.edges
        assert edge.relation is R.RESULTS_FROM
        assert inputs.number(edge.source) == order.index("b") + 1


async def test_texts_without_anything_in_common_are_unrelated(encoder: Encoder) -> None:
    texts = {"a": "The striker scored twice in the second half.", "b": "Granite forms when magma cools slowly."}
    inputs = await related(await inputs_from(texts, "football", encoder), encoder)
    assert inputs.graph is not None
    assert inputs.graph.edges == ()


@pytest.mark.parametrize("n", [0, 1])
async def test_fewer_than_two_chunks_have_no_edges(n: int, encoder: Encoder) -> None:
    inputs = await inputs_from({"a": "Beans are roasted."} if n else {}, "coffee", encoder)
    outcome = await LearnedGraphEngine(encoder).relate(inputs)
    assert len(outcome.value.chunks) == n
    assert outcome.value.edges == ()


def test_missing_weights_are_an_error_that_says_how_to_make_them(tmp_path_factory: pytest.TempPathFactory) -> None:
    with pytest.raises(ConfigError, match=r"training\.relations\.train"):
        load_model(tmp_path_factory.mktemp("none") / "none.safetensors")
