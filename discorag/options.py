"""What a question and an ingest may choose, and the one function that makes complete options of what was chosen."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal, cast

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator
from pydantic_core import PydanticCustomError

from discorag.config import HOW_TO_NAME_A_MODEL
from discorag.discourse.parse.parser import PARSERS, PROMPTED
from discorag.registry import Named
from discorag.retrieval.forest import NodeScores
from discorag.retrieval.registry import RETRIEVERS, UNFOLD, ChunkRetriever, tree_retriever
from discorag.retrieval.search import TreeOptions
from discorag.schema.answer import Detail, JudgeName
from discorag.schema.errors import ConfigError, InputError

TOP_K = 10
"""Chunks that are retrieved where ``top_k`` says nothing and nothing else decides."""
MOST_TOKENS = 1_000_000

Engine = Literal["auto", "local", "llm"]
Preset = Literal["auto", "written", "verbatim", "standard", "paper", "disretrieval", "raptor", "htsir", "rdr2"]
DEFAULT_RETRIEVER = "snapped"
"""The retriever with the most evidence on development documents of QMSum and FairytaleQA (`docs/retrieval.md`)."""

PLAIN: dict[str, Any] = {
    "use_tree": False,
    "use_graph": False,
    "use_plan": False,
    "node_scores": "dense",
    "abstain": "never",
}
"""What papers on retrieval alone have in common: passages ranked by vectors, and a reader of passages."""
PRESETS: dict[str, dict[str, Any]] = {
    "written": {"engine": "llm", "retriever": "hybrid", "rerank": True},
    "verbatim": {"engine": "local"},
    "standard": {"retriever": "dense", "use_tree": False, "use_graph": False, "use_plan": False},
    "paper": {
        "retriever": "dense",
        "top_k": 10,
        "parser": "paper",
        "engine": "llm",
        "beam_width": 3,
        "abstain": "never",
    },
    "disretrieval": {**PLAIN, "retriever": "discourse", "node_k": 5, "evidence_words": 400},
    "raptor": {**PLAIN, "retriever": "raptor", "context": "nodes", "evidence_tokens": 2000},
    "htsir": {**PLAIN, "retriever": "htsir", "context": "nodes", "node_k": 10, "evidence_words": 2000},
    "rdr2": {
        **PLAIN,
        "engine": "llm",
        "retriever": "rdr2",
        "node_k": 5,
        "unfold": 5,
        "evidence_words": 2000,
        "abstain": "auto",
    },
}
"""Options that each ``preset`` sets, unless they are given; the command line, the API, the page, Studio and the models
of the OpenAI endpoint (`graphs.baselines.PIPELINES`) read this table. ``auto`` is ``written`` or ``verbatim``.

