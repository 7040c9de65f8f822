"""The four baselines: what each call holds, what becomes of it, and what happens when it fails."""

# LangGraph leaves its own generics open:
# pyright: reportUnknownMemberType=false
import re
from pathlib import Path

import pytest

from discorag import AskResult, DiscoRAG
from discorag.config import Settings
from discorag.generation.prompted.paper import MARKERS
from discorag.models.tokens import PackagedTokens
from discorag.schema.errors import ConfigError, InputError
from discorag.schema.ledger import WITHOUT_MODEL
from graphs.baselines import BASELINES
from tests.conftest import Pipelines
from tests.graphs.conftest import Ask, Opened
from tests.graphs.paper_scripts import ANSWER, PLAN, ask_over, fenced, model, name_of, outside, prompt_of, sections
from tests.graphs.scripts import QUERY, write_texts
from tests.inputs import stage_of
from tests.servers.scripted import Body, Scripted, ScriptedServer

LONG = "\n\n".join(f"Paragraph {i} says that trial {i} was short. It had {i} adults in it." * 4 for i in range(30))
TEXTS = {
    "flu.txt": "Daily vitamin D lowered the incidence of influenza by 12 % in deficient adults.",
    "penguins.txt": "Emperor penguins breed on the sea ice of Antarctica during winter.",
    "volcanoes.txt": "A volcano erupts when molten lava rises through the crust.",
}
TWO_QUERIES = "PLAN: First birds, then mountains.\nRETRIEVAL HINT:\n- penguins breeding on ice\n- lava from a volcano"
LONG_QUERY = "volcano " * 400
NAMES = sorted(BASELINES)


@pytest.fixture
def texts(tmp_path: Path) -> Path:
    return write_texts(tmp_path / "texts", TEXTS)


def of_kind(server: ScriptedServer, name: str) -> list[Body]:
    return [r for r in server.requests if name_of(r) == name]


def chunk_texts(rag: DiscoRAG, result: AskResult) -> list[str]:
    return [c.text for c in rag.backends.store.chunks(rag.scope(), [h.chunk_id for h in result.hits])]


@pytest.mark.parametrize(
    ("baseline", "names"),
    [
        ("full-context", ["full-context"]),
        ("retrieve-and-plan", ["retrieve-and-plan"]),
        ("plan-and-retrieve", ["plan-and-retrieve", "retrieved"]),
        ("markers", ["markers", "standard"]),
    ],
)
async def test_a_baseline_makes_its_calls_and_gives_a_whole_result(
    pipeline: Pipelines, texts: Path, baseline: str, names: list[str]
) -> None:
    with ScriptedServer(model()) as server:
        rag = pipeline(llm=server.base_url)
        await rag.aingest(texts)
        events = [e async for e in rag.astream(QUERY, baseline=baseline, instruction="Be <brief>.")]
        assert [name_of(r) for r in server.requests] == names
    result = events[-1]
    assert isinstance(result, AskResult)
    assert result.draft == ANSWER
    assert result.answer.text == ANSWER
    assert len(result.hits) == 3
    assert result.graph is None
    assert (result.ledger.usage.calls, result.ledger.failures) == (len(names), ())
    assert result.ledger.stages[-1].stage == "verify"
    assert [e["token"] for e in events if not isinstance(e, AskResult) and e["event"] == "token"] == [ANSWER]
    for request in server.requests:
        assert "tree" not in outside(request).lower()
        assert fenced(request, "tree") == []
    assert fenced(server.requests[-1], "query") == [QUERY]
    assert fenced(server.requests[-1], "instruction") == ["Be <brief>."]


@pytest.mark.parametrize("baseline", NAMES)
def test_a_baseline_without_a_language_model_is_refused(pipeline: Pipelines, texts: Path, baseline: str) -> None:
    rag = pipeline()
    rag.ingest(texts)
    with pytest.raises(ConfigError, match="DISCO_RAG_MODEL"):
        rag.ask(QUERY, baseline=baseline)


@pytest.mark.parametrize("baseline", ["standard", "", "Markers"])
def test_an_unknown_baseline_is_refused_with_the_names(pipeline: Pipelines, baseline: str) -> None:
    with pytest.raises(InputError, match="full-context, retrieve-and-plan"):
        pipeline().ask(QUERY, baseline=baseline)


@pytest.mark.parametrize("baseline", NAMES)
def test_a_failed_answer_is_an_extractive_draft_and_counted(ask: Ask, baseline: str) -> None:
    bad: dict[str, Scripted | str] = dict.fromkeys(
        ("full-context", "retrieve-and-plan", "retrieved", "standard"), "ANSWER: ..."
    )
    result = ask(model(bad), baseline=baseline).result
    assert [(f.stage, f.kind, f.fallback) for f in result.ledger.failures] == [
        ("generate", "InvalidOutputError", WITHOUT_MODEL)
    ]
    generate = next(s for s in result.ledger.stages if s.stage == "generate")
    assert (generate.engine, generate.usage.calls, generate.usage.repairs) == ("local", 2, 1)
    assert result.answer.sentences
    assert result.answer.problems == ()


