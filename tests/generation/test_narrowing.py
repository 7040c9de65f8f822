"""A chunk narrowed to evidence: the sentences and the tree that are left, and how prompts show them."""

from hypothesis import given
from hypothesis import strategies as st

from discorag.discourse.parse.rules import rule_tree
from discorag.generation.narrowing import GAP, narrow
from discorag.generation.prompted.paper import chunk_list
from discorag.models.protocol import Encoder
from discorag.schema.answer import AnswerInputs
from discorag.schema.discourse import RstTree
from tests.inputs import inputs_from
from tests.strategies import chunk_over, parsed_texts


@given(parsed_texts(), st.data())
def test_the_tree_is_over_the_edus_that_stay_with_the_splits_between_them(
    case: tuple[str, RstTree, int], data: st.DataObject
) -> None:
    whole = chunk_over(*case, sentences=case[1].edus)
    evidence = data.draw(st.lists(st.sampled_from(whole.sentences), min_size=1, unique=True))
    left = narrow(whole, evidence).tree
    assert left is not None
    kept = [case[1].edus.index(edu) for edu in left.edus]
    assert set(left.edus) == set(evidence)
    assert left == RstTree.model_validate_json(left.model_dump_json())
    for split in left.splits:  # each is a split of the whole tree, between the same EDUs
        a, b, c, d = (kept[i] for i in (split.start, split.mid - 1, split.mid, split.end - 1))
        label = (split.relation, split.nuclearity)
        over = [s for s in case[1].splits if s.start <= a <= b < s.mid <= c <= d < s.end]
        assert label in [(s.relation, s.nuclearity) for s in over], split


async def test_a_narrowed_chunk_keeps_its_text_and_prompts_show_the_gaps(encoder: Encoder) -> None:
    text = "Bees dance. For example, they waggle. Therefore others find food. Flowers bloom in May."
    [found] = (await inputs_from({"a": text}, "bees", encoder)).chunks
    whole = found.model_copy(update={"tree": rule_tree(found)})
    smaller = narrow(whole, whole.sentences[1:3])
    assert smaller.text == whole.text
    assert smaller.sentences == whole.sentences[1:3]
    shown = chunk_list(AnswerInputs(query="bees", chunks=(smaller,)))
    assert GAP in shown
    assert all((whole.slice(s) in shown) == (s in smaller.sentences) for s in whole.sentences)
