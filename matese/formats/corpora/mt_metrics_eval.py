"""Test set directories of mt-metrics-eval (its README, "File organization and naming convention").

| file | content |
|---|---|
| `human-scores/LP.NAME.{sys,seg}.score` | human scores, SYSTEM SCORE; "None" if it is missing |
| `human-scores/LP.NAME.seg.rating` | ratings, SYSTEM, a rating as JSON or "None", and optionally the RATER |
| `metric-scores/LP/NAME-REF.{sys,seg}.score` | scores of a metric; REF: the references, joined by ".", "src" or "all" |
| `documents/LP.docs` | DOMAIN DOCUMENT of each segment |
| `references/LP.REF.txt` | a reference; a system of that name is a human translation |
| `sources/LP.txt`, `system-outputs/LP/SYSTEM.txt` | texts, one line for each segment |

Newer test sets have `.jsonl` files instead of `.txt` files, with the texts in the fields `source`, `target` (of a
reference) and `hypothesis`.

`read` yields the ratings of all files `LP.NAME.seg.rating`; of a language pair without one, `LP.NAME.seg.score` as
overall judgements without spans, if NAME implies the scale (`mqm`, `esa`, `da`, `wmt-raw`, `wmt-z`, ...). Ratings of
ESA get the scores of the same NAME as overall judgements. The rater is
NAME unless the line names one. Each segment has all references of its language pair, but a rated
human translation is not a reference of itself. `mtme-scores` and `seg-rating` write such files.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from matese.annotation import Overall, Rating, Scale, Segment, SegmentKey
from matese.errors import FormatError, InputError, counted, near_miss, one_of
from matese.files import name_of, read_lines
from matese.formats.corpora import seg_rating
from matese.formats.corpora.score_files import MetricScores, SegmentName, read_positional
from matese.formats.format import STRICT, ReadOptions
from matese.formats.row_issues import parse_lines
from matese.validation import plain_values

REFERENCE_FREE = "src"
ALL_REFERENCES = "all"
_HUMAN_FILE = re.compile(r"(?P<lang_pair>[^.]+)\.(?P<name>.+)\.(?:(?:sys|seg)\.score|seg\.rating)")
_REFERENCE_FILE = re.compile(r"(?P<lang_pair>[^.]+)\.(?P<name>[^.]+)\.(?:txt|jsonl)")
_SYSTEM_FILE = re.compile(r"(?P<name>.+)\.(?:txt|jsonl)")
_RATED_FILE = re.compile(r"(?P<lang_pair>[^.]+)\.(?P<name>.+)\.seg\.(?P<kind>rating|score)")
_METRIC_FILE = re.compile(r"(?P<name>.+-(?P<ref>[^-]+))\.(?:sys|seg)\.score")
_SCALES: dict[str, Scale] = {"mqm": "mqm", "esa": "esa", "z": "z", "raw": "da", "da": "da"}
"""Scales by the last part of the name of human scores."""


@dataclass(frozen=True, slots=True)
class TestSet:
    """The directory of a test set."""

    __test__ = False  # its name would make pytest collect it

    root: Path

    def lang_pairs(self) -> tuple[str, ...]:
        """Returns the language pairs that have human scores and metrics. Raises FormatError if there are none."""
        pairs = {match["lang_pair"] for match in _matches(self.root / "human-scores", _HUMAN_FILE)}
        complete = tuple(pair for pair in sorted(pairs) if (self.root / "metric-scores" / pair).is_dir())
        if not complete:
            allowed = "must hold human-scores/LP.NAME.sys.score and metric-scores/LP"
            raise FormatError(str(self.root), None, f"not a test set of mt-metrics-eval: {allowed}")
        return complete

    def golds(self, lang_pair: str) -> tuple[str, ...]:
        """Returns the names of the human scores of a language pair."""
        return _names(self.root / "human-scores", _HUMAN_FILE, lang_pair)

    def gold(self, lang_pair: str, name: str) -> MetricScores:
        """Returns the human scores of a name; if there are only ratings, their MQM scores.

        Raises:
            FormatError: if there are no such scores, or they do not follow their format.
        """
        names = self.golds(lang_pair)
        if name not in names:
            hint = f"{near_miss(name, names)} must be {one_of(names)}" if names else ": must have some"
            raise FormatError(str(self.root / "human-scores"), None, f"no human scores {name!r} of {lang_pair}{hint}")
        stem = self.root / "human-scores" / f"{lang_pair}.{name}"
        scores = self._scores(stem, name, lang_pair)
        if scores.systems or scores.segments:
            return scores
        path = stem.with_name(f"{stem.name}.seg.rating")
        segments = seg_rating.scores(path)
        self._check_lengths(path, lang_pair, segments)
        return MetricScores(name, lang_pair, segments=segments, is_positional=True)

    def metrics(self, lang_pair: str) -> tuple[str, ...]:
        """Returns the names of the metrics of a language pair, NAME-REF."""
        return _names(self.root / "metric-scores" / lang_pair, _METRIC_FILE)

    def metric(self, lang_pair: str, name: str) -> MetricScores:
        """Returns the scores of a metric, by its full name. Raises FormatError if they do not follow their format."""
        return self._scores(self.root / "metric-scores" / lang_pair / name, name, lang_pair)

    def references(self, lang_pair: str) -> tuple[str, ...]:
        """Returns the names of the references; without their files, those that metrics used."""
        used = {part for name in self.metrics(lang_pair) for part in reference_of(name).split(".")}
        names = _names(self.root / "references", _REFERENCE_FILE, lang_pair)
        return names or tuple(sorted(used - {REFERENCE_FREE, ALL_REFERENCES}))

    def texts(self, lang_pair: str, system: str) -> list[str]:
        """Returns the lines of a system's output. Raises FormatError if there is not one line for each segment."""
        return self._lines(self.root / "system-outputs" / lang_pair / f"{system}.txt", lang_pair, "hypothesis")

    def reference(self, lang_pair: str, name: str) -> list[str]:
        """Returns the lines of a reference; raises as `texts`."""
        return self._lines(self.root / "references" / f"{lang_pair}.{name}.txt", lang_pair, "target")

    def sources(self, lang_pair: str) -> list[str]:
        """Returns the lines of the source; raises as `texts`."""
        return self._lines(self.root / "sources" / f"{lang_pair}.txt", lang_pair, "source")

    def has_sources(self, lang_pair: str) -> bool:
        """Whether there is a file of the source."""
        return _text_file(self.root / "sources" / f"{lang_pair}.txt").is_file()

    def systems(self, lang_pair: str) -> tuple[str, ...]:
        """Returns the names of the systems that have an output."""
        return _names(self.root / "system-outputs" / lang_pair, _SYSTEM_FILE)

    def has_documents(self, lang_pair: str) -> bool:
        """Whether there is a file of the documents and domains."""
        return (self.root / "documents" / f"{lang_pair}.docs").is_file()

    def documents(self, lang_pair: str) -> list[tuple[str, str]]:
        """Returns domain and document of each segment; raises as `texts`."""
        path = self.root / "documents" / f"{lang_pair}.docs"
        return list(parse_lines(path, _domain_and_document))

    def n_segments(self, lang_pair: str) -> int | None:
        """Returns the number of segments by the documents or the sources; None without either."""
        if self.has_documents(lang_pair):
            return len(self.documents(lang_pair))
        source = _text_file(self.root / "sources" / f"{lang_pair}.txt")
        return sum(1 for _ in read_lines(source)) if source.is_file() else None

    def _scores(self, stem: Path, name: str, lang_pair: str) -> MetricScores:
        systems, segments = (stem.with_name(f"{stem.name}.{level}.score") for level in ("sys", "seg"))
        of_systems = read_positional(systems, name, is_segments=False).systems if systems.is_file() else {}
        of_segments = read_positional(segments, name, is_segments=True).segments if segments.is_file() else {}
        self._check_lengths(segments, lang_pair, of_segments)
        return MetricScores(name, lang_pair, of_systems, of_segments, is_positional=True)

    def _lines(self, path: Path, lang_pair: str, field: str) -> list[str]:
        path = _text_file(path)
        is_plain = path.suffix == ".txt"
        lines = list(read_lines(path) if is_plain else parse_lines(path, lambda line: _field(line, field)))
        self._check_lengths(path, lang_pair, {"the file": lines})
        return lines

    def _check_lengths(self, path: Path, lang_pair: str, lines: Mapping[str, Collection[object]]) -> None:
        n_segments = self.n_segments(lang_pair)
        for system, of_system in lines.items():
            if n_segments is not None and len(of_system) != n_segments:
                problem = (
                    f"{system} has {counted(len(of_system), 'line')} and {lang_pair} {counted(n_segments, 'segment')}"
                )
                raise FormatError(str(path), None, f"{problem}; every segment needs a line")


