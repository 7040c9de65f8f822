"""Which development documents are for training, which for choosing, and which are only ever scored on.

The lists are files, one a dataset, made once by ``python -m eval.splits``: whoever fits anything uses the same ones. A
group is a document with all its questions; where a question brings its own paragraphs, it is that question.

Sets that may not be trained on, by their licence or because nobody says that they may, are scored on as a whole and
have no file: `SCORED_ONLY`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Literal, TypeAlias, get_args

Part: TypeAlias = Literal["train", "choose", "score"]
PARTS: tuple[Part, ...] = get_args(Part)
SHARES: Mapping[Part, float] = {"train": 0.4, "choose": 0.1, "score": 0.5}
SCORED_ONLY = ("asqa", "nq", "triviaqa", "eli5", "qampari", "loong", "summhay")
_FOLDER = Path(__file__).parent


@cache
def groups(dataset: str, part: Part) -> frozenset[str]:
    """The groups of a dataset that are for this.

    Raises:
        FileNotFoundError: It has no split: it is for scoring only, or unknown.
    """
    return frozenset(json.loads((_FOLDER / f"{dataset}.json").read_text("utf-8"))[part])


def dealt(dataset: str, names: Iterable[str]) -> dict[Part, list[str]]:
    """Groups dealt by a digest of their names, so that the same groups are always dealt alike."""
    order = sorted(set(names), key=lambda name: sha256(f"{dataset}|{name}".encode()).hexdigest())
    train = round(SHARES["train"] * len(order))
    choose = train + max(1, round(SHARES["choose"] * len(order)))
    return {"train": sorted(order[:train]), "choose": sorted(order[train:choose]), "score": sorted(order[choose:])}
