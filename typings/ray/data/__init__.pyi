from collections.abc import Iterator, Sequence

class DataContext:
    enable_progress_bars: bool
    print_on_execution_start: bool
    @staticmethod
    def get_current() -> DataContext: ...

class Dataset:
    def map_batches(
        self,
        fn: type,
        *,
        fn_constructor_args: Sequence[object],
        batch_size: int,
        num_cpus: float,
        concurrency: tuple[int, int],
    ) -> Dataset: ...
    def iter_rows(self) -> Iterator[dict[str, str]]: ...

def from_items(items: Sequence[dict[str, str]], *, override_num_blocks: int) -> Dataset: ...