def reference_of(metric: str) -> str:
    """Returns the last part of a metric's name, the reference that it used.

    >>> reference_of("hLEPOR-b-refA")
    'refA'
    """
    return metric.rpartition("-")[2]


def most_used_references(metrics: Iterable[str]) -> tuple[str, ...]:
    """Returns the reference that most metrics used, several if equally many did; none if no metric used one.

    >>> most_used_references(["BLEU-refA", "BLEU-refB", "chrF-refA", "CometKiwi-src"])
    ('refA',)
    """
    used = Counter(reference_of(metric) for metric in metrics)
    counts = {name: count for name, count in used.items() if name not in (REFERENCE_FREE, ALL_REFERENCES)}
    return tuple(sorted(name for name in counts if counts[name] == max(counts.values())))


def variants(metrics: Iterable[str], reference: str | None, references: Collection[str] = ()) -> dict[str, str]:
    """Returns the metrics that used this reference or none, by the name under which they are shown.

    The shown name lacks the last part. If a metric has both variants, the one without a reference keeps its full name.
    A metric that used "all" of the `references` counts if this is the only one.

    >>> variants(["BLEU-refA", "BLEU-refB", "Kiwi-src", "MetricX-refA", "MetricX-src"], "refA")
    {'BLEU': 'BLEU-refA', 'Kiwi': 'Kiwi-src', 'MetricX': 'MetricX-refA', 'MetricX-src': 'MetricX-src'}
    """
    names = list(metrics)
    used = [ALL_REFERENCES, reference] if {*references} == {reference} else [reference]
    shown = {name.rpartition("-")[0]: name for part in used for name in names if reference_of(name) == part}
    free = {name.rpartition("-")[0]: name for name in names if reference_of(name) == REFERENCE_FREE}
    shown |= {name if short in shown else short: name for short, name in free.items()}
    return dict(sorted(shown.items()))