Sources: Disco-RAG section 4; DISRetrieval section 4.1 (200 to 400 words) and E.2; RAPTOR section 3; HTSIR, "Experiment
Settings"; RDR² section 4.3 and table 9. HTSIR and RDR² limit the number of passages, not of words: their passages have
fewer than 2,000.
"""
OF_TREES = frozenset({"search_documents", "node_scores", "evidence_words", "evidence_tokens", "context", "node_k"})
"""Options of retrievers over trees. Given without a retriever, they select the default one."""
OF_RETRIEVAL = OF_TREES | {"top_k", "preset", "retriever", "engine", "refine"}
"""If a question sets one of these, the options in the settings are not used."""
PAPERS = frozenset(PRESETS) - {"written", "verbatim", "standard"}
"""Presets that follow a paper, also in when to refuse an answer."""
ONE_ENGINE = frozenset({"written", "verbatim", "paper"})
"""Presets that make no sense with another engine than their own."""
IN_SETTINGS = " in section [answer] of the settings"
HINT = "docs/options.md lists the options."


RetrieverName = Annotated[str, Named(RETRIEVERS)]
ParserName = Annotated[str, Named(PARSERS, ("auto",))]
IngestParserName = Annotated[str, Named(PARSERS, ("auto", "none"))]


class Options(BaseModel):
    """Frozen options; other names are refused."""

    model_config = ConfigDict(arbitrary_types_allowed=True, extra="forbid", frozen=True)
    renamed: ClassVar[Mapping[str, str]] = {}
    """What is used today instead of an option, or of an ``option=value``, of an earlier release."""

    @model_validator(mode="before")
    @classmethod
    def _check_names(cls, given: Any) -> Any:
        """Refuse an unknown option; the error lists the known ones, or names the one that replaced it."""
        if not isinstance(given, dict):
            return given
        options = cast("dict[str, Any]", given)
        for name, value in options.items():
            assigned = f"{name}={value}"
            if name not in cls.model_fields or assigned in cls.renamed:
                wrong = assigned if assigned in cls.renamed else name
                known = ", ".join(sorted(n for n, f in cls.model_fields.items() if not f.exclude))
                hint = f"Use {cls.renamed[wrong]}." if wrong in cls.renamed else f"Known options: {known}."
                problem = {"what": f"There is no option {wrong!r}", "name": name, "hint": hint}
                raise PydanticCustomError("unknown_option", "{what}. {hint}", problem)
        return options


class AnswerOptions(Options):
    """The options of a question. With trees, graph and plan all off it is standard RAG."""

    renamed: ClassVar[Mapping[str, str]] = {
        "profile": "preset=verbatim or preset=written",
        "generator": "engine",
        "planner": "engine",
        "relater": "engine",
        "preset=default": "preset=auto",
        "preset=local": "preset=verbatim",
    }

    preset: Preset = Field(
        default="auto",
        description="written: a language model collects what the best chunks state, with quotations, plans over "
        "these statements, and writes the answer, or says that they do not answer; if the model fails, the answer is "
        "the verbatim one. verbatim: the answer is sentences of the sources; no language model is called. auto: "
        "written if a language model is configured, else verbatim. standard: dense chunks, without tree, graph and "
        "plan. paper: Disco-RAG as printed, separate calls of a language model with the inputs and outputs of its "
        "figures, dense top 10, beam 3. disretrieval, raptor, htsir, rdr2 (needs a language model): these papers' "
        "retrieval, without tree, graph and plan.",
    )
    engine: Engine = Field(
        default="auto",
        description="Who relates, plans and writes. llm: the language model. local: the local engines, which quote the "
        "sources. auto: as the preset says, else llm if a language model is configured.",
    )
    retriever: RetrieverName = Field(
        default=DEFAULT_RETRIEVER,
        description="How evidence is found; dense, hybrid and all retrieve chunks, the others search trees. By default "
        "snapped; hybrid with preset=written; dense if top_k is given. "
        f"{RETRIEVERS.described()}.",
    )
    search_documents: int = Field(default=20, ge=1, le=10_000, description="Documents whose trees are searched.")
    node_scores: NodeScores = Field(
        default="hybrid",
        description="How nodes of trees are scored. dense: by their vectors; bm25: by the words below them; hybrid: "
        "both, fused by rank (k = 60).",
    )
    evidence_words: int = Field(
        default=400, ge=1, le=100_000, description="Most words of evidence from a retriever over trees."
    )
    evidence_tokens: int | None = Field(
        default=None,
        ge=1,
        le=MOST_TOKENS,
        description="The same in tokens of the encoder, used instead of evidence_words (RAPTOR: 2,000).",
    )
    context: Literal["evidence", "nodes"] = Field(
        default="evidence",
        description="What is read of the chosen nodes of trees. evidence: only source text, for a summary the best "
        "leaves below it; nodes: the nodes' own texts, summaries too; a sentence from a summary is traced to the "
        "text below it (RAPTOR, HTSIR).",
    )
    node_k: int | None = Field(
        default=None,
        ge=1,
        le=1000,
        description="The k of a retriever over trees: leaves that an inner node contributes (algorithm 1: 5), nodes "
        "of a layer (raptor-traversal: 5), nodes that stay after reranking (htsir: 10), passages from which a router "
        "starts (rdr2: 5). None: these numbers.",
    )
    unfold: int = Field(
        default=UNFOLD, ge=0, le=100, description="Of rdr2: headings that the router may unfold in a document."
    )
    top_k: int | None = Field(
        default=None,
        ge=1,
        le=200,
        description="Number of chunks to retrieve (Disco-RAG uses 10). None: 10; with preset=written the best 20 "
        "of 40, by the reranker.",
    )
    rerank: bool = Field(
        default=False,
        description="Order what was retrieved by the configured reranker. On by default with preset=written, if it "
        "reads whole chunks.",
    )
    abstain: Literal["auto", "never"] = Field(
        default="auto",
        description="auto: the question is refused, with the closest passages, if nothing is found, what is found "
        "does not seem to answer it (`answerable` in the result is the probability), a router refuses every "
        "document, or the language model says that the passages do not answer. never: always answer.",
    )
    strict: bool = Field(
        default=False,
        description="If the language model fails, raise its error. By default the question is answered without it, "
        "with a note.",
    )
    use_tree: bool = Field(
        default=True, description="Use the RST tree inside each chunk; a model with preset=written reads none."
    )
    use_graph: bool = Field(
        default=True, description="Infer the rhetorical graph between chunks, or the relations between statements."
    )
    graph_query: bool = Field(
        default=False,
        description="With preset=paper: show the question to the call that relates the chunks, which the paper does "
        "not.",
    )
    use_plan: bool = Field(default=True, description="Plan the answer before writing it.")
    plan: str | None = Field(
        default=None,
        min_length=1,
        max_length=20_000,
        description="Follow this plan instead of making one: a paragraph whose sentences are the steps; [2.3] cites "
        "the third unit of the second chunk. With preset=written a line '1. answers: It fell {2}' is a step that tells "
        "statement 2.",
    )
    parser: ParserName = Field(
        default="auto", description=f"Parser for chunks without a tree. auto: as configured. {PARSERS.described()}."
    )
    verifier: JudgeName = Field(
        default="auto",
        description="What judges sentences that are not quoted word for word. auto: the NLI model if one is "
        "configured, else nothing; llm: the language model, one call for all sentences.",
    )
    detail: Detail = Field(
        default="enough",
        description="Length of an answer without a language model. enough: the few sentences that answer best; full: "
        "all that is relevant, up to a limit, for questions that need a survey.",
    )
    correct: bool = Field(
        default=False,
        description="If the check finds a problem in what the language model wrote (a value, name or quotation that "
        "is in none of its sources, a passage that does not exist), let the model correct these sentences, in one more "
        "call. The corrected answer is used if it has fewer problems.",
    )
    refine: int = Field(
        default=0,
        ge=0,
        le=3,
        description="Rounds in which the language model checks its answer against the passages and rewrites it, until "
        "nothing changes (HTSIR, feedback-driven refinement). Each costs one call.",
    )
    temperature: float = Field(default=0.0, ge=0, le=2, description="Sampling temperature of the language model.")
    beam_width: int = Field(default=1, ge=1, le=16, description="Beam search width on servers that have it; 1 is off.")
    answer_tokens: int | None = Field(
        default=None,
        ge=16,
        le=MOST_TOKENS,
        description="Most tokens of the answer. None: grows with the number of chunks.",
    )

    @property
    def tree_options(self) -> TreeOptions:
        """The options of retrievers over trees."""
        return TreeOptions(
            documents=self.search_documents,
            scored_by=self.node_scores,
            budget=self.evidence_tokens or self.evidence_words,
            in_tokens=self.evidence_tokens is not None,
            own_texts=self.context == "nodes",
            k=self.node_k,
            unfold=self.unfold,
        )

    @property
    def is_written(self) -> bool:
        """Whether a language model relates, plans and writes, according to resolved options."""
        return self.engine == "llm"


class IngestOptions(Options):
    """The options of an ingest."""

    parser: IngestParserName = Field(
        default="auto",
        description="Parser for the chunks' trees. auto: as configured; none: chunks are parsed when a question "
        f"needs them. {PARSERS.described()}.",
    )
    retriever: RetrieverName = Field(
        default=DEFAULT_RETRIEVER,
        description="Build the trees of this retriever now; others are built when a question first needs them. "
        "Retrievers over chunks, such as dense, need none.",
    )
    refresh: bool = Field(default=False, description="Store every document again, even unchanged ones.")


@dataclass(frozen=True)
class Resolved:
    """Complete options of a question, and where the value of each comes from.

    ``preset`` and ``engine`` are never ``auto``. An origin is "given", "settings", "preset paper", "default", "implied
    by top_k", or what is known of the language model.
    """

    options: AnswerOptions
    origins: Mapping[str, str]


_Value = tuple[Any, str]
"""The value of an option and its origin."""
_HAS_MODEL, _NO_MODEL = "a language model is configured", "no language model is configured"
_MODEL_FAILED = "the language model failed"


def resolve(given: Mapping[str, Any], settings: Mapping[str, Any], *, has_model: bool) -> Resolved:
    """Make complete options of those that a caller sets.

    From the strongest to the weakest: what is given; the settings, unless something of `OF_RETRIEVAL` is given; the
    retriever that another option implies; the preset; the defaults.

    Args:
        given: Options that the caller sets.
        settings: Section ``[answer]`` of the settings.
        has_model: Whether a language model is configured.

    Raises:
        InputError: An option is unknown, its value is impossible, or two contradict each other.
        ConfigError: An option needs a language model, and none is configured.
    """
    return _resolve(given, _in_use(settings, given), _HAS_MODEL if has_model else _NO_MODEL)


def without_model(given: Mapping[str, Any], settings: Mapping[str, Any]) -> Resolved:
    """Make the options that are used after the language model has failed: those of the same caller without a model.

    Options that need one are dropped: a preset of which it is a part becomes ``verbatim``. Raises `InputError` as
    `resolve`.
    """
    used = _in_use(settings, given)
    return _resolve(_needing_no_model(given), _needing_no_model(used), _MODEL_FAILED)


def explain_refusal(error: ValidationError, settings: Mapping[str, Any] | None = None) -> InputError:
    """Say which option is wrong, and where it stands if it is one of those in the ``settings``."""
    first = error.errors()[0]
    context = first.get("ctx", {})
    name = str(context.get("name") or ".".join(map(str, first["loc"])))
    place = IN_SETTINGS if name in (settings or {}) else ""
    if first["type"] == "unknown_option":
        return InputError(f"{context['what']}{place}.", hint=context["hint"])
    return InputError(f"Option {name}{place}: {first['msg']}.", hint=HINT)


def _in_use(settings: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """The settings that a question uses."""
    return {} if OF_RETRIEVAL & given.keys() else {n: value for n, value in settings.items() if n not in given}


def _needing_no_model(options: Mapping[str, Any]) -> dict[str, Any]:
    """The options without those that need a language model."""
    needs = (("engine", "llm"), ("verifier", "llm"), ("parser", PROMPTED))
    kept = {n: value for n, value in options.items() if n != "refine" and (n, value) not in needs}
    if kept.get("retriever") in RETRIEVERS and _is_routed(kept["retriever"]):
        del kept["retriever"]
    if PRESETS.get(str(kept.get("preset")), {}).get("engine") == "llm":
        kept["preset"] = "verbatim"
    return kept


def _resolve(given: Mapping[str, Any], used: Mapping[str, Any], model: str) -> Resolved:
    """Put the layers on each other; ``model`` says what is known of the language model."""
    try:
        valid = AnswerOptions.model_validate({**used, **given})
    except ValidationError as error:
        raise explain_refusal(error, used) from error
    chosen: dict[str, _Value] = {
        name: (getattr(valid, name), "settings" if name in used else "given") for name in valid.model_fields_set
    }
    preset, why = _preset_of(valid, chosen, model)
    values: dict[str, _Value] = {name: (value, "default") for name, value in _DEFAULTS.items()}
    values["engine"] = ("llm" if model == _HAS_MODEL else "local", model)
    values |= {name: (value, f"preset {preset}") for name, value in PRESETS[preset].items()}
    values |= _implied(preset, valid) | {n: v for n, v in chosen.items() if (n, v[0]) != ("engine", "auto")}
    values["preset"] = (preset, why)
    if values["rerank"][1] == "preset written" and not _searches_chunks(values["retriever"][0]):
        values["rerank"] = (_DEFAULTS["rerank"], "implied by retriever")
    options = AnswerOptions().model_copy(update={name: value for name, (value, _) in values.items()})
    resolved = Resolved(options, {name: values[name][1] for name in AnswerOptions.model_fields})
    _check_engine(options)
    _check_model(resolved, model)
    _check_reading(options)
    return resolved


def _preset_of(valid: AnswerOptions, chosen: Mapping[str, _Value], model: str) -> tuple[str, str]:
    """The preset that is meant, and why."""
    if valid.preset != "auto":
        return valid.preset, chosen["preset"][1]
    if valid.engine != "auto":
        return ("written" if valid.engine == "llm" else "verbatim"), "implied by engine"
    return ("written" if model == _HAS_MODEL else "verbatim"), model


def _implied(preset: str, valid: AnswerOptions) -> dict[str, _Value]:
    """The retriever that another option needs, where the preset is not tied to one."""
    if preset not in ("written", "verbatim"):
        return {}
    if valid.top_k is not None:
        return {"retriever": ("dense", "implied by top_k")}
    named = [name for name in AnswerOptions.model_fields if name in OF_TREES & valid.model_fields_set]
    return {"retriever": (DEFAULT_RETRIEVER, f"implied by {named[0]}")} if named else {}


def _searches_chunks(retriever: str) -> bool:
    found = RETRIEVERS[retriever]
    return isinstance(found, ChunkRetriever) and found.search is not None


def _is_routed(retriever: str) -> bool:
    found = tree_retriever(retriever)
    return found is not None and found.routed


def _check_engine(options: AnswerOptions) -> None:
    """Raises `InputError` if the preset and the engine contradict each other."""
    own = PRESETS[options.preset].get("engine", options.engine)
    if options.preset in ONE_ENGINE and options.engine != own:
        raise InputError(
            f"preset={options.preset!r} and engine={options.engine!r} exclude each other.",
            hint="Leave one of them out.",
        )


def _check_model(resolved: Resolved, model: str) -> None:
    """Raises `ConfigError` if an option needs a language model that is not configured."""
    options, origins = resolved.options, resolved.origins
    if model == _HAS_MODEL or not (options.is_written or options.refine):
        return
    name = "refine" if not options.is_written else "engine" if origins["engine"] in ("given", "settings") else "preset"
    place = IN_SETTINGS if origins[name] == "settings" else ""
    raise ConfigError(
        f"{name}={getattr(options, name)!r}{place} needs a language model, but {_NO_MODEL}.",
        hint=f"{HOW_TO_NAME_A_MODEL} Or leave {name} out.",
    )


def _check_reading(options: AnswerOptions) -> None:
    """Raises `InputError` if options of retrieval or of refinement contradict others."""
    if options.top_k not in (None, TOP_K) and tree_retriever(options.retriever):
        raise InputError(
            f"top_k counts chunks, but {options.retriever!r} retrieves over trees.",
            hint="Set evidence_words, or retriever='dense' or 'hybrid'.",
        )
    if options.context == "nodes" and not tree_retriever(options.retriever):
        raise InputError(
            f"context='nodes' gives nodes of trees, but {options.retriever!r} retrieves chunks.",
            hint="Choose a retriever over trees, or context='evidence'.",
        )
    if options.refine and (not options.is_written or options.preset == "paper"):
        wrong = f"preset={options.preset!r}" if options.preset in ONE_ENGINE else f"engine={options.engine!r}"
        raise InputError(
            f"refine lets the language model improve its own answer, but {wrong} does not let it.",
            hint="Leave refine at 0, or choose preset='written'.",
        )


_DEFAULTS: dict[str, Any] = {name: field.default for name, field in AnswerOptions.model_fields.items()}
