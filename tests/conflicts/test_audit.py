"""Where documents disagree: the audit of a corpus through `DiscoRAG`."""

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest
from sqlalchemy import select

from discorag import DiscoRAG
from discorag.config import StoreSettings
from discorag.conflicts.audit import RULES
from discorag.conflicts.audit import audit as find_disagreements
from discorag.conflicts.statements import AuditDocument
from discorag.models.memo import MemoEncoder
from discorag.models.protocol import Encoder
from discorag.schema.discourse import ChunkRelation
from discorag.schema.errors import InputError
from discorag.schema.values import Vectors
from discorag.store.backup import backup, restore
from discorag.store.findings import Findings
from discorag.store.store import open_store
from discorag.store.tables import findings
from interfaces.audit import AuditReport, read_documents
from interfaces.views.audit import audit_html, audit_text, group_findings
from interfaces.views.code_review import audit_sarif
from tests.conftest import Pipelines

POLICY = """# Refund policy

Customers may return a product within 30 days of delivery.
Refunds are paid to the original card by Anna Berg.
Shipping is free for orders above 50 euros.
Sale items can be returned if the seal is intact.
"""
LEAFLET = """# Shop leaflet

Customers may return a product within 14 days of delivery.
Refunds are paid to the original card by Carl Holm.
Shipping is free for orders above 50 euros.
Sale items can be returned unless the seal is intact.
"""


