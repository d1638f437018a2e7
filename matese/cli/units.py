"""Units of text and how spans become tags of them, for evaluation, which knows no tokenizer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache

from matese.cli import interrupts
from matese.evaluation import units
from matese.evaluation.evaluation import Tagging
from matese.evaluation.pairs import Pair
from matese.evaluation.tagging import Tagged
from matese.tagger import tags

Ranges = Sequence[tuple[int, int]]


def tagging(unit: str) -> Tagging:
    """Returns how spans become tags.

    Args:
        unit: word, character, or a model whose tokens are the units.

    Raises:
        ModelError: if it is none of these.
    """
    cut = {"word": units.words, "character": units.characters}.get(unit) or _tokens_of(unit)
    # A text is cut once for both sides, and for each of its raters.
    ranges = lru_cache(maxsize=1 << 16)(cut)

    def tag(pair: Pair) -> Tagged:
        places = ranges(pair.gold.segment.hypothesis)
        return Tagged(tags.from_spans(pair.gold_spans, places), tags.from_spans(pair.predicted_spans, places))

    return Tagging(unit, tags.TAGS, tag)


def _tokens_of(name: str) -> Callable[[str], Ranges]:
    from matese.encoder import checkpoint

    directory = checkpoint.resolve(name)
    with interrupts.deferred():
        from matese.tagger import engine
    tagger, tokenizer = engine.load(directory)
    encoder = tagger.text_encoder(tokenizer)

    def cut(text: str) -> Ranges:
        (tokens,) = encoder.tokenize([text])
        return tuple((int(start), int(end)) for start, end in tokens.ranges)

    return cut
