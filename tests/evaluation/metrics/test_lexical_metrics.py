from __future__ import annotations

import sys
from dataclasses import replace
from typing import Any, get_args

import numpy as np
import pytest
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF
from sacrebleu.metrics.ter import TER

from matese.annotation import Segment, SegmentKey
from matese.errors import InputError
from matese.evaluation.metrics import correlation_options, lexical_metrics, word_metrics
from matese.evaluation.metrics.correlation_options import SACREBLEU_BASELINES, SacrebleuName
from matese.evaluation.metrics.lexical_metrics import BaselineScores
from matese.evaluation.statistics import permutation_test
from matese.tasks import baselines

LINES = {"A": ["the cat sat on the mat", "a dog"], "B": ["a cat is on a mat", "the dog barks"]}
REFERENCES = [["the cat sat on the mat", "the dog"], ["a cat sat there", "one dog"]]


def segments(lines: list[str], references: list[list[str]], lang_pair: str = "de-en") -> list[Segment]:
    key = SegmentKey(lang_pair=lang_pair)
    return [Segment(line, None, own, key) for line, own in zip(lines, zip(*references, strict=True), strict=True)]


SYSTEMS = {system: segments(lines, REFERENCES) for system, lines in LINES.items()}


def score(name: SacrebleuName, systems: dict[str, list[Segment]] = SYSTEMS) -> BaselineScores:
    (made,) = lexical_metrics.of_sacrebleu(name).score(systems)
    return made


@pytest.mark.parametrize("name", get_args(SacrebleuName))
def test_scores_are_those_of_sacrebleu(name: SacrebleuName) -> None:
    metrics = {"bleu": (BLEU(), BLEU(effective_order=True)), "chrf": (CHRF(), CHRF()), "ter": (TER(), TER())}
    of_corpus, of_segment = metrics[name]
    sign = -1 if name == "ter" else 1
    made = score(name)
    assert (made.name, made.package) == (SACREBLEU_BASELINES[name], "sacrebleu")
    for system, lines in LINES.items():
        assert made.systems[system] == pytest.approx(sign * of_corpus.corpus_score(lines, REFERENCES).score, rel=1e-12)
        columns = zip(lines, zip(*REFERENCES, strict=True), strict=True)
        expected = [sign * of_segment.sentence_score(line, list(own)).score for line, own in columns]
        assert made.segments[system].tolist() == pytest.approx(expected, rel=1e-12)
    assert made.signature == f"{of_corpus.get_signature()}{'|negated:yes' if name == 'ter' else ''}"
    assert "nrefs:2" in made.signature


@pytest.mark.parametrize(
    ("name", "parameters", "metric"),
    [
        ("bleu", "tok=intl,lc", BLEU(tokenize="intl", lowercase=True)),
        ("bleu", "smooth=floor", BLEU(smooth_method="floor")),
        ("chrf", "beta=3", CHRF(beta=3)),
        ("chrf", "nw=1", CHRF(word_order=1)),
        ("chrf", "nw=2,lc", CHRF(word_order=2, lowercase=True)),
        ("chrf", "nc=4,beta=1", CHRF(char_order=4, beta=1)),
        ("ter", "cs,nopunct,norm", TER(case_sensitive=True, no_punct=True, normalized=True)),
    ],
)
def test_variants_are_those_of_sacrebleu(name: SacrebleuName, parameters: str, metric: Any) -> None:
    lines = ['The  cat (sat) on «the» mat"!', "A dog: it's"]
    references = [["the cat sat, on the mat", "(The dog) is"]]
    systems = {"A": segments(lines, [*references, ["a cat sat there!", "One dog"]])}
    (made,) = lexical_metrics.of_sacrebleu(name, parameters).score(systems)
    sign = -1 if name == "ter" else 1
    expected = metric.corpus_score(lines, [*references, ["a cat sat there!", "One dog"]]).score
    assert made.systems["A"] == pytest.approx(sign * expected, rel=1e-12)
    assert made.name == f"{SACREBLEU_BASELINES[name]}:{parameters}"
    assert made.signature.startswith(str(metric.get_signature()))
    assert ("|beta:" in made.signature) is ("beta" in parameters)


@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        ("bleu", "tokenize=intl"),
        ("bleu", "tok=inlt"),
        ("bleu", "tok"),
        ("bleu", "beta=3"),
        ("bleu", "lc=yes"),
        ("bleu", "lc,"),
        ("bleu", "smooth=exp2"),
        ("chrf", "beta=0"),
        ("chrf", "beta=-1"),
        ("chrf", "beta=2.5"),
        ("chrf", "nc=0"),
        ("chrf", "nw=1000"),
        ("ter", "lc"),
    ],
)
def test_unknown_parameters(name: SacrebleuName, parameters: str) -> None:
    with pytest.raises(InputError, match=f"of {name}"):
        lexical_metrics.of_sacrebleu(name, parameters)


