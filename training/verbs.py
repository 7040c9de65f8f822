"""Trains the model of finite verbs: ``python -m training.verbs FOLDER``; the folder holds GUM's CoNLL-U files.

It prints how the model does on a quarter of the documents, held out, and writes
``discorag/ingest/segment/verbs.json``, trained on the other three quarters.
"""

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np
import typer
from numpy.typing import NDArray

from discorag.ingest.segment.verbs import SIZE, THRESHOLD, WEIGHTS, WORD, features
from discorag.schema.values import digest

EPOCHS, RATE = 4, 0.2
_CLITIC = re.compile(r"n['’]t|['’]\w+")

Words = Sequence[tuple[str, bool]]
"""Words and whether each is a finite verb."""


def sentences(files: Iterable[Path]) -> Iterator[tuple[str, Words]]:
    """GUM's type of each sentence, and its words as `discorag.ingest.segment.verbs` splits them."""
    for file in files:
        kind, words = "", list[tuple[str, bool]]()
        for line in file.read_text("utf-8").split("\n"):
            columns = line.split("\t")
            if line.startswith("# s_type"):
                kind = line.partition(" = ")[2].strip()
            elif len(columns) > 5 and columns[0].isdigit():
                _add(words, columns[1], finite="VerbForm=Fin" in columns[5])
            elif not line and words:
                yield kind, words
                words = []


def _add(words: list[tuple[str, bool]], form: str, *, finite: bool) -> None:
    if words and _CLITIC.fullmatch(form):
        words[-1] = words[-1][0] + form, words[-1][1] or finite
    else:
        words += [(part, finite and not i) for i, part in enumerate(WORD.findall(form))]


def train(labelled: Iterable[Words]) -> NDArray[np.float64]:
    """Weights by AdaGrad on the logistic loss, rounded as they are stored."""
    found = [example for words in labelled for example in _examples(words)]
    weights, squares = np.zeros(SIZE + 1), np.full(SIZE + 1, 1e-6)
    rng = np.random.default_rng(0)
    for _ in range(EPOCHS):
        for at in rng.permutation(len(found)).tolist():
            indices, finite = found[int(at)]
            slope = 1 / (1 + np.exp(-weights[indices].sum())) - finite
            squares[indices] += slope**2
            weights[indices] -= RATE * slope / np.sqrt(squares[indices])
    return np.round(weights, 2)


def _examples(words: Words) -> Iterator[tuple[NDArray[np.int64], bool]]:
    forms = [form for form, _ in words]
    yield from (
        (np.array(sorted(features(forms, i))), finite) for i, (form, finite) in enumerate(words) if form[0].isalpha()
    )


def log_odds(weights: NDArray[np.float64], words: Words) -> float:
    """The log odds of the word that looks most like a finite verb."""
    return max((float(weights[indices].sum()) for indices, _ in _examples(words)), default=-9.0)


def is_held_out(file: Path) -> bool:
    """Whether a document is used only for scoring: one in four, by a digest of its name."""
    return int(digest(file.stem), 16) % 4 == 0


def main(folder: Path) -> None:
    """Train, score and write."""
    files = sorted(folder.glob("*.conllu"))
    weights = train(words for _, words in sentences(f for f in files if not is_held_out(f)))
    WEIGHTS.write_text(json.dumps(np.round(100 * weights).astype(int).tolist(), separators=(",", ":")), "utf-8")
    found = [(kind, log_odds(weights, words)) for kind, words in sentences(filter(is_held_out, files))]
    for kind in ("decl", "imp", "frag"):
        below = np.mean([score < THRESHOLD for k, score in found if k == kind])
        typer.echo(f"{kind}: {below:.3f} have no finite verb")


if __name__ == "__main__":
    typer.run(main)
