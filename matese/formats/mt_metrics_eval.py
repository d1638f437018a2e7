"""Test set directories of mt-metrics-eval (its README, "File organization and naming convention").

| file | holds |
|---|---|
| `human-scores/LP.NAME.{sys,seg}.score` | human scores, SYSTEM SCORE; "None" where there is none |
| `human-scores/LP.NAME.seg.rating` | ratings, SYSTEM, a rating as JSON or "None", and perhaps the RATER, by tabs |
| `metric-scores/LP/NAME-REF.{sys,seg}.score` | scores of a metric; REF: the reference, several by ".", "src" or "all" |
| `documents/LP.docs` | DOMAIN DOCUMENT of each segment |
| `references/LP.REF.txt` | a reference; a system of that name is a human translation |
| `sources/LP.txt`, `system-outputs/LP/SYSTEM.txt` | texts, a segment a line |

Instead of a `.txt` file newer test sets have a `.jsonl` file, whose texts are the fields `source`, `target` (of a
reference) and `hypothesis`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from matese import mqm
from matese.formats import json_values, seg_ratings
from matese.formats.lines import FormatError, read_lines
from matese.formats.metric_scores import read_positional
from matese.formats.score_file import ScoreFile
from matese.formats.settings import near_miss, one_of

REFERENCE_FREE, ALL_REFERENCES = "src", "all"
_HUMAN_FILE = re.compile(r"(?P<lang_pair>[^.]+)\.(?P<name>.+)\.(?:(?:sys|seg)\.score|seg\.rating)")
_REFERENCE_FILE = re.compile(r"(?P<lang_pair>[^.]+)\.(?P<name>[^.]+)\.(?:txt|jsonl)")
_METRIC_FILE = re.compile(r"(?P<name>.+-(?P<ref>[^-]+))\.(?:sys|seg)\.score")


@dataclass(frozen=True, slots=True)
class TestSet:
    """A directory of a test set.

    Attributes:
        root: the directory.
    """

    __test__ = False  # its name would make pytest collect it

    root: Path

    def lang_pairs(self) -> tuple[str, ...]:
        """Returns the language pairs that have human scores and metrics.

        Raises:
            FormatError: if there is none.
        """
        matches = [_HUMAN_FILE.fullmatch(path.name) for path in _files(self.root / "human-scores")]
        found = sorted({match["lang_pair"] for match in matches if match})
        found = [lang_pair for lang_pair in found if (self.root / "metric-scores" / lang_pair).is_dir()]
        if not found:
            allowed = "must hold human-scores/LP.NAME.sys.score and metric-scores/LP"
            raise FormatError(str(self.root), None, f"no test set of mt-metrics-eval: {allowed}")
        return tuple(found)

    def golds(self, lang_pair: str) -> tuple[str, ...]:
        """Returns the names of the human scores of a language pair."""
        matches = [_HUMAN_FILE.fullmatch(path.name) for path in _files(self.root / "human-scores")]
        return tuple(sorted({match["name"] for match in matches if match and match["lang_pair"] == lang_pair}))

    def gold(self, lang_pair: str, name: str, *, weights: mqm.Weights = mqm.GOOGLE) -> ScoreFile:
        """Returns the human scores of a name; where there are only ratings, their MQM scores, as mean over raters.

        Raises:
            FormatError: if there are no such scores, or they are not in their format.
            OSError: if a file cannot be read.
        """
        known = self.golds(lang_pair)
        if name not in known:
            hint = f"{near_miss(name, known)} must be {one_of(known)}" if known else ": must have some"
            raise FormatError(str(self.root / "human-scores"), None, f"no human scores {name!r} of {lang_pair}{hint}")
        stem = self.root / "human-scores" / f"{lang_pair}.{name}"
        found = self._scores(stem, name, lang_pair)
        if found.systems or found.segments:
            return found
        path = stem.with_name(f"{stem.name}.seg.rating")
        segments = seg_ratings.scores(path, weights=weights)
        self._check_lengths(path, lang_pair, {system: len(one) for system, one in segments.items()})
        return ScoreFile(name, lang_pair, segments=segments, is_positional=True)

    def metrics(self, lang_pair: str) -> tuple[str, ...]:
        """Returns the names of the metrics of a language pair, NAME-REF."""
        matches = [_METRIC_FILE.fullmatch(path.name) for path in _files(self.root / "metric-scores" / lang_pair)]
        return tuple(sorted({match["name"] for match in matches if match}))

    def metric(self, lang_pair: str, name: str) -> ScoreFile:
        """Returns the scores of a metric, by its full name.

        Raises:
            FormatError: if they are not in their format.
            OSError: if a file cannot be read.
        """
        return self._scores(self.root / "metric-scores" / lang_pair / name, name, lang_pair)

    def references(self, lang_pair: str) -> tuple[str, ...]:
        """Returns the names of the references; without their files, those that metrics used."""
        matches = [_REFERENCE_FILE.fullmatch(path.name) for path in _files(self.root / "references")]
        found = {match["name"] for match in matches if match and match["lang_pair"] == lang_pair}
        used = {part for name in self.metrics(lang_pair) for part in reference_of(name).split(".")}
        return tuple(sorted(found or used - {REFERENCE_FREE, ALL_REFERENCES}))

    def texts(self, lang_pair: str, system: str) -> list[str]:
        """Returns the lines of a system's output.

        Raises:
            FormatError: if they are not as many as the segments.
            OSError: if the file cannot be read.
        """
        return self._lines(self.root / "system-outputs" / lang_pair / f"{system}.txt", lang_pair, "hypothesis")

    def reference(self, lang_pair: str, name: str) -> list[str]:
        """Returns the lines of a reference.

        Raises:
            FormatError: if they are not as many as the segments.
            OSError: if the file cannot be read.
        """
        return self._lines(self.root / "references" / f"{lang_pair}.{name}.txt", lang_pair, "target")

    def sources(self, lang_pair: str) -> list[str]:
        """Returns the lines of the source; raises as `reference`."""
        return self._lines(self.root / "sources" / f"{lang_pair}.txt", lang_pair, "source")

    def systems(self, lang_pair: str) -> tuple[str, ...]:
        """Returns the names of the systems whose output there is."""
        names = [path.name for path in _files(self.root / "system-outputs" / lang_pair)]
        return tuple(name.rpartition(".")[0] for name in names if name.endswith((".txt", ".jsonl")))

    def documents(self, lang_pair: str) -> list[tuple[str, str]]:
        """Returns domain and document of each segment.

        Raises:
            FormatError: if a line does not hold both.
            OSError: if the file cannot be read.
        """
        path = self.root / "documents" / f"{lang_pair}.docs"
        found: list[tuple[str, str]] = []
        for number, line in enumerate(read_lines(path), start=1):
            fields = line.split()
            if len(fields) < 2:
                raise FormatError(str(path), number, f"{len(fields)} fields: must be a domain and a document")
            found.append((fields[0], fields[1]))
        return found

    def n_segments(self, lang_pair: str) -> int | None:
        """Returns how many segments the language pair has, by its documents or its sources; None without either."""
        if (self.root / "documents" / f"{lang_pair}.docs").is_file():
            return len(self.documents(lang_pair))
        source = _text_file(self.root / "sources" / f"{lang_pair}.txt")
        return sum(1 for _ in read_lines(source)) if source.is_file() else None

    def _scores(self, stem: Path, name: str, lang_pair: str) -> ScoreFile:
        systems, segments = (stem.with_name(f"{stem.name}.{level}.score") for level in ("sys", "seg"))
        of_systems = read_positional(systems, name, is_segments=False).systems if systems.is_file() else {}
        of_segments = read_positional(segments, name, is_segments=True).segments if segments.is_file() else {}
        self._check_lengths(segments, lang_pair, {system: len(one) for system, one in of_segments.items()})
        return ScoreFile(name, lang_pair, of_systems, of_segments, is_positional=True)

    def _lines(self, path: Path, lang_pair: str, field: str) -> list[str]:
        path = _text_file(path)
        lines = list(read_lines(path)) if path.suffix == ".txt" else list(_fields(path, field))
        self._check_lengths(path, lang_pair, {"the file": len(lines)})
        return lines

    def _check_lengths(self, path: Path, lang_pair: str, lengths: dict[str, int]) -> None:
        n_segments = self.n_segments(lang_pair)
        for system, length in lengths.items():
            if n_segments is not None and length != n_segments:
                problem = f"{system} has {length:,} lines and {lang_pair} {n_segments:,} segments: must be one each"
                raise FormatError(str(path), None, problem)


def reference_of(metric: str) -> str:
    """Returns the last part of a metric's name, the reference that it used.

    >>> reference_of("hLEPOR-b-refA")
    'refA'
    """
    return metric.rpartition("-")[2]


def standard_reference(metrics: Iterable[str]) -> str | None:
    """Returns the reference that most metrics used, of equals the first by name; None where none used one.

    >>> standard_reference(["BLEU-refA", "BLEU-refB", "chrF-refA", "CometKiwi-src"])
    'refA'
    """
    used = Counter(reference_of(metric) for metric in metrics)
    counts = {name: count for name, count in used.items() if name not in (REFERENCE_FREE, ALL_REFERENCES)}
    return min(counts, key=lambda name: (-counts[name], name), default=None)


def variants(metrics: Iterable[str], reference: str | None, references: Collection[str] = ()) -> dict[str, str]:
    """Returns the metrics that used this reference or none, by the name that they are shown under.

    That is the name without its last part. Of a metric that has both variants the one without a reference keeps its
    full name. What used "all" of the `references` is one of them where there is no other.

    >>> variants(["BLEU-refA", "BLEU-refB", "Kiwi-src", "MetricX-refA", "MetricX-src"], "refA")
    {'BLEU': 'BLEU-refA', 'Kiwi': 'Kiwi-src', 'MetricX': 'MetricX-refA', 'MetricX-src': 'MetricX-src'}
    """
    names = list(metrics)
    used = [ALL_REFERENCES, reference] if {*references} == {reference} else [reference]
    with_reference = {name.rpartition("-")[0]: name for one in used for name in names if reference_of(name) == one}
    found = dict(with_reference)
    for name in names:
        if reference_of(name) == REFERENCE_FREE:
            short = name.rpartition("-")[0]
            found[name if short in with_reference else short] = name
    return dict(sorted(found.items()))


def _text_file(path: Path) -> Path:
    """Returns the `.txt` file, or the `.jsonl` file that stands in its place."""
    other = path.with_name(f"{path.name.removesuffix('.txt')}.jsonl")
    return other if other.is_file() and not path.is_file() else path


def _fields(path: Path, name: str) -> Iterator[str]:
    for number, line in enumerate(read_lines(path), start=1):
        try:
            found = json_values.parse(line)
        except ValueError as error:
            raise FormatError(str(path), number, str(error)) from None
        text = found.get(name) if isinstance(found, dict) else None
        if not isinstance(text, str):
            raise FormatError(str(path), number, f"no text {name!r}: must be an object with one")
        yield text


def _files(directory: Path) -> list[Path]:
    return sorted(path for path in directory.iterdir() if path.is_file()) if directory.is_dir() else []
