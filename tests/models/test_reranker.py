"""Rerankers: an endpoint on loopback in both forms, the packaged one, and a cross-encoder from a folder."""

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pydantic import SecretStr
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from tokenizers import Tokenizer

from discorag.config import RerankerSettings
from discorag.models.cross_encoder import OnnxCrossEncoder, is_onnx_folder
from discorag.models.packaged import MINILM, MS_MARCO_MINILM, packaged_folder
from discorag.models.reranker import CrossEncoderReranker, reranker_from
from discorag.models.served import ServerReranker
from discorag.schema.errors import ConfigError, InvalidOutputError, ModelRejectedError
from tests.servers.loopback import LoopbackServer

Answer = Callable[[dict[str, Any]], Any]
TEXTS = ["short", "a longer one", "the longest of them all"]


def by_length(body: dict[str, Any]) -> dict[str, Any]:
    """Longer texts score higher; best first, as servers answer."""
    found = [{"index": i, "relevance_score": float(len(t))} for i, t in enumerate(body["documents"])]
    return {"id": "r", "results": sorted(found, key=lambda item: -item["relevance_score"])}


class Served(LoopbackServer):
    """A server on loopback, and what it was asked; what ``answer`` returns is the JSON, or a whole response."""

    def __init__(self, answer: Answer = by_length) -> None:
        super().__init__()
        self._answer = answer
        self.paths: list[str] = []
        self.bodies: list[dict[str, Any]] = []
        self.keys: list[str] = []

    @property
    def url(self) -> str:
        return f"{self.address}/v1"

    def _routes(self) -> list[Route]:
        return [Route("/v1/{path}", self._post, methods=["POST"])]

    async def _post(self, request: Request) -> Response:
        self.paths.append(request.path_params["path"])
        self.bodies.append(await request.json())
        self.keys.append(request.headers.get("authorization", ""))
        said = self._answer(self.bodies[-1])
        return said if isinstance(said, Response) else JSONResponse(said)


def reranker(seen: Served, **changes: Any) -> ServerReranker:
    values: dict[str, Any] = {"base_url": seen.url, "model": "bge", "timeout_s": 5.0, "retries": 0} | changes
    return ServerReranker(RerankerSettings(**values))


async def scores(made: ServerReranker, texts: Sequence[str] = TEXTS) -> tuple[float, ...]:
    return await made.scores("which?", texts)


def failing(status: int, message: str = "no") -> Answer:
    return lambda body: JSONResponse({"error": {"message": message}}, status, {"Retry-After": "0.01"})


async def test_scores_come_in_the_order_of_the_texts_which_are_sent_in_batches_with_the_key() -> None:
    with Served() as seen:
        assert await scores(reranker(seen)) == (5.0, 12.0, 23.0)
    assert seen.paths == ["rerank"]
    assert seen.bodies == [{"model": "bge", "query": "which?", "documents": TEXTS}]
    texts = ["x" * n for n in range(1, 101)]
    with Served() as seen:
        found = await scores(reranker(seen, api_key=SecretStr("k1")), texts)
    assert found == tuple(range(1, 101))
    assert [len(body["documents"]) for body in seen.bodies] == [64, 36]
    assert seen.keys == ["Bearer k1"] * 2


def saying(reply: dict[str, Any]) -> Answer:
    return lambda body: reply


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (saying({"object": "list"}), ModelRejectedError),
        (saying({"results": [{"index": 0, "relevance_score": "high"}]}), ModelRejectedError),
        (saying({"results": [{"index": 0, "relevance_score": 1.0}]}), InvalidOutputError),
        (saying({"results": [{"index": 0, "relevance_score": 1.0}] * 3}), InvalidOutputError),
    ],
    ids=["no scores", "no number", "too few", "one thrice"],
)
async def test_replies_that_are_no_scores_are_typed_errors(answer: Answer, kind: type[Exception]) -> None:
    with Served(answer) as seen, pytest.raises(kind):
        await scores(reranker(seen))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return cross_encoder(tmp_path_factory.mktemp("cross"), labels=1)


def cross_encoder(at: Path, *, labels: int, bias: float = 0.0) -> Path:
    """A tiny one with random weights, and ``bias`` added to its scores."""
    from transformers import AutoTokenizer, BertConfig, BertForSequenceClassification, set_seed

    set_seed(0)
    library: Any = AutoTokenizer
    tokenizer = library.from_pretrained(str(packaged_folder(MINILM.name)))
    config = BertConfig(
        vocab_size=len(tokenizer),
        hidden_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=16,
        id2label={i: str(i) for i in range(labels)},
    )
    model: Any = BertForSequenceClassification(config)
    model.classifier.bias.data.fill_(bias)
    model.save_pretrained(at)
    tokenizer.save_pretrained(at)
    return at


