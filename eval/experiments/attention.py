"""Attention entropy (Disco-RAG appendix I, table 11): how widely a written token's attention is spread."""

from pathlib import Path
from typing import Any

from discorag.extras import extra


class Attention:
    """A causal language model in a folder, through which prompts and answers are read; nothing is fetched.

    Args:
        folder: A Hugging Face model with its tokenizer. It is read on CUDA where there is one.
    """

    def __init__(self, folder: Path) -> None:
        with extra("eval"):
            import torch
            import transformers

        library: Any = transformers
        where = {"pretrained_model_name_or_path": str(folder), "local_files_only": True}
        self._device = "cuda" if torch.cuda.is_available() else "cpu"
        self._tokenizer: Any = library.AutoTokenizer.from_pretrained(**where)
        model: Any = library.AutoModelForCausalLM.from_pretrained(**where, attn_implementation="eager")
        self._model = model.to(self._device).eval()

    def entropy(self, prompt: str, answer: str) -> float:
        """Entropy in nats of the attention with which the answer's tokens are predicted, averaged over these tokens.

        The attention of a position is averaged over layers and heads first. Text before the model's window is cut off.
        """
        import torch

        texts = (prompt, "\n" + answer, "\n")
        read, written, gap = (self._tokenizer(t, add_special_tokens=False)["input_ids"] for t in texts)
        ids = [*read, *written][-self._model.config.max_position_embeddings :]
        with torch.no_grad():
            found = self._model(torch.tensor([ids], device=self._device), output_attentions=True).attentions
        attention = torch.stack([layer[0].float().mean(dim=0) for layer in found]).mean(dim=0)
        attention = attention[len(gap) - len(written) - 1 : -1]  # a position predicts the token after it
        return float(-torch.xlogy(attention, attention).sum(dim=-1).mean())
