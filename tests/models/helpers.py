"""Requests and gateways that the tests of this folder share."""

import json
from typing import Any, cast

from pydantic import BaseModel

from discorag.config import LlmSettings
from discorag.models.gateway import Gateway
from discorag.models.protocol import Message, Reply, Request
from tests.servers.scripted import ScriptedServer


class Fruit(BaseModel):
    name: str
    count: int


GOOD = '{"name": "fig", "count": 3}'


def fruit_request(**changes: Any) -> Request[Fruit]:
    values: dict[str, Any] = {"schema": Fruit.model_json_schema(), "parse": Fruit.model_validate_json} | changes
    return Request(stage="fruit", messages=messages("Which fruit?"), **values)


def fruit_of(text: str) -> Fruit:
    return Fruit(**json.loads(text))


def text_request(question: str = "Tell me.", **changes: Any) -> Request[str]:
    values: dict[str, Any] = {"parse": str} | changes
    return Request(stage="answer", messages=messages(question), **values)


def messages(question: str) -> tuple[Message, ...]:
    return (Message(role="system", content="Be brief."), Message(role="user", content=question))


def gateway(server: ScriptedServer, **changes: Any) -> Gateway:
    values: dict[str, Any] = {"cache": None, "model": "scripted", "retries": 2, "timeout_s": 5.0} | changes
    return Gateway(LlmSettings(base_url=server.base_url, **values))


async def streamed(made: Gateway, request: Request[str]) -> tuple[list[str], Reply[str]]:
    parts = [part async for part in made.stream(request)]
    assert isinstance(parts[-1], Reply)
    return cast(list[str], parts[:-1]), parts[-1]
