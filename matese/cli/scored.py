"""What `matese correlate` compares: human scores and metrics, out of a test set directory or single files."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from matese.cli.errors import UsageError
from matese.formats import metric_scores, mt_metrics_eval
from matese.formats.mt_metrics_eval import TestSet
from matese.formats.score_file import ScoreFile
from matese.formats.settings import near_miss, one_of

if TYPE_CHECKING:
    from matese.evaluation.baselines import Name
    from matese.evaluation.metrics import LangPair
    from matese.evaluation.scores import Scores


@dataclass(frozen=True, slots=True)
class Wanted:
    """What the command line asks for.

    Attributes:
        lang_pairs: of a directory; empty for all.
        metrics: their names, full or without the last part; empty for all.
        gold: the name of the human scores.
        reference: None for the one that most metrics used.
        with_human: whether human translations other than that reference are systems.
        without: systems to leave out.
        baselines: metrics to compute.
        without_outliers: whether systems far from the median are left out.
    """

    lang_pairs: tuple[str, ...] = ()
    metrics: tuple[str, ...] = ()
    gold: str = "mqm"
    reference: str | None = None
    with_human: bool = False
    without: tuple[str, ...] = ()
    baselines: tuple[Name, ...] = ()
    without_outliers: bool = False


@dataclass(frozen=True, slots=True)
class Loaded:
    """A language pair that is ready to be compared.

    Attributes:
        pair: its scores.
        reference: that the metrics used; None where that is not known.
        full_names: of each metric, its name with the last part.
        signatures: of each baseline.
        left_out: systems that are not compared, and why.
    """

    pair: LangPair
    reference: str | None = None
    full_names: dict[str, str] = field(default_factory=dict)
    signatures: dict[str, str] = field(default_factory=dict)
    left_out: dict[str, str] = field(default_factory=dict)


def from_directory(test_set: TestSet, wanted: Wanted, say: Callable[[str], None]) -> list[Loaded]:
    """Returns the language pairs of a test set.

    Args:
        test_set: the directory.
        wanted: what of it.
        say: is told what is being read.

    Raises:
        UsageError: if something is asked for that is not there.
        FormatError: if a file is not in its format.
        ValueError: if scores do not fit each other.
    """
    known = test_set.lang_pairs()
    for name in wanted.lang_pairs:
        if name not in known:
            raise UsageError(f"unknown language pair {name!r}{near_miss(name, known)} must be {one_of(known)}")
    return [_lang_pair(test_set, name, wanted, say) for name in wanted.lang_pairs or known]


def _lang_pair(test_set: TestSet, lang_pair: str, wanted: Wanted, say: Callable[[str], None]) -> Loaded:
    from matese.evaluation import baselines

    say(f"reading {lang_pair}")
    names = test_set.metrics(lang_pair)
    reference = wanted.reference or mt_metrics_eval.standard_reference(names)
    references = test_set.references(lang_pair)
    if wanted.reference is not None and wanted.reference not in references:
        hint = near_miss(wanted.reference, references)
        raise UsageError(f"unknown reference {wanted.reference!r} of {lang_pair}{hint} must be {one_of(references)}")
    chosen = _chosen(mt_metrics_eval.variants(names, reference, references), wanted, lang_pair)
    gold_file = test_set.gold(lang_pair, wanted.gold)
    left_out = dict.fromkeys((reference or "").split("."), "is the reference")
    if not wanted.with_human:
        left_out |= {name: "is a human translation" for name in references if name not in left_out}
    files = {short: replace(test_set.metric(lang_pair, full), name=short) for short, full in chosen.items()}
    found = _load(lang_pair, gold_file, list(files.values()), wanted, left_out)
    signatures = {}
    if wanted.baselines and reference is None:
        raise UsageError(f"--baseline: no metric of {lang_pair} used a reference: must be named by --ref")
    for name in wanted.baselines:
        say(f"scoring {lang_pair} by {baselines.NAMES[name]}")
        texts = {system: test_set.texts(lang_pair, system) for system in found.pair.gold.systems}
        texts_of_references = [test_set.reference(lang_pair, one) for one in (reference or "").split(".")]
        made, signature = baselines.score(name, texts, texts_of_references, baselines.target(lang_pair))
        # A metric of the same name that was submitted stays what it was.
        made = replace(made, name=f"{made.name}.sacrebleu" if made.name in files else made.name)
        found = replace(found, pair=_with(found.pair, made))
        signatures[made.name] = signature
    if not found.pair.metrics:
        raise UsageError(f"{lang_pair}: no metric used {reference or 'a reference'} or none: must be at least one")
    return replace(found, reference=reference, full_names=chosen, signatures=signatures)


def from_files(gold: str, metrics: Sequence[str], wanted: Wanted) -> list[Loaded]:
    """Returns the language pairs that single files hold.

    Args:
        gold: the file of the human scores.
        metrics: files of metrics.
        wanted: `lang_pairs`, `metrics`, `without` and `without_outliers` of it.

    Raises:
        FormatError: if a file is not in its format.
        UsageError: if the files are of different language pairs.
        ValueError: if scores do not fit each other.
    """
    golds = {one.lang_pair: one for one in metric_scores.read(gold)}
    found = [one for path in metrics for one in metric_scores.read(path)]
    lang_pairs = [name for name in dict.fromkeys([*golds, *(one.lang_pair for one in found)]) if name is not None]
    names: Sequence[str | None] = wanted.lang_pairs or lang_pairs or [None]
    loaded = []
    for name in names:
        human = golds.get(name, golds.get(None))
        # A file that does not name its language pair is of the only one.
        of_pair = [one for one in found if one.lang_pair == name or (one.lang_pair is None and len(names) == 1)]
        if human is None or not of_pair:
            raise UsageError(f"{gold if human is None else 'metrics'}: no scores of {name}: must have some")
        chosen = _chosen({_free_name(one, of_pair): one.name for one in of_pair}, wanted, str(name))
        files = [replace(one, name=_free_name(one, of_pair)) for one in of_pair if _free_name(one, of_pair) in chosen]
        loaded.append(replace(_load(name or "all", human, files, wanted, {}), full_names=chosen))
    return loaded


def _free_name(one: ScoreFile, others: Sequence[ScoreFile]) -> str:
    """Returns a metric's name; two files may not bear the same."""
    if sum(one.name == other.name for other in others) > 1:
        raise UsageError(f"two files of scores are named {one.name!r}: must differ in name")
    return one.name


