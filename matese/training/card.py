"""The model card of a training run."""

from __future__ import annotations

from collections.abc import Mapping

import matese
from matese.training import settings
from matese.training.config import Config


def write(config: Config, figures: Mapping[str, float], *, n_train: int, n_dev: int) -> str:
    """Returns the card as Markdown: what was learned from, how, and how well.

    Args:
        config: resolved settings.
        figures: of the validation that chose the model.
        n_train: segments that were learned from.
        n_dev: segments of the validation.
    """
    encoder = config.encoder if isinstance(config.encoder, str) else f"{config.encoder['model_type']}, from scratch"
    rows = "\n".join(f"| {name.removeprefix('dev/')} | {value:.4f} |" for name, value in figures.items())
    share = config.training.start_share
    mean = f" The weights here are the mean of that state's and, at a share of {share:g}, the start's." if share else ""
    return f"""# MaTESe tagger

Marks the errors of machine translations, each Minor or Major. Made by matese {matese.__version__}; use it with
`matese tag --model DIRECTORY`.

- Encoder: {encoder}
- Reads the hypothesis with: {", ".join(config.tagger.inputs)}
- Learned from: {n_train:,} segments of {", ".join(config.data.train)}
- Licence: that of the encoder and of the data, to be stated by who publishes the model

## Figures

On the {n_dev:,} segments of {", ".join(config.data.dev)}, by which the best state of the run was chosen.{mean}
`hsh` and `tsh`: Hypothesis and Target Span Hit; `pearson`: with the segments' MQM scores.

| figure | value |
|---|---|
{rows}

## Settings

```yaml
{settings.dump(config).strip()}
```
"""
