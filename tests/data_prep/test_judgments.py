from __future__ import annotations

from pathlib import Path

import pytest

from data_prep import judgments, splits
from data_prep.splits import HeldOut
from data_prep.store import Store
from matese.errors import InputError

SCORES = {"DA": ("100", "50"), "SQM": ("80", "50"), "Stars": ("5.0", "3.0"), "Classes": ("4", "2")}
"""Scores of the two segments by each prompt: 0.95 and 0.5 when scaled."""


@pytest.fixture(autouse=True)
def held_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(splits, "committed", lambda: HeldOut(frozenset({splits.fingerprint("A held-out source.")})))


@pytest.fixture
def store(tmp_path: Path) -> Store:
    for pair in judgments.LANG_PAIRS:
        source, target = pair.split("-")
        texts = {
            f"sources/NAME.{pair}.src.{source}": ("The dog.", "A held-out source."),
            f"references/NAME.{pair}.ref.A.{target}": ("Der Hund.", "Ein Text."),
            f"system-outputs/NAME.{pair}.hyp.Online-A.{target}": ("Ein Hund.", "Ein Satz."),
            f"system-outputs/NAME.{pair}.hyp.Unjudged.{target}": ("Hund.", "Satz."),
        }
        for name, lines in texts.items():
            path = tmp_path / "wmt" / judgments.TEST_SET / "txt" / name.replace("NAME", judgments.TEST_SET)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("\n".join(lines) + "\n", encoding="utf-8")
        for prompt, values in SCORES.items():
            for texts_read in ("refA", "src"):
                write(tmp_path, pair, f"{prompt}-{texts_read}", values)
    return Store(tmp_path)


def write(root: Path, pair: str, prompt: str, values: tuple[str, ...]) -> None:
    path = root / judgments.FOLDER / "metric-scores" / pair / f"GEMBA-GPT4-{prompt}.seg.score"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"Online-A\t{value}\n" for value in values), encoding="utf-8")


def test_the_mean_of_the_scaled_prompts(store: Store) -> None:
    rated = list(judgments.build(store))
    assert [rating.segment.hypothesis for rating in rated] == ["Ein Hund."] * 3
    assert {rating.estimate and (rating.estimate.value, rating.estimate.scale) for rating in rated} == {(0.95, "0-1")}
    assert {rating.errors for rating in rated} == {None}, "GPT-4 gave scores only"


def test_held_out_sources_are_apart(store: Store) -> None:
    assert {rating.segment.source for rating in judgments.build(store, held_out=True)} == {"A held-out source."}


def test_a_segment_without_a_score_is_left_out(store: Store) -> None:
    write(store.root, "en-de", "DA-src", ("None", "50"))
    assert [rating.segment.key and rating.segment.key.lang_pair for rating in judgments.build(store)] == [
        "en-ru",
        "zh-en",
    ]


@pytest.mark.parametrize("values", [("good", "50"), ("50",)])
def test_damaged_scores_are_an_error(store: Store, values: tuple[str, ...]) -> None:
    for prompt in SCORES:
        for texts_read in ("refA", "src"):
            write(store.root, "en-de", f"{prompt}-{texts_read}", values)
    with pytest.raises(InputError):
        list(judgments.build(store, held_out=True))
