"""How long to wait before a retry."""

from __future__ import annotations

import httpx2
import openai
import pytest

from discorag.models.endpoint import MAX_WAIT_S, is_transient, retry_after_s


def answered(status: int, **headers: str) -> openai.APIStatusError:
    request = httpx2.Request("POST", "http://127.0.0.1/v1")
    return openai.APIStatusError("no", response=httpx2.Response(status, headers=headers, request=request), body=None)


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        ("0", 0.0),
        ("1.5", 1.5),
        ("86400", MAX_WAIT_S),
        ("Wed, 21 Oct 2015 07:28:00 GMT", 0.0),
        ("Wed, 21 Oct 2065 07:28:00 GMT", MAX_WAIT_S),
        ("soon", None),
        ("1.2.3", None),
    ],
)
def test_retry_after_is_read_in_both_forms_and_never_waits_for_hours(header: str, seconds: float | None) -> None:
    assert retry_after_s(answered(429, **{"retry-after": header})) == seconds


def test_without_a_header_there_is_nothing_to_honour() -> None:
    assert retry_after_s(answered(503)) is None
    assert retry_after_s(TimeoutError()) is None


@pytest.mark.parametrize(("status", "again"), [(400, False), (401, False), (409, False), (429, True), (599, True)])
def test_only_passing_failures_are_retried(status: int, again: bool) -> None:
    assert is_transient(answered(status)) is again
    assert not is_transient(ValueError())
