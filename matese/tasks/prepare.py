"""Training data from raw ratings of several raters, see `matese.preparation`."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from matese import files, preparation
from matese.annotation import Rating
from matese.errors import counted
from matese.merging import MergeMethod
from matese.tasks import notices, rated, texts
from matese.tasks.request import function
from matese.tasks.texts import FileReading, JoinedTexts, require
from matese.validation.options import Count, CountOrZero, File, Folder, group, option, share

if TYPE_CHECKING:
    from matese.preparation import PreparedRatings
    from matese.render.tables import Table
    from matese.tasks.rated import AnyRatings

REPORT = "report.json"


@dataclass(frozen=True)
class Request(FileReading):
    """Prepare ratings.

    Attributes:
        ratings: raw ratings, in any format that matese convert reads; the raters of a segment may be in several files.
        output: folder to write, new or empty: train.jsonl, dev.jsonl, test.jsonl and report.json.
        merge: errors of a segment that stay: those of any rater (union), or of more than half of them (majority).
        dev: share of the sources in dev.jsonl.
        test: share of the sources in test.jsonl.
        splits: draw so many random splits, in split-1, split-2, ...
        seed: random seed of the split.
        unit: units whose tags the report counts: word, character, or a model for its tokens.
        plot: draw how many translations have 0, 1, 2, ... error spans, as SVG, PNG or PDF.
    """

    ratings: AnyRatings = option(take_all=rated.systems_given, metavar="RATINGS")
    _: KW_ONLY
    output: Folder
    merge: MergeMethod = "union"
    dev: float = option(0.1, take=share, metavar="P")
    test: float = option(0.0, take=share, metavar="P")
    splits: Count | None = None
    seed: CountOrZero = 0
    unit: str = option("word", metavar="UNIT")
    plot: File | None = None
    joined: JoinedTexts = group(JoinedTexts)


@dataclass(frozen=True)
class PreparationReport:
    """What was prepared.

    Attributes:
        prepared: the ratings, and what was done.
        files: the ratings in each file.
        tags: number of units with each tag, by file and language pair: Table 1 of Perrella et al. 2022.
    """

    prepared: PreparedRatings
    files: Mapping[str, Sequence[Rating]]
    tags: Mapping[tuple[str, str], Mapping[str, int]]

    @property
    def spans(self) -> dict[str, list[int]]:
        """Number of translations with 0, 1, 2, ... error spans in each file: Figure 2 of Perrella et al. 2022."""
        by_file = {}
        for name, part in self.files.items():
            counts = Counter(len(rating.errors) for rating in part if rating.errors is not None)
            by_file[name] = [counts[n] for n in range(max(counts, default=-1) + 1)]
        return by_file

    def to_json(self) -> dict[str, object]:
        """Returns the report as an object."""
        prepared = self.prepared
        return {
            "ratings": prepared.n_raw,
            "raters": sorted(prepared.raters),
            "merged_segments": prepared.n_merged,
            "left_out": dict(prepared.left_out),
            "changed": dict(prepared.changed),
            "files": {name: len(part) for name, part in self.files.items()},
            "spans": self.spans,
            "tags": [{"file": file, "lang_pair": pair, **counts} for (file, pair), counts in self.tags.items()],
        }


def run(request: Request, stream: TextIO | None = None) -> PreparationReport:
    """Prepares ratings for training, and writes them in JSONL.

    The report is written to `stream`, if there is one.

    Raises:
        InputError: if the ratings cannot be read, a rater has marked a segment twice, or the output is not new or
            empty.
    """
    require(bool(request.ratings), "no ratings: give one or more files")
    held_out = f"--dev {request.dev:g} and --test {request.test:g}"
    require(request.dev + request.test < 1, f"{held_out}: must leave sources to train on")
    output = Path(request.output)
    is_new = not output.exists() or (output.is_dir() and not any(output.iterdir()))
    require(is_new, f"--output {output}: must be a new or empty folder")
    if request.plot is not None:
        from matese.render import plots

        plots.check(Path(request.plot))
    from matese.evaluation.systems import raters

    systems = rated.as_systems(request.ratings)
    paths = rated.files_of(request.ratings)
    texts.check_given_once(paths)
    name = ", ".join(paths) or "ratings"
    with texts.counting_issues(texts.read_options(request)) as options:
        several = systems.values() if isinstance(systems, Mapping) else systems
        raw = [rating for ratings in several for rating in rated.named(ratings, name, options).ratings]
        is_rated = any(rating.errors is not None or rating.overall is not None for rating in raw)
        require(is_rated, f"{name}: neither error spans nor scores of raters; must hold ratings")
        raters.check_marked_once(raw, name)
        prepared = preparation.prepare(texts.with_texts(raw, request.joined, request.lang_pair), merge=request.merge)
    nothing = "nothing to prepare: no segment has several raters, and no error is left out or changed"
    notices.info(*(prepared.notices(name) or [f"{name}: {nothing}; {counted(len(raw), 'rating')} stay as they are"]))
    shares = {part: share for part, share in (("dev", request.dev), ("test", request.test)) if share}
    files_of_splits = {
        f"{'' if request.splits is None else f'split-{number}/'}{part}.jsonl": ratings
        for number in range(1, (request.splits or 1) + 1)
        for part, ratings in preparation.split(prepared.ratings, shares, seed=request.seed, number=number).items()
    }
    report = PreparationReport(prepared, files_of_splits, _tags(files_of_splits, request.unit))
    _write(output, report)
    if request.plot is not None:
        _plot(report, Path(request.plot))
    if stream is not None:
        stream.write(str(_table(report)))
    return report


prepare = function(Request, run)


def _write(output: Path, report: PreparationReport) -> None:
    from matese.formats.tables import jsonl

    with files.replacing(output) as folder:
        for name, part in report.files.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            files.write_lines(path, map(jsonl.dumps, part))
        files.write_lines(folder / REPORT, [json.dumps(report.to_json(), indent=1, ensure_ascii=False)])


def _tags(parts: Mapping[str, Sequence[Rating]], unit: str) -> dict[tuple[str, str], dict[str, int]]:
    from matese.evaluation.spans import rating_pairs
    from matese.tasks import tag_units

    tagging = tag_units.tagging(unit)
    counts: dict[tuple[str, str], Counter[int]] = defaultdict(Counter)
    for name, part in parts.items():
        for rating in (rating for rating in part if rating.errors is not None):
            key = rating.segment.key
            spans = rating_pairs.counted_spans(rating)
            counts[name, (key and key.lang_pair) or ""].update(map(int, tagging.tag(rating.segment.hypothesis, spans)))
    return {
        place: {tag: counter[number] for number, tag in enumerate(tagging.names)}
        for place, counter in sorted(counts.items())
    }


def _table(report: PreparationReport) -> Table:
    from matese.render.tables import Table

    names = list(next(iter(report.tags.values()), ()))
    rows = [
        [f"{file} {pair}".strip(), *(f"{counts[name]:,}" for name in names)]
        for (file, pair), counts in report.tags.items()
    ]
    return Table(["tags", *names], rows)


def _plot(report: PreparationReport, path: Path) -> None:
    from matese.render import plots

    lines = {
        name: [(n, number / sum(counts)) for n, number in enumerate(counts)] for name, counts in report.spans.items()
    }
    plots.save([plots.Panel("Error spans", "spans", "share of translations", lines=lines)], path)
