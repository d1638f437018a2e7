r"""Measure models on held-out judgements of people and of GPT-4, and on meaning: one table to choose a model by.

    python -m benchmarks.ruler mini runs/probe/model --blend --json runs/ruler.json

Every figure has its standard error, from a bootstrap over sources that draws the same sources for all columns. No
source is trained on: `benchmarks.ruler_data` draws from the held-out lists and from test files. By default some 11,000
translations are drawn; `--every 3` takes a third of them, `--all` all that is held out. Models read the hypothesis with
the first reference ("reference") or with the source ("source"). Their score is the expected score; models without one
have the score of their spans. Predictions are kept in `--cache` by the model's signature.

**Within a source**: acc*eq with tie calibration and Kendall's tau-b, each the mean over sources, of

- GPT-4: WMT22 en-de, en-ru and zh-en; the mean of GPT-4's eight judgements (GEMBA), scaled to 0-1;
- ESA: WMT24 en-hi and en-zh;
- MQM: WMT20 and WMT21, news and talks;
- biomedical MQM.

Figures are means over language pairs, then over the four. Pearson's correlation is over all segments of a language
pair, and its mean is over the three that people rated.

**Systems**: pairs of systems that are ordered as by the judgements of the same segments, over all of these; and as by
the official scores by direct assessment (DA) of WMT21 and WMT22, of language pairs with held-out sources. Two systems
are compared on the sources that both translate.

**Spans**, on the segments with people's spans: micro-F1 of MPP (`matese evaluate`) and of characters (WMT25), pairs of
systems ordered right by the score of the spans, the share of Major among the marked spans, and its balance: 1 minus its
distance from the raters' share. Found and confirmed: F1 of the share of people's marks in MQM that a mark of the model
hits, and of the model's marks that hit one of theirs (TSH and HSH). Two guards have no weight: the order of systems by
spans must not fall below .74, and there must be between half and twice as many Major spans as people mark.

**Meaning**: pairs of a correct and a wrong translation whose score is ordered right (ties count half), of
`meaning_pairs.jsonl` and `contrast.jsonl`; of `meaning_pairs.jsonl` also the share of correct translations without any
mark, and of wrong ones with a mark that overlaps the wrong span (any mark if words are missing). es/it/pt/ko: pairs
with one of these languages, which no rating covers. STS: Spearman's correlation with people's similarity, mean over
languages; by reference within a language, by source from English. CANNOT: paraphrases that score higher than sentences
that say the opposite, against the same sentence.

**Held-out contrasts** (`benchmarks.held_out`): of written ones, errors found, marks on an error, right texts without a
mark, and pairs ordered right; of 4 and 10 joined sentences, errors found and right texts without a mark; minimal pairs
and cheats ordered right.

**Ruler score**: the weighted mean of these figures. Within a source .35, systems .20, spans .15, meaning and held-out
contrasts .30:

| | by reference | by source |
|---|---|---|
| acc*eq / Kendall / Pearson | .20 / .08 / .07 | .20 / .08 / .07 |
| pairs of systems | .20 | .20 |
| MPP / found and confirmed | .06 / .09 | .06 / .09 |
| meaning pairs / marks (unmarked and marked, half each) | .04 / .02 | .04 / .02 |
| contrast / STS / CANNOT | .02 / .02 / .02 | .02 / .02 / - |
| written: found / right / unmarked / above | .04 / .02 / .04 / .03 | .04 / .02 / .04 / .03 |
| joined: found / unmarked | .03 / .01 | .03 / .01 |
| mined pairs / cheats | - / .01 | .02 / .01 |

The score of a model is the mean of both. Without spans there is no ruler score.

Baselines on the same segments: chrF, and BERTScore with idf of layer `--layer` of `--encoder`, which by source compares
the hypothesis with the source ("similarity"). `--blend` adds a column to each model: its expected score plus a share of
that similarity, both z-normalised.
"""

from __future__ import annotations

import functools
import os
import time
import zlib
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

import numpy as np
import scipy.stats

