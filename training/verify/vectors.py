"""Static vectors of the packaged encoder's word pieces: ``python -m training.verify.vectors``.

Each piece is encoded alone; its vector is its token's, less the mean of all, on the first 96 principal components, as
8-bit numbers (the idea is that of model2vec, Tulkens and van Dongen 2024). Writes
``discorag/conflicts/claims/weights/words.safetensors``.
"""

# torch is typed in part only.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
from __future__ import annotations

import numpy as np
from safetensors.numpy import save_file

from discorag.conflicts.claims.alignment import FIRST_WORD, WORDS, Floats
from discorag.models.packaged import MINILM, packaged_folder

DIMENSIONS = 96
_BATCH = 1024


def encoded() -> Floats:
    """Shape (pieces, 384)."""
    import torch
    from transformers import AutoModel, AutoTokenizer

    folder = str(packaged_folder(MINILM.name))
    tokenizer, found = AutoTokenizer.from_pretrained(folder), list[Floats]()
    model = AutoModel.from_pretrained(folder)
    with torch.inference_mode():
        for ids in torch.arange(len(tokenizer)).split(_BATCH):
            first, last = (torch.full_like(ids, i) for i in (tokenizer.cls_token_id, tokenizer.sep_token_id))
            states = model(input_ids=torch.stack([first, ids, last], dim=1)).last_hidden_state
            found.append(states[:, 1].numpy())
    return np.concatenate(found)


def reduced(vectors: Floats) -> Floats:
    """Unit rows, shape (pieces, `DIMENSIONS`); the vocabulary's pieces for single characters do not count."""
    centred = vectors - vectors[FIRST_WORD:].mean(axis=0)
    components = np.linalg.svd(centred[FIRST_WORD:], full_matrices=False)[2][:DIMENSIONS]
    rows = centred @ components.T
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def main() -> None:
    """Encode, reduce, write."""
    rows = reduced(encoded())
    scale = np.abs(rows).max(axis=1, keepdims=True) / 127
    save_file({"vectors": np.round(rows / scale).astype(np.int8)}, WORDS)


if __name__ == "__main__":
    main()
