"""A language model with random weights that reads and writes any bytes."""

from pathlib import Path
from typing import Any

CHAT = (
    "{% for m in messages %}<{{ m['role'] }}>{{ m['content'] }}</s>{% endfor %}"
    "{% if add_generation_prompt %}<assistant>{% endif %}"
)


def tiny_model(folder: Path, *, window: int = 2048) -> Path:
    """Save one of some 20 thousand parameters, with its tokenizer and chat template."""
    import torch
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers
    from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

    words = {token: i for i, token in enumerate(["</s>", *sorted(pre_tokenizers.ByteLevel.alphabet())])}
    tokenizer: Any = Tokenizer(models.BPE(vocab=words, merges=[]))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    fast: Any = PreTrainedTokenizerFast(tokenizer_object=tokenizer, eos_token="</s>", pad_token="</s>")
    fast.chat_template = CHAT
    fast.save_pretrained(folder)
    torch.manual_seed(0)  # pyright: ignore[reportUnknownMemberType]
    sizes: Any = {"hidden_size": 16, "intermediate_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2}
    ids: Any = {"vocab_size": len(words), "bos_token_id": 0, "eos_token_id": 0, "pad_token_id": 0}
    model: Any = LlamaForCausalLM(LlamaConfig(max_position_embeddings=window, **sizes, **ids))
    model.save_pretrained(folder)
    return folder