import matese
from benchmarks import contrast, held_out, markdown, ruler_data, ruler_scores
from benchmarks.ruler_data import JUDGES, Pair, Part, Ruler, Similar
from benchmarks.ruler_scores import Judgement
from data_prep.store import Store
from matese.annotation import ErrorSpan, Segment, Severity
from matese.errors import UsageError
from matese.evaluation.metrics import correlation, pairwise_accuracy
from matese.evaluation.metrics.lexical_metrics import Baseline
from matese.evaluation.spans import character_f1, span_hit, span_matching
from matese.evaluation.spans.rating_pairs import RatingPair
from matese.evaluation.statistics import bootstrap
from matese.evaluation.statistics.arrays import FloatArray, divide, moments, pair_differences, pearson, row_means
from matese.model.storage import checkpoint
from matese.model.texts.encoding import InputKind
from matese.tasks import baselines

INPUTS: tuple[InputKind, ...] = ("reference", "source")
WITHIN = ("gpt4", "esa", "mqm", "bio")
RATED = ("esa", "mqm", "bio")
UNRATED = frozenset({"es", "it", "pt", "ko"})
_BOTH = {
    "acc*eq": 0.20,
    "Kendall": 0.08,
    "Pearson": 0.07,
    "systems": 0.20,
    "spans MPP": 0.06,
    "spans found and confirmed": 0.09,
    "meaning pairs": 0.04,
    "meaning marks": 0.02,
    "contrast": 0.02,
    "STS": 0.02,
    "written found": 0.04,
    "written right": 0.02,
    "written unmarked": 0.04,
    "written above": 0.03,
    "joined found": 0.03,
    "joined unmarked": 0.01,
    "cheats above": 0.01,
}
WEIGHTS: dict[InputKind, dict[str, float]] = {
    "reference": _BOTH | {"CANNOT": 0.02},
    "source": _BOTH | {"mined above": 0.02},
}
"""Weight of each figure in the ruler score."""
SCORE = "ruler score"
MAIN = tuple(dict.fromkeys([SCORE, *WEIGHTS["reference"], *WEIGHTS["source"]]))
"""The ruler score and all figures that count in it."""
_N_SAMPLES = 200
_MIN_COMMON = 5
"""Sources that two systems must share to be compared."""


class Figure(NamedTuple):
    """A figure of the sample and then of each bootstrap sample, (1 + samples,), and what it is computed from."""

    samples: FloatArray
    n: int

    @property
    def value(self) -> float:
        """The figure of the sample itself."""
        return float(self.samples[0])

    @property
    def error(self) -> float:
        """The standard error."""
        drawn = self.samples[1:][np.isfinite(self.samples[1:])]
        return float(drawn.std()) if len(drawn) else float("nan")

    def __str__(self) -> str:
        if not np.isfinite(self.value):
            return "-"
        return f"{self.value:.3f} ± {self.error:.3f}"


Figures = dict[str, Figure]


@dataclass(frozen=True, slots=True)
class Metric:
    """A column of the table.

    Attributes:
        title: name of the model or the baseline.
        inputs: which text is read besides the hypothesis.
        score: returns the scores of segments that belong together, higher is better.
        judge: returns what a model says about segments; None for other metrics.
    """

    title: str
    inputs: InputKind
    score: Callable[[Sequence[Segment]], FloatArray]
    judge: Callable[[Sequence[Segment]], list[Judgement]] | None = None


