"""Find references for rated segments: human translations among the rated systems and in test set files."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from data_prep.datasets import DataSet, human
from data_prep.store import Store
from matese.annotation import Rating, Segment
from matese.errors import InputError
from matese.preparation import normalise

_Translations = dict[str, str]  # by the translator's letter


@dataclass(frozen=True, slots=True)
class References:
    """Human translations of a test set in a language pair.

    Attributes:
        by_place: translations in the ratings, by document and index.
        by_source: translations in the ratings, by normalised source.
        from_files: translations in the test set's files, by normalised source.
        excluded: letters of the translators that are not used as references.
    """

    by_place: Mapping[tuple[str | None, int | None], _Translations] = field(default_factory=dict)
    by_source: Mapping[str, _Translations] = field(default_factory=dict)
    from_files: Mapping[str, _Translations] = field(default_factory=dict)
    excluded: frozenset[str] = frozenset()

    def of(self, segment: Segment) -> tuple[str, ...]:
        """Returns the distinct references of a segment in the order of their letters.

        Files take precedence over ratings, whose texts were processed more often. A human translation is never its own
        reference: all texts by its translator are left out, and equal texts by others.
        """
        translator = None if segment.key is None else human(segment.key.system or "")
        unusable = {*self.excluded, translator}
        texts = [text for letter, text in sorted(self.by_letter(segment).items()) if letter not in unusable]
        if translator is not None:
            words = normalise(segment.hypothesis)
            texts = [text for text in texts if normalise(text) != words]
        return tuple(dict.fromkeys(texts))

    def by_letter(self, segment: Segment) -> _Translations:
        """Returns all human translations of a segment's source that are not blank, whoever may use them."""
        key = segment.key
        source = normalise(segment.source or "")
        place = (None, None) if key is None else (key.document, key.index)
        # Later entries take precedence.
        all_texts = {
            **self.by_source.get(source, {}),
            **self.by_place.get(place, {}),
            **self.from_files.get(source, {}),
        }
        return {letter: text for letter, text in all_texts.items() if text.strip()}


def collect(data_set: DataSet, ratings: Iterable[Rating], store: Store) -> References:
    """Returns the human translations among the rated systems and in the test set's files.

    Raises:
        InputError: if a reference file and its source file differ in length.
    """
    by_place: dict[tuple[str | None, int | None], _Translations] = defaultdict(dict)
    by_source: dict[str, _Translations] = defaultdict(dict)
    for rating in ratings:
        segment = rating.segment
        key = segment.key
        letter = None if key is None else human(key.system or "")
        if key is not None and letter is not None:
            by_place[key.document, key.index].setdefault(letter, segment.hypothesis)
            by_source[normalise(segment.source or "")].setdefault(letter, segment.hypothesis)
    return References(by_place, by_source, _read_files(data_set, store), data_set.not_references)


def with_references(rating: Rating, references: References) -> Rating:
    """Returns the rating with the references of its segment."""
    return replace(rating, segment=replace(rating.segment, references=references.of(rating.segment)))


def _read_files(data_set: DataSet, store: Store) -> Mapping[str, _Translations]:
    files = data_set.references
    if files is None:
        return {}
    lines = store.texts(files.folder, [files.source, *(name for _, name in files.texts)])
    sources = lines[files.source]
    translations: dict[str, _Translations] = defaultdict(dict)
    for letter, name in files.texts:
        if len(lines[name]) != len(sources):
            lengths = f"{name} has {len(lines[name])} lines and {files.source} {len(sources)}"
            raise InputError(f"{lengths}; both need one line per segment")
        for source, text in zip(sources, lines[name], strict=True):
            translations[normalise(source)].setdefault(letter, text)
    return translations
