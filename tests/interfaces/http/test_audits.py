"""The audit of a corpus over HTTP: run, look at again, settle, and who may."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from interfaces.http.access import Role
from tests.conflicts.test_audit import LEAFLET, POLICY
from tests.interfaces.http.conftest import Served
from tests.interfaces.http.parts import ended, events, upload, write_keys

SHOP = {"corpus": "shop"}


def fill(client: TestClient, headers: Any = None, **texts: str) -> None:
    job = upload(client, {f"{name}.md": text for name, text in texts.items()}, corpus="shop", headers=headers).json()
    assert ended(client, job["job"]["id"], headers=headers)["failed"] == 0


@pytest.fixture(scope="module")
def shop() -> dict[str, str]:
    return {"policy": POLICY, "leaflet": LEAFLET}


def test_an_audit_is_run_with_progress_stays_and_says_what_has_changed_since(
    client: TestClient, shop: dict[str, str]
) -> None:
    fill(client, **shop)
    before = client.get("/audit", params=SHOP).json()
    assert (before["findings"], before["changed"], len(before["documents"])) == ([], 2, 2)
    *progress, (event, report) = events(client.post("/audit", json=SHOP, headers={"Accept": "text/event-stream"}).text)
    assert progress == [("progress", {"read": n, "total": 2}) for n in (1, 2)]
    assert (event, report["changed"]) == ("audit", 0)
    assert [f["kind"] for f in report["findings"]] == ["duration", "polarity", "name"]
    assert client.get("/audit", params=SHOP).json() == client.post("/audit", json=SHOP).json() == report
    assert str(Path.cwd().anchor) not in {d["name"] for d in report["documents"]}
    fill(client, leaflet=LEAFLET.replace("Shop leaflet", "Leaflet"))
    assert (
        client.get("/audit", params=SHOP).json()["findings"],
        client.get("/audit", params=SHOP).json()["changed"],
    ) == ([], 1)
    again = client.post("/audit", json=SHOP).json()
    assert [f["kind"] for f in again["findings"]] == ["duration", "polarity", "name"]


def test_a_finding_is_settled_and_opened_again_by_who_may_write_and_seen_by_no_other_tenant(
    served: Served, tmp_path: Path, shop: dict[str, str], audit: Path
) -> None:
    file = tmp_path / "keys.toml"
    writer, reader, stranger = write_keys(
        file, ("w", "north", tuple(Role)), ("r", "north", (Role.READ,)), ("s", "south", tuple(Role))
    )
    client = served(keys=file)
    fill(client, writer, **shop)
    finding = client.post("/audit", json=SHOP, headers=reader).json()["findings"][0]

    def put(headers: dict[str, str], note: str | None, finding_id: str = finding["id"]) -> int:
        return client.put(f"/audit/{finding_id}", params=SHOP, json={"note": note}, headers=headers).status_code

    def settled() -> dict[str, str]:
        return client.get("/audit", params=SHOP, headers=reader).json()["settled"]

    assert (put(reader, "No."), put(stranger, "No."), put(writer, "No.", finding["left"]["doc_id"])) == (403, 404, 404)
    assert (put(writer, "The leaflet is out of date."), settled()) == (
        204,
        {finding["id"]: "The leaflet is out of date."},
    )
    assert (put(writer, None), settled()) == (204, {})
    assert client.post("/audit", json=SHOP, headers=stranger).status_code == 404
    assert client.get("/audit", params=SHOP, headers=stranger).json()["documents"] == []
    assert "30 days" not in audit.read_text()
    assert '"settled"' in audit.read_text()
