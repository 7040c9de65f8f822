"""Check a running deployment: health, an ingest, a question, a restart, and the same question again.

``python deploy/verify.py`` checks what ``docker compose up`` started. With ``--api`` and other addresses it checks
servers wherever they run. Its documents go into a corpus of their own, and are deleted at the end.
"""

import argparse
import json
import shlex
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import httpx
import typer

CORPUS = "deployment-check"
DOCUMENTS = sorted((Path(__file__).parents[1] / "examples" / "vitamin-d").glob("*.md"))
QUESTION = "Does vitamin D prevent flu?"
IN_API = ("docker", "compose", "exec", "-T", "api", "python", "-c")
"""Runs a program in the container of the API, from where the other services of Compose can be reached."""
FETCH = "import sys, urllib.request as u; sys.stdout.buffer.write(u.urlopen(sys.argv[1], timeout=60).read())"
HEALTH = {"qdrant": "/readyz", "chat": "/health", "embed": "/health"}
"""The paths at which the servers other than the API say that they are ready."""
PORTS = {"qdrant": 6333, "chat": 8000, "embed": 8000}
"""Their ports in Compose."""
POLL_S = 0.5


class CheckError(Exception):
    """A check failed; the message says why."""


@dataclass(frozen=True)
class Deployment:
    """The addresses of the servers, and how to restart them.

    Args:
        api: The API, as this machine reaches it.
        others: Address by name, of Qdrant and of vLLM's servers: the keys of `HEALTH`.
        fetch: Gets a URL of another service, and returns the body.
        restart: The command that restarts the servers; empty if there is none.
        patience_s: How long servers may take to get ready, and a job to end.
    """

    api: httpx.Client
    others: dict[str, str]
    fetch: Callable[[str], str]
    restart: tuple[str, ...]
    patience_s: float


@dataclass
class Report:
    """Prints each check as it ends, and counts those that failed."""

    failed: int = 0

    def run(self, name: str, check: Callable[[], str]) -> bool:
        """Run a check, which returns what it saw. A check that raises an error is printed as failed."""
        try:
            seen = check()
        except (CheckError, httpx.HTTPError, OSError, subprocess.CalledProcessError, ValueError, KeyError) as error:
            self.failed += 1
            typer.echo(f"FAILED       {name}: {_describe(error)}")
            return False
        typer.echo(f"ok           {name}: {seen}")
        return True

    def skip(self, name: str, why: str) -> None:
        """Print that a check was not run."""
        typer.echo(f"not checked  {name}: {why}")


def verify(deployment: Deployment) -> int:
    """Run all checks. Returns how many failed."""
    report = Report()
    _check_health(deployment, report)
    if report.failed:
        return report.failed
    before = _points(deployment)
    try:
        if report.run("ingest", lambda: _ingest(deployment)):
            _check_index(deployment, report, before)
            _check_answers(deployment, report)
    finally:
        report.run("clean up", lambda: _delete(deployment))
    return report.failed


def _check_health(deployment: Deployment, report: Report) -> None:
    checks = _health(deployment)
    for name in ("api", *HEALTH):
        if name in checks:
            report.run(name, checks[name])
        else:
            report.skip(name, "not part of this deployment")


def _health(deployment: Deployment) -> dict[str, Callable[[], str]]:
    """Return, by server, a function that fails if the server does not answer."""

    def api() -> str:
        return f"{deployment.api.get('/readyz').raise_for_status().url} answers"

    def other(url: str) -> str:
        deployment.fetch(url)
        return f"{url} answers"

    return {"api": api} | {n: partial(other, url + HEALTH[n]) for n, url in deployment.others.items()}


def _check_index(deployment: Deployment, report: Report, before: int) -> None:
    if "qdrant" in deployment.others:
        report.run("points in Qdrant", lambda: _grown(before, _points(deployment)))


def _check_answers(deployment: Deployment, report: Report) -> None:
    answers: list[object] = []

    def ask() -> str:
        answers.append(_ask(deployment))
        return f"an answer from {len(DOCUMENTS)} documents"

    def ask_again() -> str:
        again = _ask(deployment)
        if again != answers[0]:
            raise CheckError(f"the answer was {json.dumps(answers[0])} and is now {json.dumps(again)}")
        return "the same text and the same citations"

    if not report.run("question", ask):
        return
    if not deployment.restart:
        report.skip("restart", "no --restart COMMAND was given")
    elif report.run("restart", lambda: _restart(deployment)):
        report.run("question after the restart", ask_again)


def _ingest(deployment: Deployment) -> str:
    files = [("files", (path.name, path.read_bytes())) for path in DOCUMENTS]
    progress = _json(deployment.api.post("/ingest", data={"corpus": CORPUS}, files=files))
    end = time.monotonic() + deployment.patience_s
    while progress["settled"] < progress["total"]:
        if time.monotonic() > end:
            raise CheckError(f"{progress['settled']} of {progress['total']} files after {deployment.patience_s:g} s")
        time.sleep(POLL_S)
        progress = _json(deployment.api.get(f"/ingest/{progress['job']['id']}"))
    if progress["failed"]:
        raise CheckError(f"{progress['failed']} of {progress['total']} files failed: {json.dumps(progress['job'])}")
    return f"{progress['total']} files"


