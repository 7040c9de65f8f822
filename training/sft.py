"""LoRA of a language model on exported prompts (Disco-RAG appendix G): ``python -m training.sft DATA MODEL OUT``.

``python -m eval prompts scinews --path scinews/train.json --out DATA`` writes the data: with ``--system paper`` the
prompts have trees, graph and plan, with ``--system paper-standard`` they have none; `training.router` writes a router's
(RDR² appendix A.2). Needs trl and peft, which the extra ``dev`` has. Disco-RAG does not print how it fine-tunes; ranks
and rates here are customary.
"""

from pathlib import Path
from typing import Annotated, Any

import torch
import typer

MODULES = "all-linear"


def main(
    data: Annotated[Path, typer.Argument(help="JSON lines of prompt and completion.")],
    model: Annotated[Path, typer.Argument(help="Folder of the model.")],
    out: Annotated[Path, typer.Argument(help="Where the merged model is written, to be served.")],
    epochs: Annotated[float, typer.Option(min=0)] = 1.0,
    rank: Annotated[int, typer.Option(min=1)] = 16,
    rate: Annotated[float, typer.Option(min=0, help="Learning rate.")] = 2e-4,
    batch: Annotated[int, typer.Option(min=1, help="Examples a step.")] = 8,
    length: Annotated[int, typer.Option(min=16, help="Tokens of an example; longer ones are cut off.")] = 16_384,
) -> None:
    """Train on the completions only, merge the adapter, write the model with its tokenizer."""
    datasets, peft, trl = (_import(name) for name in ("datasets", "peft", "trl"))
    trainer = trl.SFTTrainer(
        model=str(model),
        train_dataset=datasets.load_dataset("json", data_files=str(data), split="train"),
        peft_config=peft.LoraConfig(r=rank, lora_alpha=2 * rank, target_modules=MODULES, task_type="CAUSAL_LM"),
        args=trl.SFTConfig(
            output_dir=str(out / "steps"),
            num_train_epochs=epochs,
            learning_rate=rate,
            per_device_train_batch_size=1,
            gradient_accumulation_steps=batch,
            max_length=length,
            completion_only_loss=True,
            bf16=torch.cuda.is_available(),
            dataloader_pin_memory=torch.cuda.is_available(),
            save_strategy="no",
            report_to="none",
            seed=13,
        ),
    )
    found = trainer.train()
    trainer.model.merge_and_unload().save_pretrained(out)
    trainer.processing_class.save_pretrained(out)
    typer.echo(f"{found.global_step} steps, loss {found.training_loss:.3f}; the model is in {out}.")


def _import(name: str) -> Any:
    try:
        return __import__(name)
    except ImportError as error:
        raise typer.BadParameter(f"{name} is not installed: pip install trl peft.") from error


if __name__ == "__main__":
    typer.run(main)
