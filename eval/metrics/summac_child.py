"""SummaC-Conv by its authors' package ``summac``, with SciNews's settings, in an environment of its own: make summac.

A line of standard input is a JSON list of source and answer, the line of standard output that follows its score.
"""

import json
import sys


def main() -> None:
    """Score until standard input ends."""
    out, sys.stdout = sys.stdout, sys.stderr  # the package prints
    import torch
    from summac.model_summac import SummaCConv  # pyright: ignore

    device = "cuda" if torch.cuda.is_available() else "cpu"
    settings = {"models": ["vitc"], "bins": "percentile", "granularity": "sentence", "nli_labels": "e"}
    scorer = SummaCConv(**settings, device=device, start_file="default", agg="mean")  # pyright: ignore
    for line in sys.stdin:
        source, answer = json.loads(line)
        print(float(scorer.score([source], [answer])["scores"][0]), file=out, flush=True)  # pyright: ignore


if __name__ == "__main__":
    main()
