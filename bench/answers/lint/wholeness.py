"""Whether a text is a whole sentence: a linear model over its words and their endings, trained on GUM.

GUM says of every sentence what it is (``s_type``). Fragments are headings, names, captions, cut-off turns and what is
only called out. Words and endings are hashed, so that a model is one list of numbers (``wholeness.json``).
"""

from __future__ import annotations

import json
import re
import sys
import zlib
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Weights: TypeAlias = NDArray[np.float64]

SIZE = 16_384
WEIGHTS = Path(__file__).with_name("wholeness.json")
WHOLE = frozenset({"decl", "imp", "q", "wh", "sub", "multiple"})
FRAGMENT = frozenset({"frag", "ger", "inf", "intj"})
EPOCHS, RATE, DECAY = 8, 0.3, 1e-6
_WORD = re.compile(r"\w+|[^\w\s]")


def logit(text: str) -> float:
    """Log odds that the text is a fragment."""
    return float(_score(_weights(), _hashed(text)))


def trained(labelled: Iterable[tuple[str, bool]]) -> Weights:
    """Weights from texts and whether each is a fragment, by AdaGrad on the logistic loss, classes balanced."""
    examples = [(_hashed(text), fragment) for text, fragment in labelled]
    rare = sum(fragment for _, fragment in examples) / len(examples)
    weights, squares = np.zeros(SIZE + 1), np.full(SIZE + 1, 1e-6)
    order = np.random.default_rng(0)
    for _ in range(EPOCHS):
        for at in order.permutation(len(examples)).tolist():
            indices, fragment = examples[int(at)]
            slope = 1 / (1 + np.exp(-_score(weights, indices))) - fragment
            slope *= (1 - rare if fragment else rare) / len(indices) ** 0.5
            step = slope + DECAY * weights[indices]
            squares[indices] += step**2
            weights[indices] -= RATE * step / np.sqrt(squares[indices])
    return weights


def gum(files: Iterable[Path]) -> Iterator[tuple[str, bool]]:
    """GUM's sentences, and whether each is a fragment; what is neither is left out."""
    for file in files:
        kind = ""
        for line in file.read_text("utf-8").split("\n"):
            name, _, value = line.partition(" = ")
            if name == "# s_type":
                kind = value.strip()
            elif name == "# text" and kind in WHOLE | FRAGMENT:
                yield value.strip(), kind in FRAGMENT


def _hashed(text: str) -> NDArray[np.int64]:
    """Indices of the text's features; the last one is always there."""
    found = {zlib.crc32(name.encode()) % SIZE for name in _features(text)}
    return np.array([*sorted(found), SIZE])


def _features(text: str) -> Iterator[str]:
    words = _WORD.findall(text) or [""]
    small = ["0" if word.isdigit() else word.lower() for word in words]
    capitals = sum(word[:1].isupper() for word in words[1:]) / max(1, len(words) - 1)
    yield from (f"first {small[0]}", f"first two {small[:2]}", f"last {small[-1]}", f"length {min(len(words), 12)}")
    yield from (f"capital {words[0][:1].isupper()}", f"capitals {int(5 * capitals)}")
    for word in small:
        yield from (f"word {word}", f"ending {word[-3:]}", f"ending {word[-2:]}")
    for one, next_one in pairwise(small):
        yield from (f"pair {one} {next_one}", f"endings {one[-2:]} {next_one[-2:]}")


def _score(weights: Weights, indices: NDArray[np.int64]) -> float:
    return float(weights[indices].sum() / len(indices) ** 0.5)


@cache
def _weights() -> Weights:
    return np.array(json.loads(WEIGHTS.read_text("utf-8"))) / 100


def main(gum_folder: Path) -> None:
    """Train on all of GUM and write the weights."""
    weights = trained(gum(sorted(gum_folder.glob("*.conllu"))))
    WEIGHTS.write_text(json.dumps(np.round(100 * weights).astype(int).tolist(), separators=(",", ":")), "utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