@pytest.mark.parametrize(
    ("hypothesis", "references", "lang_pair", "rate"),
    [
        ("", ("a cat",), "de-en", 2 / 2),
        ("The cat sat.", ("the cat sat .", "A dog"), "de-en", 1 / 4),
        ("the cat", ("the mat", "one two the cat sat on"), "de-en", 1 / 2),
        ("我好", ("你好",), "en-zh", 1 / 2),
        ("猫だ", ("犬だ",), "en-ja", 1 / 2),
    ],
)
def test_words_that_are_edited(hypothesis: str, references: tuple[str, ...], lang_pair: str, rate: float) -> None:
    segment = Segment(hypothesis, None, references, SegmentKey(lang_pair=lang_pair))
    (wer,) = lexical_metrics.of_words("wer").score({"A": [segment]})
    assert wer.systems == {"A": -rate}


def test_rates_are_negated_and_those_of_systems_are_of_all_words() -> None:
    systems = {"A": segments(["a b c d", "x"], [["a b c e", "y"]]), "B": segments(["", "y"], [["a b c e", "y"]])}
    (wer,) = lexical_metrics.of_words("wer").score(systems)
    assert (wer.systems, wer.segments["A"].tolist()) == ({"A": -2 / 5, "B": -4 / 5}, [-0.25, -1])
    (eed,) = lexical_metrics.of_words("eed").score(systems)
    assert eed.segments["B"][1] == pytest.approx(0, abs=0.1)
    assert eed.systems["A"] == pytest.approx(eed.segments["A"].mean())
    (wer,) = lexical_metrics.of_words("wer").score({"A": [Segment("same", None, ("same",))]})
    assert (str(wer.systems["A"]), str(wer.segments["A"][0])) == ("0.0", "0.0")
    # The authors' example in the documentation of torchmetrics.
    lines = ["this is the prediction", "here is an other sample"]
    (eed,) = lexical_metrics.of_words("eed").score(
        {"A": segments(lines, [["this is the reference", "here is another one"]])}
    )
    assert eed.systems["A"] == pytest.approx(-0.3078, abs=1e-4)


def test_every_target_language_has_its_tokenizer() -> None:
    made = score("bleu", {"A": [*segments(["我 好"], [["你好"]], "en-zh"), *segments(["the cat"], [["a cat"]])]})
    assert ["tok:zh" in made.signature, "tok:13a" in made.signature] == [True, True]
    assert made.segments["A"][0] == BLEU(trg_lang="zh", effective_order=True).sentence_score("我 好", ["你好"]).score


@pytest.mark.parametrize("lang_pair", ["en-zh", "en-cmn", "en-yue", "en-zh_Hans", "en-zh-Hant", "eng_Latn-zho_Hans"])
def test_chinese_is_chinese_under_every_code(lang_pair: str) -> None:
    systems = {"A": segments(["我们去学校"], [["他们去学校"]], lang_pair)}
    assert "tok:zh" in score("bleu", systems).signature
    assert score("ter", systems).systems == {"A": -20}
    (wer,) = lexical_metrics.of_words("wer").score(systems)
    assert wer.systems == {"A": -1 / 5}


@pytest.mark.parametrize(
    ("lang_pair", "lines", "references"),
    [
        ("en-zh", ["我们昨天去了学校。", "他 说好"], ["昨天我们去了学校。", "他说很好"]),
        ("en-ja", ["東京へ行く。", "猫だ"], ["東京に行く。", "犬だ"]),
        ("en-jpn_Jpan", ["東京へ行く。", "猫だ"], ["東京に行く。", "犬だ"]),
    ],
)
def test_ter_separates_the_characters_of_chinese_and_japanese(
    lang_pair: str, lines: list[str], references: list[str]
) -> None:
    ter = TER(normalized=True, asian_support=True)
    made = score("ter", {"A": segments(lines, [references], lang_pair)})
    assert made.systems["A"] == pytest.approx(-ter.corpus_score(lines, [references]).score, rel=1e-12)
    assert made.signature == f"{ter.get_signature()}|negated:yes"


def test_numbers_of_references_may_differ() -> None:
    systems = {"A": [Segment("a dog", None, ("the dog", "a dog")), Segment("a cat", None, ("a cat",))]}
    made = score("chrf", systems)
    assert made.systems == {"A": 100}
    assert "nrefs:var" in made.signature


@pytest.mark.parametrize("references", [(), ("",), (" ", "\ufeff")])
def test_a_missing_reference(references: tuple[str, ...]) -> None:
    segment = Segment("a cat", None, references)
    assert not lexical_metrics.of_sacrebleu("bleu").can_read(segment)
    with pytest.raises(ValueError, match=r"BLEU needs references: segment \('a cat'\) has none"):
        score("bleu", {"A": segments(["a"], [["b"]]), "B": [segment]})


@pytest.mark.parametrize("name", ["bleu", "chrf", "ter", "wer", "eed"])
def test_a_blank_reference_beside_another_is_not_read(name: str) -> None:
    (metric,) = baselines.make_baselines([name])
    plain = Segment("a cat sat", None, ("the cat sat on the mat",))
    (expected,) = metric.score({"A": [plain]})
    blank = Segment("a cat sat", None, ("", *plain.references, " "))
    assert metric.can_read(blank)
    (made,) = metric.score({"A": [blank]})
    assert (made.systems, made.signature) == (expected.systems, expected.signature)


