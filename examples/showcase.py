"""``make site``: one HTML file that shows audits of folders, and answers next to plain retrieval.

``python examples/showcase.py FOLDER ...``: each folder is audited; without any, the example corpora are. Documents that
were read are stored, so an interrupted run resumes.
"""

from __future__ import annotations

import sys
import tomllib
from html import escape
from pathlib import Path

from discorag import DiscoRAG
from discorag.conflicts.verdicts import Tier
from interfaces.audit import AuditReport
from interfaces.cli.present import Bar
from interfaces.views.audit import audit_html

EXAMPLES = Path(__file__).parent
PAGE = Path(".disco-rag/site/index.html")
PASSAGES = 2


def main(folders: list[Path]) -> None:
    """Ask the demo's questions, audit the folders, write the page."""
    corpora = folders or sorted(path for path in EXAMPLES.iterdir() if path.is_dir())
    questions = tomllib.loads((EXAMPLES / "questions.toml").read_text("utf-8"))["question"]
    with DiscoRAG() as rag:
        answers = "".join(answer_html(rag, question["text"], question["corpus"]) for question in questions)
        audits = [audit_folder(rag, folder) for folder in corpora]
    audits.sort(key=lambda r: (-len(r.contradictions), -sum(f.tier is Tier.SURE for f in r.open)))
    PAGE.parent.mkdir(parents=True, exist_ok=True)
    appendix = f"<h1>Answers without a language model, next to plain retrieval</h1>{answers}"
    PAGE.write_text(audit_html(*(a for a in audits if a.open), appendix=appendix), "utf-8")
    sys.stdout.write(f"{PAGE}\n")


def audit_folder(rag: DiscoRAG, folder: Path) -> AuditReport:
    """What disagrees in a folder."""
    name = folder.resolve().name
    with Bar(f"Ingest {name}") as bar:
        rag.ingest_for_audit(folder, progress=bar.on_event)
    with Bar(f"Audit {name}") as bar:
        return rag.audit(corpus=name, progress=bar.show)


def answer_html(rag: DiscoRAG, question: str, corpus: str) -> str:
    """The answer with the conflicts of its sources, next to the passages that a plain retrieval returns."""
    rag.ingest(EXAMPLES / corpus, corpus=corpus)
    answer = rag.ask(question, corpus=corpus).answer
    hits = rag.ask(question, corpus=corpus, retriever="dense", use_graph=False).hits[:PASSAGES]
    passages = rag.backends.store.chunks(rag.scope(corpus=corpus), [hit.chunk_id for hit in hits])
    conflicts = "".join(
        f"<p>{escape(d.reason)}<br>{escape(d.a.text)}<br>{escape(d.b.text)}</p>" for d in answer.disagreements
    )
    plain = "".join(f"<p>{escape(chunk.text)}</p>" for chunk in passages)
    return (
        f'<article><h3>{escape(question)}</h3><div class="sides"><div><b>Disco-RAG</b><p>{escape(answer.text)}</p>'
        f"{conflicts}</div><div><b>Plain retrieval</b>{plain}</div></div></article>"
    )


if __name__ == "__main__":
    main([Path(argument) for argument in sys.argv[1:]])
