"""The pairs that are ours: sentences with one small edit, and sentences stitched from two documents."""

from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from eval.datasets.reading import read_lines
from eval.errors import DataError

FOLDER = Path(__file__).parent
Edit = Literal["none", "number", "negation", "condition", "attribution", "entity", "time", "role"]
Kind = Literal[
    "true", "stitched", "population", "cause", "conclusion", "roles", "condition", "number", "time", "attribution",
    "hypothetical", "negation", "comparison", "superlative", "empty",
]  # fmt: skip


class Pair(BaseModel):
    """One line of a file of held-out pairs: ``edit`` is what makes the sentence unsupported, or ``none``."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: str = Field(min_length=1)
    evidence: str = Field(min_length=1)
    sentence: str = Field(min_length=1)
    edit: Edit
    genre: str = Field(min_length=1)

    @property
    def supported(self) -> bool:
        """Whether the evidence supports the sentence."""
        return self.edit == "none"


class Hostile(BaseModel):
    """One line of ``hostile.jsonl``: a sentence over two documents; ``kind`` is how it was forged, or ``true``."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: str = Field(min_length=1)
    documents: dict[str, str] = Field(min_length=2)
    sentence: str = Field(min_length=1)
    kind: Kind

    @property
    def supported(self) -> bool:
        """Whether the documents support the sentence."""
        return self.kind == "true"


def load_pairs(path: Path) -> list[Pair]:
    """The pairs in file order.

    Raises:
        MissingPathError: No such file.
        DataError: A line is cut off, has a field too many or too few, or repeats an id; or all pairs are supported, or
            none.
    """
    pairs: dict[str, Pair] = {}
    for place, pair in read_lines(Pair, path):
        if pair.id in pairs:
            raise DataError(f"{place}: id {pair.id} appears twice.", hint="Give each pair an id of its own.")
        pairs[pair.id] = pair
    if len({p.supported for p in pairs.values()}) < 2:
        raise DataError(
            f"{path} needs supported and unsupported pairs, and has {len(pairs)} of one kind.", hint="Is it whole?"
        )
    return list(pairs.values())


def load_hostile(path: Path) -> list[Hostile]:
    """The sentences over two documents. Raises as `load_pairs`."""
    return [pair for _, pair in read_lines(Hostile, path)]