def test_fig_13_the_full_context_is_whole_documents_in_order_without_chunk_numbers(
    pipeline: Pipelines, tmp_path: Path
) -> None:
    folder = write_texts(tmp_path / "texts", {"a.txt": LONG, "b.txt": "Short & last."})
    result, [call], _ = ask_over(pipeline, folder, baseline="full-context")
    assert len(result.hits) > 5
    assert [d.split() for d in fenced(call, "document")] == [LONG.split(), ["Short", "&", "last."]]
    assert sections(call) == ["QUERY", "DOCUMENTS"]
    assert "CHUNK" not in prompt_of(call)
    assert fenced(call, "chunk") == []


CONTEXT = 131_072
FILING = "\n\n".join(
    f"第{i}节。营业收入人民币一百二十三亿元，同比增长百分之五点六。\n\n| 项目 | 期末 | 期初 |\n|---|---|---|\n"
    + 12 * "| 交易性金融资产 | 40,082,416.67 | 38,000,000.00 |\n"
    for i in range(313)
)
"""A Chinese filing that is mostly tables: 118 thousand tokens of MiniLM."""


def test_fig_13_documents_are_cut_to_the_context_and_again_where_the_model_counts_more_tokens(tmp_path: Path) -> None:
    folder, counter = write_texts(tmp_path / "texts", {"filing.md": FILING}), PackagedTokens()
    more = {False: 1.0, True: 1.3}  # the model's tokens for one of MiniLM's, by question
    [tokens] = counter.counts([FILING])
    assert 117_000 < tokens < 119_000

    def respond(body: Body) -> Scripted | str:
        [read] = counter.counts([prompt_of(body)])
        if more[QUERY in prompt_of(body)] * read + 1024 > CONTEXT:
            return Scripted(f"This model's maximum context length is {CONTEXT} tokens.", status=400)
        return f"ANSWER: {ANSWER}"

    with ScriptedServer(respond) as server:
        named = {"base_url": server.base_url, "model": "hashed", "api_key": "key"}
        llm = {**named, "cache": None, "context_tokens": CONTEXT}
        settings = Settings.model_validate({"store": {"kind": "memory"}, "llm": llm, "encoder": named})
        with DiscoRAG(settings) as rag:
            rag.ingest(folder, parser="none", retriever="dense")
            [document] = rag.documents()
            results = [rag.ask(query, baseline="full-context") for query in ("营业收入？", QUERY)]
        requests = server.requests
    assert len(requests) == 1 + 3
    assert all("&#124;" not in prompt_of(request) for request in requests)
    for result, fewest in zip(results, (0.95, 0.75), strict=True):
        read, cut = len(result.hits), stage_of(result.ledger, "generate")
        assert result.draft == ANSWER
        assert fewest * document.chunks < read < document.chunks
        assert (cut.engine, [f.fallback for f in cut.failures]) == ("llm", [f"the first {read} chunks"])
        assert f"holds {read} of the documents' {document.chunks} chunks" in result.answer.notes[0]


@pytest.mark.parametrize("baseline", NAMES)
async def test_in_studio_a_baseline_reads_what_the_paper_reads(opened: Opened, baseline: str) -> None:
    with ScriptedServer(model()) as server:
        rag = opened(server)
        state = await BASELINES[baseline].ainvoke({"query": QUERY}, context={"backends": rag.backends})
        bodies = server.requests
    assert {(body.get("use_beam_search"), body.get("n")) for body in bodies} == {(True, 3)}
    stages = {record["stage"]: record for record in state["ledger"]}
    assert stages["verify"]["failures"] == []
    if baseline == "full-context":
        assert list(stages) == ["prepare", "retrieve", "generate", "verify"]
        assert sections(bodies[-1]) == ["QUERY", "DOCUMENTS"]
        assert sorted(fenced(bodies[-1], "document")) == sorted(TEXTS.values())
    elif baseline != "plan-and-retrieve":
        assert stages["prepare"]["decisions"] == ["chunks: the retriever is dense"]
        assert stages["rerank"]["engine"] == "off"


def test_fig_15_plan_and_answer_come_from_one_call_over_the_chunks(ask: Ask) -> None:
    result, [call], rag = ask(baseline="retrieve-and-plan")
    assert sections(call) == ["QUERY", "CHUNKS"]
    assert fenced(call, "chunk") == chunk_texts(rag, result)
    assert result.answer.plan is not None
    assert result.answer.plan.paragraph == PLAN
    assert result.draft == ANSWER


