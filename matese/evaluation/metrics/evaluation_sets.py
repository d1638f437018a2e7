"""Human and metric scores of language pairs, from a test set of mt-metrics-eval or from single files."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import compress
from os import PathLike

import numpy as np

from matese.annotation import Rating, Segment, SegmentKey
from matese.errors import InputError, counted, near_miss, one_of, unknown
from matese.evaluation.metrics import human_metrics, ranked_pairs, score_arrays
from matese.evaluation.metrics.correlation_options import DARR_THRESHOLD, PRIMARY, ScoreSelection
from matese.evaluation.metrics.lexical_metrics import Baseline, BaselineScores, FittedBaseline
from matese.evaluation.metrics.score_arrays import LangPairScores
from matese.files import read_lines
from matese.formats import detection
from matese.formats.corpora import mt_metrics_eval, published_test_sets, relative_ranks, score_files
from matese.formats.corpora.mt_metrics_eval import TestSet
from matese.formats.corpora.published_test_sets import TestSetMeta
from matese.formats.corpora.score_files import MetricScores, SegmentName
from matese.formats.format import ReadOptions
from matese.formats.row_issues import IssueCounts

ScoresOrRatings = str | PathLike[str] | Iterable[Rating]
"""A file of scores, or ratings."""
_SHARE_OF_COPIES = 0.9
"""A human translation is the reference, although raters and tools have changed a few of its texts."""
SegmentsByName = Mapping[str, Mapping[SegmentName, Segment]]
"""The segments of each system by their names."""


def from_test_set(
    test_set: TestSet,
    selection: ScoreSelection,
    report: Callable[[str], None] = lambda _: None,
    *,
    baselines: Sequence[Baseline | FittedBaseline] = (),
) -> list[LangPairScores]:
    """Returns the scores of the language pairs of a test set.

    Raises:
        InputError: if a selected name does not exist, a file is not in its format, or scores do not fit.
        OSError: if a file cannot be read.
    """
    every = test_set.lang_pairs()
    for name in selection.lang_pairs:
        if name not in every:
            raise InputError(unknown("language pair", name, every))
    pairs = []
    for lang_pair in selection.lang_pairs or every:
        report(f"reading {lang_pair}")
        scored = _lang_pair(test_set, lang_pair, selection)
        if baselines:
            scored = _add_baselines(scored, _texts(test_set, scored), baselines, report)
        if not scored.metrics:
            reference = scored.reference or "a reference"
            raise InputError(
                f"{lang_pair}: no metric has scores with {reference} or without; choose another with --ref"
            )
        pairs.append(scored)
        if selection.by_domain:
            documents = test_set.documents(lang_pair) if test_set.has_documents(lang_pair) else []
            domains: dict[SegmentName, str | None] = {number: domain for number, (domain, _) in enumerate(documents)}
            pairs += _by_domain(scored, domains, report)
    return pairs


def _lang_pair(test_set: TestSet, lang_pair: str, selection: ScoreSelection) -> LangPairScores:
    names = test_set.metrics(lang_pair)
    references = test_set.references(lang_pair)
    meta = published_test_sets.find_meta(test_set.root.resolve().name, lang_pair)
    reference = _reference(names, references, lang_pair, selection.reference, meta)
    primary = frozenset[str]() if meta is None else meta.primary
    full_names = _select(mt_metrics_eval.variants(names, reference, references), selection, lang_pair, primary)
    left_out = dict.fromkeys((reference or "").split("."), "is the reference")
    if meta is not None and not selection.with_outliers:
        left_out |= dict.fromkeys(meta.outliers, "is an outlier")
    scores_humans = meta is not None and meta.scores_humans
    if not (scores_humans if selection.with_human is None else selection.with_human):
        left_out |= {name: "is a human translation" for name in references if name not in left_out}
    gold = _gold(test_set, lang_pair, selection.gold, meta)
    files = [replace(test_set.metric(lang_pair, full), name=short) for short, full in full_names.items()]
    if selection.human_metrics:
        people = {human_metrics.title(name): test_set.gold(lang_pair, name) for name in selection.human_metrics}
        named = [replace(scores, name=name) for name, scores in people.items()]
        gold, *common = human_metrics.in_common([gold, *named])
        files += common
        full_names |= {name: scores.name for name, scores in people.items()}
    pair = _combine(lang_pair, gold, files, selection, left_out)
    sources = frozenset(test_set.sources(lang_pair) if test_set.has_sources(lang_pair) else ())
    return replace(pair, reference=reference, full_names=full_names, sources=sources)


def _by_domain(
    pair: LangPairScores, domains: Mapping[SegmentName, str | None], report: Callable[[str], None]
) -> list[LangPairScores]:
    """Returns the scores of each domain; reports the metrics that score systems only."""
    parts = score_arrays.by_domain(pair, domains)
    if lacking := [name for name, metric in pair.metrics.items() if metric.segment is None]:
        report(f"{pair.lang_pair}: no figures by domain of {', '.join(lacking)}: no scores of segments")
    return parts


def _reference(
    metrics: Sequence[str], references: Sequence[str], lang_pair: str, wanted: str | None, meta: TestSetMeta | None
) -> str | None:
    """Returns the reference whose metrics are compared: the wanted one, that of mt-metrics-eval, or the most used."""
    if wanted is not None:
        if wanted not in references:
            hint = near_miss(wanted, references)
            raise InputError(f"unknown reference {wanted!r} of {lang_pair}{hint} must be {one_of(references)}")
        return wanted
    if meta is not None and meta.reference in references:
        return meta.reference
    most_used = mt_metrics_eval.most_used_references(metrics)
    if len(most_used) > 1:
        problem = f"{lang_pair}: equally many metrics used {', '.join(most_used)}, and the test set is unknown"
        raise InputError(f"{problem}; choose one with --ref")
    return most_used[0] if most_used else None


def _gold(test_set: TestSet, lang_pair: str, wanted: str | None, meta: TestSetMeta | None) -> MetricScores:
    """Returns the human scores of a name; by default those of mt-metrics-eval for each level, or MQM scores."""
    available = {*test_set.golds(lang_pair)}
    candidates = [] if meta is None or wanted is not None else [meta.gold, meta.earlier_gold]
    standard = next((names for names in candidates if names and {*names.values()} <= available), None)
    if standard is None:  # of a test set that is not published
        return test_set.gold(lang_pair, wanted or ("esa" if "esa" in available and "mqm" not in available else "mqm"))
    gold = test_set.gold(lang_pair, standard["sys"])
    if standard["seg"] == standard["sys"]:
        return gold
    of_segments = test_set.gold(lang_pair, standard["seg"])
    return replace(gold, name=f"{gold.name}/{of_segments.name}", segments=of_segments.segments)


def _texts(test_set: TestSet, pair: LangPairScores) -> SegmentsByName:
    """Returns the segments of the compared systems, with the source if there is one."""
    lang_pair = pair.lang_pair
    names = [] if pair.reference is None else pair.reference.split(".")
    references = list(zip(*(test_set.reference(lang_pair, name) for name in names), strict=True))
    sources = test_set.sources(lang_pair) if test_set.has_sources(lang_pair) else []
    return {
        system: {
            number: Segment(
                text,
                sources[number] if sources else None,
                references[number] if references else (),
                SegmentKey(lang_pair=lang_pair, system=system, index=number),
            )
            for number, text in enumerate(test_set.texts(lang_pair, system))
        }
        for system in pair.gold.systems
    }


def _add_baselines(
    pair: LangPairScores,
    texts: SegmentsByName,
    baselines: Sequence[Baseline | FittedBaseline],
    report: Callable[[str], None],
) -> LangPairScores:
    metrics = dict(pair.metrics)
    signatures = dict(pair.signatures)
    names = list(pair.gold.numbers) or list(next(iter(texts.values())))
    gold = pair.gold
    for baseline in baselines:
        report(f"scoring {pair.lang_pair} by {baseline.title}")
        unreadable = _unreadable(texts, baseline)
        readable = {
            system: {number: segment for number, segment in segments.items() if number not in unreadable}
            for system, segments in texts.items()
        }
        if unreadable:
            lacking = f"{counted(len(unreadable), 'segment')}: without a text that {baseline.title} reads"
            report(f"{pair.lang_pair}: left out {lacking}")
            if gold.segment is not None:  # all metrics are compared on the same segments
                is_left_out = [name in unreadable for name in names]
                gold = replace(gold, segment=np.where(is_left_out, math.nan, gold.segment))
        for scored in _scored(pair, readable, baseline):
            # A submitted metric keeps its name.
            name = f"{scored.name}.{scored.package}" if scored.name in pair.full_names else scored.name
            of_segments = {
                system: dict(zip(segments, scored.segments[system].tolist(), strict=True))
                for system, segments in readable.items()
            }
            of_systems = np.array(list(scored.systems.values()))
            metrics[name] = score_arrays.match(
                gold, replace(score_arrays.from_segments(name, of_segments, names), system=of_systems)
            )
            signatures[name] = scored.signature
    return replace(pair, gold=gold, metrics=metrics, signatures=signatures)


def _unreadable(texts: SegmentsByName, baseline: Baseline | FittedBaseline) -> set[SegmentName]:
    """Returns the segments of which a metric cannot read every translation; none if it can read none, and says why."""
    numbers = {number for segments in texts.values() for number in segments}
    unreadable = {
        number for segments in texts.values() for number, segment in segments.items() if not baseline.can_read(segment)
    }
    return unreadable if unreadable != numbers else set()


def _scored(
    pair: LangPairScores, texts: SegmentsByName, baseline: Baseline | FittedBaseline
) -> Sequence[BaselineScores]:
    systems = {system: list(segments.values()) for system, segments in texts.items()}
    if isinstance(baseline, Baseline):
        return baseline.score(systems)
    if pair.gold.segment is None:
        raise InputError(f"{pair.lang_pair}: no human scores of segments: {baseline.title} is fitted to them")
    columns = {number: column for column, number in enumerate(pair.gold.numbers)}
    rows = dict(zip(pair.gold.systems, pair.gold.segment, strict=True))
    golds = {
        system: np.array([rows[system][columns[name]] if name in columns else np.nan for name in segments])
        for system, segments in texts.items()
    }
    return baseline.score(systems, golds)


def from_files(
    gold: ScoresOrRatings,
    metric_inputs: Sequence[tuple[str | None, ScoresOrRatings]],
    selection: ScoreSelection,
    *,
    baselines: Sequence[Baseline | FittedBaseline] = (),
    report: Callable[[str], None] | None = None,
) -> list[LangPairScores]:
    """Returns the scores of the language pairs of score files.

    A name replaces that of a metric. `report` is called with what is being computed, and with how many rows of ratings
    were skipped or repaired; None refuses such a row.

    Raises:
        InputError: if a language pair lacks human or metric scores, scores do not fit, or there are no texts for
            baselines.
        OSError: if the file cannot be read.
    """
    called = [_called(scored, name) for name, scored in ((None, gold), *metric_inputs)]
    for name, number in selection.first_segments.items():
        if name not in called:
            problem = f"--first-segment {name}={number}: no such file"
            raise InputError(f"{problem}{near_miss(name, called)} must be {one_of(called)}")
    if isinstance(gold, str | PathLike) and relative_ranks.holds_ranks(str(gold)):
        for asked, problem in (
            (baselines, "ranks without texts; baselines need ratings in JSONL"),
            (selection.by_domain, "ranks without domains; figures by domain need ratings or a test set"),
            (selection.human_metrics, "ranks without raters; people as metrics need ratings or a test set"),
        ):
            if asked:
                raise InputError(f"{gold}: {problem}")
        return _from_ranks(str(gold), metric_inputs, selection, report)
    golds, people = _golds(gold, selection, report)
    metrics = [file for name, metric in metric_inputs for file in _read(metric, name, selection, report)]
    name = str(gold) if isinstance(gold, str | PathLike) else "gold"
    if baselines and not all(file.texts for file in golds):
        raise InputError(f"{name}: scores without texts; baselines need ratings in JSONL")
    by_lang_pair = {file.lang_pair: file for file in golds}
    stated = [file.lang_pair for file in (*golds, *metrics) if file.lang_pair is not None]
    lang_pairs: Sequence[str | None] = selection.lang_pairs or list(dict.fromkeys(stated)) or [None]
    pairs = []
    for lang_pair in lang_pairs:
        human = by_lang_pair.get(lang_pair, by_lang_pair.get(None))
        files = _of_lang_pair(metrics, lang_pair, is_only=len(lang_pairs) == 1)
        of_people = [file for file in people if human is not None and file.lang_pair == human.lang_pair]
        if human is None or not (files or of_people or baselines):
            raise _lacking(name if human is None else "metrics", lang_pair)
        pairs += _of_files(
            lang_pair, human, files, people=of_people, selection=selection, baselines=baselines, report=report
        )
    return pairs


def _of_lang_pair(metrics: Sequence[MetricScores], lang_pair: str | None, *, is_only: bool) -> list[MetricScores]:
    """Returns the files of a language pair; a file without one belongs to the only language pair."""
    return [file for file in metrics if file.lang_pair == lang_pair or (is_only and file.lang_pair is None)]


def _lacking(name: str, lang_pair: str | None) -> InputError:
    allowed = "humans and metrics need the same language pairs, and for ranks metrics need scores of segments"
    return InputError(f"{name}: no scores of {lang_pair or 'the language pair'}; {allowed}")


def _of_files(
    lang_pair: str | None,
    human: MetricScores,
    metrics: Sequence[MetricScores],
    *,
    people: Sequence[MetricScores],
    selection: ScoreSelection,
    baselines: Sequence[Baseline | FittedBaseline],
    report: Callable[[str], None] | None,
) -> list[LangPairScores]:
    """Returns the scores of a language pair, and then, if asked for, of its domains; people are always selected."""
    notify = report or (lambda _: None)
    files = _joined(metrics)
    full_names = _select({metric: metric for metric in files}, selection, lang_pair or "all")
    files = {metric: file for metric, file in files.items() if metric in full_names} | {
        file.name: file for file in people
    }
    copies = [] if selection.with_human else _copies_of_reference([human, *files.values()])
    if copies:
        where = "" if lang_pair is None else f"{lang_pair}: "
        noun, clause = ("system", "is a reference") if len(copies) == 1 else ("systems", "are references")
        notify(f"{where}left out {noun} {' and '.join(copies)}, which {clause}; --with-human keeps it")
    left_out = dict.fromkeys(copies, "is the reference")
    pair = _combine(lang_pair or "all", human, list(files.values()), selection, left_out)
    pair = replace(pair, full_names=full_names, sources=_sources_of(human, *files.values()))
    if baselines:
        texts = {system: human.texts[system] for system in pair.gold.systems}
        pair = _add_baselines(pair, texts, baselines, notify)
    if not selection.by_domain:
        return [pair]
    segments = {name: text for of_system in human.texts.values() for name, text in of_system.items()}
    domains = {name: text.key.domain if text.key else None for name, text in segments.items()}
    return [pair, *_by_domain(pair, domains, notify)]


def _sources_of(*files: MetricScores) -> frozenset[str]:
    segments = (segment for file in files for of_system in file.texts.values() for segment in of_system.values())
    return frozenset(segment.source for segment in segments if segment.source is not None)


def _from_ranks(
    path: str,
    metric_inputs: Sequence[tuple[str | None, ScoresOrRatings]],
    selection: ScoreSelection,
    report: Callable[[str], None] | None,
) -> list[LangPairScores]:
    """Returns the scores of pairs of translations that humans ranked, for each language pair of a file of ranks."""
    first_segment = selection.first_segments.get(path, 1)
    every = relative_ranks.read(path, least_difference=DARR_THRESHOLD, first_segment=first_segment)
    metrics = [file for name, metric in metric_inputs for file in _read(metric, name, selection, report)]
    lang_pairs: Sequence[str | None] = selection.lang_pairs or [ranks.lang_pair for ranks in every]
    pairs = []
    for lang_pair in lang_pairs:
        ranks = next((ranks for ranks in every if ranks.lang_pair in (lang_pair, None)), None)
        of_pair = metrics if lang_pair is None else _of_lang_pair(metrics, lang_pair, is_only=len(lang_pairs) == 1)
        files = [file for file in of_pair if file.segments]
        if ranks is None or not (files or ranks.verdicts):
            raise _lacking(path if ranks is None else "metrics", lang_pair)
        name = lang_pair or "all"
        if ranks.n_close and report is not None:
            report(
                f"{name}: left out {counted(ranks.n_close, 'pair')} whose human scores differ by less than "
                f"{DARR_THRESHOLD:g}"
            )
        metric_names = [*ranks.verdicts, *(file.name for file in files)]
        if repeated := [metric for metric, count in Counter(metric_names).items() if count > 1]:
            raise InputError(f"two files of scores are named {repeated[0]!r}; give them different names")
        full_names = _select({metric: metric for metric in metric_names}, selection, name)
        scored = ranked_pairs.lang_pair_scores(ranks, files, name=score_files.stem(path), without=selection.without)
        metrics_of_pair = {metric: scores for metric, scores in scored.metrics.items() if metric in full_names}
        pairs.append(replace(scored, lang_pair=name, metrics=metrics_of_pair, full_names=full_names))
    return pairs


def _copies_of_reference(files: Sequence[MetricScores]) -> list[str]:
    """Returns the systems whose translations are the references: nearly all of them, in a file that has both.

    A metric that reads a reference finds it perfect. mt-metrics-eval leaves it out, too. If all systems are references,
    none is returned.
    """
    copies: dict[str, None] = {}
    for file in files:
        for system, texts in file.texts.items():
            compared = [segment for segment in texts.values() if segment.references]
            n_equal = sum(segment.hypothesis.strip() in map(str.strip, segment.references) for segment in compared)
            # A machine may well translate a single segment as the reference does.
            if len(compared) > 1 and n_equal >= _SHARE_OF_COPIES * len(compared):
                copies[system] = None
    systems = {system for file in files for system in (*file.systems, *file.segments)}
    return list(copies) if systems - copies.keys() else []


def _joined(files: Sequence[MetricScores]) -> dict[str, MetricScores]:
    """Returns the scores of each metric; those of systems and those of segments can be in two files."""
    joined: dict[str, MetricScores] = {}
    for file in files:
        earlier = joined.setdefault(file.name, file)
        if earlier is not file:
            if (file.systems and earlier.systems) or (file.segments and earlier.segments):
                raise InputError(f"two files of scores are named {file.name!r}; give them different names")
            systems, segments = (file, earlier) if file.systems else (earlier, file)
            joined[file.name] = replace(segments, systems=systems.systems)
    return joined


def _read(
    scored: ScoresOrRatings, name: str | None, selection: ScoreSelection, report: Callable[[str], None] | None
) -> list[MetricScores]:
    """Returns the scores of a file, or the MQM scores of ratings; `name` replaces the name of the metric."""
    first = selection.first_segment
    first_of_file = selection.first_segments.get(_called(scored, name))
    if not isinstance(scored, str | PathLike):
        first = first if first_of_file is None else first_of_file
        return score_files.of_ratings(scored, name or "gold", first_segment=first)
    path = str(scored)
    if not detection.holds_ratings(path):
        return score_files.read(path, name=name, first_segment=first_of_file, otherwise=first)
    # These formats say from what they count, unless the option names the file; their readers have counted from 0.
    ratings = _ratings(path, first_of_file, report)
    return score_files.of_ratings(ratings, name or score_files.stem(path), place=path, first_segment=0)


def _ratings(path: str, first_segment: int | None, report: Callable[[str], None] | None) -> list[Rating]:
    issues = IssueCounts()
    ratings = list(detection.read(path, ReadOptions(issues if report else None, first_segment=first_segment)))
    for message in issues.messages():
        assert report is not None  # without it, a row with an issue is refused
        report(message)
    return ratings


def _golds(
    scored: ScoresOrRatings, selection: ScoreSelection, report: Callable[[str], None] | None
) -> tuple[list[MetricScores], list[MetricScores]]:
    """Returns the human scores; if people are metrics, those without one rater, and those of this rater."""
    if not selection.human_metrics:
        return _read(scored, None, selection, report), []
    place = _called(scored, None)
    if len(selection.human_metrics) > 1:
        raise InputError(f"{place}: {' and '.join(selection.human_metrics)}: must be one rater, or any")
    (rater,) = selection.human_metrics
    first = selection.first_segments.get(place, selection.first_segment)
    if isinstance(scored, str | PathLike):
        is_other_format = detection.holds_ratings(place)
        is_jsonl = not is_other_format and next(iter(read_lines(place)), "").lstrip().startswith("{")
        if not is_jsonl and not is_other_format:
            raise InputError(f"{place}: scores without raters: must be ratings, to compare one rater with the others")
        # Readers of other formats than JSONL count from 0.
        scored = _ratings(place, 0 if is_jsonl else first, report)
        first = first if is_jsonl else 0
    gold_ratings, held_out = human_metrics.hold_out(list(scored), rater, place)
    name = score_files.stem(place)
    golds = score_files.of_ratings(gold_ratings, name, place=place, first_segment=first)
    people = score_files.of_ratings(held_out, name, place=place, first_segment=first)
    # Of MQM scores and overall scores, only those that both sides have.
    kinds = {(person.lang_pair, person.name) for person in people}
    golds = [gold for gold in golds if (gold.lang_pair, gold.name) in kinds]
    compared = {gold.lang_pair: gold.name for gold in golds}
    title = human_metrics.title(rater)
    return golds, [replace(person, name=title) for person in people if person.name == compared.get(person.lang_pair)]


def _called(scored: ScoresOrRatings, name: str | None) -> str:
    """Returns what `ScoreSelection.first_segments` calls a file or ratings."""
    return str(scored) if isinstance(scored, str | PathLike) else name or "gold"


def _select(
    names: Mapping[str, str], selection: ScoreSelection, lang_pair: str, primary: frozenset[str] = frozenset()
) -> dict[str, str]:
    """Returns the selected metrics: full names by short names."""
    if PRIMARY in selection.metrics and not primary:
        allowed = "must be of a WMT test set of 2021 to 2025, in a directory of its name in mt-metrics-eval"
        raise InputError(f"{lang_pair}: the primary metrics are unknown: {allowed}")
    for name in selection.metrics:
        if name != PRIMARY and name not in names and name not in names.values():
            allowed = one_of(list(names)) or "left out, as no scores are given"
            raise InputError(f"unknown metric {name!r} of {lang_pair}{near_miss(name, names)} must be {allowed}")
    wanted = set(selection.metrics)
    if PRIMARY in wanted:
        wanted |= {full for full in names.values() if full.rpartition("-")[0] in primary}
    return {short: full for short, full in names.items() if not wanted or wanted & {short, full}}


def _combine(
    lang_pair: str,
    gold: MetricScores,
    files: Sequence[MetricScores],
    selection: ScoreSelection,
    left_out: Mapping[str, str],
) -> LangPairScores:
    """Returns the scores of all systems that are not left out; messages name the language pair with each file."""
    left_out = {**left_out, **dict.fromkeys(selection.without, "was left out by --without")}
    present = {*gold.systems, *gold.segments}
    for name in selection.without:
        if name not in present:
            hint = near_miss(name, sorted(present))
            raise InputError(f"--without {name}: unknown system{hint} must be in {gold.name}")
    human = score_arrays.from_file(replace(gold, name=f"{gold.name} ({lang_pair})"), gold)
    human = human.select([system for system in human.systems if system not in left_out])
    named = {file.name: replace(file, name=f"{file.name} ({lang_pair})") for file in files}
    pair = LangPairScores.of(lang_pair, human, [score_arrays.from_file(file, gold) for file in named.values()])
    metrics = {short: replace(pair.metrics[file.name], name=short) for short, file in named.items()}
    signed = {f"{gold.name} (people)": gold.signature, **{short: file.signature for short, file in named.items()}}
    signatures = {name: signature for name, signature in signed.items() if signature}
    pair = replace(pair, gold=replace(pair.gold, name=gold.name), metrics=metrics, signatures=signatures)
    if selection.without_outliers:
        is_outlier = score_arrays.outliers(pair.gold.system)
        left_out |= dict.fromkeys(compress(pair.gold.systems, is_outlier), "is an outlier")
        pair = pair.select(np.logical_not(is_outlier))
    return replace(pair, left_out={name: reason for name, reason in left_out.items() if name in present})