def main() -> None:
    """Prints the tables in Markdown and writes all figures as JSON."""
    parser = markdown.parser(__doc__, "--every", "--json")
    parser.add_argument("models", nargs="+", metavar="MODEL", help="embedded models, directories or hub ids")
    parser.add_argument("--all", action="store_true", help="draw all held-out sources")
    parser.add_argument("--inputs", nargs="+", choices=INPUTS, default=INPUTS, help="default: both")
    parser.add_argument("--data", type=Path, help="folder with the raw data; default: $MATESE_DATA")
    parser.add_argument("--prepared", type=Path, default=Path("data/prepared"), help="folder of data_prep prepare")
    parser.add_argument("--pairs", type=Path, default=Path(__file__).with_name("meaning_pairs.jsonl"), help="JSONL")
    parser.add_argument("--encoder", default="mini", help="of the similarity; default: %(default)s")
    parser.add_argument("--layer", type=int, default=8, help="of the encoder; default: %(default)s")
    parser.add_argument("--blend", type=float, nargs="?", const=0.3, metavar="SHARE", help="default: 0.3")
    parser.add_argument("--no-baselines", action="store_true", help="leave out chrF and the similarity")
    parser.add_argument("--cache", type=Path, default=Path("runs/ruler"), help="folder; default: %(default)s")
    arguments = parser.parse_args()
    data = arguments.data or os.environ.get("MATESE_DATA")
    if data is None:
        raise UsageError("MATESE_DATA is not set; set it to the folder with the raw data, or give --data")
    started = time.perf_counter()
    ruler = ruler_data.read(
        Store(Path(data)), arguments.prepared, arguments.pairs, every=arguments.every, is_all=arguments.all
    )
    print(*describe(ruler), sep="\n")
    similarities = similarity(arguments.encoder, arguments.layer, arguments.cache)
    metrics = [] if arguments.no_baselines else [chrf(arguments.cache), *similarities.values()]
    of_models = [
        metric for name in arguments.models for metric in models(name, ruler, arguments.inputs, cache=arguments.cache)
    ]
    for metric in of_models:
        metrics.append(metric)
        if arguments.blend is not None:
            metrics.append(blend(metric, similarities[metric.inputs], arguments.blend))
    columns = [metric for kind in arguments.inputs for metric in metrics if metric.inputs == kind]
    measured = {(metric.title, metric.inputs): measure(ruler, metric) for metric in columns}
    scores = score_models(measured)
    print("", *table(measured), sep="\n")
    print("", *(f"{SCORE} of {title}: {figure}" for title, figure in scores.items()), sep="\n")
    print("", *differences(measured, of_models[0].title), sep="\n")
    print(f"\n{time.perf_counter() - started:.0f} seconds")
    figures = {
        "drawn": {f"{JUDGES[part.judge]} {part.name}": len(part.ratings) for part in ruler.parts},
        "every": arguments.every,
        "scores": {title: as_json(figure) for title, figure in scores.items()},
        "figures": {
            f"{title} | {inputs}": {name: as_json(figure) for name, figure in figures.items()}
            for (title, inputs), figures in measured.items()
        },
    }
    markdown.write_json(arguments.json, figures)


def describe(ruler: Ruler) -> Iterator[str]:
    """Yields what was drawn."""
    heads = ["judgement", "test set", "sources", "held out", "systems", "translations"]
    rows = [
        [
            JUDGES[part.judge],
            part.name,
            *map(str, (part.n_sources, part.n_held_out, len(part.names), len(part.ratings))),
        ]
        for part in ruler.parts
    ]
    yield from markdown.table(heads, rows)
    yield ""
    yield (
        f"{len(ruler.pairs)} meaning pairs, {len(ruler.contrast)} of contrast, {len(ruler.sts)} pairs of STS and "
        f"{len(ruler.cross)} across languages, {len(ruler.cannot)} sentences of CANNOT"
    )


def models(name: str, ruler: Ruler, inputs: Iterable[InputKind], *, cache: Path) -> Iterator[Metric]:
    """Yields the columns of a model, one for each kind of input that it reads."""
    annotator = matese.load(name)
    title = annotator.name
    for kind in inputs:
        if kind not in annotator.config.texts.inputs:
            continue
        segments = [*ruler.segments(), *(segment for case in _readable(ruler.cases, kind) for segment in _texts(case))]
        if kind == "reference":
            segments += [pair.segment for pair in ruler.sts]
            segments += [segment for anchor in ruler.cannot for segment in (*anchor.paraphrases, *anchor.opposites)]
        else:
            segments += [pair.segment for pair in ruler.cross]
        judgements = ruler_scores.predict(annotator, kind, segments, cache=cache)
        yield of_judgements(title, kind, judgements)


