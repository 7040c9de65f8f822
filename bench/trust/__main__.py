"""Break what is promised, on purpose: what is lost, wrong, shown or held up.

Usage: ``python -m bench.trust [NAME ...] [--count N] [--out FILE]``. Without ``--out``, every experiment is written
into `bench/results/trust.json` and the table of `docs/reliability.md` as soon as it is done.
"""

from pathlib import Path

import typer

from bench.promises import Count, Experiment, Names, Out, run_experiments
from bench.scale import catalogue
from bench.trust import damages, delete_kills, disk_full, kills, large, poison, probes, server_kills, shares, soak

RESULTS, PAGE = Path("bench/results/trust.json"), Path("docs/reliability.md")
EXPERIMENTS: dict[str, Experiment] = {
    "kills": Experiment(
        "SIGKILLs of whole-pipeline ingest and asks at random moments; texts change in between",
        40,
        {"lost": 0, "differing": 0},
        kills.run,
    ),
    "server_kills": Experiment("SIGKILLs of a server to which files are sent", 20, server_kills.NONE, server_kills.run),
    "delete_kills": Experiment(
        "SIGKILLs of a server inside DELETE of an uploaded document", 20, delete_kills.NONE, delete_kills.run
    ),
    "index_damages": Experiment(
        "files of the index flipped, halved, deleted, zeroed or with pages swapped, half of them while it is open",
        60,
        {"wrong": 0, "crashed": 0, "lost": 0},
        lambda trial: damages.damage_index(damages.Intact.create(trial.folder), trial),
    ),
    "database_damages": Experiment(
        "the database with bytes flipped, pages zeroed or swapped, rows deleted, or halved",
        30,
        {"wrong": 0, "silent": 0, "crashed": 0, "unrestored": 0},
        lambda trial: damages.damage_database(damages.Intact.create(trial.folder), trial),
    ),
    "disk_full": Experiment(
        "disks of 300 to 1,200 MB that fill up during ingest and ask, at up to 200 MB/s, then have room again",
        20,
        {"crashes": 0, "lost": 0},
        disk_full.run,
    ),
    "poison": Experiment(
        "files under 50 kB that cause too much work, while another tenant uploads a small one a second",
        100,
        {"block_of_others_s": 2, "others_not_done": 0, "crashes": 0},
        poison.run,
    ),
    "shares": Experiment(
        "questions of a tenant, a third of them alone, then while another keeps 50 and 300 in flight",
        60,
        {"ratio_50": 4, "ratio_300": 4},
        shares.measure_questions,
    ),
    "file_shares": Experiment(
        "small files of a tenant, while another has 500 files to be read and keeps 50 questions in flight",
        20,
        {"upload_ratio": 4, "slowdown": 3.33},
        shares.measure_files,
    ),
    "requests": Experiment(
        "randomised requests of two tenants over every endpoint of the schema, each with the other's ids",
        20_000,
        {"leaks": 0, "server_errors": 0},
        probes.run,
    ),
    "soak": Experiment(
        "asks in a row, four at a time", 5_000, {"memory_growth_pct": 5, "descriptor_growth": 5}, soak.run
    ),
    "large": Experiment(
        "chunks of random words and vectors in a store",
        100_000,
        {"index_s": None, "open_s": 1, "search_ms": None, "exact_ms": None},
        large.run,
    ),
    "catalogue": Experiment(
        "synthetic rows of documents in a folder's database", 1_000_000, {"open_s": 1, "wrong": 0}, catalogue.measure
    ),
}


def main(names: Names = None, count: Count = 0, out: Out = None) -> None:
    """Measure, write after each."""
    run_experiments(EXPERIMENTS, RESULTS, PAGE, names, count, out)


if __name__ == "__main__":
    typer.run(main)
