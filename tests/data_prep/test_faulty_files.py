"""Raw files that cannot be used: each command says in one line which file is at fault, and where."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from data_prep import biomedical, esa, segment_scores, splits
from data_prep.__main__ import main
from data_prep.segment_scores import FOLDERS, POST_EDITS
from data_prep.splits import HeldOut
from tests.data_prep import raw_files
from tests.data_prep.raw_files import esa_row, lines, mark, pack, rated, span, write

Damage = Callable[[Path], object]


def bio(name: str, content: object) -> Damage:
    return lambda root: raw_files.pack_biomedical(root, {name: content})


def esa_with(row: Sequence[str]) -> Damage:
    return lambda root: raw_files.write_esa(root, [esa_row("r1"), row], [])


def with_bad_judgments(root: Path) -> None:
    for prompt in ("DA", "SQM", "Stars", "Classes"):
        raw_files.write_judgments(root, prompt, "Online-A\tgood\n")


def with_two_sources(root: Path) -> None:
    for path in root.glob("wmt/generaltest2022/txt/*/*.en-de.*"):
        path.write_text(path.read_text("utf-8") * 2, "utf-8")


def with_file(path: str, text: str) -> Damage:
    return lambda root: write(root / path, text)


def without(path: str) -> Damage:
    return lambda root: (root / path).unlink()


WAVE_2 = r"wave2\.csv:2: "
ASSESSED = f"{FOLDERS['newstest2021'][0]}/humaneval/{FOLDERS['newstest2021'][1]}de-en.csv"
NEWS = "wmt/newstest2021/txt"
WMT24 = f"{esa.TEXTS}/txt"
ZH = f"{segment_scores.MLQE_PE_FOLDER}/data/direct-assessments/dev/en-zh-dev.tar.gz"


@pytest.mark.parametrize(
    ("command", "damage", "where"),
    [
        ("labels", bio("de2en/Nemo", {}), r"de2en/Nemo\.json: "),
        ("labels", bio("german/Nemo", []), r"german/Nemo\.json: "),
        ("labels", bio("de2en/Nemo", [rated("d", SEG_ID="one")]), r"Nemo\.json: .*\[0\]\.SEG_ID"),
        ("labels", bio("de2en/Nemo", [rated("d"), rated("d", target=None)]), r"Nemo\.json: .*\[1\]\.target"),
        ("labels", bio("de2en/Nemo", [rated("d", mark("x", -1))]), r"target_errors\[0\]\.startIndex"),
        ("labels", bio("de2en/Nemo", [rated("d", mark("The", 0, "bad"))]), r"target_errors\[0\]\.severity"),
        ("labels", without(f"{biomedical.FOLDER}.tar.xz"), r"bio-mqm-v2\.tar\.xz"),
        ("labels", esa_with(esa_row("r")[:-1]), WAVE_2),
        ("labels", esa_with(esa_row("r", kind="REF")), f"{WAVE_2}kind: "),
        ("labels", esa_with(esa_row("r", target="deu")), f"{WAVE_2}target: "),
        ("labels", esa_with(esa_row("r", segment="-1")), f"{WAVE_2}segment: "),
        ("labels", esa_with(esa_row("r", segment="4")), f"{WAVE_2}segment 4: "),
        ("labels", esa_with(esa_row("r", score="101")), f"{WAVE_2}score: "),
        ("labels", esa_with(esa_row("r", spans="{}")), f"{WAVE_2}spans: "),
        ("labels", esa_with(esa_row("r", span(0, 1, "bad"))), rf"{WAVE_2}spans\[0\]\.severity: "),
        ("labels", esa_with(esa_row("r", span(3, 2))), rf"{WAVE_2}spans\[0\]: 3\.\.2: "),
        ("labels", esa_with(esa_row("r", span("missing", 2))), rf"{WAVE_2}spans\[0\]: missing\.\.2: "),
        ("labels", esa_with(esa_row("r", system="Dory")), r"system-outputs/en-cs/Dory\.txt"),
        ("segment-scores", lambda root: raw_files.write_wmt25(root, "A", "a\n\nb", [0.5] * 3, None), r"A\.jsonl: "),
        ("segment-scores", lambda root: pack(root / ZH, {}), r"en-zh-dev\.tar\.gz: "),
        ("assessments", with_file(ASSESSED, "SYS SID RAW.SCR Z.SCR N \nUF.15 x 9 0.4 2\n"), r"scores-de-en\.csv:2: "),
        ("assessments", lambda root: pack(root / POST_EDITS / "train/en-de-train.tar.gz", {
            "train.src": lines("a", "b"), "train.mt": lines("a", "b"), "train.pe": lines("a")}), "2, 2, 1 lines"),
        ("judgments", with_bad_judgments, r"seg\.score:1: "),
        ("judgments", with_two_sources, "Online-A has 1 scores"),
        ("translations", with_file(f"{WMT24}/system-outputs/en-ja/B.txt", lines("one", "two")), "wmt24 en-ja: "),
        ("prepare", with_file(f"{NEWS}/references/newstest2021.en-de.ref.C.de", lines("one")), r"ref\.C\.de has 1"),
    ],
)  # fmt: skip
def test_a_faulty_file_is_named(
    command: str,
    damage: Damage,
    where: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(splits, "committed", lambda: HeldOut(frozenset()))
    raw = raw_files.write_all(tmp_path / "raw")
    damage(raw)
    output = tmp_path / "out"
    assert main([command, "--data", str(raw), "--output", str(output)]) == 2
    said = capsys.readouterr().err
    assert said.startswith(f"data_prep {command}: ")
    assert said.count("\n") == 1
    assert re.search(where, said), said
    assert not output.is_file()
