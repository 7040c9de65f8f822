"""The audit of a corpus over HTTP: run, look at again, settle, and who may."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from fastapi.testclient import TestClient

from interfaces.http.access import Role
from tests.conflicts.test_audit import LEAFLET, POLICY
from tests.interfaces.http.conftest import Served
from tests.interfaces.http.parts import ended, events, upload, write_keys

SHOP = {"corpus": "shop"}


def fill(client: TestClient, headers: Any, **texts: str) -> None:
    job = upload(client, {f"{name}.md": text for name, text in texts.items()}, corpus="shop", headers=headers).json()
    assert ended(client, job["job"]["id"], headers=headers)["failed"] == 0


def test_an_audit_is_run_with_progress_stays_and_says_what_has_changed_since(served: Served, tmp_path: Path) -> None:
    (me,) = write_keys(tmp_path / "keys.toml", ("me", "auditing", tuple(Role)))
    client = served(keys=tmp_path / "keys.toml")
    fill(client, me, policy=POLICY, leaflet=LEAFLET)

    def stored() -> dict[str, Any]:
        return client.get("/audit", params=SHOP, headers=me).json()

    before = stored()
    assert (before["findings"], before["changed"], len(before["documents"])) == ([], 2, 2)
    streamed = client.post("/audit", json=SHOP, headers={**me, "Accept": "text/event-stream"})
    *progress, (event, report) = events(streamed.text)
    assert progress == [("progress", {"read": n, "total": 2}) for n in (1, 2)]
    assert (event, report["changed"]) == ("audit", 0)
    assert [f["kind"] for f in report["findings"]] == ["duration", "polarity", "name"]
    assert {d["name"] for d in report["documents"]} == {"policy.md", "leaflet.md"}
    assert stored() == client.post("/audit", json=SHOP, headers=me).json() == report
    fill(client, me, leaflet=LEAFLET.replace("14 days", "30 days"))
    assert (stored()["findings"], stored()["changed"]) == ([], 1)
    again = client.post("/audit", json=SHOP, headers=me).json()
    assert [f["kind"] for f in again["findings"]] == ["polarity", "name"]


def test_who_may_write_settles_a_finding_and_opens_it_again(served: Served, tmp_path: Path, audit: Path) -> None:
    file = tmp_path / "keys.toml"
    writer, reader, stranger = write_keys(
        file, ("w", "settling", tuple(Role)), ("r", "settling", (Role.READ,)), ("s", "stranger", tuple(Role))
    )
    client = served(keys=file)
    fill(client, writer, policy=POLICY, leaflet=LEAFLET)
    finding = client.post("/audit", json=SHOP, headers=reader).json()["findings"][0]

    def put(headers: dict[str, str], note: str | None, finding_id: str = finding["id"]) -> int:
        return client.put(f"/audit/{finding_id}", params=SHOP, json={"note": note}, headers=headers).status_code

    def settled() -> dict[str, str]:
        return client.get("/audit", params=SHOP, headers=reader).json()["settled"]

    assert (put(reader, "No."), put(stranger, "No."), put(writer, "No.", finding["left"]["doc_id"])) == (403, 404, 404)
    assert (put(writer, "Out of date."), settled()) == (204, {finding["id"]: "Out of date."})
    assert (put(writer, None), settled()) == (204, {})
    assert client.post("/audit", json=SHOP, headers=stranger).status_code == 404
    assert client.get("/audit", params=SHOP, headers=stranger).json()["documents"] == []
    assert "30 days" not in audit.read_text()
    assert '"settled"' in audit.read_text()
