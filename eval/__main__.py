"""The evaluation's command line: ``python -m eval --help``."""

import asyncio
import sys
from contextlib import closing
from pathlib import Path
from typing import Annotated, Any, Literal

import typer
from rich.console import Console
from rich.text import Text

from discorag.config import LlmSettings, read_settings
from discorag.discourse.parse.parser import PARSERS
from discorag.models.gateway import Gateway
from discorag.schema.errors import ConfigError, DiscoRagError
from discorag.store.records import NOT_MADE
from discorag.text.escaping import one_line
from eval.datasets.convert import convert
from eval.datasets.registry import load_benchmark
from eval.datasets.sources import SOURCES
from eval.experiments.attention import Attention
from eval.experiments.definition import Experiment, experiment_names, load_experiment, state, total_of
from eval.experiments.ratings import same_form, table_of_ratings
from eval.experiments.run import ExperimentRun
from eval.metrics.base import MetricModels
from eval.options import check_data, check_models, confirm, data_folder, find_data, judge_settings, models_of
from eval.reporting import tables
from eval.reporting.check import check as check_run
from eval.reporting.check import write_expected
from eval.reporting.mauve import mauve_of
from eval.reporting.report import markdown_table
from eval.reporting.report import report as markdown_report
from eval.running.bill import write_bills
from eval.running.budget import Budget, MeteredModel
from eval.running.folder import load_run
from eval.running.nodes import node_statistics
from eval.running.session import Place, Session, open_pipeline
from eval.suite import Suite, find_system, load_suite, suite_names, systems

app = typer.Typer(no_args_is_help=True, help=__doc__, pretty_exceptions_enable=False, add_completion=False)
out, err = Console(width=None if sys.stdout.isatty() else 160), Console(stderr=True)
HOME = Path(".disco-rag/eval")

Home = Annotated[Path, typer.Option(help="The evaluation's own store and runs.")]
Data = Annotated[Path | None, typer.Option(help="Folder of the datasets (default: DISCO_RAG_DATA).")]
Limit = Annotated[int | None, typer.Option(min=1, help="Questions; default: as the suite or experiment says.")]
Out = Annotated[Path | None, typer.Option("--out", help="Folder of the runs (default: HOME/runs).")]
Concurrency = Annotated[int, typer.Option(min=1, help="Questions under way at once.")]
Pool = Annotated[
    Literal["all", "chosen"] | None,
    typer.Option(help="Whose documents an open suite searches: chosen with --limit, else as the suite says."),
]
Yes = Annotated[bool, typer.Option("--yes", help="Ask a language model without asking you first.")]
MaxCalls = Annotated[
    int | None, typer.Option(min=1, help="Stop after this many calls of models; the same command resumes the run.")
]
MaxTokens = Annotated[
    int | None, typer.Option(min=1, help="Stop once this many tokens are spent; the same command resumes the run.")
]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Only count the tokens that a model would take.")]
JudgeUrl = Annotated[str | None, typer.Option(help="OpenAI-compatible endpoint of Loong's judge.")]
JudgeModel = Annotated[str, typer.Option(help="The judge's model.")]
JudgeKey = Annotated[str, typer.Option(help="Environment variable that holds the judge's key.")]
JudgePrompt = Annotated[Path | None, typer.Option(help="File with the official judge prompt.")]
ReaderFolder = Annotated[Path | None, typer.Option("--reader", help="Folder of a SQuAD 2.0 reader, for Disambig-F1.")]
BertScoreFolder = Annotated[Path | None, typer.Option("--bertscore", help="Folder of a BERTScore model.")]
SummacFolder = Annotated[Path | None, typer.Option("--summac", help="Folder of an NLI model, for SummaC.")]


@app.command("list")
def list_all() -> None:
    """The suites and systems there are."""
    found = [(s.label, str(s.limit or "all"), s.about) for s in map(load_suite, suite_names())]
    out.print(
        tables.listing("Suites", ("suite", "questions", "about"), found),
        tables.listing("Systems", ("system", "about"), [(s.name, s.about) for s in systems().values()]),
    )