def test_permutation_of_sums_is_that_of_means() -> None:
    rng = np.random.default_rng(5)
    values = {"A": rng.normal(size=30), "B": rng.normal(0.4, size=30)}
    made = BaselineScores.of_means("m", "", values)
    assert made.systems["A"] == pytest.approx(values["A"].mean())

    first, second = made.statistics.values()
    drawn = {"n_permutations": 2000, "seed": 1}
    of_means = permutation_test.two_sided_p(values["A"], values["B"], lambda sums: sums[:, 0], **drawn)
    for other, expected in ((second, of_means), (first, 1.0)):
        found = permutation_test.two_sided_p(
            first.table, other.table, lambda sums: first.aggregate(sums)["score"], **drawn
        )
        assert found == pytest.approx(expected, abs=0.01)


def test_without_sacrebleu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sacrebleu.metrics.bleu", None)
    with pytest.raises(ValueError, match="BLEU, chrF and TER need pip install"):
        score("bleu")
    monkeypatch.setitem(sys.modules, "torchmetrics", None)
    with pytest.raises(ValueError, match="WER needs torchmetrics; install it with pip install"):
        lexical_metrics.of_words("wer").score(SYSTEMS)


def test_without_a_tokenizer(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(**_: object) -> None:
        raise RuntimeError("install mecab")

    monkeypatch.setattr("sacrebleu.metrics.bleu.BLEU", missing)
    with pytest.raises(ValueError, match=r"sacrebleu lacks its tokenizer of ja \(install mecab\); install it"):
        score("bleu", {"A": segments(["猫"], [["犬"]], "en-ja")})


def test_sentinels_know_the_length_of_one_text() -> None:
    systems = {"A": [Segment("ab", "x"), Segment("", "yz")], "B": [Segment("abc", "x"), Segment("d", "yz")]}
    for name, lengths in (("sentinel-src", [-1, -2]), ("sentinel-mt", [-2, 0])):
        (baseline,) = baselines.make_baselines([name])
        (scores,) = baseline.score(systems)
        assert (scores.name, scores.segments["A"].tolist()) == (name, lengths)
    assert scores.systems == {"A": -1, "B": -2}
    (source,) = baselines.make_baselines(["sentinel-src"])
    for missing in (None, " "):
        assert not source.can_read(Segment("ab", missing))
        with pytest.raises(InputError):
            source.score({"A": [Segment("ab", missing)]})


def test_a_metric_is_a_module_and_a_name_with_what_makes_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(baselines, "BASELINES", (*correlation_options.BASELINES, "words"))
    makers = {**baselines.MAKERS, "words": lambda name, parameters: lexical_metrics.of_length("sentinel-mt")}
    monkeypatch.setattr(baselines, "MAKERS", makers)
    made = baselines.make_baselines(["words", "ter"])
    assert [metric.title for metric in made] == ["TER", "length of the translation"]


@pytest.mark.parametrize(
    ("hypothesis", "reference", "per", "cder"),
    [
        ("", "", 0, 0),
        ("", "a b", 2, 2),
        ("a b", "", 2, 1),  # one jump to the end
        ("a b c", "a b c", 0, 0),
        ("a x c", "a b c", 1, 1),
        ("c d a b", "a b c d", 0, 3),  # to a, from b back to c, and from d to the end
        ("a a b", "a b", 1, 1),
    ],
)
def test_edits_by_hand(hypothesis: str, reference: str, per: int, cder: int) -> None:
    words = hypothesis.split(), reference.split()
    assert (word_metrics.position_independent_edits(*words), word_metrics.block_edits(*words)) == (per, cder)


def test_nist_as_nltk_has_it() -> None:
    from nltk.translate import nist_score

    segments = [
        Segment("the cat sat on the mat .", None, ("the cat sat on a mat .", "a cat was on the mat .")),
        Segment("it rains today again", None, ("it is raining again today , as always",)),
    ]
    (nist,) = lexical_metrics.of_words("nist").score({"A": segments})
    hypotheses = [one.hypothesis.split() for one in segments]
    references = [[text.split() for text in one.references] for one in segments]
    assert nist.systems["A"] == pytest.approx(nist_score.corpus_nist(references, hypotheses, n=5))
    assert nist.signature.startswith("nist|sacrebleu:")


def test_character_is_that_of_its_package_and_the_best_reference_counts() -> None:
    from cer import calculate_cer

    segment = Segment("the big cat", None, ("the bigger cat", "the big cat"))
    worse = replace(segment, references=segment.references[:1])
    (found,) = lexical_metrics.of_words("character").score({"A": [segment, worse, Segment("", None, ("a",))]})
    rate = calculate_cer(["the", "big", "cat"], ["the", "bigger", "cat"])
    assert found.segments["A"].tolist() == pytest.approx([0, -rate, -1])
    assert found.systems["A"] == pytest.approx((-rate - 1) / 3)