def _chosen(names: dict[str, str], wanted: Wanted, lang_pair: str) -> dict[str, str]:
    for name in wanted.metrics:
        if name not in names and name not in names.values():
            hint = near_miss(name, names)
            raise UsageError(f"unknown metric {name!r} of {lang_pair}{hint} must be {one_of(list(names))}")
    asked = set(wanted.metrics)
    return {short: full for short, full in names.items() if not asked or asked & {short, full}}


def _load(
    lang_pair: str, gold: ScoreFile, files: Sequence[ScoreFile], wanted: Wanted, left_out: dict[str, str]
) -> Loaded:
    import numpy as np

    from matese.evaluation import metrics, scores

    left_out = {**left_out, **dict.fromkeys(wanted.without, "was left out by --without")}
    present = {*gold.systems, *gold.segments}
    for name in wanted.without:
        if name not in present:
            raise UsageError(
                f"--without {name}: unknown system{near_miss(name, sorted(present))} must be in {gold.name}"
            )
    human = _scores(_named(gold, lang_pair), gold)
    human = human.select([system for system in human.systems if system not in left_out])
    pair = metrics.make(lang_pair, human, [_scores(_named(one, lang_pair), gold) for one in files])
    # Messages say the language pair, keys do not.
    pair = replace(
        pair, metrics={one.name: replace(pair.metrics[f"{one.name} ({lang_pair})"], name=one.name) for one in files}
    )
    if wanted.without_outliers:
        far = scores.outliers(pair.gold.system)
        left_out |= {name: "is an outlier" for name, one in zip(pair.gold.systems, far, strict=True) if one}
        pair = pair.choose(np.logical_not(far))
    return Loaded(pair, left_out={name: why for name, why in left_out.items() if name in present})


def _named(one: ScoreFile, lang_pair: str) -> ScoreFile:
    return replace(one, name=f"{one.name} ({lang_pair})")


def _with(pair: LangPair, made: Scores) -> LangPair:
    from matese.evaluation import scores

    return replace(pair, metrics={**pair.metrics, made.name: scores.match(pair.gold, made)})


def _scores(one: ScoreFile, gold: ScoreFile) -> Scores:
    """Returns the scores as arrays, their columns being the segments of the human scores."""
    import numpy as np

    from matese.evaluation import scores

    numbers = sorted({number for of_system in gold.segments.values() for number in of_system})
    beyond = {number for of_system in one.segments.values() for number in of_system} - set(numbers)
    if beyond and numbers and one.is_positional and gold.is_positional:
        # Nothing but their order says which segments they are.
        found = f"{one.name} scores {max(beyond):,} segments a system and {gold.name} {len(numbers):,}"
        raise ValueError(f"{found}: must be the same ones")
    names = list(dict.fromkeys([*one.systems, *one.segments]))
    segments = {name: one.segments.get(name, {}) for name in names}
    made = scores.from_segments(one.name, segments, numbers if one.segments else [])
    own = [one.systems.get(name) for name in names]
    system = made.system if not one.systems else np.array([np.nan if score is None else score for score in own])
    if not one.segments:
        return replace(made, system=system, segment=None, numbers=())
    return replace(made, system=np.where(np.isfinite(system), system, made.system))