@app.command()
def run(
    suites: Annotated[list[str], typer.Argument(help="Names of suites, or suite files.")],
    limit: Limit = None,
    pool: Pool = None,
    system: Annotated[list[str] | None, typer.Option(help="Only these systems; repeatable.")] = None,
    top_k: Annotated[int | None, typer.Option(min=1, help="Chunks to retrieve; default: as many as users get.")] = None,
    parser: Annotated[
        str | None, typer.Option(help=f"Whose trees, of {', '.join(PARSERS)}, none; default: as the suite says.")
    ] = None,
    to: Out = None,
    data: Data = None,
    home: Home = HOME,
    concurrency: Concurrency = 4,
    dry_run: DryRun = False,
    yes: Yes = False,
    max_calls: MaxCalls = None,
    max_tokens: MaxTokens = None,
    judge_url: JudgeUrl = None,
    judge_model: JudgeModel = "default",
    judge_key: JudgeKey = "",
    judge_prompt: JudgePrompt = None,
    reader: ReaderFolder = None,
    bertscore: BertScoreFolder = None,
    summac: SummacFolder = None,
) -> None:
    """Run suites, or resume a run that was cut off; every answer is recorded as soon as it is scored.

    If a language model is configured, what the run would take of it is printed first, and you are asked.
    """
    changes = {
        "limit": limit,
        "pool": pool or ("chosen" if limit else None),
        "top_k": top_k,
        "parser": parser,
        "systems": tuple(system or ()) or None,
    }
    chosen, settings = [_change_suite(load_suite(name), changes) for name in suites], read_settings()
    place, budget = Place(data=data or data_folder(), home=home), Budget(max_calls, max_tokens)
    for suite in chosen:
        check_data(suite, place.data)
    judge = judge_settings(judge_url, judge_model, judge_key, home / "judge")
    models, asked = _metric_models(judge, budget, judge_prompt, reader, bertscore, summac), models_of(settings)
    if not dry_run:
        asyncio.run(check_models([*asked, *([judge] if judge else [])]))
    with closing(open_pipeline(settings, home, budget)) as rag:
        sessions = [Session(suite, place, rag, models, err, budget) for suite in chosen]
        folders = [(to or home / "runs") / suite.name for suite in chosen]
        for session, folder in zip(sessions, folders, strict=True):
            if dry_run or asked:
                bills = asyncio.run(session.bill() if dry_run else session.estimate())
                write_bills(folder, session.suite.label, bills, session.suite.official)
                out.print(tables.bills(session.suite.label, bills, session.suite.official if dry_run else None))
        if dry_run:
            return
        if asked:
            confirm("this asks the language model as often as the table says", yes=yes)
        for session, folder in zip(sessions, folders, strict=True):
            out.print(tables.run(asyncio.run(session.run(folder, concurrency=concurrency)), session.suite.main))


def _metric_models(
    judge: LlmSettings | None,
    budget: Budget,
    prompt: Path | None,
    reader: Path | None,
    bertscore: Path | None,
    summac: Path | None,
) -> MetricModels:
    """What metrics need; the judge's calls are counted like all others."""
    metered = MeteredModel(Gateway(judge), budget) if judge else None
    return MetricModels(judge=metered, judge_prompt=prompt, reader=reader, bertscore=bertscore, summac=summac)


@app.command()
def experiments(data: Data = None) -> None:
    """The tables and figures of papers, and what each needs to be run."""
    folder, has_model = data or find_data(), bool(read_settings().llm_for("reader").provider)
    found = [load_experiment(name) for name in experiment_names()]
    rows = [(e.name, e.item, e.about, state(e, folder, has_model=has_model)) for e in found]
    out.print(tables.listing("Experiments", ("experiment", "item", "about", "state"), rows))