def test_fig_16_the_first_stage_reads_the_query_alone_and_the_second_goes_on_from_it(opened: Opened) -> None:
    with ScriptedServer(model()) as server:
        rag = opened(server)
        result = rag.ask(f" {QUERY}\n", baseline="plan-and-retrieve")
        first, second = server.requests
    assert outside(first).strip() == "QUERY:"
    assert [q.strip() for q in fenced(first, "query")] == [QUERY]
    assert all(text not in prompt_of(first) for text in TEXTS.values())
    assert second["messages"][:1] == first["messages"]
    assert [m["role"] for m in second["messages"]] == ["user", "assistant", "user"]
    assert second["messages"][1]["content"].startswith(f"PLAN: {PLAN}\nRETRIEVAL HINT:\n- ")
    assert sections(second) == ["QUERY", "CHUNKS"]
    assert fenced(second, "chunk") == chunk_texts(rag, result)
    assert result.answer.plan is not None
    assert result.answer.plan.paragraph == PLAN


def test_fig_16_every_query_of_the_hint_is_retrieved_and_not_the_question(ask: Ask) -> None:
    script = model({"plan-and-retrieve": TWO_QUERIES})
    _, (_, second), _ = ask(script, baseline="plan-and-retrieve", top_k=2)
    assert sorted(fenced(second, "chunk")) == sorted([TEXTS["penguins.txt"], TEXTS["volcanoes.txt"]])


@pytest.mark.parametrize(
    ("hint", "failed", "shown"),
    [
        ("I would search for it.", ["plan"], ["flu.txt"]),
        ("PLAN: x\nRETRIEVAL HINT:", ["plan"], ["flu.txt"]),
        (Scripted("down", status=500), ["plan"], ["flu.txt"]),
        (f"PLAN: x\nRETRIEVAL HINT: {LONG_QUERY}", ["plan"], ["flu.txt"]),
        (f"{TWO_QUERIES}\n- {LONG_QUERY}", [], ["penguins.txt", "volcanoes.txt"]),
    ],
    ids=["no form", "no query", "down", "only a long query", "one long query"],
)
def test_fig_16_a_hint_that_fails_is_counted_and_the_question_is_searched(
    opened: Opened, hint: Scripted | str, failed: list[str], shown: list[str]
) -> None:
    with ScriptedServer(model({"plan-and-retrieve": hint})) as server:
        result = opened(server).ask(QUERY, baseline="plan-and-retrieve", top_k=len(shown))
        last = server.requests[-1]
    assert [f.stage for f in result.ledger.failures] == failed
    assert sorted(fenced(last, "chunk")) == sorted(TEXTS[name] for name in shown)
    assert (result.answer.plan is None) == bool(failed) == (name_of(last) == "standard")
    assert result.draft == ANSWER


def test_fig_17_markers_are_asked_for_the_chunks_alone_and_shown_beside_them(opened: Opened) -> None:
    with ScriptedServer(model()) as server:
        rag = opened(server)
        result = rag.ask(QUERY, baseline="markers", instruction="Be brief.")
        asked, answer = server.requests
    assert f"{', '.join(MARKERS)}." in prompt_of(asked)
    assert "NONE" in prompt_of(asked)
    assert not re.search("query|question|brief", prompt_of(asked), re.IGNORECASE)
    assert QUERY not in prompt_of(asked)
    assert outside(asked).split() == ["TEXT", "TO", "ANALYSE:", "CHUNK[1]:", "CHUNK[2]:", "CHUNK[3]:"]
    assert fenced(asked, "chunk") == fenced(answer, "chunk") == chunk_texts(rag, result)
    assert sections(answer)[-2:] == ["CHUNKS", "DISCOURSE MARKERS"]
    assert outside(answer).rstrip().endswith("DISCOURSE MARKERS:\nCHUNK[2] -> CHUNK[1]: however")
    assert len(answer["messages"]) == 1


def test_fig_17_markers_that_fail_are_none_and_counted(opened: Opened) -> None:
    with ScriptedServer(model({"markers": "CHUNK[1] -> CHUNK[2]: hence"})) as server:
        result = opened(server).ask(QUERY, baseline="markers")
        assert len(of_kind(server, "markers")) == 2
        assert outside(server.requests[-1]).rstrip().endswith("DISCOURSE MARKERS:\nNONE")
    assert [(f.stage, f.kind, f.fallback) for f in result.ledger.failures] == [
        ("relate", "InvalidOutputError", "no markers")
    ]
    assert stage_of(result.ledger, "relate").usage.repairs == 1
    assert result.draft == ANSWER
