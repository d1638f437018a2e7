"""The model card of a training run."""

from __future__ import annotations

from collections.abc import Mapping

from matese.files import name_of
from matese.training import config as settings
from matese.training.config import Config
from matese.version import __version__

_TAGGER_FIGURES = (
    "`hsh` and `tsh`: Hypothesis and Target Span Hit; `pearson`: correlation with the segments' MQM scores."
)
_SCORE_FIGURES = (
    "`pearson` and `kendall` (tau-b): correlation with the human scores; `pairs`: daRR variant of Kendall's tau among "
    "translations\nof one source; `macro_f1`: of the labels."
)


def write(config: Config, figures: Mapping[str, float], *, n_train: int, n_dev: int) -> str:
    """Returns the card as Markdown: the training data, the figures of the chosen state and the settings."""
    title = "# MaTESe tagger\n\nMarks the errors of machine translations as Minor or Major."
    command = "tag"
    explained = _TAGGER_FIGURES
    if config.model.heads.tags is None:
        labels = config.model.heads.word_labels
        severities = "" if labels is None else " and ".join(severity.value for severity in labels.severities)
        marks = f" and marks {severities} errors" if severities else ""
        title = f"# {config.model.architecture.capitalize()} model\n\nScores machine translations{marks}."
        command = "tag" if severities else "score"
        explained = _SCORE_FIGURES
    encoder = config.encoder if isinstance(config.encoder, str) else f"{config.encoder['model_type']}, from scratch"
    held_out = f"{100 * config.data.held_out:g} % of their sources, which were held out"
    dev = ", ".join(map(name_of, config.data.dev)) or held_out
    rows = "\n".join(f"| {name.removeprefix('dev/')} | {value:.4f} |" for name, value in figures.items())
    return f"""{title} Trained with matese {__version__}; use it with
`matese {command} --model DIRECTORY`.

- Encoder: {encoder}
- Input besides the hypothesis: {", ".join(config.model.texts.inputs)}
- Training data: {n_train:,} segments of {", ".join(map(name_of, config.data.files))}
- Licence: depends on the encoder and the data; state it when you publish the model

## Figures

Measured on the {n_dev:,} segments of {dev}, which also chose the best state of the run.
{explained}

| figure | value |
|---|---|
{rows}

## Settings

```yaml
{settings.dump(config).strip()}
```
"""
