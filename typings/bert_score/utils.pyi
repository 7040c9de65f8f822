from typing import Any

from torch import Tensor

model2layers: dict[str, int]

def bert_cos_score_idf(
    model: Any,
    refs: list[str],
    hyps: list[str],
    tokenizer: Any,
    idf_dict: dict[int, float],
    verbose: bool = False,
    batch_size: int = 64,
    device: str = "cuda:0",
    all_layers: bool = False,
) -> Tensor: ...