def of_judgements(title: str, inputs: InputKind, judgements: ruler_scores.Judgements) -> Metric:
    """Returns the column of a model's judgements."""

    def judge(segments: Sequence[Segment]) -> list[Judgement]:
        return [judgements[ruler_scores.bare(segment, inputs)] for segment in segments]

    def score(segments: Sequence[Segment]) -> FloatArray:
        return np.array([judgement.expected for judgement in judge(segments)])

    return Metric(title, inputs, score, judge)


def chrf(cache: Path) -> Metric:
    """Returns chrF, which always reads the reference."""
    make = functools.cache(lambda: _baseline("chrf"))
    return Metric("chrF", "reference", lambda segments: ruler_scores.score(make, "chrF", segments, cache=cache))


def similarity(encoder: str, layer: int, cache: Path) -> dict[InputKind, Metric]:
    """Returns BERTScore with the reference, and with the source in its place."""
    make = functools.cache(lambda: _baseline("bertscore-idf", encoder=encoder, layer=layer))
    directory = checkpoint.resolve(encoder)
    signature = f"bertscore-idf {directory.name}@{checkpoint.fingerprint(directory)} layer {layer}"

    def by_reference(segments: Sequence[Segment]) -> FloatArray:
        return ruler_scores.score(make, signature, segments, cache=cache)

    def by_source(segments: Sequence[Segment]) -> FloatArray:
        return by_reference(ruler_scores.against_source(segments))

    return {
        "reference": Metric("BERTScore", "reference", by_reference),
        "source": Metric("similarity", "source", by_source),
    }


def _baseline(name: str, **settings: Any) -> Baseline:  # noqa: ANN401  (settings of any baseline)
    (metric,) = baselines.make_baselines([name], **settings)
    return metric


def blend(model: Metric, other: Metric, share: float) -> Metric:
    """Returns the model's scores plus a share of the other metric's, both z-normalised."""

    def score(segments: Sequence[Segment]) -> FloatArray:
        return _standard(model.score(segments)) + share * _standard(other.score(segments))

    return Metric(f"{model.title} + {share:g} similarity", model.inputs, score)


def _standard(values: FloatArray) -> FloatArray:
    return np.asarray((values - values.mean()) / (values.std() or 1.0))


def measure(ruler: Ruler, metric: Metric) -> Figures:
    """Returns all figures of a metric, and its ruler score if no figure is missing."""
    figures = {**of_translations(ruler.parts, metric), **of_meaning(ruler, metric), **of_held_out(ruler.cases, metric)}
    weights = WEIGHTS[metric.inputs]
    if all(name in figures for name in weights):
        total = np.sum([weight * figures[name].samples for name, weight in weights.items()], axis=0)
        figures = {SCORE: Figure(total, 1), **figures}
    return figures


def of_translations(parts: Iterable[Part], metric: Metric) -> Figures:
    """Returns the figures within sources, of systems and of spans: of all judges, and then of each."""
    means: dict[str, dict[str, list[Figure]]] = defaultdict(lambda: defaultdict(list))
    orders: dict[str, dict[str, list[_Order]]] = defaultdict(lambda: defaultdict(list))
    for part in parts:
        drawn = resample(part.n_sources, part.name)
        scores = metric.score(part.segments)
        orders["systems"][part.judge].append(order_systems(part, scores, drawn))
        figures = within_sources(part, scores, drawn) if part.judge in WITHIN else {}
        judgements = [] if metric.judge is None else metric.judge(part.segments)
        penalties = [judgement.of_spans for judgement in judgements if judgement.of_spans is not None]
        if penalties:
            of_spans = np.array(penalties)
            orders["spans systems"][part.judge].append(order_systems(part, of_spans, drawn))
            if part.judge in RATED:
                within = within_sources(part, of_spans, drawn)
                figures |= {f"spans {name}": within[name] for name in ("acc*eq", "Pearson")}
                figures |= spans_of(part, judgements, drawn)
        for name, figure in figures.items():
            means[name][part.judge].append(figure)
    measured: Figures = {}
    for name, of_judges in means.items():
        by_judge = {judge: mean(of_judge) for judge, of_judge in of_judges.items()}
        counted = [by_judge[judge] for judge in by_judge if name != "Pearson" or judge in RATED]
        measured |= _with_parts(name, mean(counted), by_judge)
    for name, of_systems in orders.items():
        total = share([order for of_judge in of_systems.values() for order in of_judge])
        measured |= _with_parts(name, total, {judge: share(of_judge) for judge, of_judge in of_systems.items()})
    return measured