@app.command()
def experiment(
    name: Annotated[str, typer.Argument(help="As `experiments` lists it.")],
    only: Annotated[list[str] | None, typer.Option(help="A setting of its table, by its label; repeatable.")] = None,
    limit: Limit = None,
    pool: Pool = None,
    to: Out = None,
    data: Data = None,
    home: Home = HOME,
    concurrency: Concurrency = 4,
    dry_run: DryRun = False,
    yes: Yes = False,
    max_calls: MaxCalls = None,
    max_tokens: MaxTokens = None,
    ratings: Annotated[
        list[Path] | None, typer.Option(help="A form that a rater has filled in; repeatable. Nothing is run.")
    ] = None,
    details: Annotated[
        bool, typer.Option("--details", help="Also print each cell with its n, the interval and p.")
    ] = False,
    attention: Annotated[
        Path | None, typer.Option(help="Folder of a causal language model, for attention entropy.")
    ] = None,
    judge_url: JudgeUrl = None,
    judge_model: JudgeModel = "default",
    judge_key: JudgeKey = "",
    judge_prompt: JudgePrompt = None,
    reader: ReaderFolder = None,
    bertscore: BertScoreFolder = None,
    summac: SummacFolder = None,
) -> None:
    """Run a table or figure of a paper: checks, the bill, your consent, the run (resumed), the table."""
    chosen = load_experiment(name).narrow(only or ())
    if not chosen.rows:
        raise ConfigError(f"{chosen.item} is not run from here.", hint=f"It needs {'; '.join(chosen.beyond_options)}.")
    folder = (to or home / "runs") / name
    if ratings:
        _print_ratings(chosen, folder, ratings)
        return
    judge, budget = judge_settings(judge_url, judge_model, judge_key, home / "judge"), Budget(max_calls, max_tokens)
    current = ExperimentRun(
        experiment=chosen,
        settings=read_settings(),
        place=Place(data=data or data_folder(), home=home),
        models=_metric_models(judge, budget, judge_prompt, reader, bertscore, summac),
        out=folder,
        console=err,
        limit=limit,
        pool=pool,
        budget=budget,
        attention=Attention(attention) if attention else None,
    )
    current.check(judge, asks=not dry_run)
    total = _print_bill(current)
    if dry_run:
        return
    if current.asks_model:
        confirm(f"this takes about {total}", yes=yes)
    out.print(current.run(concurrency=concurrency, details=details), soft_wrap=True, markup=False)
    for form in current.write_forms() if chosen.form else ():
        out.print(f"To be filled in by each rater: {form}, with guidelines.md next to it.")


def _print_bill(current: ExperimentRun) -> str:
    """Print what cannot be computed, and the bill, which is also written into the run's folder; returns its total."""
    for what, why in current.missing().items():
        out.print(Text(f"{what}: {why}", style="yellow"))
    name, bills = current.experiment.name, current.bill()
    write_bills(current.out, name, bills)
    total = total_of(bills)
    out.print(tables.bills(name, bills), f"In all: {total}; a judge takes one more call per answer.")
    return total


@app.command("data")
def list_data(
    name: Annotated[str, typer.Argument(help="One set; default: all of them.")] = "",
    given: Annotated[
        Path | None, typer.Option("--from", help="Its published file, archive or folder, to be converted.")
    ] = None,
    data: Data = None,
) -> None:
    """List the sets of questions (what is here, where each is published, licence, size, layout), or convert one."""
    if given:
        for line in convert(name, given, data or data_folder()):
            out.print(line, soft_wrap=True, markup=False)
        return
    found = [source for source in SOURCES.values() if name in ("", source.name)]
    if not found:
        known = ", ".join(source.name for source in SOURCES.values())
        raise ConfigError(f"There is no set of questions {name!r}.", hint=f"There are {known}.")
    out.print(tables.sources(found, data or find_data()))


@app.command()
def prompts(
    suite: Annotated[str, typer.Argument(help="Name of a suite.")],
    to: Annotated[Path, typer.Option("--out", help="JSON lines of prompt and completion, as trl reads them.")],
    system: Annotated[str, typer.Option(help="Whose prompts: paper, or paper-standard without structure.")] = "paper",
    path: Annotated[str, typer.Option(help="The data file below the data folder; default: the suite's.")] = "",
    limit: Limit = None,
    data: Data = None,
    home: Home = HOME,
) -> None:
    """Write training data for an answering model (table 10): the prompt of each answer, and the reference."""
    changes = {"limit": limit, "path": path or None, "parser": NOT_MADE, "systems": (system,)}
    with closing(open_pipeline(read_settings(), home)) as rag:
        place = Place(data=data or data_folder(), home=home)
        session = Session(_change_suite(load_suite(suite), changes), place, rag, MetricModels(), err)
        n = asyncio.run(session.export(to, system))
    out.print(f"{n} examples in {to}")


