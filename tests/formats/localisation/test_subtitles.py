"""SRT and VTT: cues are segments; VTT holds notes, and SRT none."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from matese.annotation import ErrorSpan, Rating, Severity, UnplacedError
from matese.errors import FormatError, InputError
from matese.formats import detection, segments, writing
from matese.formats.format import ReadOptions, WriteOptions

SRT = """1
00:00:01,000 --> 00:00:03,000
{\\an8}Wo habt <i>ihr</i>
geschlafen?

2
00:00:04,000 --> 00:00:06,000

3
00:00:07,000 --> 00:00:08,000
1 < 2 {x}
24
"""
VTT = """WEBVTT - Titel

STYLE
::cue { color: red }

NOTE made by hand

intro
00:01.000 --> 00:03.000 align:start
<v Bob>Wo habt ihr
geschlafen &amp; gegessen?

zwei
00:04.000 --> 00:06.000
我们
留下
"""
TEXTS = ["Wo habt ihr geschlafen & gegessen?", "我们留下"]


def put(path: Path, text: str, encoding: str = "utf-8") -> Path:
    path.write_bytes(text.encode(encoding))
    return path


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_cues_are_segments(tmp_path: Path, end: str, encoding: str) -> None:
    srt = put(tmp_path / "a.srt", SRT.replace("\n", end), encoding)
    vtt = put(tmp_path / "a.vtt", VTT.replace("\n", end), encoding)
    assert (detection.detect(srt), detection.detect(vtt)) == ("srt", "vtt")
    read = list(detection.read(srt, ReadOptions(untranslated=True)))
    assert [rating.segment.hypothesis for rating in read] == ["Wo habt ihr geschlafen?", "", "1 < 2 {x} 24"]
    assert [rating.segment.line for rating in read] == [2, 7, 10]
    assert [rating.segment.hypothesis for rating in detection.read(vtt)] == TEXTS
    assert {(rating.errors, rating.segment.source) for rating in read} == {(None, None)}


def test_empty_cues_are_counted(tmp_path: Path) -> None:
    issues: list[str] = []
    path = put(tmp_path / "a.srt", SRT)
    read = list(detection.read(path, ReadOptions(lambda issue: issues.append(issue.reason))))
    assert [rating.segment.key and rating.segment.key.index for rating in read] == [0, 2]
    assert issues == ["unit without a translation"]


def test_pairs_of_subtitles(tmp_path: Path) -> None:
    hypothesis = put(tmp_path / "de.vtt", VTT)
    source = put(tmp_path / "en.srt", SRT.partition("\n3\n")[0])
    for pairs in (
        segments.from_texts([str(hypothesis)], source=str(source)),
        segments.from_files([str(hypothesis)], sources=[str(source)]),
    ):
        assert pairs.form == "vtt"
        assert [(segment.hypothesis, segment.source) for segment in pairs] == [
            (TEXTS[0], "Wo habt ihr geschlafen?"),
            (TEXTS[1], ""),
        ]
    for alone in (source, hypothesis):
        with pytest.raises(
            InputError, match=f"{alone.name} holds translations alone: .* as many cues, with --src or --ref"
        ):
            segments.from_files([str(alone)])
    put(source, SRT)
    with pytest.raises(InputError, match=r"de\.vtt has 2 cues and .*en\.srt 3: cue i of each must be one segment"):
        segments.from_texts([str(hypothesis)], source=str(source))


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_notes_in_vtt(tmp_path: Path, end: str) -> None:
    template = put(tmp_path / "a.vtt", VTT.replace("\n", end))
    first, second = detection.read(template)
    marked = [
        Rating(first.segment, "anna", (ErrorSpan(0, 2, Severity.MAJOR, "Style"),), unplaced=(UnplacedError(None),)),
        Rating(second.segment, "anna", ()),
    ]
    output = tmp_path / "b.vtt"
    writing.write(marked, output, "vtt", WriteOptions(template=template))
    assert list(detection.read(output)) == [
        Rating(rating.segment, "anna", rating.errors, unplaced=rating.unplaced)
        for rating, read_again in zip(marked, detection.read(output), strict=True)
        if read_again.segment.hypothesis == rating.segment.hypothesis
        for rating in [Rating(read_again.segment, rating.rater, rating.errors, unplaced=rating.unplaced)]
    ]
    written = output.read_bytes().decode()
    kept = [line for line in written.split(end) if line and line not in VTT.replace("\n", end).split(end)]
    assert kept == [
        "NOTE",
        '[matese] "anna" (translations without a note have no errors)',
        "NOTE",
        "[matese]",
        "Major error (Style): »Wo« [0..2]",
        "Error without a place",
    ]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_the_copy_of_srt_is_vtt_with_notes_and_corrections(tmp_path: Path, end: str, encoding: str) -> None:
    template = put(tmp_path / "a.srt", SRT.replace("\n", end), encoding)
    first, second = detection.read(template)
    corrected = replace(first.segment, extra={"corrected": "Wo habt ihr & wir geschlafen?"})
    marked = [
        Rating(corrected, "anna", (ErrorSpan(0, 2, Severity.MAJOR),)),
        Rating(second.segment, "anna", (ErrorSpan(0, 5, Severity.MINOR),)),
    ]
    output = tmp_path / "b.vtt"
    writing.write(marked, output, "vtt", WriteOptions(template=template))
    assert output.read_text(encoding="utf-8").split("\n\n") == [
        "WEBVTT",
        'NOTE\n[matese] "anna" (translations without a note have no errors)',
        "NOTE\n[matese]\nMajor error: »Wo« [0..2]\nComment: Corrected from: Wo habt ihr geschlafen?",
        "00:00:01.000 --> 00:00:03.000\nWo habt ihr &amp; wir geschlafen?",
        "00:00:04.000 --> 00:00:06.000",
        "NOTE\n[matese]\nMinor error: »1 < 2« [0..5]",
        "00:00:07.000 --> 00:00:08.000\n1 &lt; 2 {x}\n24\n",
    ]
    assert [rating.errors for rating in detection.read(output)] == [rating.errors for rating in marked]


def test_a_copy_is_in_the_format_of_the_file(tmp_path: Path) -> None:
    template = put(tmp_path / "a.srt", SRT)
    with pytest.raises(InputError, match="is srt: a copy of it is srt or vtt, not po"):
        writing.write(list(detection.read(template)), tmp_path / "b.po", "po", WriteOptions(template=template))
    assert not (tmp_path / "b.po").exists()


def test_notes_of_a_model_replace_earlier_ones(tmp_path: Path) -> None:
    template = put(tmp_path / "a.vtt", VTT)
    once = tmp_path / "b.vtt"
    for source, target in ((template, once), (once, tmp_path / "c.vtt")):
        texts = list(detection.read(source))
        rated = [Rating(text.segment, "matese|model:x", (ErrorSpan(0, 1, Severity.MINOR),)) for text in texts]
        writing.write(rated, target, "vtt", WriteOptions(template=source))
    assert (tmp_path / "c.vtt").read_bytes() == once.read_bytes()


@pytest.mark.parametrize("text", ["WEBVTT\n", "1\n00:00:01,000 --> x\n", "WEBVTT\n\n00:00:01,000 --> 00:0"])
def test_what_is_cut_off(tmp_path: Path, text: str) -> None:
    with pytest.raises(FormatError):
        list(detection.read(put(tmp_path / "a.srt", text)))


def test_subtitles_in_another_encoding(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match=r"latin|1252"):
        list(detection.read(put(tmp_path / "a.srt", SRT.replace("Wo", "Wö"), "latin-1")))


def test_corrections_of_srt_make_srt(tmp_path: Path) -> None:
    text = (
        "\ufeff1\r\n00:00:01,000 --> 00:00:03,000\r\n<i>We stay</i>\r\nfor long.\r\n\r\n"
        "2\r\n00:00:04,000 --> 00:00:05,000\r\n我们\r\n留下\r\n\r\n3\r\n00:00:06,000 --> 00:00:07,000\r\nYes\r\n"
    )
    path = tmp_path / "a.srt"
    path.write_bytes(text.encode())
    ratings = [
        replace(rating, rater="anna", errors=(), segment=replace(rating.segment, extra={"corrected": corrected}))
        for rating, corrected in zip(
            detection.read(path), ["We stayed for a long time.", "我们走了", "Yes, and no."], strict=True
        )
    ]
    copy = tmp_path / "copy.srt"
    writing.write(ratings, copy, "srt", WriteOptions(template=path, corrections_only=True))
    expected = text.replace("We stay", "We stayed").replace("for long.", "for a long time.")
    expected = expected.replace("留下", "走了").replace("Yes", "Yes, and no.")
    assert copy.read_bytes().decode() == expected
    with pytest.raises(InputError, match="--corrections-only"):
        writing.write(ratings, tmp_path / "other.srt", "srt", WriteOptions(template=path))
