"""Scores that need a local model: BERTScore and SummaC. Models come from folders, never from the network."""

from __future__ import annotations

import asyncio
import json
import subprocess
import threading
from collections import defaultdict
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from discorag.extras import extra
from discorag.text.sentences import sentence_spans
from eval.errors import MetricUnavailableError
from eval.metrics.base import Given

_BATCH = 32
_LIKELY = 0.5
_MAX_TOKENS = 512
_PROBE = "This sentence makes the package load its models."
_MIN_SENTENCE = 10  # SummaC leaves out sentences of up to so many characters


@dataclass(frozen=True)
class BertScore:
    """F1 of BERTScore (Zhang et al. 2020) by the ``bert_score`` library: no idf weights, not rescaled, best reference.

    The layer is the one that ``bert_score`` tuned for the model, if the folder is named as it names the model
    (``roberta-large``: 17), else the last.

    Args:
        folder: A Hugging Face encoder. Text beyond its window is cut off.

    Raises:
        MetricUnavailableError: No folder, no model in it, or no ``bert_score``.
    """

    folder: Path | None
    name: str = "bertscore"
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        check_folder(self.folder, "--bertscore")
        if find_spec("bert_score") is None:
            raise MetricUnavailableError("The package bert-score is not installed.", hint="pip install bert-score")

    async def score(self, given: Given) -> float | None:
        """0 to 100; None without references; 0 for an empty answer."""
        references = [text for text in given.sample.references if text.strip()]
        if not references:
            return None
        return await asyncio.to_thread(self._best, given.answer, references) if given.answer.strip() else 0.0

    @cached_property
    def _loaded(self) -> tuple[Any, Any]:
        folder = check_folder(self.folder, "--bertscore")
        return load_model("AutoModel", folder, num_hidden_layers=_layer(folder))

    def _best(self, answer: str, references: list[str]) -> float:
        from bert_score.utils import bert_cos_score_idf

        with self._lock:
            tokenizer, model = self._loaded
            weights = defaultdict(lambda: 1.0, {tokenizer.sep_token_id: 0.0, tokenizer.cls_token_id: 0.0})
            answers = [answer] * len(references)
            scores = bert_cos_score_idf(model, references, answers, tokenizer, weights, device=_device())
        return 100 * max(0.0, scores[:, 2].max().item())


@dataclass(frozen=True)
class _ByEntailment:
    """A metric that asks an NLI model.

    Args:
        folder: An NLI model (`AutoModelForSequenceClassification`) whose config names a label "entailment".

    Raises:
        MetricUnavailableError: No folder, no model in it, or no label "entailment".
    """

    folder: Path | None
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        _entailment_label(check_folder(self.folder, "--summac"))

    @cached_property
    def _loaded(self) -> Nli:
        return Nli(check_folder(self.folder, "--summac"))

    async def _ask(self, premises: Sequence[str], hypotheses: Sequence[str]) -> NDArray[np.float64]:
        def locked() -> NDArray[np.float64]:
            with self._lock:
                return self._loaded(premises, hypotheses)

        return await asyncio.to_thread(locked)


@dataclass(frozen=True)
class SummacZs(_ByEntailment):
    """SummaC-ZS (Laban et al. 2022): how far the answer's sentences are entailed by single sentences of the source.

    The source is the text of the sample's documents. Only entailment counts, as in the paper; the authors' class also
    subtracts the strongest contradiction by default, and reads the first 100 sentences of a source only.
    """

    name: str = "summac_zs"

    async def score(self, given: Given) -> float | None:
        """0 to 100; None without documents of the sample's own; 0 for an answer without a sentence."""
        source, answer = _sentences(_source(given)), _sentences(given.answer)
        if not source:
            return None
        return zero_shot(await self._ask(source, answer)) if answer else 0.0


@dataclass(frozen=True)
class ClaimRecall(_ByEntailment):
    """Share of a sample's claims that the answer entails (ALCE's claim recall for ELI5).

    ALCE asks TRUE, an 11 B model, whether the whole answer entails a claim; here the NLI model in the folder is asked,
    and entailment must be likelier than not.
    """

    name: str = "claim_recall"

    async def score(self, given: Given) -> float | None:
        """0 to 100; None without claims; 0 for an empty answer."""
        claims = given.sample.claims
        if not claims or not given.answer.strip():
            return 0.0 if claims else None
        return 100 * float((await self._ask([given.answer], claims) > _LIKELY).mean())