@app.command()
def nodes(
    suites: Annotated[list[str], typer.Argument(help="Names of suites.")],
    retriever: Annotated[str, typer.Option(help="A retriever over trees.")] = "raptor",
    scores: Annotated[Literal["dense", "bm25", "hybrid"], typer.Option(help="How nodes are scored.")] = "dense",
    limit: Limit = None,
    data: Data = None,
    home: Home = HOME,
) -> None:
    """Print sizes of the nodes of retrieval trees, and from which layers questions retrieve."""
    place = Place(data=data or data_folder(), home=home)
    with closing(open_pipeline(read_settings(), home)) as rag:
        for name in suites:
            session = Session(_change_suite(load_suite(name), {"limit": limit}), place, rag, MetricModels(), err)
            found = asyncio.run(node_statistics(session, retriever, node_scores=scores))
            out.print(f"# {name}\n", markdown_table(["measure", "mean"], [[k, f"{v:.1f}"] for k, v in found.items()]))


@app.command()
def mauve(
    suite: Annotated[str, typer.Argument(help="Its suite, for questions and references.")],
    folder: Annotated[Path, typer.Argument(help="Folder of a run.")],
    model: Annotated[Path, typer.Argument(help="Folder of a language model; ALCE's is GPT-2 large.")],
    data: Data = None,
) -> None:
    """How near the answers of each system are to those of people, over all questions (MAUVE)."""
    found = load_suite(suite)
    samples = load_benchmark(found.dataset, (data or data_folder()) / found.path).samples
    for system, score in mauve_of(load_run(folder)[1], samples, model).items():
        out.print(f"{system}: {score:.1f}")


@app.command()
def report(
    folders: Annotated[list[Path], typer.Argument(help="Folders of runs.")],
    to: Annotated[Path, typer.Option("--out", help="The Markdown file.")] = HOME / "report.md",
) -> None:
    """One Markdown page over several runs, without any text of the data."""
    to.parent.mkdir(parents=True, exist_ok=True)
    to.write_text(markdown_report(folders), encoding="utf-8")
    out.print(to)


@app.command()
def check(folder: Path, expected: Path) -> None:
    """Whether a run reproduces committed numbers; exit status 1 if not."""
    deviations = check_run(folder, expected)
    for deviation in deviations:
        out.print(Text(deviation, style="red"))
    out.print(f"{folder.name}: {'reproduced' if not deviations else f'{len(deviations)} numbers deviate'}")
    raise typer.Exit(1 if deviations else 0)


@app.command()
def expect(folder: Path, expected: Path) -> None:
    """Write down a run's numbers as those expected from now on, with a tolerance of one score point."""
    write_expected(folder, expected)


def _print_ratings(chosen: Experiment, folder: Path, forms: list[Path]) -> None:
    """The forms of the point to whose folder they belong: each is a copy of that folder's form."""
    for point in chosen.points:
        at = folder / point.folder
        if own := [form for form in forms if same_form(at, form)]:
            out.print(f"{point.label or chosen.item}\n{table_of_ratings(at, own, chosen.reference)}", markup=False)


def _change_suite(suite: Suite, changes: dict[str, Any]) -> Suite:
    update = {k: v for k, v in changes.items() if v is not None}
    for name in update.get("systems", ()):
        find_system(name)
    return Suite.model_validate({**suite.model_dump(), **update})


def main() -> None:
    """Run the command line; errors of ours become one line and exit status 2."""
    try:
        app()
    except DiscoRagError as error:
        err.print(Text(one_line(f"{error.kind}: {error}", 2000), style="red"), soft_wrap=True)
        sys.exit(2)


if __name__ == "__main__":
    main()
