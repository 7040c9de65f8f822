from collections.abc import Iterable, Sequence
from typing import Any

class ActorPoolStrategy:
    def __init__(self, *, size: int, max_tasks_in_flight_per_actor: int) -> None: ...

class DataContext:
    max_errored_blocks: int
    enable_progress_bars: bool
    @staticmethod
    def get_current() -> DataContext: ...

class Dataset:
    def flat_map(
        self,
        fn: type[Any],
        *,
        fn_constructor_args: Sequence[Any],
        compute: ActorPoolStrategy,
        num_cpus: float,
        max_restarts: int,
        max_task_retries: int,
    ) -> Dataset: ...
    def iter_batches(self, *, batch_size: None, prefetch_batches: int) -> Iterable[dict[str, Any]]: ...

def from_items(items: Sequence[Any], *, override_num_blocks: int) -> Dataset: ...