def _ask(deployment: Deployment) -> object:
    """Return the text and the citations of the answer."""
    body = {"query": QUESTION, "corpus": CORPUS}
    reply = _json(deployment.api.post("/ask", json=body, timeout=deployment.patience_s))
    if not reply["citations"]:
        raise CheckError(f"the answer cites nothing: {reply['markdown']}")
    stages = reply["ledger"]["stages"]
    engine = [stage["engine"] for stage in stages if stage["stage"] == "generate"][-1]
    if "chat" in deployment.others and not engine.startswith("llm"):
        failures = [failure for stage in stages for failure in stage["failures"]]
        raise CheckError(f"no language model wrote the answer; DISCO_RAG_MODEL must name one. Failures: {failures}")
    return reply["text"], reply["citations"]


def _restart(deployment: Deployment) -> str:
    """Restart the servers, and wait until all are ready."""
    subprocess.run(deployment.restart, check=True, capture_output=True, text=True)
    end = time.monotonic() + deployment.patience_s
    for check in _health(deployment).values():
        while True:
            try:
                check()
                break
            except (httpx.HTTPError, subprocess.CalledProcessError):
                if time.monotonic() > end:
                    raise
                time.sleep(POLL_S)
    return f"ready again after {shlex.join(deployment.restart)}"


def _points(deployment: Deployment) -> int:
    """How many points Qdrant's collections have together; 0 without a Qdrant server."""
    if not (qdrant := deployment.others.get("qdrant")):
        return 0
    names = [c["name"] for c in json.loads(deployment.fetch(f"{qdrant}/collections"))["result"]["collections"]]
    found = [json.loads(deployment.fetch(f"{qdrant}/collections/{name}"))["result"] for name in names]
    return sum(collection["points_count"] or 0 for collection in found)


def _grown(before: int, after: int) -> str:
    if after <= before:
        raise CheckError(f"there are {after}, and there were {before} before the ingest")
    return f"{after - before} more"


def _delete(deployment: Deployment) -> str:
    documents = _json(deployment.api.get("/documents", params={"corpus": CORPUS}))["documents"]
    for document in documents:
        where = f"/documents/{document['doc_id']}"
        deployment.api.delete(where, params={"corpus": CORPUS}).raise_for_status()
    return f"{len(documents)} documents deleted"


def _json(response: httpx.Response) -> Any:
    if response.is_error:
        raise CheckError(f"{response.request.method} {response.url} answers {response.status_code}: {response.text}")
    return response.json()


def _describe(error: Exception) -> str:
    if isinstance(error, subprocess.CalledProcessError):
        return f"{shlex.join(error.cmd[:5])} ... ended with {error.returncode}: {error.stderr.strip()[-500:]}"
    return f"{error}" if isinstance(error, CheckError) else f"{type(error).__name__}: {error}"


def _fetch_here(url: str) -> str:
    return httpx.get(url, timeout=60).raise_for_status().text


def _fetch_in_compose(url: str) -> str:
    return subprocess.run([*IN_API, FETCH, url], check=True, capture_output=True, text=True).stdout


def _services() -> set[str]:
    """The services that were started, those included that have stopped since: their checks must fail."""
    command = ["docker", "compose", "ps", "--all", "--services"]
    return set(subprocess.run(command, check=True, capture_output=True, text=True).stdout.split())


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Check a running deployment; without --api that of Docker Compose.")
    parser.add_argument("--api", metavar="URL", help="the API, e.g. http://127.0.0.1:8080")
    for service in HEALTH:
        parser.add_argument(f"--{service}", metavar="URL", help="its root; not checked if absent (needs --api)")
    parser.add_argument("--restart", metavar="COMMAND", default="", help="restarts the servers (needs --api)")
    parser.add_argument("--key", default="", help="a key of the API with the roles read and write")
    parser.add_argument("--patience", metavar="SECONDS", type=float, default=3600, help="limit of every wait")
    return parser.parse_args()


def _deployment(given: argparse.Namespace) -> Deployment:
    headers = {"Authorization": f"Bearer {given.key}"} if given.key else {}
    api = httpx.Client(base_url=given.api or "http://127.0.0.1:8080", headers=headers, timeout=60)
    if given.api:
        others = {name: url.rstrip("/") for name in HEALTH if (url := getattr(given, name))}
        return Deployment(api, others, _fetch_here, tuple(shlex.split(given.restart)), given.patience)
    services = _services()
    others = {name: f"http://{name}:{port}" for name, port in PORTS.items() if name in services}
    return Deployment(api, others, _fetch_in_compose, ("docker", "compose", "restart"), given.patience)


def main() -> None:
    """Check the deployment that the arguments name; exits with 1 if a check failed."""
    try:
        deployment = _deployment(_arguments())
    except (OSError, subprocess.CalledProcessError) as error:
        sys.exit(
            f"docker compose fails: {_describe(error)}. Start it in the clone, or name the servers (--api URL ...)."
        )
    with deployment.api:
        sys.exit(1 if verify(deployment) else 0)


if __name__ == "__main__":
    main()