def read(path: str | Path, options: ReadOptions = STRICT) -> Iterator[Rating]:
    """Yields the ratings of all language pairs, of `options.lang_pair` alone, or of one file of human scores."""
    root = Path(path) if Path(path).is_dir() else Path(path).absolute().parents[1]
    folder = root / "human-scores"
    files = _matches(folder, _RATED_FILE)
    if root != Path(path):
        files = [match for match in files if (folder / match[0]).samefile(path)]
        if not files or _scale(files[0]) is None:
            allowed = "must be LP.NAME.seg.rating, or LP.NAME.seg.score of a known scale, in a test set directory"
            problem = f"scores without texts ({allowed}; matese correlate compares others)"
            raise FormatError(name_of(path), None, problem)
    wanted = sorted({match["lang_pair"] for match in files if options.lang_pair in (None, match["lang_pair"])})
    if not wanted:
        allowed = "must hold LP.NAME.seg.rating or LP.NAME.seg.score"
        asked = "" if options.lang_pair is None else f" of {options.lang_pair}"
        raise FormatError(str(folder), None, f"no ratings of segments{asked}: {allowed}")
    for lang_pair in wanted:
        texts = _read_texts(TestSet(root), lang_pair, options.test_set or root.resolve().name)
        of_pair = [match for match in files if match["lang_pair"] == lang_pair]
        for match in [match for match in of_pair if match["kind"] == "rating"] or of_pair:
            yield from (texts.complete(rating, match["name"]) for rating in _ratings(texts, folder / match[0], match))