def _with_parts(name: str, figure: Figure, by_judge: Mapping[str, Figure]) -> Figures:
    return {name: figure} | {f"{name}, {JUDGES[judge]}": of_judge for judge, of_judge in by_judge.items()}


def resample(n: int, name: str) -> FloatArray:
    """Returns how often each unit counts: once, and as often as it is drawn in each sample, (1 + samples, units).

    The draws only depend on the name and the number, so that columns are compared on the same ones.
    """
    seed = zlib.crc32(name.encode())
    drawn = bootstrap.resamples(_N_SAMPLES, np.zeros(n), seed=seed)
    return np.concatenate([bootstrap.whole_sample(n), *drawn])


def weighted(values: FloatArray, drawn: FloatArray) -> FloatArray:
    """Returns means without missing values: (units,) and (samples, units) to (samples,)."""
    is_known = np.isfinite(values)
    return divide(drawn @ np.where(is_known, values, 0.0), drawn @ is_known.astype(np.float64))


def mean(figures: Sequence[Figure]) -> Figure:
    """Returns the mean of the figures that are defined, undefined without any."""
    if not figures:
        return Figure(np.full(1 + _N_SAMPLES, np.nan), 0)
    return Figure(row_means(np.array([figure.samples for figure in figures]).T), sum(figure.n for figure in figures))


def within_sources(part: Part, scores: FloatArray, drawn: FloatArray) -> Figures:
    """Returns acc*eq, whose epsilon is that of the sample, and Kendall's tau-b over sources; Pearson over segments."""
    gold = part.grid(part.golds)
    table = part.grid(scores)
    calibration = pairwise_accuracy.acc_eq(gold, table)
    verdicts = np.full(gold.shape, np.nan) if calibration is None else calibration.verdicts
    # Centred, because sums of squares far from zero lose digits.
    products = moments(*(values - np.nanmean(values) for values in (gold, table))).sum(axis=0)
    n = len(part.ratings)
    return {
        "acc*eq": Figure(weighted(row_means(verdicts.T), drawn), n),
        "Kendall": Figure(weighted(correlation.kendall_by_item(gold, table, "b"), drawn), n),
        "Pearson": Figure(pearson(drawn @ products), n),
    }


class _Order(NamedTuple):
    """Pairs of systems that are ordered right, and all pairs, (1 + samples,) each."""

    right: FloatArray
    n: FloatArray


def order_systems(part: Part, scores: FloatArray, drawn: FloatArray) -> _Order:
    """Returns how many pairs of systems are ordered as by the judgements; equal scores are half right.

    Two systems are compared by the mean difference on the sources that both translate.
    """
    score = pair_differences(part.grid(scores))  # (pairs, sources)
    has_enough = np.isfinite(score).sum(axis=1) >= _MIN_COMMON
    if part.systems is None:
        gold = pair_differences(part.grid(part.golds))
        human = np.array([weighted(row, drawn) for row in gold[has_enough]])
    else:
        official = pair_differences(np.array([part.systems[name] for name in part.names]))
        human = np.repeat(official[has_enough, np.newaxis], len(drawn), axis=1)
    metric = np.array([weighted(row, drawn) for row in score[has_enough]])
    if not len(metric):
        return _Order(np.zeros(len(drawn)), np.zeros(len(drawn)))
    is_pair = np.isfinite(human) & (human != 0)
    right = np.where(metric == 0, 0.5, np.sign(human) == np.sign(metric))
    return _Order(np.where(is_pair, right, 0.0).sum(axis=0), is_pair.sum(axis=0).astype(np.float64))


