"""Which development documents are for training, which for choosing, and which are only ever scored on.

The lists are files, one a dataset: all that is fitted uses the same ones. A group is a document with all its questions;
where a question brings its own paragraphs, it is that question. 40 % train, 10 % choose, 50 % score, in the order of
the SHA-256 of ``dataset|name``; pages of ASQA and CLAPNQ are only scored on.

Sets that may not be trained on, by their licence or because nobody says that they may (ASQA, NQ, TriviaQA, ELI5,
QAMPARI, Loong, SummHay), are scored on as a whole and have no file.
"""

import json
from functools import cache
from pathlib import Path
from typing import Literal, TypeAlias

Part: TypeAlias = Literal["train", "choose", "score"]


@cache
def groups(dataset: str, part: Part) -> frozenset[str]:
    """The groups of a dataset that are for this.

    Raises:
        FileNotFoundError: It has no split: it is for scoring only, or unknown.
    """
    return frozenset(json.loads((Path(__file__).parent / f"{dataset}.json").read_text("utf-8"))[part])
