"""What is served: the repository's example texts, by corpus, and questions about them."""

from __future__ import annotations

import tomllib
from pathlib import Path

from bench.serving.server import ROOT

EXAMPLES = ROOT / "examples"
MORE = {
    "vitamin-d": ("What is vitamin D?", "Who was in the winter trial?", "What does the guideline recommend?"),
    "tides": ("What is a neap tide?", "How is a tide table read?", "Does the Moon cause the tides?"),
    "bees": ("What does the waggle dance say?", "What do drones do?", "How does a colony survive the winter?"),
    "school-start": ("Why do adolescents sleep late?", "What did the board decide?"),
    "library-handbook": ("How long may a book be kept?", "Who may join the library?"),
}
"""Questions beside those of ``examples/questions.toml``."""


def texts() -> dict[str, dict[str, str]]:
    """Corpus -> file name -> text."""
    folders = sorted(path for path in EXAMPLES.glob("[!_]*") if path.is_dir())
    return {folder.name: {p.name: p.read_text(encoding="utf-8") for p in _files(folder)} for folder in folders}


def questions() -> list[tuple[str, str]]:
    """(corpus, question) pairs."""
    listed = tomllib.loads((EXAMPLES / "questions.toml").read_text(encoding="utf-8"))
    found = [(q["corpus"], q["text"]) for part in listed.values() for q in part]
    return found + [(corpus, text) for corpus, asked in MORE.items() for text in asked]


def _files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.iterdir() if path.is_file())