class SummacConv:
    """SummaC-Conv by its authors' package, which needs older packages than ours: a process of another environment.

    Args:
        python: The environment's interpreter; the package fetches its weights and its model at the first score.

    Raises:
        MetricUnavailableError: There is no such environment, or the package cannot get its models.
    """

    name = "summac_conv"

    def __init__(self, python: Path = Path(".venv-summac/bin/python")) -> None:
        if not python.is_file():
            raise MetricUnavailableError("SummaC-Conv has no environment.", hint="make summac")
        command, pipe = [str(python.absolute()), str(Path(__file__).with_name("summac_child.py"))], subprocess.PIPE
        # It writes its weights into its folder, and ends with its standard input.
        self._child = subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True, cwd=python.parent)
        self._lock = threading.Lock()
        self._score(_PROBE, _PROBE)

    async def score(self, given: Given) -> float | None:
        """0 to 100; None without documents of the sample's own; 0 for an empty answer."""
        source = _source(given)
        if not source:
            return None
        return await asyncio.to_thread(self._score, source, given.answer) if given.answer.strip() else 0.0

    def _score(self, source: str, answer: str) -> float:
        assert self._child.stdin
        assert self._child.stdout
        with self._lock, suppress(BrokenPipeError):
            self._child.stdin.write(json.dumps([source, answer]) + "\n")
            self._child.stdin.flush()
            if line := self._child.stdout.readline():
                return 100 * float(line)
        raise MetricUnavailableError(
            "SummaC-Conv ended; what it printed says why. It takes its weights from github.com/tingofurro/summac, and "
            "the model tals/albert-xlarge-vitaminc-mnli from huggingface.co.",
            hint="Run make summac where both can be reached, or use summac_zs.",
        )


def zero_shot(entailment: NDArray[np.float64]) -> float:
    """SummaC-ZS, 0 to 100: for each answer sentence the best source sentence; their mean.

    Args:
        entailment: Probabilities, shape (source sentences, answer sentences).
    """
    return 100 * float(entailment.max(axis=0).mean())


class Nli:
    """A model of natural language inference, in a folder."""

    def __init__(self, folder: Path) -> None:
        self._label = _entailment_label(folder)
        self._tokenizer, self._model = load_model("AutoModelForSequenceClassification", folder)

    def __call__(self, premises: Sequence[str], hypotheses: Sequence[str]) -> NDArray[np.float64]:
        """Probabilities that each premise entails each hypothesis, shape (premises, hypotheses)."""
        pairs = [(premise, hypothesis) for premise in premises for hypothesis in hypotheses]
        batches = [self._probabilities(pairs[i : i + _BATCH]) for i in range(0, len(pairs), _BATCH)]
        return np.concatenate(batches).reshape(len(premises), len(hypotheses))

    def _probabilities(self, pairs: list[tuple[str, str]]) -> NDArray[np.float64]:
        import torch

        first, second = map(list, zip(*pairs, strict=True))
        tokens = self._tokenizer(first, second, padding=True, truncation="longest_first", return_tensors="pt")
        with torch.no_grad():
            logits: torch.Tensor = self._model(**tokens.to(_device())).logits
        return logits.softmax(dim=-1)[:, self._label].double().cpu().numpy()


def _source(given: Given) -> str:
    return "\n\n".join(given.documents[doc].text for doc in given.sample.documents)


def _sentences(text: str) -> list[str]:
    sentences = [span.of(text) for span in sentence_spans(text)]
    return [sentence for sentence in sentences if len(sentence) > _MIN_SENTENCE]


def load_model(kind: str, folder: Path, **changes: Any) -> tuple[Any, Any]:
    """Tokenizer, limited to the model's window, and model; nothing is fetched."""
    from transformers.utils import logging

    logging.set_verbosity_error()  # without reports of layers that are left out on purpose
    logging.disable_progress_bar()
    tokenizer = _pretrained("AutoTokenizer", folder)
    model = _pretrained(kind, folder, **changes).to(_device()).eval()
    window = getattr(model.config, "max_position_embeddings", _MAX_TOKENS)
    tokenizer.model_max_length = min(tokenizer.model_max_length, window, _MAX_TOKENS)
    return tokenizer, model


def _device() -> str:
    import torch

    return "cuda" if torch.cuda.is_available() else "cpu"


def _pretrained(kind: str, folder: Path, **changes: Any) -> Any:
    import transformers

    return getattr(transformers, kind).from_pretrained(str(folder), local_files_only=True, **changes)


def _layer(folder: Path) -> int:
    with extra("eval"):
        from bert_score.utils import model2layers

    return model2layers.get(folder.name) or int(config_of(folder)["num_hidden_layers"])


def _entailment_label(folder: Path) -> int:
    labels = cast(dict[str, int], config_of(folder).get("label2id") or {})
    found = [index for label, index in labels.items() if label.casefold() == "entailment"]
    if not found:
        raise MetricUnavailableError(
            f"{folder}: the config's label2id names no 'entailment', only {sorted(labels)}.",
            hint="Name the folder of an NLI model with --summac.",
        )
    return int(found[0])


def config_of(folder: Path) -> dict[str, Any]:
    """The model's ``config.json``."""
    return json.loads((folder / "config.json").read_text(encoding="utf-8"))


def check_folder(folder: Path | None, option: str) -> Path:
    """The folder of a model. Raises `MetricUnavailableError` that names the option if there is none."""
    if folder is None:
        raise MetricUnavailableError(f"No model is given with {option}.", hint=f"Name its folder with {option}.")
    if not (folder / "config.json").is_file():
        raise MetricUnavailableError(
            f"{folder} holds no model: it has no config.json.", hint=f"Name a Hugging Face model folder with {option}."
        )
    return folder
