from __future__ import annotations

from pathlib import Path

import pytest

from data_prep import splits, translations, unrated
from data_prep.splits import HeldOut
from data_prep.store import Store
from matese.formats.tables import jsonl

HYPOTHESES = ("Der Hund schläft.", "Ein Hund schläft.", "Die Katze frisst.", "Der Hund pennt.", "Hunde schlafen.")


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Store:
    monkeypatch.setattr(splits, "committed", lambda: HeldOut(frozenset({splits.fingerprint("A held-out source.")})))
    monkeypatch.setattr(translations, "TEST_SETS", ("newstest2021",))
    monkeypatch.setattr(unrated, "TEST_SETS", ("newstest2021",))
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


@pytest.mark.parametrize(("n_systems", "expected"), [(10, 4), (2, 2)])
def test_translations_without_a_rating(store: Store, tmp_path: Path, n_systems: int, expected: int) -> None:
    made = list(unrated.build(store, n_sources=5, n_systems=n_systems, seed=0, progress=lambda _: None))
    assert len({rating.segment.hypothesis for rating in made} - {HYPOTHESES[0]}) == len(made) == expected
    for rating in made:
        assert (rating.rater, rating.errors, rating.whole) == (None, None, None)
        assert (rating.segment.source, rating.segment.references) == ("The dog sleeps.", (HYPOTHESES[0],))
    path = tmp_path / "unrated.jsonl"
    path.write_text("".join(jsonl.dumps(rating) + "\n" for rating in made), encoding="utf-8")
    assert list(jsonl.read(path)) == made