def share(orders: Sequence[_Order]) -> Figure:
    """Returns the share of all pairs that is ordered right; `n` is the number of pairs."""
    right = np.sum([order.right for order in orders], axis=0)
    n = np.sum([order.n for order in orders], axis=0)
    return Figure(divide(right, n), int(n[0]))


def spans_of(part: Part, judgements: Sequence[Judgement], drawn: FloatArray) -> Figures:
    """Returns the agreement of the model's spans with people's."""
    predicted = [judgement.rating(gold.segment) for judgement, gold in zip(judgements, part.ratings, strict=True)]
    pairs = [RatingPair.of(gold, rating) for gold, rating in zip(part.ratings, predicted, strict=True)]
    of_segments = drawn[:, part.columns]
    matching = span_matching.statistic(pairs, span_matching.MatchingRules()).figures(of_segments)
    characters = character_f1.statistic(pairs).figures(of_segments)
    hits = span_hit.statistic([span_hit.span_hit(pair.gold_spans, pair.predicted_spans) for pair in pairs])
    shares = hits.figures(of_segments)
    confirmed = np.nan_to_num(shares["hsh"])
    found = np.nan_to_num(shares["tsh"])
    by_raters = _major(of_segments, [pair.gold_spans for pair in pairs])
    by_model = _major(of_segments, [pair.predicted_spans for pair in pairs])
    figures = {
        "spans MPP": matching["mpp.micro.f1"],
        "spans characters": characters["char_wmt25.f1"],
        "spans balance": 1.0 - np.abs(by_model - by_raters),
        "spans Major": by_model,
        "spans Major of raters": by_raters,
    }
    if part.judge in ("mqm", "bio"):
        f1 = divide(2 * confirmed * found, confirmed + found, empty=0.0)
        figures |= {"spans found and confirmed": f1, "spans confirmed": confirmed, "spans found": found}
    return {name: Figure(values, len(pairs)) for name, values in figures.items()}


def _major(drawn: FloatArray, spans: Iterable[Sequence[ErrorSpan]]) -> FloatArray:
    """Returns the share of Major spans in each sample, 0 without spans."""
    counts = np.array(
        [[sum(span.severity is Severity.MAJOR for span in of_segment), len(of_segment)] for of_segment in spans],
        dtype=float,
    )
    major, total = (drawn @ counts).T
    return divide(major, total, empty=0.0)


def of_meaning(ruler: Ruler, metric: Metric) -> Figures:
    """Returns the figures of meaning."""
    figures = {**_of_pairs(ruler.pairs, metric), **_of_contrast(ruler.contrast, metric)}
    figures["STS"] = _of_sts(ruler.sts if metric.inputs == "reference" else ruler.cross, metric)
    if metric.inputs == "reference":
        scores = iter(
            metric.score([segment for anchor in ruler.cannot for segment in (*anchor.paraphrases, *anchor.opposites)])
        )
        shares = []
        for anchor in ruler.cannot:
            same = [next(scores) for _ in anchor.paraphrases]
            opposite = [next(scores) for _ in anchor.opposites]
            shares.append(fmean(markdown.order(*pair) for pair in product(same, opposite)))
        figures["CANNOT"] = _mean_of(shares, "CANNOT")
    return figures


def _mean_of(values: Sequence[float] | FloatArray, name: str) -> Figure:
    """Returns the mean of the values of separate units."""
    return Figure(weighted(np.asarray(values, dtype=np.float64), resample(len(values), name)), len(values))


