"""A pool of processes, Ray's actors, that work through many documents or questions with their models warm.

Each document or question comes back once: with what came of it, or with the error that it met; `PoisonedError` if it
raised what no part raises on purpose, or killed its process each time. Small ones go to an actor several at a time.
What was in the hands of an actor that died goes to another one alone, `TRIES` times at most, so that one of them loses
nobody else.

Ray is started in this process's family, on loopback, and ends with it; it keeps its files in a folder that goes too,
shows no dashboard and reports to nobody; who wants to talk to it needs a token that only its processes know.
``RAY_ADDRESS`` names a cluster instead.
"""

# Ray is installed by an extra only.
# pyright: reportMissingModuleSource=false
from __future__ import annotations

import json
import logging
import os
import pickle
import secrets
import socket
import tempfile
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import ExitStack, contextmanager, redirect_stdout
from dataclasses import dataclass
from typing import Any
from warnings import catch_warnings

from discorag.extras import extra
from discorag.types.errors import ConfigError, DiscoRagError, EngineError, PoisonedError, StoreError

Work = Callable[[str], Any]
"""What an actor does with one document or question; what it returns is pickled."""
ADDRESS = "RAY_ADDRESS"
"""Names a cluster, as Ray has it."""
KNOCK_S = 10.0
"""How long a cluster may take to accept a connection."""
TRIES = 2
"""How often what killed an actor, or was with what did, is tried alone."""
OBJECT_STORE_BYTES = 200_000_000
"""For what is on its way between the processes: names and outcomes."""
_DIED = "It may want more memory than there is: try fewer --actors. Otherwise leave it out."
_RAISED = "Nobody foresaw this: tell us what it holds, and leave it out."
_QUIETLY: dict[str, Any] = {"log_to_driver": False, "logging_level": logging.CRITICAL}
_QUIET = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_ENABLE_AUTO_CONNECT": "0",  # else what still runs when Ray has ended starts it again
    "RAY_BACKEND_LOG_LEVEL": "fatal",
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
}


class Pool:
    """Actors that are started for each call of `each` and ended after it.

    Args:
        size: How many.
    """

    def __init__(self, size: int) -> None:
        self._size = size

    def each(self, make: Callable[[], Work], blocks: Sequence[Sequence[str]]) -> Iterator[tuple[str, Any]]:
        """Each name with what came of it, in the order in which they are done.

        Args:
            make: Called once in each actor.
            blocks: Names, all different; those of a block go to an actor together.

        Raises:
            EngineError: Ray cannot go on.
            StoreError, ConfigError: What ``make`` raised, or the work on one: the others would meet it too.
            DiscoRagError: What else ``make`` raised.
        """
        left = dict.fromkeys(name for block in blocks for name in block)
        for tries, part in ((1, lambda: blocks), (TRIES, lambda: [[name] for name in left])):
            for name, done in self._passed(make, part(), tries):
                del left[name]
                yield name, done
        for name in left:
            yield name, PoisonedError("The process that was at it ended, each time.", hint=_DIED)

    def _passed(
        self, make: Callable[[], Work], blocks: Sequence[Sequence[str]], tries: int
    ) -> Iterator[tuple[str, Any]]:
        """One pass; what was with an actor that died is missing."""
        if not blocks:
            return
        import ray
        import ray.data

        rows = [{"names": json.dumps(block)} for block in blocks]
        with catch_warnings(action="ignore"):  # there is no other way to say how often a task is tried
            data = ray.data.from_items(rows, override_num_blocks=len(rows)).flat_map(
                _Actor,
                fn_constructor_args=(make,),
                compute=ray.data.ActorPoolStrategy(size=min(self._size, len(rows)), max_tasks_in_flight_per_actor=1),
                num_cpus=1,
                max_restarts=-1,
                max_task_retries=tries - 1,
            )
        try:
            for batch in data.iter_batches(batch_size=None, prefetch_batches=0):
                for name, done in zip(batch["name"], batch["done"], strict=True):
                    yield str(name), _told(pickle.loads(done))
        except ray.exceptions.RayError as error:
            raise EngineError(f"Ray cannot go on: {error}", hint="Run it again: what is done is kept.") from error


