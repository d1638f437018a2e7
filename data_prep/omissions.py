"""Make training data for the omission head: human ratings with words removed from the translation.

The place of a removed word in a reference is exact: the reference has the same word once. Its place in the source comes
from the alignment by an encoder.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from data_prep import synthesis
from matese.annotation import Omission, Rating, SegmentKey, Severity
from matese.corruption import lexicon
from matese.corruption.edits import BREAK, Edit, words_in
from matese.corruption.pools import Pool
from matese.model.encoder.loading import load_encoder
from matese.model.texts import encoding
from matese.model.texts.tokenizer import load_tokenizer
from matese.text.languages import languages_of
from matese.text.ranges import Range
from matese.text.words import joins

RATER = "omissions"
CATEGORY = "Accuracy/Omission"
_NEGATION = 0.35
"""Probability that a negation is removed, if there is one."""
_N_WORDS = {1: 0.55, 2: 0.3, 3: 0.15}
_N_TRIES = 6


class Aligner:
    """Aligns the words of a source and its translation, by the states of a pretrained encoder.

    Two words are aligned if each is the most similar one to the other, as in SimAlign (Jalili Sabet et al. 2020).
    """

    def __init__(self, encoder: str | Path, *, layer: int = 8) -> None:
        """Loads an encoder by its hub id or directory; the states of a layer are compared, of the last one if fewer."""
        self._encoder = load_encoder(encoder)
        torch.nn.Module.eval(self._encoder)
        n_pieces = int(self._encoder.config.vocab_size)
        longest = min(512, encoding.longest_input(self._encoder))
        self._texts = encoding.fitted(load_tokenizer(encoder), n_pieces, max_tokens=longest)
        self._layer = min(layer, int(self._encoder.config.num_hidden_layers))

    def places(self, run: Range, hypothesis: str, source: str) -> list[Range]:
        """Returns the ranges of the words of the source that are aligned to a run of the hypothesis."""
        (words, here), (source_words, there) = (self._words(text) for text in (hypothesis, source))
        if not words or not source_words:
            return []
        likeness = here @ there.T  # (words, source words)
        best = likeness.argmax(1).tolist()
        back = likeness.argmax(0).tolist()
        return [
            place
            for number, place in enumerate(source_words)
            if best[back[number]] == number and run[0] <= words[back[number]][0] and words[back[number]][1] <= run[1]
        ]

    @torch.inference_mode()
    def _words(self, text: str) -> tuple[list[Range], Tensor]:
        """Returns the ranges of the words of a text and the normalised mean of their tokens' states: (words, width)."""
        (row,) = self._texts.join(self._texts.tokenize([text])[0], [], None)[:1]
        ids = torch.from_numpy(row.ids).long().unsqueeze(0)
        output: Any = self._encoder(input_ids=ids, attention_mask=torch.ones_like(ids), output_hidden_states=True)
        states = output.hidden_states[self._layer][0, row.first :]
        words: list[Range] = []
        tokens: list[list[int]] = []
        for number, (start, end) in enumerate(row.ranges.tolist()):
            if start == end or not any(map(str.isalnum, text[start:end])):
                continue
            if words and words[-1][1] >= start and joins(text, start):
                words[-1] = words[-1][0], end
                tokens[-1].append(number)
            else:
                words.append((start, end))
                tokens.append([number])
        if not words:
            return [], torch.zeros(0, states.shape[-1])
        return words, functional.normalize(torch.stack([states[numbers].mean(0) for numbers in tokens]), dim=-1)


def build(
    inputs: Iterable[Path], aligner: Aligner, *, share: float, seed: int, progress: Callable[[str], None]
) -> Iterator[Rating]:
    """Yields the ratings with an omission, of a share of all ratings."""
    ratings, languages = synthesis.read(inputs, progress)
    progress("removing words")
    for number, rating in enumerate(ratings):
        rng = random.Random(f"omissions|{seed}|{number}")
        _, target = languages_of(rating.segment.key)
        if not target or rating.errors is None or rng.random() >= share:
            continue
        tries = (remove(rating, languages[target], aligner, rng) for _ in range(_N_TRIES))
        yield from itertools.islice(filter(None, tries), 1)


def remove(rating: Rating, pool: Pool, aligner: Aligner, rng: random.Random) -> Rating | None:
    """Returns the rating without randomly drawn words; None if their place in the contexts is unknown."""
    text = rating.segment.hypothesis
    run = _draw(text, rng, pool)
    if run is None:
        return None
    start, end = run
    words = _words(text, run, pool)
    if text[end : end + 1].isspace():
        end += 1
    elif text[start - 1 : start].isspace():
        start -= 1
    edit = Edit(start, end, "")
    moved = edit.moved(rating.errors or ())
    rest = edit.apply(text)
    if moved is None or not rest.strip():
        return None
    omissions = list(_omissions(rating, words, rest, pool, aligner.places(run, text, rating.segment.source or "")))
    if not omissions:
        return None
    overall = synthesis.lowered(rating.overall, Severity.MAJOR)
    key = rating.segment.key or SegmentKey()
    segment = replace(rating.segment, hypothesis=rest, key=replace(key, system=f"{key.system or ''}+missing"))
    return replace(
        rating, segment=segment, rater=RATER, errors=moved, omissions=tuple(omissions), overall=overall, estimate=None
    )


def _draw(text: str, rng: random.Random, pool: Pool) -> Range | None:
    """Returns the range of a negation or of words with a content word among them; None if the draw finds none."""
    negator = lexicon.pattern("negator", pool.language)
    negations = [match.span() for match in negator.finditer(text)] if negator else []
    if negations and rng.random() < _NEGATION:
        return rng.choice(negations)
    words = words_in(text, pool)
    n_words = rng.choices(list(_N_WORDS), list(_N_WORDS.values()))[0]
    if len(words) < n_words + 2:
        return None
    first = rng.randrange(len(words) - n_words + 1)
    run = words[first][0], words[first + n_words - 1][1]
    places = words[first : first + n_words]
    if BREAK.search(text, *run) or not any(_is_content(text[slice(*place)], pool) for place in places):
        return None
    return run


def _words(text: str, run: Range, pool: Pool) -> list[str]:
    """Returns the content words of a run, or all its words if it has none, as a negation."""
    words = [text[slice(*place)] for place in words_in(text, pool) if run[0] <= place[0] and place[1] <= run[1]]
    telling = [word for word in words if _is_content(word, pool)]
    return telling or words or [text[slice(*run)]]


def _is_content(word: str, pool: Pool) -> bool:
    return any(character.isdigit() for character in word) or word in pool.is_name or pool.is_content(word)


def _omissions(
    rating: Rating, words: Sequence[str], rest: str, pool: Pool, source_places: Sequence[Range]
) -> Iterator[Omission]:
    """Yields an omission for each removed word in each context in which the places of all words are known."""
    wanted = {word.casefold() for word in words}
    left = {rest[slice(*place)].casefold() for place in words_in(rest, pool)}
    for number, reference in enumerate(rating.segment.references):
        places = words_in(reference, pool)
        matches = [place for place in places if reference[slice(*place)].casefold() in wanted]
        names = {reference[slice(*place)].casefold() for place in matches}
        if len(matches) == len(wanted) == len(names) and wanted.isdisjoint(left):
            yield from (Omission("reference", number, *place, Severity.MAJOR, CATEGORY) for place in matches)
    if len(source_places) >= len(words):
        yield from (Omission("source", None, *place, Severity.MAJOR, CATEGORY) for place in source_places)
