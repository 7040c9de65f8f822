"""The packaged encoder's graph for ONNX Runtime: ``python -m training.minilm_graph``.

Writes ``discorag/models/minilm.onnx``: ids of texts of one length in, their unit vectors out. It holds no weights, but
says where each of them is in the package's own file.
"""

# torch and transformers are typed in part only.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
import torch
from torch import Tensor, nn
from transformers import AutoModel

from discorag.models.encoder import GRAPH
from discorag.models.packaged import MINILM, packaged_folder
from training.graphs import export_graph, without_encoder


class Pooled(nn.Module):
    """The mean of a text's states, brought to length 1; nothing is padded, so there is no mask."""

    def __init__(self, transformer: nn.Module) -> None:
        super().__init__()
        self.transformer = transformer

    def forward(self, ids: Tensor) -> Tensor:
        """Shape (texts, 384) for ids of shape (texts, tokens)."""
        states = self.transformer(input_ids=ids).last_hidden_state
        return nn.functional.normalize(states.mean(1), dim=-1)


def main() -> None:
    """Export and write."""
    folder = packaged_folder(MINILM.name)
    module = Pooled(AutoModel.from_pretrained(str(folder), local_files_only=True).eval())
    ids = torch.tensor([[101, 2054, 2003, 102], [101, 2129, 2024, 102]])
    graph = export_graph(module, {"ids": ids}, ["vectors"], {"ids": {0: "texts", 1: "tokens"}})
    GRAPH.write_bytes(without_encoder(graph, folder / "model.safetensors", r"transformer\.").SerializeToString())


if __name__ == "__main__":
    main()
