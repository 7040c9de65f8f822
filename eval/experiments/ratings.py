"""What people rate (Disco-RAG table 5, appendix D): blinded forms, and scores with agreement from filled ones.

A form is a CSV file for a spreadsheet, one line a thing to rate; every rater fills in a copy. ``key.json`` says which
line is of which system, and is not given to raters.
"""

import csv
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from random import Random
from shutil import copyfile
from statistics import fmean
from string import ascii_uppercase
from typing import Any

from discorag.discourse.formats import write_trees
from discorag.generation.prompted.paper import graph_lines
from discorag.schema.answer import AnswerInputs
from eval.errors import DataError
from eval.reporting.report import markdown_table
from eval.reporting.stats import compare

Form = Mapping[str, Mapping[str, int]]
"""A filled form: line -> criterion -> value."""
CRITERIA = ("Relevance", "Simplicity", "Conciseness", "Faithfulness")
VERDICT = "acceptable"
PEOPLE = "human reference"
SCALES = {"ratings": (CRITERIA, ("1", "2", "3")), "acceptable": ((VERDICT,), ("0", "1"))}
"""Kind of form -> what is asked of each line, and the values."""


@dataclass(frozen=True)
class Thing:
    """One thing to rate: of which question, what raters may know of it, the text, and whose it is (not in the form)."""

    item: str
    about: str
    text: str
    whose: str


def structures(item: str, inputs: AnswerInputs) -> list[Thing]:
    """The trees, the graph and the plan of one question, each to be accepted or not."""
    chunks = "\n\n".join(f"CHUNK[{i}] {chunk.text}" for i, chunk in enumerate(inputs.chunks, start=1))
    about = f"{inputs.query}\n\n{chunks}"
    shown = {
        "trees": "\n\n".join(write_trees([chunk], "text") for chunk in inputs.chunks if chunk.tree),
        "graph": graph_lines(inputs.chunks, inputs.graph) if inputs.graph else "",
        "plan": inputs.plan.paragraph if inputs.plan else "",
    }
    return [Thing(item, about, text, kind) for kind, text in shown.items() if text]


def write_form(folder: Path, kind: str, things: Sequence[Thing], seed: int) -> Path:
    """Write form, guidelines and key, the things of each item in random order. Returns the form's path.

    Raises:
        DataError: There is a form already, of other things or filled in; or an item has more things than letters.
    """
    random, (asked, _) = Random(seed), SCALES[kind]
    key: dict[str, str] = {}
    lines = StringIO(newline="")
    form = csv.DictWriter(lines, ["id", "about", "text", *asked])
    form.writeheader()
    for number, item in enumerate(dict.fromkeys(t.item for t in things), start=1):
        own = [t for t in things if t.item == item]
        if len(own) > len(ascii_uppercase):
            raise DataError(f"{item} has {len(own)} texts, more than there are letters.", hint="Rate fewer systems.")
        for letter, thing in zip(ascii_uppercase, random.sample(own, len(own)), strict=False):
            key[f"{number}{letter}"] = thing.whose
            form.writerow({"id": f"{number}{letter}", "about": _cell_of(thing.about), "text": _cell_of(thing.text)})
    path, content = folder / "form.csv", lines.getvalue().encode()
    if path.exists() and path.read_bytes() != content:
        raise DataError(f"{path} is filled in, or of another run.", hint="Move it away; raters fill in copies.")
    folder.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    (folder / "key.json").write_text(json.dumps({"kind": kind, "key": key}, indent=1) + "\n", encoding="utf-8")
    copyfile(Path(__file__).with_name(f"{kind}.md"), folder / "guidelines.md")
    return path


def _cell_of(text: str) -> str:
    """Text that no spreadsheet takes for a formula."""
    return f"'{text}" if text.startswith(("=", "+", "-", "@")) else text


def same_form(folder: Path, form: Path) -> bool:
    """Whether the form is a copy of the folder's."""
    return (folder / "form.csv").is_file() and _texts(folder / "form.csv") == _texts(form)


def table_of_ratings(folder: Path, forms: Sequence[Path], reference: str) -> str:
    """Mean ratings with Fleiss' kappa, as Markdown, and what ``reference`` gains over each system (paired t-test).

    Args:
        folder: With ``key.json``.
        forms: One of each rater, filled in.
        reference: Name of a system.

    Raises:
        DataError: A form is not the folder's, or a line is not filled in.
    """
    written: Any = json.loads((folder / "key.json").read_text(encoding="utf-8"))
    key, (asked, values) = dict[str, str](written["key"]), SCALES[written["kind"]]
    raters = [_read(form, key, asked, values) for form in forms]
    names = list(dict.fromkeys(key.values()))

    def mean(name: str, criterion: str) -> str:
        return _cell(_ratings(raters, key, name, criterion), _ratings(raters, key, reference, criterion))

    def agreement(name: str, criterion: str) -> str:
        return f"{kappa(_ratings(raters, key, name, criterion).values()):.3f}"

    rows = [[name, *(mean(name, c) for c in asked)] for name in names]
    if asked == CRITERIA:
        rows.append(["Fleiss' kappa", *(agreement("", c) for c in asked)])
    else:  # of trees, graphs and plans apart
        rows += [[f"Fleiss' kappa, {name}", agreement(name, VERDICT)] for name in names]
    return markdown_table(["", *asked], rows) + "\n"


def kappa(ratings: Iterable[Sequence[int]]) -> float:
    """Fleiss' kappa; ``ratings``: for each thing the value that each rater gave. NaN where all are the same value."""
    from statsmodels.stats.inter_rater import aggregate_raters, fleiss_kappa

    return float(fleiss_kappa(aggregate_raters([list(values) for values in ratings])[0]))


def _ratings(raters: Sequence[Form], key: Mapping[str, str], name: str, criterion: str) -> dict[str, list[int]]:
    """Line -> what each rater gave it, for the lines of one system, or for all."""
    return {id: [r[id][criterion] for r in raters] for id, whose in key.items() if name in ("", whose)}


def _cell(own: Mapping[str, Sequence[int]], reference: Mapping[str, Sequence[int]]) -> str:
    """The mean; with the p of the paired t-test against the reference over the items that both have."""
    ours, theirs = ({id[:-1]: fmean(values) for id, values in given.items()} for given in (own, reference))
    found, mean = compare(theirs, ours, seed=0), f"{fmean(ours.values()):.2f}"
    return mean if own == reference or found is None or found.p is None else f"{mean} (p {found.p:.3f})"


def _texts(form: Path) -> dict[str, str]:
    with form.open(encoding="utf-8-sig", newline="") as file:
        return {row["id"]: row["text"] for row in csv.DictReader(file)}


def _read(form: Path, key: Mapping[str, str], asked: Sequence[str], values: Sequence[str]) -> Form:
    with form.open(encoding="utf-8-sig", newline="") as file:
        rows = {row["id"]: row for row in csv.DictReader(file)}
    if rows.keys() != key.keys():
        raise DataError(f"{form} is another form.", hint="Fill in a copy of form.csv; keep all lines and their ids.")
    for id, row in rows.items():
        if wrong := [c for c in asked if row[c].strip() not in values]:
            raise DataError(
                f"{form}: line {id}: {wrong[0]} is {row[wrong[0]]!r}.", hint=f"Write one of {', '.join(values)}."
            )
    return {id: {c: int(row[c]) for c in asked} for id, row in rows.items()}
