"""The category head learns from the errors that have a category, and from nothing else."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

import matese
from matese import mqm
from matese.annotation import ErrorSpan, Omission, Rating, Segment, Severity
from matese.cli import main
from matese.model.heads import registry
from matese.model.heads.categories.targets import CategoryTargets, cross_entropy
from matese.model.heads.learning import IGNORED
from matese.model.texts.encoding import TextEncoder, Tokens
from matese.training import corpus_building
from matese.training.corpus import Draw
from matese.training.targets import collate
from tests.conftest import make_config
from tests.training.material import SETTINGS, write_ratings, write_settings

TOKENS = Tokens(np.arange(3, dtype=np.int32), np.array([(0, 2), (3, 6), (6, 9)], np.int32))
MINOR = Severity.MINOR
LEARNED = registry.targets(make_config(categories={}))
BOTH_HEADS = "categories: {}, omissions: {}"


def rating(*errors: tuple[int, int, str | None], text: str = "Er kommt.", reference: str = "He comes") -> Rating:
    spans = tuple(ErrorSpan(start, end, MINOR, category) for start, end, category in errors)
    return Rating(Segment(text, None, (reference,)), "one", spans)


@pytest.mark.parametrize(
    ("rated", "expected"),
    [
        (rating(), [IGNORED] * 3),
        (rating((0, 2, None)), [IGNORED] * 3),
        (rating((0, 2, "Hallo")), [IGNORED] * 3),
        (rating((0, 2, "Fluency/Grammar")), [1, IGNORED, IGNORED]),
        (rating((0, 2, "Style"), (3, 9, "Locale_conventions/Number_format")), [3, 6 + 4, 6 + 4]),
        (rating((0, 9, "accuracy"), (3, 6, None)), [0, 0, 0]),
        (Rating(Segment("Er kommt."), "one", None), [IGNORED] * 3),
    ],
)
def test_what_a_rating_says_about_categories(rated: Rating, expected: list[int]) -> None:
    assert CategoryTargets(make_config(categories={})).labels(rated, TOKENS).tolist() == expected


def test_windows_of_a_long_text_have_their_own_categories(tokenizer: object) -> None:
    encoder = TextEncoder(tokenizer, max_tokens=40)  # type: ignore[arg-type]
    text = "a b c d " * 20
    rated = rating((0, 80, "Style"), (80, 160, "Fluency"), text=text)
    corpus = corpus_building.build([rated], encoder, ("reference",), LEARNED)
    windows = corpus.windows(Draw(0, 0, 0, 0.0))
    assert len(windows) > 2
    labels = []
    for number in range(len(windows)):
        example = corpus.example(Draw(0, 0, 0, (number + 0.5) / len(windows)))
        labels += [label for label in example.labels["category_ids"].tolist() if label != IGNORED]
    assert labels == [label for label in corpus.labels["category_ids"].values.tolist() if label != IGNORED]
    assert set(labels) == {3, 6 + 1}


def test_only_known_categories_count_in_the_loss(tokenizer: object) -> None:
    encoder = TextEncoder(tokenizer, max_tokens=64)  # type: ignore[arg-type]
    ratings = [rating((0, 2, "Style")), rating((0, 2, None), text="Er kommt nie.")]
    corpus = corpus_building.build(ratings, encoder, ("reference",), LEARNED)
    batch = collate([corpus.example(Draw(number, 0, 0, 0.0)) for number in range(2)], LEARNED, pad_id=1).targets.labels
    gold = batch["category_ids"]
    logits = torch.zeros(*gold.shape, len(mqm.CATEGORIES))
    assert cross_entropy(logits, gold).item() == pytest.approx(np.log(6))
    logits[1] = float("inf")  # of no known category
    logits[0, ..., 3] = 100.0
    assert cross_entropy(logits, gold).item() == pytest.approx(0, abs=1e-6)
    unknown = torch.full_like(gold, IGNORED)
    assert cross_entropy(torch.zeros_like(logits), unknown).item() == 0


def test_each_error_counts_once_in_the_loss() -> None:
    style = mqm.CATEGORIES.index("Style")
    fluency = mqm.CATEGORIES.index("Fluency")
    gold = torch.tensor([[style, style, style, 6 + fluency], [IGNORED, fluency, IGNORED, IGNORED]])
    logits = torch.randn(2, 4, 6, generator=torch.Generator().manual_seed(1))
    errors = [(logits[0, :3].mean(0), style), (logits[0, 3], fluency), (logits[1, 1], fluency)]
    each = [-torch.log_softmax(mean, -1)[category] for mean, category in errors]
    torch.testing.assert_close(cross_entropy(logits, gold), torch.stack(each).mean())


def train(folder: Path, ratings: Path, text: str, *options: str) -> int:
    settings = write_settings(folder / "settings.yaml", text)
    return main(["train", "--config", str(settings), "--train", str(ratings), "--dev", str(ratings), *options])


def test_both_heads_are_learned_by_heart_beside_tags(tmp_path: Path) -> None:
    rows = (
        ("Er {verkauft} zwei [apfel].", "Er kauft zwei Äpfel nicht.", "nicht"),
        ("Das [isst] sehr {falsch}.", "Das ist sehr gut hier.", "hier"),
        ("I {always} want too [see] it!", "I never want to see it again!", "again"),
    )
    golds = []
    for marked, reference, word in rows:
        text = marked.translate(str.maketrans("", "", "{}[]"))
        errors = []
        for (opening, end), category in ("{}", "Accuracy/Mistranslation"), ("[]", "Fluency/Spelling"):
            words = marked[marked.index(opening) + 1 : marked.index(end)]
            start = text.index(words)
            errors.append(ErrorSpan(start, start + len(words), MINOR, category))
        start = reference.index(word)
        missing = Omission("reference", 0, start, start + len(word), Severity.MAJOR)
        golds.append(Rating(Segment(text, None, (reference,)), "hand", tuple(errors), omissions=(missing,)))
    ratings = write_ratings(tmp_path / "ratings.jsonl", tuple(golds))
    settings = SETTINGS.replace("max_epochs: 60", "max_epochs: 150").replace("validate_every: 30", "validate_every: 75")
    settings = settings.replace("score: {}", f"score: {{}}, {BOTH_HEADS}")
    assert train(tmp_path, ratings, settings, "--output", str(tmp_path / "run")) == 0
    annotator = matese.load(tmp_path / "run" / "model", device="cpu", precision="float32")
    for rating, made in zip(golds, annotator.annotate_segments(gold.segment for gold in golds), strict=True):
        assert [(span.start, span.category) for span in made.errors or ()] == [
            (span.start, mqm.main_category(span.category)) for span in rating.errors or ()
        ]
        assert [(omission.start, omission.end) for omission in made.omissions] == [
            (omission.start, omission.end) for omission in rating.omissions
        ]


def test_ratings_without_categories_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ratings = write_ratings(tmp_path / "ratings.jsonl", (rating((0, 2, None), (3, 8, "Zeitform")),))
    settings = SETTINGS.replace("score: {}", "categories: {}")
    assert train(tmp_path, ratings, settings, "--output", str(tmp_path / "run")) == 2
    shown = " ".join(capsys.readouterr().err.split())
    assert "model.heads.categories is set, but in " in shown
    assert "no error has an MQM category (Accuracy, Fluency, Terminology, Style, Locale convention, Other)" in shown
    assert not (tmp_path / "run").exists()


def test_errors_without_known_categories_are_counted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rated = (rating((0, 2, "Style"), (3, 8, "Zeitform")), rating((0, 2, None), text="Er ging."), rating(text="Er kam."))
    ratings = write_ratings(tmp_path / "ratings.jsonl", rated)
    text = SETTINGS.replace("score: {}", "categories: {}").replace("max_epochs: 60", "max_epochs: 1")
    assert train(tmp_path, ratings, text, "--output", str(tmp_path / "run")) == 0
    shown = " ".join(capsys.readouterr().err.split())
    assert "train: 3 ratings; " in shown
    assert "of the unknown category 'Zeitform'" in shown