def write(folder: Path, **texts: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in texts.items():
        (folder / f"{name}.md").write_text(text, "utf-8")
    return folder


def audit(rag: DiscoRAG, folder: Path) -> AuditReport:
    rag.ingest_for_audit(folder)
    return rag.audit(corpus=folder.name)


def test_audit_reports_values_names_and_conditions(pipeline: Pipelines, tmp_path: Path) -> None:
    report = audit(pipeline(), write(tmp_path / "shop", policy=POLICY, leaflet=LEAFLET))
    assert [(f.tier, f.verdict, f.kind) for f in report.findings] == [
        ("sure", "contradicts", "duration"),
        ("possible", "contradicts", "polarity"),
        ("possible", "contradicts", "name"),
    ]
    sure = report.contradictions[0]
    assert sure.reason == '"Refund policy" says 30 days, "Shop leaflet" says 14 days.'
    assert [side.quote[span.start : span.end] for side in (sure.left, sure.right) for span in side.lit] == [
        "30 days",
        "14 days",
    ]
    document = (tmp_path / "shop" / "policy.md").read_text("utf-8")
    assert document[sure.left.span.start : sure.left.span.end] == sure.left.quote


@pytest.mark.parametrize(
    ("first", "second", "verdict", "reason"),
    [
        (
            "version: 1.0",
            "version: 2.0",
            "replaced",
            "Changed from 30 days to 14 days between version 1.0 and version 2.0.",
        ),
        ("period: 2021", "period: 2022", "differs", "the documents report on 2021 and on 2022."),
        ("status: superseded", "author: x", "replaced", "is marked as superseded."),
        ("author: x", "status: superseded", "replaced", '"Shop leaflet" is marked as superseded.'),
        ("status: draft", "author: x", "differs", "is marked as draft."),
        ("date: 2021-05-01", "date: 2022-05-01", "contradicts", "says 14 days and is newer."),
        ("date: 2022-05-01", "date: 2021-05-01\nversion: 1.0", "contradicts", "says 14 days."),
    ],
)
def test_document_identity_explains(
    pipeline: Pipelines, tmp_path: Path, first: str, second: str, verdict: str, reason: str
) -> None:
    texts = {n: f"---\n{head}\n---\n{text}" for n, head, text in (("a", first, POLICY), ("b", second, LEAFLET))}
    finding = audit(pipeline(), write(tmp_path / "shop", **texts)).findings[0]
    assert finding.verdict == verdict
    assert finding.reason.endswith(reason)
    assert "superseded" not in finding.right.identity  # the left one is the older


@pytest.mark.parametrize(
    ("text", "one", "other"),
    [
        ("Version {}, June 1991\n\nThe press may print the work under version {} of the Hart licence.", "2", "3"),
        ("# Annual report {}\n\nThe press of Anna Hart sold fewer printed books in {} than ever.", "2021", "2022"),
        ("Last updated: {}\n\nThe prices of Anna Hart's press hold from {} in all shops.", "2021-05-01", "2022-05-01"),
        ("Version {0}.6\n\nThe press mends all the faults that Anna Hart found in version {0}.5.", "1.7", "1.9"),
        ("Version {0}.6\n\nThe press keeps all the faults that Anna Hart found until version {0}.7", "1.7", "1.9"),
        ("Hart press\n\nCreated by the tools of Anna Hart, version {}.", "3.4.3", "8.1.3"),
        ("Hart press\n\nThis document was generated on {} by the tools of Anna Hart.", "4 May 2021", "6 May 2022"),
        ("Hart press\n\nThe {0} is made for printers. The {0} may be lent. You may sell the {0} again.", "Book", "Map"),
        ("# {0}\n\nAll printers in the town of Anna Hart use {0}. Some like Silk or Rag.", "Silk", "Rag"),
    ],
)
def test_what_names_a_document_is_no_finding(
    pipeline: Pipelines, tmp_path: Path, text: str, one: str, other: str
) -> None:
    texts = {name: text.format(value, value) for name, value in (("a", one), ("b", other))}
    assert not audit(pipeline(), write(tmp_path / "licences", **texts)).findings


def test_explicit_times_explain(pipeline: Pipelines, tmp_path: Path) -> None:
    one = "# Report A\n\nIn 2021 the average rent of the flats in the district was 900 euros."
    other = "# Report B\n\nIn 2022 the average rent of the flats in the district was 950 euros."
    (finding,) = audit(pipeline(), write(tmp_path / "rents", one=one, other=other)).findings
    assert (finding.verdict, finding.kind) == ("differs", "money")


@pytest.mark.parametrize(
    ("one", "other", "tier"),
    [
        ("The median age was 40 years.", "The median age was 38 years.", "possible"),
        ("The median age of tenants was 40 years.", "The median age of tenants was 38 years.", "sure"),
        ("In Bergen the fee is 20 euros and the fine 10 euros.", "In Bergen the fee is 30 euros.", "none"),
        ("Profits were $10 and $20, respectively.", "Profits were $20.", "none"),
        ("The key is read by ``a`` (since disco 1.4).", "The key is read by ``a`` (since disco 1.7).", "differs"),
        ("The fee for members is 20 euros in this case.", "The fee for members is 30 euros in this case.", "possible"),
        ("For example, the fee for members is 20 euros.", "For example, the fee for members is 30 euros.", "possible"),
        ("## Examples\n\nIn Bergen the fee is 20 euros.", "## Fees\n\nIn Bergen the fee is 30 euros.", "possible"),
        ("Fees of all members\n:   4.2.1.", "Fees of all members\n:   4.5.1.", "none"),
        ("44 pay the fee to Anna,\n\n45 ask for her note", "54 pay the fee to Anna,\n\n55 ask for her note", "none"),
        ("shelve.open_all(10, the fee is due)", "shelve.open_all(20, the fee is due)", "none"),
        ("The tool needs PyPy 1.6.0 on Windows.", "The tool needs Python 3.8.0 on Windows.", "none"),
        ("84 printf(stderr, the fee is due);", "82 printf(stderr, the fee is due);", "none"),
        ("See the set gcc-defaults since Debian 3.0.", "See the set llvm-defaults since Debian 6.0.", "none"),
    ],
)
def test_how_sure_a_finding_is(pipeline: Pipelines, tmp_path: Path, one: str, other: str, tier: str) -> None:
    report = audit(pipeline(), write(tmp_path / "town", one=f"# Report\n\n{one}\n", other=f"# Leaflet\n\n{other}\n"))
    found = [f.tier.value if f.verdict == "contradicts" else f.verdict.value for f in report.findings]
    assert (found or ["none"]) == [tier]


def test_manual_pages_and_releases_of_two_things_are_not_compared(pipeline: Pipelines, tmp_path: Path) -> None:
    text = "The current format version of the archive is {}.0.\n"
    pages = {name: f"# {name}(5)\n\n{text.format(i)}" for i, name in enumerate(("deb", "deb-split"), 2)}
    assert not audit(pipeline(), write(tmp_path / "pages", **pages)).findings
    for i, release in enumerate(("chalk-1.0.0", "ora-1.0.0", "ora-2.0.0"), 2):
        write(tmp_path / "releases" / release / "a" / "b", guide=text.format(i))
    (finding,) = audit(pipeline(), tmp_path / "releases").findings
    assert (finding.left.identity, finding.right.identity) == ("ora, version 1.0.0", "ora, version 2.0.0")


def test_between_two_pages_of_one_release_a_finding_is_only_possible(pipeline: Pipelines, tmp_path: Path) -> None:
    texts = {name: f"The import of all orders takes {hours} hours." for name, hours in (("night", 10), ("day", 12))}
    write(tmp_path / "releases" / "ora-1.0.0", **texts)
    assert [f.tier for f in audit(pipeline(), tmp_path / "releases").findings] == ["possible"]


def test_a_page_is_compared_with_another_of_the_next_release_only_if_it_was_renamed(
    pipeline: Pipelines, tmp_path: Path
) -> None:
    rag, folder = pipeline(), tmp_path / "releases"
    write(folder / "ora-1.0.0a", guide="The import of all orders takes 10 hours at night.")
    new = write(folder / "ora-2.0.0", guide="Ora prints.", tour="The import of all orders takes 12 hours at night.")
    assert not audit(rag, folder).findings
    (new / "guide.md").rename(new / "start.md")
    assert len(audit(rag, folder).findings) == 1
    (new / "start.md").rename(new / "guide.md")
    assert not audit(rag, folder).findings


def test_between_releases_a_list_is_sure_and_a_new_name_and_the_value_of_an_example_are_possible(
    pipeline: Pipelines, tmp_path: Path
) -> None:
    text = (
        "The channel of the project, which is open to all, is located at the {} network.\n"
        "For example, the import of orders takes {} hours.\n"
        "Ora supports Python {python} on all systems.\n"
        "Python {python} must be there before Ora.\n"
        "The press reads each order from the class `{}.Request` at night.\n"
    )
    old = text.format("`Freenode`", 10, "http", python="2.7, 3.4, 3.5")
    new = text.format("`Libera Chat`", 12, "ora.web", python="3.4, 3.5, 3.6 and 3.7")
    for release, guide in (("ora-1.0.0", old), ("ora-2.0.0", new)):
        write(tmp_path / "releases" / release, **{"v2-guide": guide})
    found = audit(pipeline(), tmp_path / "releases").findings
    assert {(f.tier, f.verdict, f.reason) for f in found} == {
        ("possible", "replaced", "Changed from Freenode to Libera Chat between version 1.0.0 and version 2.0.0."),
        ("possible", "replaced", "Changed from 10 hours to 12 hours between version 1.0.0 and version 2.0.0."),
        (
            "sure",
            "replaced",
            "Changed from 2.7, 3.4, 3.5 to 3.4, 3.5, 3.6 and 3.7 between version 1.0.0 and version 2.0.0.",
        ),
    }
    assert (len(found), len(group_findings(found))) == (4, 3)


def test_nothing_within_one_file_or_said_in_both(pipeline: Pipelines, tmp_path: Path) -> None:
    both = POLICY + "\nCustomers may return a product within 14 days of delivery.\n"
    report = audit(pipeline(), write(tmp_path / "shop", one=both, other=LEAFLET.replace("Carl Holm", "Anna Berg")))
    assert not [f for f in report.findings if f.kind == "duration"]


def test_only_changes_are_compared_again_and_settled_findings_stay(pipeline: Pipelines, tmp_path: Path) -> None:
    rag, folder = pipeline(), write(tmp_path / "shop", policy=POLICY, leaflet=LEAFLET)
    first = audit(rag, folder)
    rag.settle(first.findings[0].id, "The leaflet is out of date.", corpus="shop")
    write(folder, other="# Opening hours\n\nThe shop opens at nine.")
    second = audit(rag, folder)
    assert second.findings == first.findings
    assert len(second.open) == len(first.findings) - 1
    write(folder, leaflet=LEAFLET.replace("14 days", "30 days"))
    third = audit(rag, folder)
    assert {f.kind for f in third.findings} == {"name", "polarity"}
    (folder / "leaflet.md").unlink()
    assert not audit(rag, folder).findings


def test_against_compares_two_folders_only(pipeline: Pipelines, tmp_path: Path) -> None:
    rag = pipeline()
    rag.ingest_for_audit(write(tmp_path / "drafts", draft=LEAFLET, second=POLICY.replace("30 days", "60 days")))
    rag.ingest_for_audit(write(tmp_path / "policies", policy=POLICY))
    report = rag.audit(corpus="drafts", against="policies")
    assert {f.kind for f in report.findings} == {"duration", "name", "polarity"}
    assert all("policy.md: Refund policy" in {f.left.title, f.right.title} for f in report.findings)


def test_views_show_every_finding(pipeline: Pipelines, tmp_path: Path) -> None:
    leaflet = LEAFLET.replace("of delivery", "of delivery if it is [sealed](https://seal.example)")
    report = audit(pipeline(), write(tmp_path / "shop", policy=POLICY.replace("card", "<b>card</b>"), leaflet=leaflet))
    html, sarif = audit_html(report), audit_sarif(report, tmp_path)
    assert html.count("<article>") == len(report.findings) == len(sarif["runs"][0]["results"])
    assert "<mark>30 days</mark>" in html
    assert "Limits: if it is sealed" in html
    assert "seal.example" not in html
    assert "<b>" not in html
    assert "<script" not in html
    region = sarif["runs"][0]["results"][0]["locations"][0]["physicalLocation"]["region"]
    assert region["snippet"]["text"] == report.findings[0].left.quote
    assert json.dumps(sarif)
    assert audit_text(report)


def test_an_audit_in_a_new_process_encodes_nothing(pipeline: Pipelines, tmp_path: Path, monkeypatch: Any) -> None:
    folder = write(tmp_path / "shop", policy=POLICY, leaflet=LEAFLET)
    with pipeline(kind="edge", name="kept") as rag:
        rag.ingest_for_audit(folder)
        fresh = MemoEncoder(encoder_without_work(rag.backends.encoder))
    again = pipeline(kind="edge", name="kept")
    monkeypatch.setattr(again.backends, "encoder", fresh)
    assert len(again.audit(corpus="shop").findings) == 3


def encoder_without_work(encoder: Encoder) -> Encoder:
    """It knows its window and size, and must not be asked for vectors."""

    async def encode_documents(texts: Sequence[str]) -> Vectors:
        raise AssertionError(texts)

    parts = {"tokens": encoder.tokens, "dimension": encoder.dimension, "version": encoder.version}
    return cast("Encoder", SimpleNamespace(**parts, encode_documents=encode_documents))


@pytest.mark.parametrize(
    ("one", "other", "found"),
    [
        ("Default: `off`", "Default: `on`", 2),
        ("- The order of Anna Berg takes 3 weeks.", "- The order of Anna Berg takes 5 weeks.", 1),
    ],
)
def test_one_sentence_under_two_headings_is_one_finding_and_two_fields_are_two(
    pipeline: Pipelines, tmp_path: Path, one: str, other: str, found: int
) -> None:
    texts = {
        name: f"# Manual of the {name} press\n\n## Ink\n\n{said}\n\n## Paper\n\n{said}\n"
        for name, said in (("old", one), ("new", other))
    }
    assert len({f.id for f in audit(pipeline(), write(tmp_path / "manuals", **texts)).findings}) == found


def test_findings_of_other_rules_are_made_again(pipeline: Pipelines, tmp_path: Path, monkeypatch: Any) -> None:
    rag = pipeline()
    first = audit(rag, write(tmp_path / "shop", policy=POLICY, leaflet=LEAFLET))
    for module in ("interfaces.audit.RULES", "discorag.conflicts.stored.RULES"):
        monkeypatch.setattr(module, RULES + 1)
    assert (rag.last_audit(corpus="shop").findings, rag.last_audit(corpus="shop").changed) == ((), 2)
    assert rag.audit(corpus="shop").findings == first.findings


def test_a_finding_does_not_depend_on_the_other_documents(pipeline: Pipelines, tmp_path: Path) -> None:
    """Ten documents are nearer to both sides than these are to each other."""
    texts = {f"other{i}": f"# Other {i}\n\nThe shop of {name} opens at nine.\n" for i, name in enumerate("ABCDEFGHIJ")}
    rag = pipeline()
    rag.ingest_for_audit(write(tmp_path / "shop", policy=POLICY, leaflet=LEAFLET, **texts))
    store, scope = rag.backends.store, rag.scope(corpus="shop")
    documents = rag.run(lambda: read_documents(store, rag.backends.encoder, [(scope, store.manifests(scope))]))
    cosines = {"Refund policy": 1.0, "Shop leaflet": 0.7}

    def place(document: AuditDocument) -> AuditDocument:
        """All its sentences at an angle of their own from the first axis."""
        vectors = np.zeros((len(document.sentences), 2), dtype=np.float32)
        vectors[:, 0] = cosine = cosines.get(document.title, 0.95)
        vectors[:, 1] = np.sqrt(1 - cosine**2)
        return replace(document, vectors=vectors)

    placed_documents = list(map(place, documents))
    changed = next(d.id for d in documents if d.title == "Refund policy")
    whole = find_disagreements(placed_documents)
    assert [f.reason for f in whole if f.tier == "sure"]
    of_changed = [f for f in whole if changed in {f.left.doc_id, f.right.doc_id}]
    assert find_disagreements(placed_documents, only={changed}) == of_changed
    assert find_disagreements([d for d in placed_documents if d.title in cosines]) == of_changed


def test_two_folders_of_one_name_are_refused(pipeline: Pipelines, tmp_path: Path) -> None:
    rag = pipeline()
    rag.ingest_for_audit(write(tmp_path / "docs", policy=POLICY))
    with pytest.raises(InputError, match="compared with itself"):
        rag.audit(corpus="docs", against="docs")


def test_a_deleted_document_is_quoted_no_more_and_a_backup_keeps_what_was_settled(
    pipeline: Pipelines, tmp_path: Path
) -> None:
    rag = pipeline(kind="edge", name="kept")
    first = audit(rag, write(tmp_path / "shop", policy=POLICY, leaflet=LEAFLET))
    rag.settle(first.findings[0].id, "Known.", corpus="shop")
    backup(rag.backends.store.database, tmp_path / "a.backup")
    settings = StoreSettings(kind="edge", path=tmp_path / "restored")
    restore(settings, tmp_path / "a.backup")
    with open_store(settings) as store:
        assert list(Findings(store.database, RULES).settled_notes(rag.scope(corpus="shop")).values()) == ["Known."]
    rag.delete(first.findings[0].left.doc_id, corpus="shop")
    with rag.backends.store.database.read() as db:
        assert not db.execute(select(findings)).all()


def test_empty_corpus_is_an_error(pipeline: Pipelines) -> None:
    with pytest.raises(InputError):
        pipeline().audit(corpus="nothing")


QUESTION = "Within how many days may customers return a product?"


def test_an_answer_also_says_the_other_side_that_was_not_retrieved(pipeline: Pipelines, tmp_path: Path) -> None:
    rag, folder = pipeline(), write(tmp_path / "shop", policy=POLICY, leaflet=LEAFLET)

    def disagreements() -> list[set[str]]:
        result = rag.ask(QUESTION, corpus="shop", top_k=1)
        assert len(result.hits) == 1
        return [{d.a.text, d.b.text} for d in result.answer.disagreements]

    rag.ingest_for_audit(folder)
    assert disagreements() == []
    finding = rag.audit(corpus="shop").contradictions[0]
    assert {finding.left.quote, finding.right.quote} in disagreements()
    assert rag.ask(QUESTION, corpus="shop", top_k=1, use_graph=False).answer.disagreements == ()
    rag.settle(finding.id, "The leaflet is out of date.", corpus="shop")
    assert {finding.left.quote, finding.right.quote} not in disagreements()
    rag.settle(finding.id, None, corpus="shop")
    write(folder, leaflet=LEAFLET.replace("14 days", "30 days"), policy=POLICY)
    rag.ingest_for_audit(folder)
    assert {finding.left.quote, finding.right.quote} not in disagreements()


def test_a_question_knows_the_versions_and_prefers_the_conflict_that_it_asks_about(
    pipeline: Pipelines, tmp_path: Path
) -> None:
    for version, python, days in (("3.13", "3.8", "28"), ("3.20", "3.9", "25")):
        text = f"# Handbook\n\nPython {python} and higher are supported.\n\nStaff have {days} days of leave in a year."
        write(tmp_path / f"tool-{version}", README=text)
    with pipeline() as rag:
        rag.ingest(tmp_path, parser="rules")
        for query, values in (
            ("Which Python versions are supported?", "3.8 to 3.9"),
            ("How many days of leave?", "28 days"),
        ):
            [found] = rag.ask(query).answer.disagreements
            assert found.relation == ChunkRelation.REPLACES
            assert values in found.reason
