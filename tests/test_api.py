"""The functions that users call from Python, on files and on lists of Ratings."""

from __future__ import annotations

import inspect
import pickle
import pydoc
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pandas
import pytest
import sacrebleu

import matese
from matese import InputError, ModelError, Rating, Segment, SegmentKey
from matese.annotation import Estimate
from matese.evaluation.metrics.correlation_options import CorrelationFigures
from matese.evaluation.systems import segment_filters
from matese.formats.row_issues import RowIssue
from matese.formats.tables import jsonl
from matese.render.results import Tabular
from matese.validation.options import Options
from tests.evaluation.material import major, minor
from tests.formats import score_files

OLD = [Rating(Segment(text, "Es ist so."), "m", (major(0, 3),)) for text in ("It is so.", "Was it so?", "It is.")]
NEW = [Rating(Segment(text, "Es ist so."), "m", (minor(0, 2),)) for text in ("It is so.", "Is it so?", "Is it?")]

MILDER = [replace(rating, errors=(minor(0, 3),)) for rating in OLD]


def save(path: Path, ratings: list[Rating]) -> Path:
    path.write_text("".join(f"{jsonl.dumps(rating)}\n" for rating in ratings), encoding="utf-8")
    return path


def test_dir_and_help_list_what_users_call() -> None:
    assert dir(matese) == sorted(matese.__all__)
    documented = pydoc.plain(pydoc.render_doc(matese))
    assert {"annotate", "compare", "evaluate", "explain", "gate", "load", "rerank"} <= set(
        re.findall(r"^    (\w+)\(", documented, re.MULTILINE)
    )


def test_files_and_lists_compare_equally(tmp_path: Path) -> None:
    files = [save(tmp_path / "old.jsonl", OLD), save(tmp_path / "new.jsonl", NEW)]
    comparison = matese.compare(files, sampling=matese.Sampling(bootstrap=50))
    assert (comparison.first, list(comparison.pairs)) == ("old", [("old", "new")])
    assert comparison.pairs["old", "new"].score.bootstrap.value == 4
    assert matese.compare({"old": OLD, "new": NEW}, sampling=matese.Sampling(bootstrap=50)) == comparison


def test_keys_name_the_systems_of_a_list() -> None:
    keyed = [[Rating(Segment("x", key=SegmentKey(system=name, index=0)), "m", ())] for name in ("A", "B")]
    assert list(matese.compare(keyed, sampling=matese.Sampling(bootstrap=0)).ratings) == ["A", "B"]
    assert list(matese.compare([OLD, NEW], sampling=matese.Sampling(bootstrap=0)).ratings) == ["system 1", "system 2"]
    generated = (iter(ratings) for ratings in (OLD, NEW))
    assert list(matese.compare(generated, sampling=matese.Sampling(bootstrap=0)).ratings) == ["system 1", "system 2"]


def test_filters_select_segments() -> None:
    comparison = matese.compare(
        [OLD, NEW], filter=[segment_filters.without_duplicates()], sampling=matese.Sampling(bootstrap=0)
    )
    assert (
        matese.compare([OLD, NEW], filter=["unique"], sampling=matese.Sampling(bootstrap=0)).selections
        == comparison.selections
    )
    assert [(selection.name, selection.n_segments) for selection in comparison.selections] == [
        ("all", 3),
        ("no duplicates", 1),
    ]


def test_gate(tmp_path: Path) -> None:
    old = save(tmp_path / "old.jsonl", OLD)
    assert not matese.gate(iter(OLD), limits=matese.GateLimits(min_score=-1)).passed
    assert matese.gate(NEW, limits=matese.GateLimits(min_score=-1), baseline=old).passed
    result = matese.gate(old, limits=matese.GateLimits(max_errors_per_1k=400, min_score=-3))
    assert [(check.name, check.passed, check.segments) for check in result.checks] == [
        ("max-errors-per-1k", True, ()),
        ("min-score", False, (0, 1, 2)),
    ]


