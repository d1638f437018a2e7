from __future__ import annotations

from pathlib import Path

import pytest

import matese
from data_prep import splits, teaching, translations
from data_prep.splits import HeldOut
from data_prep.store import Store
from data_prep.teaching import Teaching

HYPOTHESES = ("Der Hund schläft.", "Ein Hund schläft.", "Die Katze frisst.", "Der Hund pennt.", "Hunde schlafen.")


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Store:
    monkeypatch.setattr(splits, "committed", lambda: HeldOut(frozenset({splits.fingerprint("A held-out source.")})))
    monkeypatch.setattr(translations, "TEST_SETS", ("newstest2021",))
    monkeypatch.setattr(teaching, "TEST_SETS", ("newstest2021",))
    texts = {
        "sources/NAME.en-de.src.en": ("The dog sleeps.", "A held-out source."),
        "references/NAME.en-de.ref.A.de": (HYPOTHESES[0], "Ein Text."),
        **{f"system-outputs/NAME.en-de.hyp.S{number}.de": (text, text) for number, text in enumerate(HYPOTHESES)},
    }
    for name, lines in texts.items():
        path = tmp_path / "wmt/newstest2021/txt" / name.replace("NAME", "newstest2021")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return Store(tmp_path)


def build(store: Store, similarity: float, *, by_source: bool = False) -> dict[str, float]:
    teacher = matese.load("mini")
    rated = teaching.build(store, [teacher], Teaching(5, 10, similarity, by_source=by_source), lambda _: None)
    scores = {}
    for rating in rated:
        assert rating.errors is None
        assert rating.estimate is not None
        assert rating.segment.source == "The dog sleeps."
        assert bool(rating.segment.references) is not by_source
        scores[rating.segment.hypothesis] = rating.estimate.value
    return scores


def test_the_teachers_score_and_the_similarity(store: Store) -> None:
    taught = build(store, 0.0)
    assert set(taught) == {*HYPOTHESES} - {HYPOTHESES[0]}, "a copy of the reference teaches nothing"
    blended = build(store, 0.4)
    assert blended.keys() == taught.keys()
    assert blended != taught
    assert max(blended.values()) <= 0
    assert build(store, 0.0, by_source=True) == taught, "the teacher reads the reference nevertheless"
