"""RDR²'s published router, which writes tagged lines and has an endpoint of its own, drives the walk."""

from pathlib import Path
from typing import Any

from discorag import DiscoRAG
from discorag.config import ModelRoles, StoreSettings, read_settings
from tests.inputs import stage_of
from tests.servers.scripted import ScriptedServer

QUESTION = "How tall is the highest mill on the river?"
PAGE = """<html><head><title>Alder Valley</title></head><body><main><h1>Alder Valley</h1>
<p>Alder Valley has a mill at every bend of the river.</p>
<h2>History</h2><h3>1800s</h3><p>In 1850 the highest mill on the river was the Old Mill. It burned down.</p>
<h3>1900s</h3><p>After 1900 each mill on the river was electrified.</p>
<h2>Records</h2><p>Weir House, 41 metres, was built in 1931.</p><p>Ford House is from 1702.</p>
<h2>Gallery</h2><h3>Postcards</h3><p>Postcards are kept at the town hall.</p>
<h2>Roads</h2><p>A road follows the river from mill to mill.</p>
</main></body></html>"""
BEES = "# Bees\n\nBees nest high in a tall tree by the mill on the river.\n\n## Honey\n\nHoney keeps well."
REPLIES = {
    "After 1900": "[EXPAND] 7: ==Records==\n[EXPAND] 11: ===Postcards===",
    "In 1850": "[ANSWER] 4: In 1850 the",
    "Weir House": "[ANSWER] 8: Weir House, 41",
}
"""By a passage that is shown; everything else is refused."""
STARTS = ("Alder Valley has a mill", "In 1850", "After 1900", "A road follows", "Bees nest")


def router(body: dict[str, Any]) -> str:
    document = body["messages"][-1]["content"]
    return next((reply for shown, reply in REPLIES.items() if shown in document), "Cannot answer")


def test_the_published_router_starts_from_each_passage_unfolds_several_headings_and_refuses(tmp_path: Path) -> None:
    pages = tmp_path / "pages"
    pages.mkdir()
    (pages / "alder.html").write_text(PAGE, encoding="utf-8")
    (pages / "bees.md").write_text(BEES, encoding="utf-8")
    with ScriptedServer(router) as routes, ScriptedServer(lambda _: "Weir House has 41 metres [1].") as reader:

        def ask(name: str) -> tuple[Any, int]:
            """What the reader of this name answers, and how often the router was asked for it."""
            before, base = len(routes.requests), read_settings()
            settings = base.model_copy(
                update={
                    "store": StoreSettings(path=tmp_path / "store"),
                    "models": ModelRoles(router=f"{routes.base_url}#rdr2_llama3.1_8b_inst"),
                    "llm": base.llm.model_copy(update={"cache": None, "retries": 0}),
                }
            )
            with DiscoRAG(settings, llm=f"{reader.base_url}#{name}") as rag:
                rag.ingest(pages, parser="rules", retriever="dense")
                result = rag.ask(QUESTION, preset="rdr2", retriever="rdr2-passages", node_k=5)
                texts = [c.text for c in rag.backends.store.chunks(rag.scope(), [h.chunk_id for h in result.hits])]
            return (result, texts), len(routes.requests) - before

        (result, texts), asked = ask("small")
        (other, _), _ = ask("large")
    documents = [body["messages"][-1]["content"].split("<document>\n")[-1] for body in routes.requests[:asked]]
    assert len(documents) == 7
    for passage in (*STARTS, "Weir House", "Postcards are"):
        assert sum(passage in document for document in documents) == 1
    assert any("\t7: ==Records==\n\t10: ==Gallery==\n\t\t11: ===Postcards===\n" in d for d in documents)
    evidence = " ".join(texts)
    assert "In 1850" in evidence
    assert "Weir House, 41 metres" in evidence
    assert "Bees" not in evidence
    assert {body["model"] for body in routes.requests} == {"rdr2_llama3.1_8b_inst"}
    assert [body["model"] for body in reader.requests[:1]] == ["small"]
    trees = [stage_of(r.ledger, "retrieve").counts["trees built"] for r in (result, other)]
    assert trees == [2, 0]
