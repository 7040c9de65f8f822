"""The experiments by name: what is done, how often, and what may come of it."""

from __future__ import annotations

from bench.trust import (
    connections,
    contract,
    damages,
    disk_full,
    forged,
    jobs,
    kills,
    probes,
    server_kills,
    streams,
    unauthenticated,
)
from bench.trust.trial import Experiment, needs_root

EXPERIMENTS: dict[str, Experiment] = {
    "kills": Experiment(
        what="SIGKILLs through whole-pipeline ingest and asks, at least five in every stage",
        count=40,
        limits={"lost": 0, "differing": 0},
        run=kills.run,
    ),
    "server_kills": Experiment(
        what="SIGKILLs of a server to which files are sent",
        count=20,
        limits={"lost": 0, "doubled": 0, "not_ended": 0, "differences": 0},
        run=server_kills.run,
    ),
    "index_damages": Experiment(
        what="files of the index flipped, halved, deleted, zeroed or with pages swapped, half of them while it is open",
        count=60,
        limits={"wrong": 0, "crashed": 0, "lost": 0},
        run=lambda trial: damages.damage_index(damages.Intact.create(trial.folder), trial),
    ),
    "database_damages": Experiment(
        what="the database with bytes flipped, pages zeroed or swapped, rows deleted, or halved",
        count=30,
        limits={"wrong": 0, "silent": 0, "crashed": 0, "unrestored": 0},
        run=lambda trial: damages.damage_database(damages.Intact.create(trial.folder), trial),
    ),
    "backup_damages": Experiment(
        what="backups with bytes flipped, pages zeroed or swapped, rows deleted, halved or cut",
        count=200,
        limits={"silent": 0},
        run=lambda trial: damages.damage_backups(damages.Intact.create(trial.folder), trial),
    ),
    "contract": Experiment(
        what="questions to the index, to exact search and to an index in memory, dense and hybrid: the same ten",
        count=300,
        limits={"differing": 0},
        run=contract.run,
    ),
    "disk_full": Experiment(
        what="disks of 300 to 1,200 MB that fill up during ingest and ask, at up to 200 MB/s, then have room again",
        count=20,
        limits={"crashes": 0, "lost": 0},
        run=disk_full.run,
        unavailable=needs_root,
    ),
    "cancel": Experiment(
        what="jobs cancelled at random moments, each followed by a file of another tenant",
        count=50,
        limits={"stuck": 0},
        run=jobs.cancelled,
    ),
    "poison": Experiment(
        what="files below 50 kB made to be too much, while another tenant uploads a small one a second",
        count=100,
        limits={"block_of_others_s": 2, "others_not_done": 0, "crashes": 0},
        run=jobs.poisoned,
    ),
    "unauthenticated_bytes_kept": Experiment(
        what="requests without a key, each with a body of 99 MB",
        count=12,
        limits={"unauthenticated_bytes_kept": 0},
        run=unauthenticated.run,
    ),
    "connections": Experiment(
        what="half-open connections, 200 bodies of a byte a second and a head of 150 MB, without a key",
        count=20_000,
        limits={"unanswered": 0, "slowest_s": 5, "held": 0},
        run=connections.run,
    ),
    "requests": Experiment(
        what="randomised requests of two tenants over every endpoint of the schema, each with the other's ids",
        count=20_000,
        limits={"leaks": 0, "server_errors": 0},
        run=probes.run,
    ),
    "forged": Experiment(
        what="hostile documents and replies, asked for in chat and rendered as Markdown",
        count=60,
        limits={"shown": 0},
        run=forged.run,
    ),
    "disconnects": Experiment(
        what="streams of /ask and chat left at random moments",
        count=50,
        limits={"work_after_s": 2},
        run=streams.disconnects,
    ),
    "soak": Experiment(
        what="asks in a row, four at a time",
        count=5_000,
        limits={"memory_growth_pct": 5, "descriptor_growth": 5},
        run=streams.soak,
    ),
}