def test_segments_below_the_limit_of_a_scale_without_zero_are_to_blame() -> None:
    scores = {"a": 0.9, "b": 0.5, "c": 0.2}
    ratings = [Rating(Segment(text), "m", None, estimate=Estimate(score, "comet")) for text, score in scores.items()]
    (check,) = matese.gate(ratings, limits=matese.GateLimits(min_score=0.8)).checks
    assert (check.segments, check.losses) == ((2, 1), (-0.2, -0.5))


def test_units_without_a_translation_are_blank(tmp_path: Path) -> None:
    units = "<trans-unit id='1'><source>A</source><target>B</target></trans-unit>"
    note = '<note>[matese] "m" (translations without a note have no errors)</note>'
    (tmp_path / "marked.xlf").write_text(
        f"<xliff><file><header>{note}</header><body>{units}<trans-unit id='2'><source>C</source></trans-unit></body>"
        "</file></xliff>"
    )
    result = matese.gate(tmp_path / "marked.xlf", limits=matese.GateLimits(min_score=-20))
    assert [(check.name, check.passed) for check in result.checks] == [("min-score", True), ("max-blank", False)]
    assert [len(matese.read(tmp_path / "marked.xlf", untranslated=flag)) for flag in (False, True)] == [1, 2]
    comparison = matese.compare([tmp_path / "marked.xlf", matese.read(tmp_path / "marked.xlf", untranslated=True)])
    assert [len(ratings) for ratings in comparison.ratings.values()] == [2, 2]


def test_gate_can_refuse_other_settings(tmp_path: Path) -> None:
    old, new = (
        [replace(rating, rater=f"matese|model:mini@1|precision:{precision}") for rating in ratings]
        for ratings, precision in ((OLD, "float32"), (NEW, "bf16"))
    )
    assert "signatures differ in precision" in matese.gate(new, baseline=old).notice
    with pytest.raises(InputError, match=r"signatures differ in precision .*: must be the same"):
        matese.gate(new, baseline=old, limits=matese.GateLimits(require_same_signature=True))
    assert matese.gate(old, baseline=list(old), limits=matese.GateLimits(require_same_signature=True)).passed


def test_report_names_its_systems(tmp_path: Path) -> None:
    page = matese.report([save(tmp_path / "old.jsonl", OLD), NEW])
    assert "<title>old, system 2</title>" in page


def test_predictions_are_evaluated_against_gold_ratings(tmp_path: Path) -> None:
    gold = [replace(rating, rater=rater) for rating in keyed(OLD) for rater in ("anna", "ben")]
    files = save(tmp_path / "gold.jsonl", gold), save(tmp_path / "old.jsonl", OLD)
    evaluation = matese.evaluate(
        *files,
        versus=files[1],
        by=["severity"],
        raters=matese.Raters(merge="union"),
        figures=matese.SpanFigures(bootstrap=10),
    )
    assert (evaluation.gold, evaluation.predicted.name) == tuple(map(str, files))
    assert evaluation.figures["mpp.micro.f1"].value == 1.0
    assert evaluation.groups["severity"]["minor"].n_spans.gold == 0
    assert evaluation.differences["mpp.micro.f1"].value == 0.0
    assert matese.evaluate(gold, keyed(OLD), raters=matese.Raters(rater="ben")).figures["hsh"].value == 1.0
    with pytest.raises(matese.InputError, match=r"^gold has 3 ratings and prediction 1; "):
        matese.evaluate(OLD, OLD[:1])
    with pytest.raises(matese.InputError, match=r"severity_penalty: 2: must be a number, at least 0, at most 1"):
        matese.evaluate(OLD, OLD, figures=matese.SpanFigures(severity_penalty=2))
    with pytest.raises(matese.InputError, match="by: unknown group 'sevrity', did you mean 'severity'"):
        matese.evaluate(OLD, OLD, by=["sevrity"])  # type: ignore[list-item]
    with pytest.raises(matese.ModelError, match="no model tokens: no such directory; use an embedded model"):
        matese.evaluate(OLD, OLD, figures=matese.SpanFigures(unit="tokens"))


