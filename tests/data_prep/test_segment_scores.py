from __future__ import annotations

import io
import json
import tarfile
from pathlib import Path

import pytest

from data_prep import segment_scores, splits
from data_prep.__main__ import main
from data_prep.splits import HeldOut
from data_prep.store import Store
from matese.formats.tables import jsonl

SCORES = {
    "XCOMET-XL": 0.5,
    "CometKiwi-XL": 0.5,
    "MetricX-24-Hybrid-XL": -12.5,
    "GEMBA-ESA-GPT4.1": 50,
    "GEMBA-ESA-CMDA": 50,
}
HEADER = "index\toriginal\ttranslation\tscores\tmean\tz_scores\tz_mean\tmodel_scores\n"


@pytest.fixture(autouse=True)
def held_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(splits, "committed", lambda: HeldOut(frozenset({splits.fingerprint("A held-out source.")})))


def write_system(root: Path, system: str, hypothesis: str, values: list[float], source: str | None = None) -> None:
    """Writes one document of a system, with the same scores, 0 to 1, by all metrics."""
    text = {"doc_id": "en-cs_CZ_#_speech_#_vid_a1", "hypothesis": hypothesis}
    scores = {
        name: [(2 * value - 1) * middle + middle if middle > 0 else 25 * (value - 1) for value in values]
        for name, middle in SCORES.items()
    }
    said = {"language_pair": "en-cs_CZ", "domain": "speech", "document_id": "a1", "metric_scores": scores}
    for folder, value in (
        ("systems", text | ({} if source is None else {"source": source})),
        ("automatic_scores", said),
    ):
        path = root / "wmt" / "wmt25" / "data" / folder / f"{system}.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(value) + "\n", encoding="utf-8")


def write_assessments(root: Path) -> None:
    for pair in ("en-de", "en-zh", "ru-en"):
        for part in ("train", "dev"):
            rows = ['0\tA "dog.\tEin "Hund.\t[80]\t80.0\t[1]\t1\t-0.1', "1\tA held-out source.\tX\t[1]\t1\t[1]\t1\t0"]
            table = HEADER + "\n".join(rows) + "\n"
            path = root / "qe" / "mlqe-pe" / "data" / "direct-assessments" / part / f"{pair}-{part}.tar.gz"
            path.parent.mkdir(parents=True, exist_ok=True)
            with tarfile.open(path, "w:gz") as members:
                content = table.encode()
                member = tarfile.TarInfo(f"{pair}/{part}.df.short.tsv")
                member.size = len(content)
                members.addfile(member, io.BytesIO(content))


def test_the_reference_is_the_best_other_translation(tmp_path: Path) -> None:
    write_system(tmp_path, "Good", "Pes spí.\n\nPrší.", [0.9, 0.2], source="The dog sleeps.\n\nIt rains.")
    write_system(tmp_path, "Same", "Pes spí.\n\nPadá déšť.", [0.8, 0.6])
    write_system(tmp_path, "Bad", "Kočka.\n\nPrší.", [0.1, 0.3])
    ratings = list(segment_scores.wmt25_metrics(Store(tmp_path)))
    found = {(rating.segment.key.system, rating.segment.key.index): rating for rating in ratings if rating.segment.key}
    assert len(found) == 6
    assert {rating.errors for rating in ratings} == {None}
    assert found["Good", 0].segment.references == ("Kočka.",), "not its own text by another system"
    assert found["Bad", 0].segment.references == ("Pes spí.",)
    assert found["Same", 1].segment.references == ("Prší.",)
    assert found["Bad", 1].segment.source == "It rains.", "one system's file holds the sources of all"
    assert [found["Bad", place].estimate.value for place in (0, 1)] == [0.1, 0.3]  # type: ignore[union-attr]
    assert {rating.segment.key.lang_pair for rating in ratings if rating.segment.key} == {"en-cs"}


def test_what_is_held_out_too_long_or_alone_is_left_out(tmp_path: Path) -> None:
    source = f"A held-out source.\n\n{'x' * 601}\n\nShort."
    write_system(tmp_path, "A", f"a\n\nb\n\n{'c' * 601}", [0.5] * 3, source=source)
    write_system(tmp_path, "B", "aa\n\nbb\n\ncc", [0.4] * 3)
    [first, second] = segment_scores.wmt25_metrics(Store(tmp_path))
    assert [first.segment.hypothesis, second.segment.hypothesis] == ["b", "bb"], "nor is there another for cc"
    assert first.segment.source is None


def test_scores_and_paragraphs_must_fit(tmp_path: Path) -> None:
    write_system(tmp_path, "A", "a\n\nb", [0.5] * 3)
    with pytest.raises(ValueError, match=r"A\.jsonl: document en-cs_CZ_#_speech_#_vid_a1 has 2 paragraphs and 3"):
        list(segment_scores.wmt25_metrics(Store(tmp_path)))


def test_the_command_writes_both_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_system(tmp_path, "A", "Pes spí.", [0.5])
    write_system(tmp_path, "B", "Pes.", [0.25])
    write_assessments(tmp_path)
    output = tmp_path / "out"
    output.mkdir()
    assert main(["segment-scores", "--data", str(tmp_path), "--output", str(output)]) == 0
    assert "2 translations" in capsys.readouterr().out
    assert [rating.estimate.value for rating in jsonl.read(output / "wmt25-metrics.jsonl") if rating.estimate] == [
        0.5,
        0.25,
    ]
    assessments = list(jsonl.read(output / "mlqe-pe.jsonl"))
    assert [rating.segment.hypothesis for rating in assessments] == ['Ein "Hund.'] * 6
    assert {(rating.errors, rating.overall.scale) for rating in assessments if rating.overall} == {(None, "da")}


def test_an_archive_without_a_table_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_system(tmp_path, "A", "Pes spí.", [0.5])
    write_assessments(tmp_path)
    with tarfile.open(tmp_path / "qe/mlqe-pe/data/direct-assessments/dev/en-zh-dev.tar.gz", "w:gz"):
        pass
    assert main(["segment-scores", "--data", str(tmp_path), "--output", str(tmp_path)]) == 2
    assert "en-zh-dev.tar.gz: has no file .tsv; it needs one" in capsys.readouterr().err
    assert not (tmp_path / "mlqe-pe.jsonl").exists()
