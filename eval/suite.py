"""Suites and systems: what is run on what, and how it is scored (``eval/suites/*.yaml``, ``eval/systems.yaml``)."""

from collections.abc import Iterable
from functools import cache
from pathlib import Path
from random import Random
from typing import Annotated, Any, Literal, TypeVar, get_args

import yaml
from pydantic import BaseModel, Field, ValidationError

from discorag.discourse.parse.parser import PARSERS
from discorag.options import DEFAULT_RETRIEVER, PRESETS, Preset, resolve
from discorag.registry import Named
from discorag.retrieval.registry import tree_retriever
from discorag.schema.answer import Detail
from discorag.schema.errors import ConfigError, InputError
from discorag.store.records import NOT_MADE
from eval.errors import first_error
from eval.perturb import NOISE, PERTURBATIONS, Stage
from eval.retrievers import register_variants
from eval.sample import Benchmark, Sample

FOLDER = Path(__file__).parent
_B = TypeVar("_B", bound=BaseModel)


class System(BaseModel, frozen=True, extra="forbid"):
    """One system: the answer graph with options, one of its baselines, or the lead baseline.

    Args:
        name: Its key in ``systems.yaml``, or a preset, with what changes it; see `find_system`.
        about: One line for tables.
        kind: ``graph``; ``lead``: the first sentences of the documents; ``closed-book``: the model without documents.
        baseline: A key of `graphs.baselines.BASELINES`, used instead of the answer graph.
        switches: Fields of `nodes.context.AnswerContext`.
        of: The system whose run is resumed before the stage ``again``, so that both share what came before.
        again: That stage.
        perturbation: A key of `eval.perturb.PERTURBATIONS`: what is changed in the run of ``of`` before ``again``.
        rate: How much of it is changed, 0 to 1.
        own: Searches the question's own documents only.
    """

    name: str
    about: str
    kind: Literal["graph", "lead", "closed-book"] = "graph"
    baseline: str | None = None
    switches: dict[str, Any] = {}
    of: str = ""
    again: Stage | None = None
    perturbation: str = ""
    rate: float = Field(default=1.0, ge=0, le=1)
    own: bool = False

    @property
    def options(self) -> dict[str, Any]:
        """The switches over those of their preset."""
        return {**PRESETS.get(self.switches.get("preset", ""), {}), **self.switches}

    @property
    def needs_llm(self) -> bool:
        """Whether it names the llm engine, by itself, by preset or as a baseline of a paper, or routes."""
        retriever = tree_retriever(self.options.get("retriever", DEFAULT_RETRIEVER))
        routes = retriever is not None and retriever.routed
        return bool(self.baseline) or self.kind == "closed-book" or routes or "llm" in self.options.values()

    def reads_what_changes(self, *, has_model: bool) -> bool:
        """Whether an answer is written from what its perturbation changes; else it is that of the unchanged run."""
        if self.perturbation in ("", NOISE):
            return True
        options = resolve(self.switches, {}, has_model=has_model).options
        if not options.is_written or options.preset == "paper":
            return "chunks" in PERTURBATIONS[self.perturbation].read_with
        has_statements = options.use_graph or options.use_plan
        return has_statements and "statements" in PERTURBATIONS[self.perturbation].read_with


class Suite(BaseModel, frozen=True, extra="forbid"):
    """A benchmark run: data, retrieval, systems, metrics.

    Args:
        name: As on the command line.
        version: Raised with every change that moves numbers.
        about: One line.
        dataset: A key of `eval.datasets.registry.LOADERS`.
        path: The dataset's file or folder below the data folder.
        split: Shown beside every number.
        official: Questions of the official test set, to which a dry run scales its bill; None: not known.
        retrieval: ``pooled``: over the documents of all questions (open domain); ``own``: over the question's own.
        pool: With ``pooled``: the documents of ``all`` questions of the file, or of the ``chosen`` ones only.
        only: Stratum -> values: questions of other strata are left out, unless ``limit`` takes in the whole file.
        limit: Questions; None: all of ``only``.
        spread: Strata over which a limited choice is spread evenly.
        seed: Seed of that choice, and of the bootstrap.
        parser: Whose trees the chunks get at ingest: as the product names parsers. ``none``: a question makes those of
            the chunks that it retrieves.
        top_k: Chunks to retrieve, for all systems; None: as many as each retrieves by itself.
        answer_tokens: Output limit of the generator, in tokens.
        detail: How much a generator without a language model tells.
        instruction: How to answer, instead of what the dataset says.
        systems: Names of `systems`.
        metrics: Names of `eval.metrics.registry.build`.
        main: Metrics that are plotted, most important first.
    """

    name: str
    version: int = Field(ge=1)
    about: str
    dataset: str
    path: str
    split: str = "development split, subset"
    official: int | None = None
    retrieval: Literal["pooled", "own"]
    pool: Literal["all", "chosen"] = "all"
    only: dict[str, tuple[str, ...]] = {}
    limit: int | None = Field(default=None, ge=1)
    spread: tuple[str, ...] = ()
    seed: int = 13
    parser: Annotated[str, Named(PARSERS, (NOT_MADE,))] = "local"
    top_k: int | None = Field(default=None, ge=1)
    answer_tokens: int = Field(default=1024, ge=16)
    detail: Detail = "enough"
    instruction: str = ""
    systems: tuple[str, ...] = Field(min_length=1)
    metrics: tuple[str, ...] = Field(min_length=1)
    main: tuple[str, ...] = Field(min_length=1)

    @property
    def label(self) -> str:
        """Name and version."""
        return f"{self.name}/{self.version}"