@pytest.mark.parametrize("choose", [lambda by: matese.compare([OLD, OLD], by=by), lambda by: matese.gate(OLD, by=by)])
def test_an_unknown_score_to_decide_by_is_refused(choose: Callable[[str], object]) -> None:
    with pytest.raises(matese.UsageError, match="by: unknown score 'score': must be spans or expected"):
        choose("score")


def test_raters_agree(tmp_path: Path) -> None:
    path = save(
        tmp_path / "ratings.jsonl", [replace(rating, rater=rater) for rating in keyed(OLD) for rater in ("a", "b")]
    )
    agreement = matese.agreement(path, figures=matese.SpanFigures(unit="character"))
    assert (agreement.n_segments, list(agreement.pairs)) == (3, [("a", "b")])
    assert agreement.pooled["em.micro.f1"].value == 1.0
    assert (
        matese.agreement(matese.read(path), figures=matese.SpanFigures(unit="character")).profiles == agreement.profiles
    )


def test_metrics_are_correlated(tmp_path: Path) -> None:
    root = str(score_files.make(tmp_path / "wmt"))
    correlation = matese.correlate(
        root, selection=matese.MetricSelection(metrics=["BLEU"]), figures=matese.CorrelationFigures(samples=100)
    )
    assert correlation.rankings["en-de"].metrics == ("BLEU",)
    gold = tmp_path / "gold"
    metric = tmp_path / "metric"
    gold.write_text("A 1\nB 2\nC 3\n", encoding="utf-8")
    metric.write_text("A 3\nB 2\nC 1\n", encoding="utf-8")
    for metrics in ([metric], {"metric": metric}):
        correlation = matese.correlate(gold=gold, metric=metrics, figures=matese.CorrelationFigures(samples=100))
        assert correlation.figures["all"]["metric"]["system.pearson"].value == pytest.approx(-1)
    with pytest.raises(matese.InputError, match=r"unknown figure 'system.person', did you mean 'system.pearson'\?"):
        matese.correlate(root, figures=matese.CorrelationFigures(rank_by="system.person"))
    assert (
        "A"
        in matese.correlate(
            root, selection=matese.MetricSelection(without="B"), figures=matese.CorrelationFigures(samples=100)
        )
        .pairs[0]
        .gold.systems
    )  # one name alone is a list
    with pytest.raises(matese.UsageError, match=r"unknown metric 'blue', did you mean 'bleu'\?"):
        matese.correlate(root, baseline=["blue"])


def test_baselines_of_ratings() -> None:
    texts = {"A": ("It is cold.", "He slept."), "B": ("It be cold.", "He sleep."), "C": ("It cold.", "Sleeps he.")}
    golds = [
        Rating(
            Segment(text, None, (texts["A"][index],), SegmentKey(lang_pair="de-en", system=system, index=index)),
            rater,
            (minor(0, 2),) * "ABC".index(system),
        )
        for system, hypotheses in texts.items()
        for index, text in enumerate(hypotheses)
        for rater in ("anna", "ben")
    ]
    # The texts of A are the references, and a reference is no system otherwise.
    correlation = matese.correlate(
        gold=golds,
        baseline=("bleu", "chrf", "yisi", "mini"),
        selection=matese.MetricSelection(with_human=True),
        figures=matese.CorrelationFigures(samples=100),
    )
    names = ["BLEU", "chrF", "YiSi-like (mini)", "mini", "mini.expected"]
    assert list(correlation.figures["de-en"]) == names
    assert correlation.figures["de-en"]["chrF"]["system.pearson"].value == pytest.approx(0.9, abs=0.1)
    assert correlation.pairs[0].signatures["mini"].startswith("matese|model:mini@")
    corpus = sacrebleu.CHRF().corpus_score(texts["B"], [texts["A"]]).score
    assert correlation.pairs[0].metrics["chrF"].system[1] == pytest.approx(corpus, rel=1e-12)
    systems = {
        system: [rating for rating in golds if rating.segment.key and rating.segment.key.system == system][::2]
        for system in "AB"
    }
    assert list(matese.compare(systems, metrics="chrf", sampling=matese.Sampling(bootstrap=10)).metrics) == ["chrF"]
    metrics = matese.compare(
        systems, metrics=("chrf", "mini"), sampling=matese.Sampling(bootstrap=10, permutations=10)
    ).metrics
    assert list(metrics) == ["chrF", "mini", "mini.expected"]
    assert metrics["chrF"].scores["B"].value == pytest.approx(corpus, rel=1e-12)
    assert metrics["chrF"].differences["A", "B"].bootstrap.value == pytest.approx(corpus - 100, rel=1e-12)