@dataclass(frozen=True, slots=True)
class _Texts:
    """The texts of a language pair; `key` has the fields that all its segments share."""

    key: SegmentKey
    sources: list[str]
    references: dict[str, list[str]]
    documents: list[tuple[str, str]] | None
    systems: dict[str, Sequence[str]]

    def complete(self, rating: Rating, name: str) -> Rating:
        """Returns a rating from a file of this name with the complete texts and key of its segment."""
        key = rating.segment.key or SegmentKey()
        place = key.index or 0
        domain, document = (None, None) if self.documents is None else self.documents[place]
        references = tuple(lines[place] for reference, lines in self.references.items() if reference != key.system)
        key = replace(self.key, system=key.system, document=document, index=key.index, domain=domain)
        segment = replace(rating.segment, references=references, key=key)
        return replace(rating, segment=segment, rater=rating.rater or name)


def _read_texts(test_set: TestSet, lang_pair: str, name: str) -> _Texts:
    return _Texts(
        SegmentKey(name, lang_pair),
        test_set.sources(lang_pair),
        {reference: test_set.reference(lang_pair, reference) for reference in test_set.references(lang_pair)},
        test_set.documents(lang_pair) if test_set.has_documents(lang_pair) else None,
        {system: test_set.texts(lang_pair, system) for system in test_set.systems(lang_pair)},
    )


def _ratings(texts: _Texts, path: Path, match: re.Match[str]) -> Iterator[Rating]:
    """Yields the ratings of a file of human scores."""
    if match["kind"] == "rating":
        of_systems = _scores_of(path, match)
        for rating in seg_rating.read(path, texts.systems, texts.sources):
            key = rating.segment.key or SegmentKey()
            score = of_systems.get(key.system or "", {}).get(key.index or 0)
            yield rating if score is None else replace(rating, overall=Overall(score, "esa"))
    elif scale := _scale(match):
        for system, scores in read_positional(path, match["name"], is_segments=True).segments.items():
            lines = texts.systems.get(system, ())
            if len(scores) != len(lines):
                problem = f"{system} has {counted(len(scores), 'score')} and its text {counted(len(lines), 'line')}"
                raise FormatError(str(path), None, f"{problem}: must be one for each")
            for index, score in enumerate(scores.values()):
                if score is not None:
                    segment = Segment(lines[index], texts.sources[index], key=SegmentKey(system=system, index=index))
                    yield Rating(segment, None, None, overall=Overall(score, scale))


def _scores_of(path: Path, match: re.Match[str]) -> Mapping[str, Mapping[SegmentName, float | None]]:
    """Returns the scores of ratings of ESA; none of other ratings, whose scores follow from their errors."""
    scores = path.with_name(path.name.replace(".seg.rating", ".seg.score"))
    if _SCALES.get(re.split("[-.]", match["name"])[-1]) != "esa" or not scores.is_file():
        return {}
    return read_positional(scores, match["name"], is_segments=True).segments


def _scale(match: re.Match[str]) -> Scale | None:
    """Returns the scale of a file of human scores; None if its name does not imply one."""
    return "mqm" if match["kind"] == "rating" else _SCALES.get(re.split("[-.]", match["name"])[-1])


def _domain_and_document(line: str) -> tuple[str, str]:
    fields = line.split()
    if len(fields) < 2:
        raise InputError(f"{len(fields)} fields; a line needs a domain and a document")
    return fields[0], fields[1]


def _text_file(path: Path) -> Path:
    """Returns the `.txt` file, or the `.jsonl` file that replaces it."""
    json_lines = path.with_name(f"{path.name.removesuffix('.txt')}.jsonl")
    return json_lines if json_lines.is_file() and not path.is_file() else path


def _field(line: str, name: str) -> str:
    fields = plain_values.from_json(line, object)
    text = fields.get(name) if isinstance(fields, dict) else None
    if not isinstance(text, str):
        raise InputError(f"no text {name!r}: must be an object with this key")
    return text


def _matches(folder: Path, pattern: re.Pattern[str]) -> list[re.Match[str]]:
    """Returns the matches of the names of files, in the order of the names; none without the folder."""
    files = sorted(path.name for path in folder.iterdir() if path.is_file()) if folder.is_dir() else []
    return [match for name in files if (match := pattern.fullmatch(name))]


def _names(folder: Path, pattern: re.Pattern[str], lang_pair: str | None = None) -> tuple[str, ...]:
    """Returns what the names of files call a thing, of one language pair if the names have it."""
    matches = _matches(folder, pattern)
    return tuple(sorted({match["name"] for match in matches if lang_pair is None or match["lang_pair"] == lang_pair}))
