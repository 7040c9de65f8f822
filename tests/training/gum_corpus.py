"""A corpus in GUM's formats with one invented document in each part."""

from pathlib import Path

DIS = """
( Root (span 1 99)
  ( Satellite (leaf 1) (rel2par organization-heading) (text _!Tea_!) )
  ( Nucleus (span 2 4) (rel2par span)
    ( Nucleus (span 2 3) (rel2par span)
      ( Satellite (leaf 2) (rel2par contingency-condition) (text _!If it 's ( really ) hot ,_!) )
      ( Nucleus (leaf 3) (rel2par span) (text _!wait ._!) ) )
    ( Satellite (leaf 4) (rel2par causal-cause) (text _!It burns ._!) ) ) )
"""
_WORDS = [
    ["Tea"],
    ["If", "it's:it:'s", "(", "really", ")", "hot", ",", "wait", "."],
    ["It", "burns", "."],
]
_TIGHT = {"(", "really", "hot", "wait", "burns"}  # no space behind


def _sentence(words: list[str], new_paragraph: bool) -> str:
    lines = ["# newpar"] if new_paragraph else []
    at = 0
    for word in words:
        parts = word.split(":")[1:] or [word]
        space = "SpaceAfter=No" if word in _TIGHT else "_"
        if len(parts) > 1:
            lines.append("\t".join([f"{at + 1}-{at + len(parts)}", word.split(":")[0], *"______", "_", space]))
        for part in parts:
            at += 1
            lines.append("\t".join([str(at), part, *"______", "_", "_" if len(parts) > 1 else space]))
    return "\n".join(lines)


def corpus(folder: Path, dis: str = DIS) -> Path:
    """Write it; the same document is the training, the development and the test part."""
    for name in ("rst", "dep"):
        (folder / name).mkdir()
    listed = "".join(f"## {part}\n\n  * GUM_news_tea\n  * GUM_reddit_gone\n\n" for part in ("dev", "test", "train"))
    (folder / "splits.md").write_text(listed, encoding="utf-8")
    (folder / "rst" / "GUM_news_tea.dis").write_text(dis, encoding="utf-8")
    conllu = "\n\n".join(_sentence(w, i < 2) for i, w in enumerate(_WORDS))
    (folder / "dep" / "GUM_news_tea.conllu").write_text(conllu, encoding="utf-8")
    return folder
