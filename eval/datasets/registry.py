"""The datasets by name: from a suite's ``dataset`` and ``path`` to a benchmark."""

from collections.abc import Callable, Mapping
from pathlib import Path

from discorag.schema.errors import ConfigError, MissingPathError
from eval.datasets.alce import load_eli5, load_qampari
from eval.datasets.asqa import load_asqa_pages, load_asqa_pooled
from eval.datasets.clapnq import load_clapnq
from eval.datasets.conditionalqa import load_conditionalqa
from eval.datasets.fairytaleqa import load_fairytaleqa
from eval.datasets.hotpotqa import load_hotpotqa
from eval.datasets.lay_summaries import load_lay_summaries
from eval.datasets.loong import load_loong
from eval.datasets.musique import load_musique
from eval.datasets.narrativeqa import load_narrativeqa
from eval.datasets.nq_open_oracle import load_nq_open_oracle
from eval.datasets.qasper import load_qasper
from eval.datasets.qmsum import load_qmsum
from eval.datasets.quality import load_quality
from eval.datasets.ramdocs import load_ramdocs
from eval.datasets.scinews import load_scinews
from eval.datasets.summhay import load_summhay
from eval.datasets.triviaqa import load_triviaqa
from eval.datasets.wikicontradict import load_wikicontradict
from eval.sample import Benchmark

LOADERS: Mapping[str, Callable[[Path], Benchmark]] = {
    "asqa-pages": load_asqa_pages,
    "asqa-pooled": load_asqa_pooled,
    "clapnq": load_clapnq,
    "conditionalqa": load_conditionalqa,
    "eli5": load_eli5,
    "fairytaleqa": load_fairytaleqa,
    "hotpotqa": load_hotpotqa,
    "lay-summaries": load_lay_summaries,
    "loong": load_loong,
    "musique": load_musique,
    "narrativeqa": load_narrativeqa,
    "nq-open-oracle": load_nq_open_oracle,
    "qampari": load_qampari,
    "qasper": load_qasper,
    "qmsum": load_qmsum,
    "quality": load_quality,
    "ramdocs": load_ramdocs,
    "scinews": load_scinews,
    "summhay": load_summhay,
    "triviaqa": load_triviaqa,
    "wikicontradict": load_wikicontradict,
}


def load_benchmark(dataset: str, path: Path) -> Benchmark:
    """Read a dataset's official files.

    Args:
        dataset: A key of `LOADERS`.
        path: Its file or folder.

    Raises:
        ConfigError: No loader of that name.
        MissingPathError: Nothing at ``path``.
        DataError: The files are not in the official format.
    """
    if dataset not in LOADERS:
        raise ConfigError(f"There is no loader for {dataset!r}.", hint=f"There are {', '.join(LOADERS)}.")
    if not path.exists():
        raise MissingPathError(f"{path} does not exist.", hint="`python -m eval data` says where it is published.")
    return LOADERS[dataset](path)