@cache
def systems() -> dict[str, System]:
    """The systems of ``systems.yaml``, and each preset by its name. Raises `ConfigError` for a malformed file."""
    presets = {n: {"about": f"the product with preset={n}", "switches": {"preset": n}} for n in get_args(Preset)}
    table = presets | read_yaml(FOLDER / "systems.yaml")
    return {name: validate(System, {"name": name, **body}, f"systems.yaml: {name}") for name, body in table.items()}


def find_system(name: str) -> System:
    """The system of this name: ``SYSTEM+OPTION=VALUE~PERTURBATION@RATE``, in which all but SYSTEM may be left out.

    ``raptor+node_scores=bm25`` is ``raptor`` with another option. ``paper~edges-turned@0.5`` turns half of the edges of
    the graph in the run of ``paper``, and plans and answers with the result; without ``@RATE`` all of it is changed.

    Raises:
        ConfigError: There is no such system, option or perturbation, or it cannot be perturbed.
    """
    root, _, change = name.partition("~")
    base, *options = root.split("+")
    if base not in systems():
        raise ConfigError(f"There is no system {base!r}.", hint=f"There are {', '.join(systems())}.")
    system = systems()[base]
    if options:
        register_variants()
        switches = {**system.switches, **{k: yaml.safe_load(v) for k, _, v in (o.partition("=") for o in options)}}
        try:
            resolve(switches, {}, has_model=True)
        except InputError as error:
            raise ConfigError(f"{name}: {error.message}", hint=error.hint) from error
        of = "+".join([system.of, *options]) if system.of else ""
        about = f"{system.about}; {', '.join(options)}"
        system = system.model_copy(update={"name": root, "about": about, "of": of, "switches": switches})
    if not change:
        return system
    key, _, rate = change.partition("@")
    if key not in PERTURBATIONS or system.kind != "graph" or system.baseline or system.of:
        raise ConfigError(
            f"{name}: {root!r} cannot be perturbed by {key!r}.", hint=f"Perturbations: {', '.join(PERTURBATIONS)}."
        )
    found = PERTURBATIONS[key]
    update: dict[str, Any] = {"about": f"{root}: {found.about}", "of": root, "again": found.before}
    update |= {"perturbation": key, "rate": rate or 1.0, "switches": {**system.switches, **found.switches}}
    return validate(System, {**system.model_dump(), "name": name, **update}, name)


def suite_names() -> list[str]:
    """The suites at hand."""
    return sorted(p.stem for p in (FOLDER / "suites").glob("*.yaml"))


def load_suite(name: str) -> Suite:
    """The suite ``eval/suites/<name>.yaml``, or the file ``name`` if that ends in ``.yaml``.

    Raises:
        ConfigError: There is none, or it names a field, a system or a value that does not exist.
    """
    path = Path(name) if name.endswith(".yaml") else FOLDER / "suites" / f"{name}.yaml"
    if not path.is_file():
        raise ConfigError(f"There is no suite {name!r}.", hint=f"There are {', '.join(suite_names())}.")
    suite = validate(Suite, read_yaml(path), path.name)
    for system in suite.systems:
        find_system(system)
    return suite


def choose(samples: Iterable[Sample], suite: Suite) -> tuple[Sample, ...]:
    """The suite's questions in file order: all, or ``limit`` of them, drawn with its seed evenly over its strata.

    ``only`` narrows what is drawn from; a limit that takes in the whole file leaves nothing to draw.
    """
    everything = tuple(samples)
    if suite.limit is not None and suite.limit >= len(everything):
        return everything
    given = tuple(s for s in everything if all(s.strata.get(k) in values for k, values in suite.only.items()))
    if suite.limit is None or suite.limit >= len(given):
        return given
    groups: dict[tuple[str, ...], list[Sample]] = {}
    for sample in given:
        groups.setdefault(tuple(sample.strata.get(s, "") for s in suite.spread), []).append(sample)
    random = Random(suite.seed)
    queues = [random.sample(group, len(group)) for _, group in sorted(groups.items())]
    drawn: set[str] = set()
    while len(drawn) < suite.limit:
        for queue in queues:
            if queue and len(drawn) < suite.limit:
                drawn.add(queue.pop().id)
    return tuple(s for s in given if s.id in drawn)


def narrow_to(benchmark: Benchmark, suite: Suite) -> Benchmark:
    """The benchmark cut to the suite's questions, and to their documents unless the pool is all documents."""
    samples = choose(benchmark.samples, suite)
    if suite.instruction:
        samples = tuple(s.model_copy(update={"instruction": suite.instruction}) for s in samples)
    if suite.retrieval == "pooled" and suite.pool == "all":
        return benchmark.model_copy(update={"samples": samples})
    return benchmark.narrow(samples)


def read_yaml(path: Path) -> dict[str, Any]:
    """The file's mapping. Raises `ConfigError` if it is not YAML."""
    try:
        return yaml.safe_load(path.read_text(encoding="utf-8"))
    except yaml.YAMLError as error:
        raise ConfigError(f"{path.name} is not YAML: {error}.", hint="Fix the file.") from error


def validate(model: type[_B], value: Any, place: str) -> _B:
    """The value as this model. Raises `ConfigError` that names the place and the first wrong field."""
    try:
        return model.model_validate(value)
    except ValidationError as error:
        raise ConfigError(f"{place}: {first_error(error)}", hint=f"See {model.__module__}.{model.__name__}.") from error
