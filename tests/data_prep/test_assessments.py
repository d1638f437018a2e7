from __future__ import annotations

import io
import tarfile
from pathlib import Path

import pytest

from data_prep import splits
from data_prep.__main__ import main
from data_prep.segment_scores import FOLDERS, HTER_PAIRS, POST_EDITS, direct_assessments, hter
from data_prep.splits import HeldOut
from data_prep.store import Store
from matese.formats.tables import jsonl
from tests.data_prep.test_segment_scores import write_assessments

HEADER = "SYS SID RAW.SCR Z.SCR N \n"
ROWS = (
    "UF.15 1 93.5 0.4730925 2 ",
    "Nemo.3 1 10 -1.25 1 ",
    "HUMAN.0 1 99 1 1 ",
    "Unknown.1 1 50 0 1 ",
    "UF.15 2 5 -2 1 ",
)


@pytest.fixture(autouse=True)
def held_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(splits, "committed", lambda: HeldOut(frozenset({splits.fingerprint("Ein Prüftext.")})))


@pytest.fixture
def store(tmp_path: Path) -> Store:
    for test_set, (folder, part) in FOLDERS.items():
        path = tmp_path / folder / f"humaneval/{part}de-en.csv"
        path.parent.mkdir(parents=True)
        path.write_text(HEADER + "\n".join(ROWS) + "\n", encoding="utf-8")
        texts = {
            "sources/NAME.de-en.src.de": ("Der Hund.", "Ein Prüftext."),
            "references/NAME.de-en.ref.A.en": ("The dog.", "A test."),
            "system-outputs/NAME.de-en.hyp.UF.en": ("A dog.", "A held-out text."),
            "system-outputs/NAME.de-en.hyp.NVIDIA-NeMo.en": ("Dog?", "Text."),
        }
        for name, lines in texts.items():
            place = tmp_path / "wmt" / test_set / "txt" / name.replace("NAME", test_set)
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return Store(tmp_path)


def write_post_edits(root: Path, *, n_lines: int = 3) -> None:
    texts = {
        "src": ("the dog", "Ein Prüftext.", "one"),
        "mt": ("der gute Hund", "x", "a b c"),
        "pe": ("der Hund", "x", "d"),
    }
    for pair in HTER_PAIRS:
        for part in ("train", "dev"):
            path = root / POST_EDITS / part / f"{pair}-{part}.tar.gz"
            path.parent.mkdir(parents=True, exist_ok=True)
            with tarfile.open(path, "w:gz") as members:
                for ending, lines in texts.items():
                    content = "".join(f"{line}\n" for line in lines[: n_lines if ending == "pe" else 3]).encode()
                    member = tarfile.TarInfo(f"{pair}-{part}/{part}.{ending}")
                    member.size = len(content)
                    members.addfile(member, io.BytesIO(content))


@pytest.mark.parametrize(("scale", "values"), [("z", [0.473093, -1.25]), ("da", [93.5, 10.0])])
def test_assessments_join_their_texts(store: Store, scale: str, values: list[float]) -> None:
    made = list(direct_assessments(store, scale))  # type: ignore[arg-type]
    assert len(made) == 4, "held-out sources, human translations and unpublished texts are left out"
    own = made[:2]
    assert [rating.segment.hypothesis for rating in own] == ["A dog.", "Dog?"]
    assert {(rating.segment.source, rating.segment.references) for rating in own} == {("Der Hund.", ("The dog.",))}
    assert [rating.overall.value for rating in own if rating.overall] == values
    assert {rating.overall.scale for rating in own if rating.overall} == {scale}
    assert {rating.errors for rating in own} == {None}


def test_a_damaged_row_is_named(store: Store) -> None:
    folder, part = FOLDERS["newstest2021"]
    path = store.root / folder / f"humaneval/{part}de-en.csv"
    path.write_text(HEADER + "UF.15 x 93.5 0.4 2\n", encoding="utf-8")
    with pytest.raises(ValueError, match=r"ad-seg-scores-de-en\.csv:2: 'UF\.15 x 93\.5 0\.4 2': must be a system"):
        list(direct_assessments(store, "z"))


def test_hter_is_the_ter_to_the_post_edit(tmp_path: Path) -> None:
    write_post_edits(tmp_path)
    made = list(hter(Store(tmp_path)))
    assert len(made) == 2 * 6
    # one deletion for two words; three edits for one word, which is more than all
    assert [rating.overall.value for rating in made[:2] if rating.overall] == [0.5, 1.0]
    assert {rating.segment.references for rating in made} == {()}
    write_post_edits(tmp_path, n_lines=2)
    with pytest.raises(ValueError, match=r"en-de-train\.tar\.gz have 3, 3, 2 lines; all need one line per segment"):
        list(hter(Store(tmp_path)))


def test_the_command_writes_all(store: Store, capsys: pytest.CaptureFixture[str]) -> None:
    write_post_edits(store.root)
    write_assessments(store.root)
    output = store.root / "out"
    assert main(["assessments", "--data", str(store.root), "--output", str(output)]) == 0
    counts = {path.stem: len(list(jsonl.read(str(path)))) for path in output.iterdir()}
    assert counts == {"da": 4, "da-raw": 4, "mlqe-pe-z": 12, "hter": 12}
    (first, *_) = jsonl.read(str(output / "mlqe-pe-z.jsonl"))
    assert first.overall is not None
    assert (first.overall.value, first.overall.scale) == (1.0, "z")
    assert "4 translations" in capsys.readouterr().out
