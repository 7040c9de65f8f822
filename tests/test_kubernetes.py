"""deploy/kubernetes against Kubernetes' own schemas, and against docker-compose.yml; no cluster is needed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import kubernetes_validate
import pytest
import yaml

from tests.compose import COMPOSE, ROOT, SERVERS, make_secrets

FOLDER = ROOT / "deploy/kubernetes"
VERSION = "1.37"

Json = Mapping[str, Any]


def manifests() -> Iterator[Json]:
    for name in yaml.safe_load((FOLDER / "kustomization.yaml").read_text("utf-8"))["resources"]:
        yield from map(yaml.safe_load, (FOLDER / name).read_text("utf-8").split("\n---\n"))


ALL = {(m["kind"], m["metadata"]["name"]): m for m in manifests()}
SETS = {name: m for (kind, name), m in ALL.items() if kind == "StatefulSet"}
PODS: dict[str, Json] = {name: m["spec"]["template"]["spec"] for name, m in SETS.items()}


def container(name: str) -> Json:
    [only] = PODS[name]["containers"]
    return only


def environment(name: str) -> dict[str, str]:
    return {e["name"]: e["value"] for e in container(name)["env"] if "value" in e}


def test_every_file_is_applied_and_is_what_kubernetes_takes() -> None:
    named = yaml.safe_load((FOLDER / "kustomization.yaml").read_text("utf-8"))["resources"]
    assert {f.name for f in FOLDER.glob("*.yaml")} == {*named, "kustomization.yaml"}
    for manifest in ALL.values():
        kubernetes_validate.validate(dict(manifest), VERSION, strict=True)


def test_the_api_is_set_as_compose_sets_it() -> None:
    theirs = {k: str(v) for k, v in COMPOSE.services["api"].environment.items()}
    assert environment("api") == theirs


@pytest.mark.parametrize("name", SERVERS)
def test_a_model_server_is_asked_what_compose_asks_but_for_the_share_of_a_gpu(name: str) -> None:
    theirs = [a for a in COMPOSE.services[name].command if not a.startswith(("--gpu-memory", "--tensor-parallel"))]
    assert container(name)["args"] == theirs
    [fetch] = PODS[name]["initContainers"]
    assert theirs[0] in fetch["command"]


def test_secrets_are_those_that_make_secrets_makes(tmp_path: Path) -> None:
    make_secrets(tmp_path)
    files = {f.name for f in (tmp_path / "secrets").iterdir()}
    volumes = [v["secret"] for pod in PODS.values() for v in pod.get("volumes", ()) if "secret" in v]
    mounted = {item["key"] for volume in volumes for item in volume["items"]}
    given = {e["valueFrom"]["secretKeyRef"]["key"] for n in PODS for e in container(n)["env"] if "valueFrom" in e}
    assert mounted | given <= files
    assert {"api_keys.toml", "qdrant_api_key", "vllm_api_key"} <= mounted | given


def test_no_container_gains_privileges_or_lacks_limits() -> None:
    for pod in PODS.values():
        assert pod["automountServiceAccountToken"] is False
        for each in (*pod["containers"], *pod.get("initContainers", ())):
            assert each["securityContext"]["capabilities"] == {"drop": ["ALL"]}
            assert each["securityContext"]["allowPrivilegeEscalation"] is False
            assert each["resources"]["limits"].keys() >= {"cpu", "memory"}


def test_only_the_api_reaches_qdrant_and_the_models() -> None:
    closed = {name for (kind, name) in ALL if kind == "NetworkPolicy"}
    assert closed == {"qdrant", "models"}
    for name in closed:
        [rule] = ALL["NetworkPolicy", name]["spec"]["ingress"]
        assert rule["from"] == [{"podSelector": {"matchLabels": {"app": "api"}}}]
    assert all(SETS[n]["spec"]["template"]["metadata"]["labels"]["part"] == "model" for n in SERVERS)