def _told(done: Any) -> Any:
    if isinstance(done, StoreError | ConfigError | _Unopened):
        raise done.error if isinstance(done, _Unopened) else done
    return done


@dataclass(frozen=True)
class _Unopened:
    """An actor that has nothing to work with, and why."""

    error: DiscoRagError


class _Actor:
    """What Ray starts in each process."""

    def __init__(self, make: Callable[[], Work]) -> None:
        self._work: Work | _Unopened
        try:
            self._work = make()
        except DiscoRagError as error:
            self._work = _Unopened(error)

    def __call__(self, row: dict[str, str]) -> list[dict[str, Any]]:
        return [{"name": name, "done": pickle.dumps(self._done(name))} for name in json.loads(row["names"])]

    def _done(self, name: str) -> Any:
        if isinstance(self._work, _Unopened):
            return self._work
        try:
            return self._work(name)
        except DiscoRagError as error:
            return error
        except Exception as error:  # noqa: BLE001 - whatever it is, it is this one's
            return PoisonedError(f"{type(error).__name__}: {error}.", hint=_RAISED)


@contextmanager
def pool(size: int | None) -> Generator[Pool]:
    """Ray, started or found.

    Args:
        size: Number of actors; None: as many as there are cores.

    Raises:
        MissingExtraError: Ray is not installed.
        ConfigError: The address is one of Ray's client, through which Ray Data does not work.
        EngineError: Ray cannot be started, or the cluster does not answer.
    """
    with open(os.devnull, "w", encoding="utf-8") as nowhere, redirect_stdout(nowhere), ExitStack() as stack:
        cores = _started(stack, size)
        yield Pool(min(size or cores, cores))


def _started(stack: ExitStack, size: int | None) -> int:
    """Start Ray until the end of ``stack``, without a word; the cores that it has."""
    os.environ.update(_QUIET)
    with extra("ray"):
        import ray
        import ray.data
    address = os.environ.get(ADDRESS, "")
    _knock(address)
    options = _QUIETLY if address else _own(stack, size)
    stack.callback(ray.shutdown)
    try:
        with _silent():
            ray.init(**options)
    except (OSError, RuntimeError, ValueError, ray.exceptions.RayError) as error:
        raise _not_there(address, error) from error
    logging.getLogger("ray.data").setLevel(logging.CRITICAL)
    context = ray.data.DataContext.get_current()
    context.enable_progress_bars, context.max_errored_blocks = False, -1
    return int(ray.cluster_resources().get("CPU", 1))


def _knock(address: str) -> None:
    """Ray would look for minutes for a cluster that is not there."""
    if "://" in address:
        raise ConfigError(f"{ADDRESS} is {address}.", hint="Name host:port of the cluster's head, or auto.")
    host, _, port = address.rpartition(":")
    if port.isdecimal():
        try:
            socket.create_connection((host.strip("[]"), int(port)), KNOCK_S).close()
        except (OSError, OverflowError) as error:
            raise _not_there(address, error) from error


def _not_there(address: str, error: Exception) -> EngineError:
    said = str(error).removesuffix(".")
    if not address:
        return EngineError(f"Ray cannot be started: {said}.", hint="Check that there is memory.")
    hint = f"Check {ADDRESS}, or unset it: Ray starts here then. A cluster with a token wants RAY_AUTH_MODE=token, too."
    return EngineError(f"No Ray can be joined at {address}: {said}.", hint=hint)


def _own(stack: ExitStack, size: int | None) -> dict[str, Any]:
    """Options of a Ray of this process's own."""
    os.environ.setdefault("RAY_AUTH_TOKEN", secrets.token_hex())  # else Ray leaves one in the user's home
    folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="ray-", ignore_cleanup_errors=True))
    return {
        **_QUIETLY,
        "num_cpus": size,
        "num_gpus": 0,
        "include_dashboard": False,
        "object_store_memory": OBJECT_STORE_BYTES,
        "_node_ip_address": "127.0.0.1",
        "_temp_dir": folder,
    }


@contextmanager
def _silent() -> Generator[None]:
    """Nothing reaches standard error, also from C++."""
    shown = os.dup(2)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 2)
    try:
        yield
    finally:
        os.dup2(shown, 2)
        os.close(nowhere)
        os.close(shown)
