"""Ratings written as score files, which `matese correlate` reads again as scores; see `score_files`.

`wmt-scores`, a submission to the WMT metrics tasks of 2022 and later: a folder of METHOD.seg.score with lines of METRIC
LANG_PAIR TEST_SET DOMAIN DOCUMENT REFERENCE SYSTEM SEGMENT SCORE, separated by tabs, and METHOD.sys.score without
document and segment. The reference is `refA` if the segments have one, otherwise `src`; the domain is `all`.

`mtme-scores`, for mt-metrics-eval: a folder of LANG_PAIR/METHOD-REFERENCE.seg.score and .sys.score with lines of SYSTEM
and SCORE; the segments of a system are in the order of their numbers, and each system must have all.

The score of a segment is the mean over its raters of the expected score if all ratings have one, otherwise of the MQM
score of the errors, or of the overall judgement if spans were not annotated; `WriteOptions.score` chooses another. The
score of a system is the mean over its segments.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from matese import mqm
from matese.annotation import Rating, SegmentKey
from matese.errors import InputError
from matese.files import write_lines
from matese.formats.capabilities import TABS_AND_LINES, Capabilities
from matese.formats.corpora.seg_rating import check_complete
from matese.formats.format import WriteOptions

CAPABILITIES = Capabilities(needs=("lang_pair", "system", "document", "index"), replaced=TABS_AND_LINES)
_REFERENCE = "refA"
_REFERENCE_FREE = "src"

_Group = tuple[str, str]
"""Language pair and reference."""


def save_wmt_scores(ratings: Iterable[Rating], path: Path, options: WriteOptions) -> None:
    """Writes the folder of a submission."""
    scores: dict[tuple[_Group, str, str], dict[tuple[str, int], list[float]]] = {}
    for key, group, score in _scored(ratings, options):
        of_system = scores.setdefault((group, key.test_set or "", key.system or ""), {})
        of_system.setdefault((key.document or "", key.index or 0), []).append(score)
    segments = []
    systems = []
    for ((lang_pair, reference), test_set, system), of_system in scores.items():
        head = f"{options.method}\t{lang_pair}\t{test_set}\tall"
        means = {place: mqm.corpus_score(values) for place, values in of_system.items()}
        for (document, index), score in means.items():
            segments.append(f"{head}\t{document}\t{reference}\t{system}\t{index}\t{score:.10g}")
        systems.append(f"{head}\t{reference}\t{system}\t{mqm.corpus_score(means.values()):.10g}")
    path.mkdir()
    write_lines(path / f"{options.method}.seg.score", segments)
    write_lines(path / f"{options.method}.sys.score", systems)


def save_mtme_scores(ratings: Iterable[Rating], path: Path, options: WriteOptions) -> None:
    """Writes the folder of score files."""
    scores: dict[_Group, dict[str, dict[int, list[float]]]] = {}
    documents: dict[tuple[_Group, int], str | None] = {}
    for key, group, score in _scored(ratings, options):
        index = key.index or 0
        if documents.setdefault((group, index), key.document) != key.document:
            problem = f"several documents of {key.lang_pair} have a segment {index + 1}"
            raise InputError(f"{problem}: must be numbered through the test set, since the file has no documents")
        scores.setdefault(group, {}).setdefault(key.system or "", {}).setdefault(index, []).append(score)
    path.mkdir()
    for (lang_pair, reference), systems in scores.items():
        check_complete(systems, lang_pair)
        folder = path / (lang_pair.replace("/", "-") or "unknown")
        folder.mkdir(exist_ok=True)
        means = {
            system: [mqm.corpus_score(values) for _, values in sorted(of_system.items())]
            for system, of_system in systems.items()
        }
        stem = folder / f"{options.method}-{reference}"
        lines = (f"{system}\t{score:.10g}" for system, of_system in means.items() for score in of_system)
        write_lines(f"{stem}.seg.score", lines)
        lines = (f"{system}\t{mqm.corpus_score(of_system):.10g}" for system, of_system in means.items())
        write_lines(f"{stem}.sys.score", lines)


def _scored(ratings: Iterable[Rating], options: WriteOptions) -> Iterator[tuple[SegmentKey, _Group, float]]:
    """Yields key, group and score of each rating."""
    ratings = list(ratings)
    is_expected = options.score == "expected" or (options.score is None and all(rating.estimate for rating in ratings))
    for rating in ratings:
        key = rating.segment.key or SegmentKey()
        if not key.system:
            raise InputError("the ratings name no system, by which scores are listed: name it with --system NAME")
        if is_expected:
            if rating.estimate is None:
                raise InputError(f"{rating.segment.label} has no expected score: all need one, or use --score spans")
            score = rating.estimate.value
        elif rating.errors is not None:
            score = mqm.score(rating, options.weights)
        elif rating.whole is not None:
            score = rating.whole.value
        else:
            problem = f"{rating.segment.label} of system {key.system} has neither errors nor an overall judgement"
            raise InputError(f"{problem}: must have one to be scored")
        reference = _REFERENCE if rating.segment.references else _REFERENCE_FREE
        yield key, (key.lang_pair or "", reference), score