def _of_pairs(pairs: Sequence[Pair], metric: Metric) -> Figures:
    segments = [pair.segment(text) for pair in pairs for text in (pair.correct, pair.wrong)]
    scores = metric.score(segments)
    orders = [markdown.order(*pair_scores) for pair_scores in scores.reshape(-1, 2).tolist()]
    figures = _by_language("meaning pairs", [pair.lang_pair for pair in pairs], orders)
    judgements = [] if metric.judge is None else metric.judge(segments)
    if any(judgement.spans is None for judgement in judgements) or not judgements:
        return figures
    unmarked = [float(not judgement.is_marked) for judgement in judgements[::2]]
    marked = [float(_hits(pair, judgement)) for pair, judgement in zip(pairs, judgements[1::2], strict=True)]
    marks = [fmean(both) for both in zip(unmarked, marked, strict=True)]
    for name, values in (("meaning marks", marks), ("correct unmarked", unmarked), ("wrong marked", marked)):
        figures |= _by_language(name, [pair.lang_pair for pair in pairs], values)
    return figures


def _hits(pair: Pair, judgement: Judgement) -> bool:
    """Whether a mark overlaps the wrong part, or there is any mark if words are missing."""
    if pair.span is None:
        return judgement.is_marked
    first, end = pair.span
    return any(start < end and first < stop for start, stop, _ in judgement.spans or ())


def _of_contrast(items: Sequence[contrast.Item], metric: Metric) -> Figures:
    scores = metric.score([item.segment(text or "") for item in items for text in (item.good, item.bad)])
    orders = [markdown.order(*pair_scores) for pair_scores in scores.reshape(-1, 2).tolist()]
    return _by_language("contrast", [item.lang_pair for item in items], orders)


def _by_language(name: str, lang_pairs: Sequence[str], values: Sequence[float]) -> Figures:
    """Returns the mean of all pairs, and of those with and without a language of `UNRATED`."""
    is_unrated = np.array([bool(UNRATED & set(pair.split("-"))) for pair in lang_pairs])
    table = np.array(values)
    figures = {name: _mean_of(table, name)}
    for title, is_part in (("es/it/pt/ko", is_unrated), ("others", ~is_unrated)):
        if is_part.any():
            figures[f"{name}, {title}"] = _mean_of(table[is_part], f"{name}, {title}")
    return figures


def _of_sts(sentences: Sequence[Similar], metric: Metric) -> Figure:
    """Returns the mean over languages of Spearman's correlation; the same pairs are drawn in all languages.

    Ranks are those of the whole sample.
    """
    by_language: dict[str, list[Similar]] = defaultdict(list)
    for pair in sentences:
        by_language[pair.lang_pair].append(pair)
    correlations = []
    for of_language in by_language.values():
        scores = metric.score([pair.segment for pair in of_language])
        ranks = (scipy.stats.rankdata(values) for values in ([pair.similarity for pair in of_language], scores))
        products = moments(*(values - values.mean() for values in ranks))
        correlations.append(Figure(pearson(resample(len(of_language), "STS") @ products), len(of_language)))
    return mean(correlations)


_HELD_OUT = {
    "written": ("sentences", "app strings", "paragraphs"),
    "joined": tuple(f"joined {number}" for number in held_out.N_JOINED),
    "numbers": tuple(f"numbers {number}" for number in held_out.JOINED_NUMBERS),
    "mined": ("mined",),
    "cheats": tuple(f"cheat: {name}" for name in held_out.CHEATS),
    "strings": ("strings",),
}
"""Sets of held-out contrasts that are measured as one."""


def of_held_out(cases: Sequence[held_out.Case], metric: Metric) -> Figures:
    """Returns the figures of held-out contrasts."""
    figures: Figures = {}
    readable = _readable(cases, metric.inputs)
    for name, sets in _HELD_OUT.items():
        of_sets = [case for case in readable if case.name in sets]
        # A metric that compares texts reads no text without a reference.
        if of_sets and (metric.judge is not None or all(case.right.references for case in of_sets)):
            figures |= {f"{name} {column}": figure for column, figure in _of_cases(name, of_sets, metric).items()}
    return figures


