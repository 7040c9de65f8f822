"""What the benchmark of the API calls an answer, an error, a loss and a leak; and its parts on a real server."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.serve import cells, growth_pct, result
from bench.serving.corpus import questions, texts
from bench.serving.leaks import FILES, Asked, Owner, made_text, seen
from bench.serving.load import Load, Plan
from bench.serving.outcomes import Kind, Outcome, Sent, Tally, percentiles, rate, read
from bench.serving.promises import Promise, broken, promised, settle
from bench.serving.relay import Relay
from bench.serving.scenarios import Scenario
from bench.serving.server import ApiServer, Home, Log

WITHIN_S = 15.0


def sent(
    kind: Kind = "ask",
    *,
    at: float = 0.0,
    seconds: float = 1.0,
    status: int = 200,
    refused: bool = False,
    error: str = "",
    fallbacks: int = 0,
    wrong: str = "",
) -> Sent:
    return Sent(
        kind=kind, at=at, seconds=seconds, status=status, refused=refused, error=error, fallbacks=fallbacks, wrong=wrong
    )


@pytest.mark.parametrize(
    ("request_", "outcome"),
    [
        (sent(), Outcome.ANSWERED),
        (sent(fallbacks=2), Outcome.FALLBACK),
        (sent(status=503, error="StoreError"), Outcome.CLEAR_ERROR),
        (sent(status=504, error="DeadlineError", seconds=WITHIN_S), Outcome.CLEAR_ERROR),
        (sent("ask-sse", error="DeadlineError"), Outcome.CLEAR_ERROR),
        (sent(status=0, refused=True), Outcome.WRONG),
        (sent(status=0), Outcome.WRONG),
        (sent(status=500, error="InternalError"), Outcome.WRONG),
        (sent(status=404, error="EmptyCorpusError"), Outcome.WRONG),
        (sent("chat-sse", error="InternalError"), Outcome.WRONG),
        (sent(error="DeadlineError"), Outcome.WRONG),
        (sent(wrong="the answer is empty"), Outcome.WRONG),
        (sent(status=503, wrong="no error body"), Outcome.WRONG),
        (sent(status=503), Outcome.WRONG),
        (sent(seconds=WITHIN_S + 0.1), Outcome.WRONG),
    ],
)
def test_a_request_ends_in_an_answer_a_clear_error_a_refusal_or_is_wrong(request_: Sent, outcome: Outcome) -> None:
    assert request_.outcome(WITHIN_S) is outcome


def test_a_refusal_at_connect_is_right_only_of_a_server_that_stops() -> None:
    refused, dropped = sent(status=0, refused=True), sent(status=0)
    assert [s.outcome(WITHIN_S, stopping=True) for s in (refused, dropped)] == [Outcome.REFUSED, Outcome.WRONG]


ANSWER = {"text": "Yes.", "answer": {"sentences": [{"text": "Yes."}]}}
FAILURE = {"kind": "InvalidOutputError", "fallback": "local"}
REPLY: dict[str, Any] = ANSWER | {"ledger": {"stages": [{"failures": []}]}}
FELL_BACK: dict[str, Any] = ANSWER | {"ledger": {"stages": [{"failures": [FAILURE]}]}}
EMPTY: dict[str, Any] = REPLY | {"text": "", "answer": {"sentences": []}}
PROBLEM = {"error": {"type": "DeadlineError", "message": "Too late."}}


def events(*data: Any, last: str = "") -> str:
    return ": a comment\n\n" + "".join(f"data: {json.dumps(d)}\n\n" for d in data) + last


def chat(reply: dict[str, Any]) -> dict[str, Any]:
    return {"choices": [{"message": {"content": "Yes."}}], "disco_rag": reply}


@pytest.mark.parametrize(
    ("kind", "status", "body", "error", "fallbacks", "is_wrong"),
    [
        ("ask", 200, json.dumps(REPLY), "", 0, False),
        ("ask", 200, json.dumps(FELL_BACK), "", 1, False),
        ("ask", 200, json.dumps(EMPTY), "", 0, True),
        ("ask", 200, "{", "", 0, True),
        ("ask", 504, json.dumps(PROBLEM), "DeadlineError", 0, False),
        ("ask", 500, "Internal Server Error", "", 0, True),
        ("chat", 200, json.dumps(chat(FELL_BACK)), "", 1, False),
        ("chat", 200, json.dumps(REPLY), "", 0, True),
        ("ask-sse", 200, f"event: answer\ndata: {json.dumps(FELL_BACK)}\n\n", "", 1, False),
        ("ask-sse", 200, f"event: error\ndata: {json.dumps(PROBLEM)}\n\n", "DeadlineError", 0, False),
        ("ask-sse", 200, 'event: token\ndata: {"text": "Y"}\n\n', "", 0, True),
        ("ask-sse", 200, "", "", 0, True),
        ("chat-sse", 200, events(chat(FELL_BACK), last="data: [DONE]\n\n"), "", 1, False),
        ("chat-sse", 200, events(PROBLEM), "DeadlineError", 0, False),
        ("chat-sse", 200, events(chat(REPLY)), "", 0, True),
    ],
)
def test_bodies_of_every_kind_are_read_and_broken_ones_noticed(
    kind: Kind, status: int, body: str, error: str, fallbacks: int, is_wrong: bool
) -> None:
    said = read(kind, status, body.encode())
    assert (said.error, said.fallbacks, bool(said.wrong)) == (error, fallbacks, is_wrong)


STATUSES = st.sampled_from([0, 200, 404, 500, 503])
SENT = st.builds(
    sent, seconds=st.floats(0, 30), status=STATUSES, refused=st.booleans(), fallbacks=st.integers(0, 2),
    error=st.sampled_from(["", "StoreError"]),
)  # fmt: skip


@given(st.lists(SENT))
def test_every_request_is_counted_under_one_outcome(requests: list[Sent]) -> None:
    tally = Tally.of(requests, within_s=WITHIN_S)
    assert sum(tally.outcomes.values()) == tally.requests == len(requests)
    assert bool(tally.wrong) == (tally.outcomes[Outcome.WRONG] > 0)


def test_percentiles_are_of_answers_alone_and_none_of_fewer_than_two() -> None:
    tally = Tally.of(
        [sent(seconds=1.0), sent(seconds=3.0), sent(seconds=9.0, status=503, error="E")], within_s=WITHIN_S
    )
    assert (tally.p50_ms, tally.slowest_s, tally.errors) == (2000.0, 9.0, {"503 E": 1})
    assert percentiles([1.0]) == (None, None, None)


def test_the_rate_counts_answers_that_came_in_time() -> None:
    came = [sent(at=float(i), seconds=0.5) for i in range(10)]
    assert rate([*came, sent(at=9.8, seconds=1.0), sent(at=1.0, status=503)], 10.0) == 1.0
    assert rate([], 10.0) == 0.0


def test_memory_growth_is_the_last_tenth_against_the_first() -> None:
    assert growth_pct([100.0] * 10 + [500.0] * 80 + [104.0] * 10) == 4.0
    assert growth_pct([]) == 0.0


PROMISE = Promise(job_id="j", corpus="c", names=("a.md",))


def progress(status: str | None, note: str = "") -> dict[str, Any]:
    return {"job": {"files": [{"name": "a.md", "status": status, "note": note}]}}


@pytest.mark.parametrize(
    ("said", "whole", "why"),
    [
        (progress("added"), {"a.md"}, None),
        (progress("failed", "The disk is full."), set[str](), None),
        (progress("failed"), {"a.md"}, "it failed without a reason"),
        (progress("added"), {"b.md"}, "it is added, but not stored whole"),
        (progress(None), {"a.md"}, "it was never settled"),
        (None, {"a.md"}, "the job is not known"),
        ({"job": {"files": []}}, {"a.md"}, "the job is not known"),
    ],
)
def test_what_was_acknowledged_is_stored_whole_or_reported_failed_or_lost(
    said: dict[str, Any] | None, whole: set[str], why: str | None
) -> None:
    assert broken(PROMISE, said, frozenset(whole)) == ([] if why is None else [f"c/a.md: {why}"])


def owner(number: int) -> Owner:
    promise = Promise(job_id=f"job{number}", corpus="c", names=FILES)
    return Owner(f"t{number}", f"Qword{number}", promise, [f"doc{number}"])


@pytest.mark.parametrize(
    ("status", "body", "leaks"),
    [
        (200, "doc1 Qword1", 0),
        (404, "There is no document doc2.", 0),
        (200, "doc2", 1),
        (404, "It says qWORD2.", 1),
        (200, "job2 Qword2", 2),
        (204, "", 1),
        (503, "Busy.", 0),
    ],
)
def test_another_tenants_word_or_id_or_success_with_its_id_is_a_leak(status: int, body: str, leaks: int) -> None:
    who, other = owner(1), owner(2)
    allowed = (404,) if status in (204, 404) else (200,)
    assert len(seen(status, body, Asked("DELETE", "/documents/doc2", allowed), who, [who, other])) == leaks


def test_documents_of_tenants_differ_by_their_word_alone() -> None:
    assert made_text("note.md", "Qa") != made_text("note.md", "Qb")
    assert made_text("note.md", "Qa").replace("Qa", "Qb") == made_text("note.md", "Qb")


def test_questions_are_about_corpora_that_are_served() -> None:
    served = texts()
    assert all(served[corpus] for corpus, _ in questions())


def test_what_was_not_measured_is_none_and_losses_are_summed() -> None:
    lossy = Scenario(what="x", deadline_s=1.0, lost=["a", "b"], tally=Tally.of([sent(status=500)], within_s=1.0))
    found = result(None, {"x": lossy, "y": Scenario(what="y", deadline_s=1.0)}, None, {})
    assert (found["lost"], found["wrong"], found["leaks"], found["requests_per_s"]) == (2, 1, None, None)
    assert [row[-1] for row in cells(None, {"x": lossy})] == ["2"]


def test_the_log_counts_questions_by_their_route_and_keeps_other_lines() -> None:
    log = Log()
    for route, status in (("/ask", 200), ("/v1/chat/completions", 503), ("/documents", 200)):
        log.add(json.dumps({"event": "request", "route": route, "status": status}))
    log.add("Traceback\n")
    assert (log.questions, list(log.others)) == (2, ["Traceback"])


@pytest.fixture
def echo() -> Iterator[int]:
    """Port of a server that sends back what it gets, one connection after another."""
    from threading import Thread

    listener = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:  # closed
                return
            with connection:
                while said := connection.recv(100):
                    connection.sendall(said)

    thread = Thread(target=serve, daemon=True)
    thread.start()
    yield listener.getsockname()[1]
    listener.shutdown(socket.SHUT_RDWR)
    listener.close()
    thread.join()


def test_a_relay_that_goes_down_drops_what_is_open_and_refuses_until_it_is_up_again(echo: int) -> None:
    with Relay(echo) as relay:
        with socket.create_connection(("127.0.0.1", relay.port), 5) as client:
            client.sendall(b"hello")
            assert client.recv(100) == b"hello"
            relay.down()
            with pytest.raises(ConnectionError):
                assert client.recv(100) or raised()
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(("127.0.0.1", relay.port), 5)
        relay.up()
        with socket.create_connection(("127.0.0.1", relay.port), 5) as client:
            client.sendall(b"again")
            assert client.recv(100) == b"again"


def raised() -> bool:
    """An end without a reset is a dropped connection too."""
    raise ConnectionResetError


@pytest.mark.server
@pytest.mark.deep
def test_load_on_a_real_server_is_answered_and_recorded_and_nothing_acknowledged_is_lost(tmp_path: Path) -> None:
    home, corpus = Home.made(tmp_path / "home", ["a", "b"]), "bees"
    with ApiServer(home) as server, server.client("a") as client:
        promise = promised(client, corpus, dict(list(texts()[corpus].items())[:1]))
        settled = settle(client, [promise], seconds=60)
        whole = frozenset(d["name"] for d in client.get("/documents", params={"corpus": corpus}).json()["documents"])
        asked = [(corpus, "How does a colony survive the winter?")]
        plan = Plan(
            url=server.url, keys=[home.keys["a"]], questions=asked, out=tmp_path / "x.jsonl", users=2, seconds=2
        )
        with Load(plan) as load:
            answered = load.sent()
        assert broken(promise, settled[promise.job_id], whole) == []
        assert server.rss_mb > 100
    assert {s.outcome(120.0) for s in answered} == {Outcome.ANSWERED}
    assert server.log.questions == len(answered)
