from __future__ import annotations

from pathlib import Path

import pytest

from data_prep import __main__ as cli
from data_prep import labels, splits
from data_prep.splits import HeldOut
from data_prep.store import Store
from matese.formats.tables import jsonl
from tests.data_prep import test_biomedical, test_esa


@pytest.fixture
def raw(tmp_path: Path) -> Path:
    """One direction to train on and one to test on, of each kind of data."""
    doctor = "The doctor helped."
    nurse = "The nurse slept."
    test_biomedical.pack(
        tmp_path,
        {
            "de2en/Nemo": [
                test_biomedical.row(test_biomedical.mark("doctor", 4)),
                test_biomedical.row(SEG_ID="2", source="Die Pflegerin schlief.", target=nurse),
            ],
            "de2en/reference": [test_biomedical.row(target="A doctor helped.")],
            "en2de/Nemo": [test_biomedical.row(source="An eye.", target="Auge.")],
            "en2fr/Nemo": [test_biomedical.row(source=doctor, target="Le médecin aida.")],
        },
    )
    test_esa.store(tmp_path, test_esa.row(test_esa.span(0, 2)), test_esa.row(segment="2"))
    return tmp_path


def hold_out(monkeypatch: pytest.MonkeyPatch, *texts: str) -> None:
    held_out = HeldOut(frozenset(map(splits.fingerprint, texts)))
    monkeypatch.setattr(splits, "committed", lambda: held_out)


def sources(path: Path) -> list[str | None]:
    return [rating.segment.source for rating in jsonl.read(path)]


def test_the_command_writes_five_files_and_says_what_they_hold(
    raw: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    output = tmp_path / "out"
    assert cli.main(["labels", "--data", str(raw), "--output", str(output)]) == 0
    assert sorted(path.name for path in output.iterdir()) == [
        "bio-test.jsonl",
        "bio.jsonl",
        "esa-dev.jsonl",
        "esa-test.jsonl",
        "esa.jsonl",
    ]
    assert [rating.segment.key and rating.segment.key.lang_pair for rating in jsonl.read(output / "bio.jsonl")] == [
        "de-en",
        "de-en",
        "de-en",
        "en-de",
    ]
    assert sources(output / "bio-test.jsonl") == ["The doctor helped."]
    assert sources(output / "esa.jsonl") == ["The cat sleeps.", "It rains."]
    assert sources(output / "esa-test.jsonl") == []
    shown = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert ["│", "bio", "de-en", "│", "3", "│", "1", "│", "1", "│", "0", "│"] in shown


@pytest.mark.parametrize("held_out", ["Der Arzt half", "A doctor helped."])
def test_a_held_out_source_or_reference_is_not_trained_on(
    raw: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, held_out: str
) -> None:
    hold_out(monkeypatch, held_out, "The doctor helped.", "It rains.")
    report = labels.write(Store(raw), tmp_path / "out", lambda _: None)
    texts = [rating.segment.hypothesis for rating in jsonl.read(tmp_path / "out" / "bio.jsonl")]
    assert "The doctor helped." not in texts
    assert {"The nurse slept.", "Auge."} <= set(texts)
    assert sources(tmp_path / "out" / "bio-test.jsonl") == ["The doctor helped."]
    assert sources(tmp_path / "out" / "esa.jsonl") == ["The cat sleeps."]
    assert report.tally.counts["esa", "skipped", "segment of a held-out text"] == 1


def test_no_source_of_esa_test_is_in_another_file(raw: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    hold_out(monkeypatch, "It rains.")
    rows = [test_esa.row(segment=index, target=target) for target in ("ces", "zho") for index in ("1", "2")]
    texts = {name.replace("cs", "zh"): lines for name, lines in test_esa.TEXTS.items()}
    monkeypatch.setattr(test_esa, "TEXTS", test_esa.TEXTS | texts)
    test_esa.store(raw, *rows)
    labels.write(Store(raw), tmp_path / "out", lambda _: None)
    assert sources(tmp_path / "out" / "esa.jsonl") == ["The cat sleeps."]
    assert sources(tmp_path / "out" / "esa-dev.jsonl") == ["The cat sleeps."]
    assert sources(tmp_path / "out" / "esa-test.jsonl") == ["It rains."]


def test_a_text_of_the_test_directions_is_not_trained_on(raw: Path, tmp_path: Path) -> None:
    row = test_biomedical.row
    files = {"en2fr/Nemo": [row(source="An eye!", target="Œil.")], "en2de/Nemo": [row(source="An eye.", target="Ei.")]}
    test_biomedical.pack(raw, files)
    report = labels.write(Store(raw), tmp_path / "out", lambda _: None)
    assert sources(tmp_path / "out" / "bio.jsonl") == []
    assert report.tally.counts["bio", "skipped", "segment with a text of the test file"] == 1


def test_a_missing_archive_is_told_in_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["labels", "--data", str(tmp_path), "--output", str(tmp_path / "out")]) == 2
    said = capsys.readouterr().err
    assert said.startswith("data_prep labels: ")
    assert "nor bio-mqm-v2.tar.xz exists" in said
    assert said.count("\n") == 1
