"""How many lines of hand-written rules about English or Chinese prose the shipped packages have.

Counted are lines of code, without blank lines, comments and docstrings: all of the modules in `RULES`, which decide by
hand what a sentence says; and of those in `PROSE` every table of words (an assignment at module level with six words or
more in its strings). A test sees to it that every other module with such a table is named in `OTHER`: its words are of
file formats, protocols, settings, names and messages. Long lines count
once for each 120 characters. What is learned from data (weights of words in ``weights/``) is no rule, and what only
makes training examples (``training/``) is not shipped.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
RULES = (
    "claims/cues", "claims/effects", "claims/lexicon", "claims/quantities", "claims/words",
    "verification/guards", "disagreement/effects", "disagreement/statement", "disagreement/difference",
)  # fmt: skip
"""Modules of ``discorag`` that are rules from end to end."""
PROSE = (
    "answer/openings", "answer/question", "answer/compression", "answer/realisation",
    "relations/stated", "relations/follow", "relations/passages", "rst/markers", "rst/trained/relabel",
    "text/terms", "text/sentences",
)  # fmt: skip
"""Modules of ``discorag`` that hold tables of words of prose beside what is no rule."""
OTHER = (
    "__init__", "answer/answerable", "answer/features", "answer/wording", "claims/features", "disagreement/features",
    "ingest/attempts", "ingest/bucket", "models/gateway", "models/offline",
    "models/endpoint", "models/onnx", "models/tokens", "prompted/baselines", "prompted/probe",
    "relations/engine", "rst/formats/dis", "rst/formats/table", "rst/gum_labels", "rst/trained/model",
    "store/backup", "store/base", "store/disk/archive", "store/disk/lock", "store/disk/points", "store/payload",
    "store/server/wire", "store/shard", "text/chunks", "text/convert/docx", "text/convert/formats",
    "text/convert/hidden", "text/convert/html", "text/convert/records", "text/convert/unwrap", "text/layout",
    "text/loaders", "text/reading", "text/structure", "text/titles", "trees/registry", "trees/rounds", "types/answer",
    "types/notebook", "types/ledger", "verification/llm", "verification/nli",
)  # fmt: skip
"""Modules of ``discorag`` with tables of words that are not rules about prose."""
WIDTH = 120
_WORDS = 6
_WORD = re.compile(r"[a-z]{2,}|[\u4e00-\u9fff]+")


def rule_lines() -> int:
    """Of all of it."""
    return sum(lines_by_module().values())


def lines_by_module() -> dict[str, int]:
    """Module -> its lines, those with none left out."""
    found: dict[str, int] = {}
    for name in RULES:
        found[name] = code_lines((ROOT / "discorag" / f"{name}.py").read_text("utf-8"))
    for name in PROSE:
        found[name] = sum(length for _, length in tables((ROOT / "discorag" / f"{name}.py").read_text("utf-8")))
    return {name: n for name, n in found.items() if n}


def code_lines(source: str) -> int:
    """Lines of a module without blank lines, comments and docstrings."""
    skipped = {line for node in ast.walk(ast.parse(source)) for line in _docstring(node)}
    kept = (line for n, line in enumerate(source.splitlines(), 1) if n not in skipped)
    return sum(_length(line) for line in kept if line.strip() and not line.strip().startswith("#"))


def tables(source: str) -> Iterator[tuple[str, int]]:
    """Name and lines of each assignment at module level whose strings hold six words or more."""
    lines = source.splitlines()
    for node in ast.parse(source).body:
        if isinstance(node, ast.Assign | ast.AnnAssign) and node.value and len(_words(node.value)) >= _WORDS:
            name = ast.unparse(node.targets[0] if isinstance(node, ast.Assign) else node.target)
            yield name, sum(map(_length, lines[node.lineno - 1 : node.end_lineno]))


def _length(line: str) -> int:
    return max(1, -(-len(line) // WIDTH))


def _words(value: ast.AST) -> list[str]:
    strings = (c.value for c in ast.walk(value) if isinstance(c, ast.Constant) and isinstance(c.value, str))
    return [word for text in strings for word in _WORD.findall(text)]


def _docstring(node: ast.AST) -> range:
    """The lines of a string that stands as a statement."""
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
        return range(node.lineno, (node.end_lineno or node.lineno) + 1)
    return range(0)
