"""Documents of one content count as one source, whatever is found of them and in which order."""

from collections.abc import Sequence
from typing import cast

from hypothesis import given
from hypothesis import strategies as st

from discorag.schema.document import Scope
from discorag.store.records import Manifest
from discorag.store.retrieval import distinct
from discorag.store.store import Store


class Contents:
    """A store of documents of which only the contents are known; ``d1`` lies at ``d1``."""

    def __init__(self, contents: Sequence[int]) -> None:
        self._contents = contents

    def manifests(self, _scope: Scope, doc_ids: Sequence[str]) -> list[Manifest]:
        return [
            Manifest(
                doc_id=f"d{i}", uri=f"d{i}", title="", content_hash=str(content), fingerprint="", versions={}, chunks=1
            )
            for i, content in enumerate(self._contents)
            if f"d{i}" in doc_ids
        ]


@given(st.lists(st.integers(0, 4), min_size=1, max_size=8), st.data(), st.integers(1, 9))
def test_the_best_of_each_content_are_found_in_their_order(
    contents: list[int], data: st.DataObject, wanted: int
) -> None:
    ranking = data.draw(st.permutations([(f"{i}.{part}", f"d{i}") for i in range(len(contents)) for part in "ab"]))
    store = cast(Store, Contents(contents))
    found = distinct(store, Scope(), lambda n: ranking[:n], wanted)
    first = {c: f"d{contents.index(c)}" for c in contents}  # by uri
    every = [item for item, doc in ranking if first[contents[int(doc[1:])]] == doc]
    assert len(found.found) == min(wanted, len(every))
    assert set(found.found) <= {item for item, _ in ranking}
    owners = {item[: item.index(".")] for item in found.found}
    assert len({contents[int(o)] for o in owners}) == len(owners)
    assert [i for i, _ in ranking if i in found.found] == found.found