def keyed(ratings: list[Rating]) -> list[Rating]:
    return [
        replace(rating, segment=replace(rating.segment, key=SegmentKey(system="A", index=number)))
        for number, rating in enumerate(ratings)
    ]


def test_faulty_rows_are_repaired_and_reported_unless_reading_is_strict(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "spans.tsv"
    path.write_text("A\td\t0\tr\ts\tHaus\t0\t9\tmajor\n", encoding="utf-8")
    with pytest.raises(matese.FormatError, match=r"spans\.tsv:1: span ends beyond the text"):
        matese.read(path, strict=True)
    assert matese.read(path)[0].errors == (major(0, 4),)
    assert "1 " in caplog.text
    assert "span ends beyond the text" in caplog.text
    caplog.clear()
    notes: list[RowIssue] = []
    (rating,) = matese.read(path, lang_pair="en-de", report=notes.append)
    assert (rating.errors, [note.kind for note in notes]) == ((major(0, 4),), ["repaired"])
    assert not caplog.text


def test_what_users_get_wrong(tmp_path: Path) -> None:
    old = save(tmp_path / "old.jsonl", OLD)
    with pytest.raises(matese.UsageError, match="is given 2 times; give it once"):
        matese.compare([old, old])
    with pytest.raises(matese.UsageError, match=r"^no limit to check: give "):
        matese.gate(OLD)
    with pytest.raises(FileNotFoundError, match=r"^nope\.jsonl: no such file or directory: check the path$"):
        matese.read("nope.jsonl")
    with pytest.raises(TypeError, match="hypothesis 0 is None; give a string, which may be empty"):
        matese.annotate([None], sources=["x"])  # type: ignore[list-item]
    for given, advice in ((OLD, "a Rating: .* their segments to"), ([OLD[0].segment], "a Segment: .* them to")):
        with pytest.raises(TypeError, match=f"hypothesis 0 is {advice} annotate_segments$"):
            matese.annotate(given, sources=["x"] * len(given))  # type: ignore[arg-type]
    two = [
        replace(one, segment=replace(one.segment, key=SegmentKey(system=name, index=n)))
        for name in ("A", "B")
        for n, one in enumerate(OLD)
    ]
    with pytest.raises(matese.UsageError, match=r"^both: the name would stand for 2 systems \(A, B\): give a list"):
        matese.compare({"both": two, "old": OLD})
    header = tmp_path / "header.tsv"
    header.write_text("system\tdoc\tdoc_id\tseg_id\trater\tsource\ttarget\tcategory\tseverity\n", encoding="utf-8")
    with pytest.raises(matese.FormatError, match="holds no rating or translation"):
        matese.read(header)


@pytest.mark.parametrize(
    ("call", "problem"),
    [
        (
            lambda: matese.compare([OLD], smapling=None),  # type: ignore[call-arg]
            "^compare\\(\\) got an unexpected keyword argument 'smapling', did you mean 'sampling'",
        ),
        (
            lambda: matese.compare([OLD], bootstrap=9),  # type: ignore[call-arg]
            r"argument 'bootstrap': write sampling=matese\.Sampling\(bootstrap=\.\.\.\)$",
        ),
        (
            lambda: matese.load(overrides=()),  # type: ignore[call-arg]
            r"^load\(\) .* 'overrides': write choice=matese\.DecodingChoice\(overrides=\.\.\.\)$",
        ),
        (lambda: matese.train(OLD, start="mini"), "'start': it is from_ now$"),  # type: ignore[call-arg]
        (
            lambda: matese.score(OLD, "google"),  # type: ignore[call-overload]
            r"^score\(\) too many positional arguments: name the options, such as weights=\.\.\.$",
        ),
        (lambda: matese.Weights(-1), "^name -1: must be a text; name the penalties, such as minor=-1$"),  # type: ignore[arg-type]
        (lambda: matese.Weights(minor="x"), "^minor x: must be a penalty"),  # type: ignore[arg-type]
        (lambda: matese.score(OLD, weights={"minor": 2}), "^unknown weights .* must be matese, "),  # type: ignore[call-overload]
        (lambda: matese.compare({"a": [], "b": []}), "^no segments; give one or more$"),
        (lambda: matese.read(OLD), "^expected str, bytes or os.PathLike object, not list$"),  # type: ignore[arg-type]
        (lambda: matese.train(OLD, dev=0.1), r"^dev: 0\.1: must be files, a table or a list of ratings$"),
        (lambda: matese.annotate(["a"], lang_pair=5), "^5 is not a language pair: must be"),  # type: ignore[call-overload]
        (lambda: Segment(float("nan")), "^nan is a float; texts must be strings"),  # type: ignore[arg-type]
        (lambda: Segment("a", "b", (None,)), "^None is a NoneType; texts must be strings"),  # type: ignore[arg-type]
        (lambda: matese.annotate(text for text in "ab"), "^hypotheses is a generator: must be a sequence of strings"),  # type: ignore[call-overload]
        (lambda: matese.reward(["a", 7], sources=["a", "b"]), "^hypothesis 1 is 7; give"),  # type: ignore[list-item]
    ],
)
def test_calls_that_no_function_takes(call: Callable[[], object], problem: str) -> None:
    with pytest.raises((TypeError, InputError), match=problem):
        call()


def test_the_marks_before_a_correction_may_be_a_table(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    before = matese.ConvertReading(before=matese.Ratings(OLD).to_pandas())
    matese.convert(OLD, tmp_path / "a.jsonl", reading=before)
    assert "of 3 marks: 3 kept, 0 changed" in caplog.text


def test_options_have_their_names_in_python(caplog: pytest.LogCaptureFixture) -> None:
    ratings = [replace(rating, errors=rating.errors[:n]) for n, rating in enumerate(keyed(OLD))]  # type: ignore[index]
    matese.correlate(gold=ratings, metric={"m": ratings})
    assert "(rank_by)" in caplog.text
    for call in (
        lambda: matese.load("mini", engine="numpy", uncertainty="dropout:2"),
        lambda: matese.correlate(gold=OLD),
        lambda: matese.train(OLD),
        lambda: matese.train(),
        lambda: matese.convert(OLD, "out.jsonl", from_="csv"),
        lambda: matese.compare(OLD, marking=matese.Marking(checks="only")),
        lambda: matese.gate(OLD),
    ):
        with pytest.raises(InputError) as raised:
            call()
        assert "--" not in str(raised.value)
        assert len(str(raised.value)) < 400


def test_functions_can_be_pickled() -> None:
    for name in ("score", "compare", "annotate"):
        function = getattr(matese, name)
        assert pickle.loads(pickle.dumps(function)) is function


@pytest.mark.parametrize("name", [name for name in matese.__all__ if not name.startswith("__")])
def test_functions_and_options_have_at_most_twelve_parameters(name: str) -> None:
    value = getattr(matese, name)
    is_options = inspect.isclass(value) and issubclass(value, Options)
    if is_options or inspect.isfunction(value):
        parameters = inspect.signature(value).parameters.values()
        assert len(parameters) <= 12
        options = [one.name for one in parameters if one.kind is one.POSITIONAL_OR_KEYWORD][2:]
        assert options == (["gold"] if name == "tune_reranking" else [])


@pytest.mark.parametrize("form", ["list", "to_pandas", "to_polars", "to_dataset", "file"])
def test_ratings_of_any_form_are_converted(tmp_path: Path, form: str) -> None:
    ratings = matese.Ratings(keyed(OLD))
    saved = save(tmp_path / "in.jsonl", ratings)
    given = ratings if form == "list" else saved if form == "file" else getattr(ratings, form)()
    matese.convert(given, tmp_path / "out.csv")
    assert matese.read(tmp_path / "out.csv") == ratings
    merged = [replace(rating, rater=name) for rating in ratings for name in ("anna", "ben")]
    matese.convert(merged, tmp_path / "merged.jsonl", raters=matese.Raters(merge="union"))
    assert len(matese.read(tmp_path / "merged.jsonl")) == len(ratings)
    with pytest.raises(matese.UsageError, match="end_shift: for a file; leave it out"):
        matese.convert(merged, tmp_path / "out.jsonl", reading=matese.ConvertReading(end_shift=1))


@pytest.mark.parametrize("to_table", ["to_pandas", "to_polars", "to_dataset"])
def test_tables_are_ratings(to_table: str) -> None:
    segments = [Segment("Es ist so.", key=SegmentKey(system=name, index=0)) for name in "ABC"]
    ratings = matese.Ratings(Rating(segment, "m", (minor(0, 2),) * n) for n, segment in enumerate(segments))
    table = getattr(ratings, to_table)()
    figures = matese.correlate(gold=table, metric={"m": table}).figures["all"]["m"]
    assert figures["system.pearson"].value == pytest.approx(1)
    assert re.search(r"ratings +3\n", matese.info(table))


def test_a_row_that_lacks_a_text_is_named_as_in_the_table() -> None:
    table = pandas.DataFrame({"mt": ["Es ist.", "So."], "src": ["It is.", None]}, index=["a", "b"])
    with pytest.raises(ModelError, match=r"1 of 2 hypotheses lack it \(rows: b\)"):
        matese.annotate(table)


@pytest.mark.parametrize(
    ("call", "problem"),
    [
        (lambda: matese.read("x.jsonl", format="jsnol"), "format 'jsnol' cannot be read, did you mean 'jsonl'"),
        (
            lambda: matese.evaluate(OLD, NEW, figures=matese.SpanFigures(bootstrap=-1)),
            "bootstrap: -1: must be a whole number, at least 0",
        ),
        (lambda: matese.evaluate(OLD, NEW, figures=matese.SpanFigures(bootstrap=9, seed=-1)), "seed: -1"),
        (lambda: matese.evaluate(OLD, NEW[0]), "prediction is a Rating"),
        (lambda: matese.compare(OLD), "system 1 is the only system"),
        (lambda: matese.compare({"A": OLD, "B": ["x"]}), "B holds 'x'"),
        (lambda: matese.compare({}), "give either RATINGS"),
        (lambda: matese.correlate(gold=OLD, metric=matese.Ratings(OLD).to_pandas()), "ratings without a name"),
        (lambda: matese.report([]), "give either RATINGS"),
        (lambda: matese.compare([OLD, NEW], sampling=matese.Sampling(permutations=0)), "permutations: 0"),
        (lambda: matese.gate(OLD, baseline=NEW, limits=matese.GateLimits(alpha=0)), "alpha: 0"),
        (lambda: CorrelationFigures(samples=0), "samples: 0: "),
        (lambda: CorrelationFigures(alpha=float("nan")), "alpha: nan: "),
        (lambda: matese.score(replace(OLD[0], errors=None)), "only a rating of spans has an MQM score"),
        (lambda: matese.corpus_score([]), "no segment scores: the score of a corpus is the mean of one or more"),
        (lambda: matese.corpus_score([-1e308, -1e308]), "segment scores up to 1e+308"),
    ],
)
def test_what_users_can_cause_is_an_input_error(call: Callable[[], object], problem: str) -> None:
    with pytest.raises(matese.InputError, match=re.escape(problem)):
        call()


@pytest.mark.parametrize(
    ("name", "hypothesis", "index", "problem"),
    [
        *(
            (name, "x\ud800", 1, "is not Unicode")
            for name in ("jsonl", "csv", "mqm-tsv", "label-studio", "parquet", "hf-dataset")
        ),
        *((name, "x", 10**30, "a table cannot hold this index") for name in ("parquet", "hf-dataset")),
    ],
)
def test_what_no_file_can_hold(tmp_path: Path, name: str, hypothesis: str, index: int, problem: str) -> None:
    rating = Rating(Segment(hypothesis, "y", key=SegmentKey("ted", "en-de", "A", "d", index)), "anna", ())
    with pytest.raises(matese.InputError, match=problem):
        matese.write([rating], tmp_path / "out", format=name)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "call",
    [
        lambda weights: repr(matese.evaluate(OLD, MILDER, weights=weights).figures),
        lambda weights: repr(
            matese.compare({"old": OLD, "new": NEW}, weights=weights, sampling=matese.Sampling(bootstrap=0)).figures
        ),
        lambda weights: matese.gate(OLD, limits=matese.GateLimits(min_score=-1), weights=weights).checks,
        lambda weights: matese.report({"old": OLD}, weights=weights),
        lambda weights: matese.Ratings(OLD).to_pandas(weights=weights).to_csv(),
        lambda weights: matese.load("mini", weights=weights, n_segments=1).signature("source"),
    ],
)
def test_weights_have_names(call: Callable[[matese.Weights | str], object]) -> None:
    assert call("unbabel") == call(matese.mqm.UNBABEL) != call("matese")
    with pytest.raises(matese.UsageError):
        call("unbable")


@pytest.mark.parametrize("name", [name for name in matese.__all__ if inspect.isfunction(getattr(matese, name))])
def test_help_has_readable_defaults(name: str) -> None:
    parameters = inspect.signature(getattr(matese, name)).parameters.values()
    defaults = [repr(one.default) for one in parameters if one.default is not inspect.Parameter.empty]
    assert max(map(len, defaults), default=0) < 30


def test_a_notebook_shows_where_the_user_erred_and_no_frames_of_ours() -> None:
    with pytest.raises(ModelError) as raised:
        matese.load("no-such-model")
    first, *lines = raised.value._render_traceback_()
    assert Path(__file__).name in first
    assert lines[-1] == f"ModelError: {raised.value}"
    assert "annotator.py" not in "".join(lines)


def test_results_are_short_in_a_notebook_and_lead_to_their_figures(tmp_path: Path) -> None:
    many = [
        replace(rating, segment=replace(rating.segment, source=f"{n}")) for n in range(300) for rating in keyed(OLD)
    ]
    ratings = [
        replace(rating, segment=replace(rating.segment, key=SegmentKey(system="A", index=number)))
        for number, rating in enumerate(many)
    ]
    compared = matese.compare({"a": ratings, "b": ratings}, sampling=matese.Sampling(bootstrap=0))
    raters = [replace(rating, rater=name) for rating in ratings for name in ("anna", "ben")]
    scores = "A 1\nB 2\nC 3\n"
    (tmp_path / "scores").write_text(scores, encoding="utf-8")
    for result, figures in (
        (matese.gate(ratings, limits=matese.GateLimits(min_score=-1)), ".checks"),
        (compared, ".pairs[first, second]"),
        (compared.pairs["a", "b"], ".n_changes()"),
        (matese.evaluate(ratings, ratings), ".figures[name].value"),
        (matese.agreement(raters), ".pooled"),
        (matese.correlate(gold=tmp_path / "scores", metric={"m": tmp_path / "scores"}), ".figures[lang_pair][metric]"),
        (matese.Ratings(ratings), ".to_pandas()"),
        (matese.report(ratings), "output=FILE"),
        (
            matese.tag(
                texts=matese.TextFiles(hyp=[str(tmp_path / "scores")], src=[str(tmp_path / "scores")]),
                marking=matese.Marking(checks="only"),
            ),
            ".ratings",
        ),
    ):
        assert len(repr(result)) < 500
        assert figures in repr(result)
        assert hasattr(result, "_repr_html_") == isinstance(result, Tabular | matese.Ratings)
