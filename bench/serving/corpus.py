"""What is served: the repository's example texts, by corpus."""

from __future__ import annotations

from pathlib import Path

from bench.serving.server import ROOT

EXAMPLES = ROOT / "examples"


def texts() -> dict[str, dict[str, str]]:
    """Corpus -> file name -> text."""
    folders = sorted(path for path in EXAMPLES.glob("[!_]*") if path.is_dir())
    return {folder.name: {p.name: p.read_text(encoding="utf-8") for p in _files(folder)} for folder in folders}


def _files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.iterdir() if path.is_file())