async def test_a_cross_encoder_reads_query_and_text_together(folder: Path) -> None:
    made = reranker_from(_settings(model=os.fspath(folder)))
    found = await made.scores("query", TEXTS)
    assert len(found) == 3
    assert len(set(found)) == 3
    assert await made.scores("query", []) == ()
    assert await made.scores("another", TEXTS) != found


async def test_a_cross_encoder_whose_scores_are_no_numbers_fails(tmp_path: Path) -> None:
    folder = cross_encoder(tmp_path, labels=1, bias=float("nan"))
    with pytest.raises(InvalidOutputError, match="nan"):
        await reranker_from(_settings(model=os.fspath(folder))).scores("query", TEXTS)


async def test_a_classifier_is_not_taken_for_a_reranker(tmp_path: Path) -> None:
    made = reranker_from(_settings(model=os.fspath(cross_encoder(tmp_path, labels=3))))
    with pytest.raises(ConfigError, match="3 numbers"):
        await made.scores("query", TEXTS)


@pytest.mark.parametrize("given", [{}, {"model": "ms-marco-MiniLM-L-12-v2"}, {"kind": "packaged"}], ids=str)
async def test_by_default_the_packaged_cross_encoder_reranks(given: dict[str, str]) -> None:
    packaged = reranker_from(_settings(**given))
    assert packaged.version == "ms-marco-MiniLM-L-12-v2@1225ccd6"
    filler = "The market square was full of people who had come from all the villages around. " * 6
    texts = [filler, filler + "The princess hid the golden key under the old oak.", "A key opens locks."]
    assert np.argmax(await packaged.scores("Where did the princess hide the golden key?", texts)) == 1
    assert await packaged.scores("why?", []) == ()


async def test_scores_of_the_packaged_reranker_do_not_depend_on_the_other_texts() -> None:
    packaged = reranker_from(_settings())
    together = await packaged.scores("Why do tides rise?", ["The moon pulls the sea.", "Bees dance. " * 40, ""])
    alone = [await packaged.scores("Why do tides rise?", [text]) for text in ["The moon pulls the sea.", ""]]
    assert (together[0], together[2]) == (alone[0][0], alone[1][0])


def test_another_packaged_reranker_is_refused() -> None:
    with pytest.raises(ConfigError, match="no packaged reranker 'bge'"):
        reranker_from(_settings(kind="packaged", model="bge"))


async def test_an_onnx_folder_is_read_without_torch(tmp_path: Path) -> None:
    for name in MS_MARCO_MINILM.files:
        (tmp_path / name).symlink_to(packaged_folder(MS_MARCO_MINILM.name) / name)
    made = reranker_from(_settings(model=os.fspath(tmp_path)))
    assert isinstance(made, CrossEncoderReranker)
    assert made.version == f"{tmp_path.name}@1225ccd6"
    assert await made.scores("query", TEXTS) == await reranker_from(_settings()).scores("query", TEXTS)


def _settings(**reranker: Any) -> RerankerSettings:
    return RerankerSettings.model_validate(reranker)


FOLDER = packaged_folder(MS_MARCO_MINILM.name)
LONG = "The moon pulls the sea. " * 30


@pytest.fixture(scope="module")
def model() -> OnnxCrossEncoder:
    return OnnxCrossEncoder(FOLDER, max_tokens=64)


def test_a_long_text_is_cut_as_the_tokenizers_own_truncation_cuts_it(model: OnnxCrossEncoder) -> None:
    tokenizer: Any = Tokenizer.from_file(str(FOLDER / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.enable_truncation(64, strategy="only_second")
    pairs = [("Why do tides rise?", LONG), ("Why do tides rise?", "Bees dance."), ("", "")]
    for mine, (first, second) in zip(model._encode(pairs), pairs, strict=True):
        theirs = tokenizer.encode(first, second)
        assert (mine.ids, mine.type_ids) == (theirs.ids, theirs.type_ids)


def test_a_premise_is_cut_and_its_hypothesis_is_not() -> None:
    [encoding] = OnnxCrossEncoder(FOLDER, max_tokens=64, cut="first")._encode([(LONG, "The sea is pulled.")])
    assert encoding.tokens[-6:] == ["the", "sea", "is", "pulled", ".", "[SEP]"]
    assert len(encoding.ids) == 64


def test_a_folder_without_a_model_is_a_configuration_error(tmp_path: Path) -> None:
    assert not is_onnx_folder(tmp_path)
    with pytest.raises(ConfigError, match="cannot be loaded"):
        OnnxCrossEncoder(tmp_path).logits([("Why?", "Tides rise.")])
    (tmp_path / "tokenizer.json").write_bytes((FOLDER / "tokenizer.json").read_bytes())
    (tmp_path / "model.onnx").write_bytes(b"no graph")
    assert is_onnx_folder(tmp_path)
    with pytest.raises(ConfigError, match=r"model\.onnx"):
        OnnxCrossEncoder(tmp_path).logits([("Why?", "Tides rise.")])