def _of_cases(name: str, cases: Sequence[held_out.Case], metric: Metric) -> Figures:
    drawn = resample(len(cases), name)
    segments = [segment for case in cases for segment in _texts(case)]
    scores = dict(zip(segments, metric.score(segments).tolist(), strict=True))
    pairs = [(case.right, case.wrong) for case in cases]
    orders = [np.nan if wrong is None else markdown.order(scores[right], scores[wrong]) for right, wrong in pairs]
    figures = {"above": Figure(weighted(np.array(orders), drawn), len(cases))}
    if metric.judge is None:
        return figures
    judged = dict(zip(segments, metric.judge(segments), strict=True))
    unmarked = np.array([float(not judged[right].is_marked) for right, _ in pairs])
    figures["unmarked"] = Figure(weighted(unmarked, drawn), len(cases))
    hits = [[case.is_hit(start, end) for start, end, _ in _spans(judged, case)] for case in cases]
    is_found = [float(any(of_case)) if case.spans else np.nan for case, of_case in zip(cases, hits, strict=True)]
    figures["found"] = Figure(weighted(np.array(is_found), drawn), len(cases))
    counts = np.array([(sum(of_case), len(of_case)) for of_case in hits], dtype=np.float64)
    figures["right"] = Figure(divide(*(drawn @ counts).T, empty=0.0), len(cases))
    return figures


def _spans(judged: Mapping[Segment, Judgement], case: held_out.Case) -> Iterable[tuple[int, int, str]]:
    return () if case.wrong is None or not case.spans else judged[case.wrong].spans or ()


def _readable(cases: Iterable[held_out.Case], inputs: InputKind) -> list[held_out.Case]:
    return [case for case in cases if case.can_be_read(inputs)]


def _texts(case: held_out.Case) -> list[Segment]:
    return [segment for segment in (case.right, case.wrong) if segment is not None]


def score_models(measured: Mapping[tuple[str, InputKind], Figures]) -> Figures:
    """Returns the ruler score of each model that has one by reference and by source: their mean."""
    titles = dict.fromkeys(title for title, _ in measured)
    both = {title: [measured.get((title, kind), {}).get(SCORE) for kind in INPUTS] for title in titles}
    return {
        title: mean([figure for figure in figures if figure is not None])
        for title, figures in both.items()
        if None not in figures
    }


def table(measured: Mapping[tuple[str, InputKind], Figures]) -> list[str]:
    """Returns the table of all figures, a column for each metric; those of the ruler score come first."""
    names = dict.fromkeys([*MAIN, *(name for figures in measured.values() for name in figures)])
    rows = [
        [
            name,
            str(max((figures[name].n for figures in measured.values() if name in figures), default="")),
            *(str(figures.get(name, "")) for figures in measured.values()),
        ]
        for name in names
    ]
    return markdown.table(["figure", "n", *(f"{title}, {kind}" for title, kind in measured)], rows)


def differences(measured: Mapping[tuple[str, InputKind], Figures], base: str) -> Iterator[str]:
    """Yields a table of the differences from a model, whose standard errors are smaller: the draws are the same."""
    columns = {
        place: (figures, measured[base, place[1]])
        for place, figures in measured.items()
        if place[0] != base and (base, place[1]) in measured
    }
    rows = [[name, *(_difference(name, *pair) for pair in columns.values())] for name in MAIN]
    yield from markdown.table([f"minus {base}", *(f"{title}, {kind}" for title, kind in columns)], rows)


def _difference(name: str, figures: Figures, base: Figures) -> str:
    if name not in figures or name not in base:
        return ""
    return str(Figure(figures[name].samples - base[name].samples, figures[name].n))


def as_json(figure: Figure) -> dict[str, float | None]:
    """Returns a figure, null where it is undefined, with its standard error."""
    numbers = {name: getattr(figure, name) for name in ("value", "error")}
    return {name: round(value, 5) if np.isfinite(value) else None for name, value in numbers.items()} | {"n": figure.n}


if __name__ == "__main__":
    main()
