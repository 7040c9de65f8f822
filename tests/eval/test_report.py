import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from discorag.schema.errors import Usage
from discorag.schema.ledger import Failure, Ledger, StageRecord
from discorag.schema.values import Span
from eval.errors import DataError
from eval.reporting.page.samples import DRILL_DOWN
from eval.reporting.report import write_report
from eval.running.record import Lost, Record
from eval.sample import Benchmark, DocSpan, Sample, SourceDocument
from tests.eval.runs import write

VOID = {"meta", "br", "path", "use", "rect", "line", "circle"}
ATTACK = "<script>alert(1)</script>"


class Page(HTMLParser):
    """Elements with attributes, visible text, and a check that tags are closed in order."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.html = html
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.words: list[str] = []
        self.feed(html)
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        if tag not in VOID:
            assert self.open.pop() == tag, self.getpos()

    def handle_data(self, data: str) -> None:
        if "style" not in self.open:
            self.words.append(data)

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.words).split())

    def rows(self) -> list[str]:
        found = re.findall(r"<tr.*?</tr>", self.html, flags=re.DOTALL)
        return [" ".join(re.sub(r"<[^>]*>", " ", row).split()) for row in found]


def record(sample: str, system: str, em: float, **fields: Any) -> Record:
    return Record.model_validate({"sample": sample, "system": system, "scores": {"em": em}, **fields})


def better(folder: Path, **changes: Any) -> Path:
    """Four questions: ``plain`` 10, 20, 30, 40; ``disco`` each 5 more; ``noise`` 10 more or 10 less."""
    records = [record(f"q{i}", "plain", 10.0 * i) for i in range(1, 5)]
    records += [record(f"q{i}", "disco", 10.0 * i + 5) for i in range(1, 5)]
    records += [record(f"q{i}", "noise", 10.0 * i + (10 if i % 2 else -10)) for i in range(1, 5)]
    return write(folder, records, **changes)


def page(out: Path, *folders: Path, texts: bool = False, **more: Any) -> Page:
    write_report(folders, out / "report.html", texts=texts, **more)
    return Page((out / "report.html").read_text(encoding="utf-8"))


def benchmark(*ids: str) -> Benchmark:
    text = "A lighthouse stood there. " * 40
    documents = {"d1": SourceDocument(id="d1", title="Coast", text=text.strip())}
    return Benchmark(
        name="toy",
        documents=documents,
        samples=tuple(Sample(id=i, query=f"Who built {i}?", references=(f"Reference of {i}",)) for i in ids),
    )


def test_page_loads_nothing_and_runs_nothing(tmp_path: Path) -> None:
    found = page(tmp_path, better(tmp_path / "run"))
    tags = {tag for tag, _ in found.elements}
    assert tags.isdisjoint({"script", "link", "img", "iframe", "object", "image", "base"})
    links = [a[name] for _, a in found.elements for name in ("href", "src", "xlink:href") if name in a]
    assert links
    assert all(link and link.startswith("#") for link in links)
    assert not re.search(r"https?:|@import|url\((?!#)", found.html)


def test_every_local_link_and_label_has_its_one_target(tmp_path: Path) -> None:
    found = page(tmp_path, better(tmp_path / "a"), better(tmp_path / "b", suite="other/1"))
    ids = [a["id"] for tag, a in found.elements if "id" in a and tag != "path"]
    outside = [a.get("href") or "" for tag, a in found.elements if tag == "a"]
    labels = [a["aria-labelledby"] for _, a in found.elements if "aria-labelledby" in a]
    assert {link.removeprefix("#") for link in outside} | {str(label) for label in labels} <= {str(i) for i in ids}


def test_means_and_paired_differences_stand_in_the_table(tmp_path: Path) -> None:
    rows = page(tmp_path, better(tmp_path / "run")).rows()
    # plain: 100 / 4 = 25; disco: 30, every difference 5, so the interval is 5 to 5.
    assert "plain baseline 25.0 n 4" in rows
    assert "disco 30.0 n 4 +5.0 [+5.0, +5.0]" in rows


def test_only_intervals_that_exclude_zero_are_coloured(tmp_path: Path) -> None:
    found = page(tmp_path, better(tmp_path / "run"))
    tones = {re.sub(r"\s*<.*", "", rest): tone for tone, rest in re.findall(r'class="delta (\w*)">([^<]*)', found.html)}
    assert tones == {"+5.0 ": "better", "+0.0 ": ""}
    worse = page(tmp_path, tmp_path / "run", baseline="disco")
    assert 'class="delta worse">−5.0' in worse.html


def test_missing_metric_is_listed_with_its_reason_and_is_no_zero(tmp_path: Path) -> None:
    records = [record("q1", "plain", 50.0), Record(sample="q1", system="disco", unscored={"em": "prose"})]
    folder = write(
        tmp_path / "run", records, missing={"bertscore": "no model is configured"}, skipped={"big": "no GPU"}
    )
    found = page(tmp_path, folder)
    assert "bertscore (all systems): no model is configured" in found.text
    assert "em (disco): none of 1 answers could be scored" in found.text
    assert "big was not run: no GPU" in found.text
    assert "disco — no value" in found.rows()


def test_header_says_what_was_run(tmp_path: Path) -> None:
    folder = better(
        tmp_path / "run",
        versions={"torch": "2.13"},
        hardware={"cpu": "two cores"},
        note="Not comparable.",
        finished=False,
    )
    text = page(tmp_path, folder).text
    for expected in (
        "development split, subset",
        "n = 4",
        "torch",
        "2.13",
        "two cores",
        "Not comparable.",
        "Unfinished",
    ):
        assert expected in text
    assert re.search(r"page written \d{4}-\d\d-\d\d", text)


def test_lost_evidence_is_shown_by_stage_and_system(tmp_path: Path) -> None:
    lost = tuple(Lost(label="g", stage=stage) for stage in ("retrieve", "retrieve", "plan"))
    found = page(tmp_path, write(tmp_path / "run", [record("q1", "disco", 1.0, lost=lost, found=1)]))
    # Four pieces: one found, none missing, two lost at retrieve, one at plan.
    assert "disco 4 1 25.0 % 0 0.0 % 2 50.0 % 1 25.0 % 0 0.0 % 0 0.0 %" in found.rows()
    assert "var(--retrieve)" in found.html.split("</style>")[1].split("<table>")[2]


def test_cost_failures_and_errors_are_shown(tmp_path: Path) -> None:
    failures = (Failure(stage="plan", kind="InvalidOutputError", message="m"),) * 2
    stage = StageRecord(stage="plan", usage=Usage(tokens_in=1200, tokens_out=34, calls=3), failures=failures)
    records = [record("q1", "disco", 1.0, ledger=Ledger(stages=(stage,)), seconds=2.5, answer="two words")]
    records.append(Record(sample="q2", system="disco", error="ModelError: gone", seconds=2.5))
    found = page(tmp_path, write(tmp_path / "run", records))
    assert "disco 1 200 34 3 2.5 2 1 InvalidOutputError 2" in found.rows()
    assert "no answer: ModelError" in found.text
    assert "gone" not in found.text


def test_markup_in_any_text_is_escaped(tmp_path: Path) -> None:
    records = [record(ATTACK, ATTACK, 1.0, answer=ATTACK, plan=ATTACK, error=ATTACK, unscored={ATTACK: ATTACK})]
    folder = write(tmp_path / "run", records, note=ATTACK, dropped={ATTACK: 1}, skipped={ATTACK: ATTACK}, suite=ATTACK)
    documents = {"d1": SourceDocument(id="d1", title=ATTACK, text=ATTACK)}
    sample = Sample(id=ATTACK, query=ATTACK, references=(ATTACK,))
    data = Benchmark(name="toy", documents=documents, samples=(sample,))
    found = page(tmp_path, folder, texts=True, benchmarks={folder: data})
    assert "script" not in {tag for tag, _ in found.elements}
    assert "<script" not in found.html
    assert ATTACK in found.text


def test_texts_are_shown_only_when_asked_for(tmp_path: Path) -> None:
    place = DocSpan(doc="d1", span=Span(start=0, end=900))
    fields: dict[str, Any] = {"answer": "SECRET answer", "plan": "SECRET plan", "evidence": (place,)}
    fields |= {"unscored": {"judge": "SECRET reason"}, "lost": (Lost(label="SECRET label", stage="plan"),)}
    folder = write(tmp_path / "run", [record("q1", "disco", 1.0, error="E: SECRET", **fields)])
    data = {folder: benchmark("q1")}
    public = page(tmp_path, folder, benchmarks=data)
    assert not re.search("SECRET|lighthouse|Who built|Reference of", public.html)
    assert "the data sets forbid redistribution" in public.text
    private = page(tmp_path, folder, texts=True, benchmarks=data)
    for expected in ("SECRET answer", "SECRET plan", "SECRET reason", "Who built q1?", "Reference of q1", "Coast"):
        assert expected in private.text
    # An excerpt ends after 400 of its 900 characters: 15 whole sentences of 26, and a beginning.
    assert private.text.count("lighthouse") == 15
    assert "keep it to yourself" in private.text


def test_data_of_another_run_is_refused(tmp_path: Path) -> None:
    folder = write(tmp_path / "run", [record("q1", "disco", 1.0)])
    with pytest.raises(DataError, match="no sample q1"):
        page(tmp_path, folder, texts=True, benchmarks={folder: benchmark("q2")})
    place = DocSpan(doc="gone", span=Span(start=0, end=1))
    other = write(tmp_path / "other", [record("q1", "disco", 1.0, evidence=(place,))])
    with pytest.raises(DataError, match="no document gone"):
        page(tmp_path, other, texts=True, benchmarks={other: benchmark("q1")})


def test_large_run_shows_the_samples_that_differ_most_and_says_so(tmp_path: Path) -> None:
    n = DRILL_DOWN + 10
    records = [record(f"q{i:03}", "plain", 0.0) for i in range(n)]
    records += [record(f"q{i:03}", "disco", float(i)) for i in range(n)]
    found = page(tmp_path, write(tmp_path / "run", records))
    shown = re.findall(r'class="id">([^<]*)', found.html)
    assert shown == [f"q{i:03}" for i in reversed(range(10, n))]
    assert f"The {DRILL_DOWN} of {n} questions with the largest difference" in found.text


def test_published_run_without_records_makes_the_same_numbers(tmp_path: Path) -> None:
    folder = better(tmp_path / "run")
    whole = page(tmp_path, folder)
    (folder / "samples.jsonl").unlink()
    assert page(tmp_path, folder).html == whole.html


def test_strata_are_broken_down(tmp_path: Path) -> None:
    from eval.running.summary import summarise

    records = [record("q1", "disco", 20.0), record("q2", "disco", 40.0)]
    strata = {"q1": {"level": "1"}, "q2": {"level": "2"}}
    folder = write(tmp_path / "run", records, systems={"disco": summarise(records, strata, {})})
    found = page(tmp_path, folder)
    assert "By level" in found.text
    assert {"1 disco 20.0 n 1", "2 disco 40.0 n 1"} <= set(found.rows())


def test_run_without_summaries_is_still_a_page(tmp_path: Path) -> None:
    found = page(tmp_path, write(tmp_path / "run", [], finished=False))
    assert "No system has been summarised yet." in found.text


def test_unknown_baseline_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no system ghost"):
        page(tmp_path, better(tmp_path / "run"), baseline="ghost")


def test_wide_tables_scroll_by_keyboard_and_plots_have_labels(tmp_path: Path) -> None:
    found = page(tmp_path, better(tmp_path / "run"))
    regions = [a for _, a in found.elements if a.get("role") == "region"]
    assert regions
    assert all(a.get("tabindex") == "0" and a.get("aria-label") for a in regions)
    assert found.html.count("<table") == len(regions)
    assert all(a.get("aria-label") for tag, a in found.elements if tag == "svg")
