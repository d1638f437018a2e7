"""Words, characters or a model's tokens as the units in which the tags of spans are compared."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache

from matese import mqm
from matese.errors import ModelError
from matese.evaluation.spans.pair_statistics import FigureOptions
from matese.evaluation.spans.span_figures import SpanFigures
from matese.evaluation.spans.unit_tags import Tagging
from matese.model.heads.tags import bio
from matese.tasks import notices
from matese.text.words import character_ranges, word_ranges


def figure_options(figures: SpanFigures, weights: mqm.Weights) -> FigureOptions:
    """Returns what computes figures; loads the model whose tokens are the units.

    Raises:
        ModelError: if there is no such model.
    """
    if figures.unit not in ("word", "character"):
        with notices.undisturbed():  # torch is imported here
            from matese.model import loading  # noqa: F401
    return FigureOptions(tagging(figures.unit), weights, figures)


def tagging(unit: str) -> Tagging:
    """Returns how spans become tags of units.

    Args:
        unit: "word", "character", or a model whose tokens are the units.

    Raises:
        ModelError: if it is none of these.
    """
    cut = {"word": word_ranges, "character": character_ranges}.get(unit) or _tokens_of(unit)
    # Each text is cut once for both sides and all raters.
    ranges = lru_cache(maxsize=1 << 16)(cut)
    return Tagging(unit, bio.TAGS, lambda text, spans: bio.from_spans(spans, ranges(text)))


def _tokens_of(model: str) -> Callable[[str], Sequence[tuple[int, int]]]:
    from matese.model import loading
    from matese.model.storage import checkpoint

    try:
        directory = checkpoint.resolve(model)
    except ModelError as error:
        raise ModelError(f"unit {model!r} must be word, character or a model, but: {error}") from error
    tagger, tokenizer = loading.load_tagger(directory)
    encoder = tagger.text_encoder(tokenizer)

    def cut(text: str) -> Sequence[tuple[int, int]]:
        (tokens,) = encoder.tokenize([text])
        return tuple((int(start), int(end)) for start, end in tokens.ranges)

    return cut
