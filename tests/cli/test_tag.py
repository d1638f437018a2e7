import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest
import torch

from matese.annotation import Rating, Segment
from matese.formats.tables import jsonl
from matese.model.annotator import Annotator
from tests.cli.conftest import HYPOTHESES, REFERENCES, Run, write
from tests.conftest import TinyModelFactory

TAG = ("tag", "--model", "{tiny}", "--precision", "float32")
FILES = ("--hyp", "mt.txt", "--ref", "ref.txt")
JSONL = (*TAG, "--format", "jsonl")
BLANK = "matese: 1 of 3 hypotheses is blank: each is one Non-translation error\n"


def objects(out: str) -> list[dict[str, object]]:
    return [json.loads(line) for line in out.split("\n")[:-1]]


def test_jsonl(run: Run) -> None:
    ran = run(*JSONL, *FILES)
    assert (ran.code, ran.err) == (0, BLANK)
    lines = objects(ran.out)
    assert [(line["index"], line["system"], line["hypothesis"]) for line in lines] == [
        (index, "mt", text) for index, text in enumerate(HYPOTHESES)
    ]
    assert [line["references"] for line in lines] == [[text] for text in REFERENCES]
    assert [line["source"] for line in lines] == [None] * 3
    assert all(tuple(line) == jsonl.KEYS[:-2] for line in lines)
    assert (lines[1]["errors"], lines[1]["score"], lines[1]["expected_score"]) == ([], -25, -25)
    assert lines[1]["unplaced"] == [{"severity": "major", "category": "Non-translation"}]
    assert str(lines[0]["rater"]).startswith("matese|model:tiny@")


def test_tokens(run: Run) -> None:
    line = objects(run(*JSONL, *FILES, "--tokens").out)[0]
    tokens = line["tokens"]
    assert isinstance(tokens, list)
    assert "".join(HYPOTHESES[0][token["start"] : token["end"]] for token in tokens) == HYPOTHESES[0].replace(" ", "")
    assert all(len(token["p"]) == 5 for token in tokens)


def test_limit_and_only_errors(run: Run, folder: Path) -> None:
    write(folder / "b.txt", *REFERENCES[:2], HYPOTHESES[2])  # copies of the references have no error
    everything = objects(run(*JSONL, "--hyp", "mt.txt", "b.txt", "--ref", "ref.txt").out)
    with_errors = [line for line in everything if line["errors"] or line["unplaced"]]
    assert 0 < len(with_errors) < len(everything)
    only_errors = run(*JSONL, "--hyp", "mt.txt", "b.txt", "--ref", "ref.txt", "--only-errors")
    assert objects(only_errors.out) == with_errors
    assert f"matese: {len(with_errors)} of 6 segments are written (--only-errors)\n" in only_errors.err
    limited = run(*JSONL, "--hyp", "mt.txt", "b.txt", "--ref", "ref.txt", "--limit", "1")
    assert objects(limited.out) == [everything[0], everything[3]]
    assert "matese: 2 of 6 segments are written" in limited.err


def test_quiet_prints_the_score_of_each_segment(run: Run) -> None:
    found = [float(line) for line in run(*TAG, *FILES, "--quiet").out.splitlines()]
    assert found == pytest.approx([one["expected_score"] for one in objects(run(*JSONL, *FILES).out)])


def test_terminal(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    ran = run(*TAG, *FILES)
    assert (ran.code, ran.err) == (0, BLANK)
    assert "\x1b" not in ran.out
    legend, missing, empty, heading, *_ = ran.out.split("\n")
    assert legend == "[[Major]]₈₀  [Minor]₄₀  with the confidence in %; dim below 25"
    assert (missing, empty) == ("[[-Words-]]  missing in the translation", "")
    assert re.fullmatch(r"mt, line 1   score -\d+   expected score -\d+\.\d\d", heading)
    blank = "mt, line 2   score -25   expected score -25.00\n  hyp  (empty)\n  ref  etwas\n  err  Major Non-translation"
    assert blank in ran.out
    assert "␛" in ran.out
    *_, header, row, score, expected, signature, _ = ran.out.split("\n")
    columns = ["system", "segments", "blank", "with errors", "Minor", "Major", "score", "expected score"]
    assert re.split(r"  +", header) == columns
    assert (score[:6], expected[:15]) == ("score:", "expected score:")
    assert row.split()[:3] == ["mt", "3", "1"]
    assert signature.startswith("matese|model:tiny@")


def test_terminal_agrees_with_jsonl(run: Run) -> None:
    lines = objects(run(*JSONL, *FILES).out)
    *_, row, _, _, _, _ = run(*TAG, *FILES).out.split("\n")
    errors = [error for line in lines for error in line["errors"]]  # type: ignore[attr-defined]
    scores = [float(line["score"]) for line in lines]  # type: ignore[arg-type]
    counts = [sum(error["severity"] == name for error in errors) for name in ("minor", "major")]
    counts[1] += 1  # the blank hypothesis
    flawed = sum(bool(line["errors"] or line["unplaced"]) for line in lines)
    assert row.split()[:7] == ["mt", "3", "1", *map(str, (flawed, *counts)), f"{sum(scores) / 3:.2f}"]


def test_a_limit_ends_the_work(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    annotated: list[Segment] = []
    annotate = Annotator.annotate_segments

    def observed(self: Annotator, segments: Iterable[Segment]) -> Iterator[Rating]:
        def counted() -> Iterator[Segment]:
            for one in segments:
                annotated.append(one)
                yield one

        return annotate(self, counted())

    monkeypatch.setattr(Annotator, "annotate_segments", observed)
    ran = run(*TAG, *FILES, "--limit", "1")
    assert len(annotated) == 1
    assert ran.out.count("mt, line") == 1
    assert re.search(r"\nmt +1 ", ran.out)
    assert "\n1 of 3 segments are shown\n" in ran.out
    assert "--limit: '0' must be a whole number, 1 or more" in run(*TAG, *FILES, "--limit", "0").err


def test_weights(run: Run, folder: Path) -> None:
    (folder / "own.yaml").write_text("minor: 0\nmajor: 0\n")
    lines = objects(run(*JSONL, *FILES, "--weights", "own.yaml").out)
    assert [line["score"] for line in lines] == [0, 0, 0]
    assert re.search(r"\|weights:own@[0-9a-f]{8}\|", str(lines[0]["rater"]))
    lines = objects(run(*JSONL, *FILES, "--weights", "google").out)
    assert "|weights:google|" in str(lines[0]["rater"])


SPARSE = {
    "texts": ("--hyp", "a.txt", "--src", "s.txt", "--ref", "r.txt"),
    "csv": ("--input", "t.csv"),
    "jsonl": ("--input", "t.jsonl"),
    "ratings": ("--input", "ratings.jsonl"),
}


@pytest.fixture
def sparse(folder: Path) -> None:
    """Four segments in several forms; the second and the fourth have no reference, and the third has no source."""
    rows = [
        ("das Haus", "the house", "ein Haus"),
        ("der Hund", "the dog", ""),
        ("gut", " ", "es"),
        ("x", "y", "\u3000"),
    ]
    for name, texts in zip("asr", zip(*rows, strict=True), strict=True):
        write(folder / f"{name}.txt", *texts)
    write(folder / "t.csv", "mt,src,ref", *(",".join(row) for row in rows))
    names = ("mt", "src", "ref")
    write(folder / "t.jsonl", *(json.dumps({key: row[i] or None for i, key in enumerate(names)}) for row in rows))
    write(folder / "ratings.jsonl", *(jsonl.dumps(Rating(Segment(mt, src, (ref,)), "r", ())) for mt, src, ref in rows))


@pytest.mark.parametrize("form", SPARSE)
@pytest.mark.usefixtures("sparse")
def test_each_row_is_read_with_the_texts_that_it_has(form: str, run: Run) -> None:
    ran = run(*JSONL, *SPARSE[form])
    read = [re.findall(r"\|inputs:(.+?)\|refs:(\d)\|", str(line["rater"])) for line in objects(ran.out)]
    assert read == [[("source+reference", "1")], [("source", "0")], [("reference", "1")], [("source", "0")]]
    assert "1 with source and reference, 2 with source, 1 with reference" in ran.err
    assert ("of 4 segments have a blank source or reference" in ran.err) == (ran.code == 0)


@pytest.mark.parametrize(
    ("form", "lines"),
    [
        ("texts", "line 2, line 4"),
        ("csv", "line 3, line 5"),
        ("jsonl", "line 2, line 4"),
        ("ratings", "line 2, line 4"),
    ],
)
@pytest.mark.usefixtures("sparse")
def test_a_model_that_reads_references_only_names_the_rows_without_one(
    form: str, lines: str, run: Run, tiny_model_factory: TinyModelFactory
) -> None:
    model = ("--model", str(tiny_model_factory(inputs=("reference",))))
    assert f"2 of 4 segments lack what the model needs, a reference ({lines})" in (
        run("tag", *model, *SPARSE[form], "--format", "jsonl").refused()
    )
    assert run("tag", *model, *SPARSE[form], "--format", "jsonl", "--limit", "1").code == 0
    ran = run("tag", *model, *SPARSE[form], "--format", "jsonl", "--skip-incomplete")
    assert [line["hypothesis"] for line in objects(ran.out)] == ["das Haus", "gut"]
    assert f"left out: 2 of 4 segments lack what the model needs, a reference ({lines})" in ran.err
    assert run("score", *model, *SPARSE[form]).code == 2
    scored = run("score", *model, *SPARSE[form], "--skip-incomplete").out.splitlines()[-1]
    assert scored.split("\t")[3] == "2"


INTERLEAVED = ("system,mt,src", "A,a one,x", "B,b one,x", "B,b two,y", "A,a two,y", "C,c one,x", "A,a three,z")


@pytest.mark.parametrize("form", ["jsonl", "csv", "tsv", "json", "doccano"])
def test_the_output_has_the_order_of_the_table(form: str, run: Run, folder: Path) -> None:
    write(folder / "t.csv", *INTERLEAVED)
    texts = [row.split(",")[1] for row in INTERLEAVED[1:]]
    out = run(*TAG, "--input", "t.csv", "--format", form).out
    assert re.findall(r"[abc] (?:one|two|three)", out) == texts


def test_a_limit_is_of_each_system_of_a_table(run: Run, folder: Path) -> None:
    write(folder / "t.csv", *INTERLEAVED)
    lines = objects(run(*JSONL, "--input", "t.csv", "--limit", "1").out)
    assert [line["hypothesis"] for line in lines] == ["a one", "b one", "c one"]
    lines = objects(run(*JSONL, "--input", "t.csv", "--sort", "worst", "--limit", "1").out)
    assert [line["system"] for line in lines] == ["A", "B", "C"]
    found = objects(run(*JSONL, "--input", "t.csv", "--only-errors", "--limit", "1").out)
    assert len({line["system"] for line in found}) == len(found) > 0


# What looks like bad input and is none, with offsets into the text exactly as it stands in the file.
ODD_TEXTS = [
    "a\0b ist",
    "das\u2028ist\u2029\x85gut",
    "das\x0cist",
    "das\rist",
    "👩‍👩‍👧 ist 🇩🇪",
    "שלום, עולם",
    "  zwei  Leerzeichen ",
    "\ufeffdas",
    "e\u0301e\u0301",
    "\x1b[31mrot\x9b2J",
]


def test_odd_texts_work(run: Run, folder: Path) -> None:
    (folder / "mt.txt").write_bytes(b"\xef\xbb\xbf" + "\r\n".join(ODD_TEXTS).encode())
    write(folder / "ref.txt", *["das ist gut"] * len(ODD_TEXTS))
    lines = objects(run(*JSONL, *FILES).out)
    assert [line["hypothesis"] for line in lines] == ODD_TEXTS
    for line, text in zip(lines, ODD_TEXTS, strict=True):
        for error in line["errors"]:  # type: ignore[attr-defined]
            assert error["text"] == text[error["start"] : error["end"]]
    shown = run(*TAG, *FILES)
    assert shown.code == 0
    assert not set(shown.out) & set("\0\x1b\x9b\x85\u2028\u2029\x0c\r")


def test_long_line_is_counted(run: Run, folder: Path) -> None:
    long = "das ist gut " * 100
    write(folder / "mt.txt", long, "das")
    write(folder / "ref.txt", "das", "das")
    ran = run(*JSONL, *FILES, "--checks", "none")
    assert objects(ran.out)[0]["hypothesis"] == long
    assert ran.err.startswith("matese: 1 of 2 segments is too long for the model")
    assert ran.err.count("\n") == 1


def test_out_of_memory_is_told_once(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    from matese.model.inputs import Inputs
    from matese.model.network import Network
    from matese.model.network_output import NetworkOutput

    whole = Network.forward
    expected = run(*JSONL, *FILES, "--precision", "float32").out

    def forward(self: Network, batch: Inputs) -> NetworkOutput:
        if len(batch.positions) > 1:
            raise torch.OutOfMemoryError("CUDA out of memory")
        return whole(self, batch)

    monkeypatch.setattr(Network, "forward", forward)
    ran = run(*JSONL, *FILES, "--precision", "float32", "--batch-tokens", "3000", "--engine", "torch")
    assert (ran.code, ran.out) == (0, expected)
    assert ran.err.count("out of memory") == 1
    assert "matese: out of memory on the device: continued with --batch-tokens " in ran.err


def test_formats_of_other_tools(run: Run, folder: Path) -> None:
    ran = run(*TAG, *FILES, "--format", "label-studio", "--output", "tasks", "--limit", "2")
    assert (ran.code, ran.out) == (0, "")
    assert ran.err.startswith("matese: label-studio: left out or changed: expected scores (mqm): 2; ")
    assert "(--limit)\n" in ran.err
    lines = objects(run("convert", "tasks", "-", "--to", "jsonl").out)
    assert [line["hypothesis"] for line in lines] == [*HYPOTHESES[:2]]
    # What people are to correct is marked at a lower threshold.
    assert "|decode:0.25|" in str(lines[0]["rater"]), "half the model's own"
    ran = run(*TAG, *FILES, "--format", "csv", "--min-confidence", "0.4")
    assert "|decode:0.4|" in ran.out
    assert run(*TAG, *FILES, "--format", "word-tags").refused().startswith("word-tags is a folder")


def test_a_minimum_confidence_is_explained_by_the_calibration(run: Run) -> None:
    for command in ("tag", "score"):
        assert "from 0.33 on: on the calibration data (measured at 0.35), " in (
            run(command, *FILES, "--min-confidence", "0.33").err
        )
    assert "calibration" not in run("score", *FILES, "--min-confidence", "0.33", "--quiet").err
    assert "calibration" not in run("score", *FILES).err
    assert "calibration" not in run(*TAG, *FILES, "--min-confidence", "0.33").err, "this model was not calibrated"


SOURCES = ("It costs 15 euros (net).", "something", "the text the text")
CHECKS = ("tag", "--checks", "only", "--hyp", "mt.txt", "--format", "jsonl")


def test_checks_alone_need_no_model(run: Run, folder: Path) -> None:
    write(folder / "src.txt", *SOURCES)
    write(folder / "mt.txt", "Es kostet 16 Euro (netto.", "", "der Text der Text")
    ran = run(*CHECKS, "--src", "src.txt", "--lang-pair", "en-de", "--model", "there is none")
    assert ran.code == 0
    assert ran.err == "matese: repetition (Accuracy/Addition/Doubled short word): not reliable in German, not run\n"
    first, second, third = objects(ran.out)
    assert str(first["rater"]).startswith("matese|checks:all+language|lang_pair:en-de|version:")
    assert [(one["text"], one["confidence"]) for one in first["errors"]] == [("16", None)]  # type: ignore[attr-defined]
    assert (first["lang_pair"], first["score"], first["expected_score"]) == ("en-de", -5, None)
    assert [one["category"] for one in second["unplaced"]] == ["Non-translation"]  # type: ignore[attr-defined]
    assert third["errors"] == []
    assert objects(run(*CHECKS, "--src", "src.txt", "--only-errors").out)[1]["index"] == 1
    # Without a source too, in the terminal as well.
    *_, row, signature, _ = run("tag", "--checks", "only", "--hyp", "mt.txt").out.split("\n")
    assert row.split() == ["mt", "3", "1", "1", "0", "1", "-8.33", "[-25.00,", "0.00]"]
    assert signature.startswith("matese|checks:all|lang_pair:unknown|")


def test_rules_that_are_silent_in_the_language_are_named(run: Run, folder: Path) -> None:
    write(folder / "src.txt", *SOURCES)
    write(folder / "mt.txt", "x x x x", "", "x")
    texts = ("--hyp", "mt.txt", "--src", "src.txt", "--lang-pair", "en-fj")
    ran = run("tag", "--checks", "only,repetition,blank", *texts, "--format", "jsonl")
    assert ran.code == 0
    assert "repetition: not reliable in Fijian, not run" in ran.err
    assert not any(one["errors"] for one in objects(ran.out))
    assert "not reliable" not in run("tag", "--checks", "only,blank", *texts, "--format", "jsonl").err
    refused = run("tag", "--checks", "only,repetition", *texts).refused()
    assert refused.startswith("no rule of --checks can run: repetition: not reliable in Fijian")
    # Of every kind of output, standard error names what does not run; the report of what was marked is as always.
    for form in ("terminal", "html", "csv"):
        assert "repetition: not reliable in Fijian" in run("tag", "--checks", "only", *texts, "--format", form).err


def test_the_language_pair_of_the_user_wins_over_that_of_a_file(run: Run, folder: Path) -> None:
    header = 'msgid ""\nmsgstr "Language: fr\\nX-Source-Language: en\\nContent-Type: text/plain; charset=UTF-8\\n"'
    write(folder / "a.po", header, "", 'msgid "It costs 15"', 'msgstr "Es kostet 16"')
    write(folder / "a.jsonl", '{"source": "It costs 15", "hypothesis": "Es kostet 16", "lang_pair": "en-fr"}')
    for name in ("a.po", "a.jsonl"):
        command = ("tag", "--checks", "only", "--input", name, "--format", "jsonl")
        assert objects(run(*command).out)[0]["lang_pair"] == "en-fr"
        ran = run(*command, "--lang-pair", "en-de")
        assert objects(ran.out)[0]["lang_pair"] == "en-de"
        assert f"matese: {name}: 1 row repaired: states en-fr, read as en-de (--lang-pair)" in ran.err
        assert "|lang_pair:en-de|" in str(objects(ran.out)[0]["rater"])
    assert "or state another one" in run("tag", "--help").out


def test_checks_beside_a_model(run: Run, folder: Path) -> None:
    write(folder / "src.txt", *SOURCES)
    write(folder / "mt.txt", "Das ist gut 16.", "", "x")
    alone = objects(run(*JSONL, "--hyp", "mt.txt", "--src", "src.txt").out)
    both = objects(run(*JSONL, "--hyp", "mt.txt", "--src", "src.txt", "--checks", "also").out)
    assert both[0]["expected_score"] == alone[0]["expected_score"]
    assert both[0]["rater"] == f"{alone[0]['rater']}|checks:all|lang_pair:unknown"
    added = [one for one in both[0]["errors"] if one not in alone[0]["errors"]]  # type: ignore[attr-defined, operator]
    # The model has marked other words before, which share some with the number: they have become one error.
    assert [(one["text"], one["category"]) for one in added] == [("16", "Accuracy/Mistranslation/Number")]
    assert both[1]["unplaced"] == alone[1]["unplaced"] != []


XLIFF = """<?xml version="1.0"?>
<xliff version="1.2" xmlns="urn:oasis:names:tc:xliff:document:1.2"><file original="a" source-language="en-GB"
 target-language="de" datatype="plaintext"><body>
<trans-unit id="1"><source>A <g id="1">tree</g> for 1,500 %s</source>
<target>Ein <g id="1">das 😀 ist</g> für <x id="2"/>1,5 %s</target></trans-unit></body></file></xliff>"""
PO = """msgid ""
msgstr "Content-Type: text/plain; charset=UTF-8\\n"

#: a.c
msgid "A %s."
msgstr "Das ist ein %s gut."
"""


NOTED = """# [matese] "ann"
# Major error: »%s« [0..5]
# Comment: The verb?
msgid "Open"
msgstr "Offen"
"""


def test_a_comment_stays_its_authors(run: Run, folder: Path) -> None:
    (folder / "a.po").write_text(NOTED % "Offen", encoding="utf-8")
    for given, written in (("a.po", "b.po"), ("b.po", "c.po")):
        assert run("tag", "--checks", "only", "--input", given, "--output", written).code == 0
        assert (folder / written).read_text(encoding="utf-8").count("# Comment: The verb?") == 1


def test_notes_of_an_older_text(run: Run, folder: Path) -> None:
    (folder / "a.po").write_text(NOTED % "Öffne", encoding="utf-8")
    ran = run("tag", "--checks", "only", "--input", "a.po", "--output", "b.po")
    assert (ran.code, ran.err.count("1 annotation ignored: note of an older text (line 1)")) == (0, 1)
    refused = run("convert", "a.po", "c.jsonl").refused()
    assert refused.startswith("a.po:1: ")
    assert "line 1" not in refused


def test_files_of_localisation_come_back_with_notes(run: Run, folder: Path) -> None:
    pytest.importorskip("translate")
    for name, text, hypothesis in [("a.xlf", XLIFF, "Ein das 😀 ist für 1,5 %s"), ("a.po", PO, "Das ist ein %s gut.")]:
        (folder / name).write_text(text, encoding="utf-8")
        ran = run(*TAG, "--input", name, "--checks", "also", "--output", f"out-{name}", "--min-confidence", "0.01")
        assert (ran.code, ran.out) == (0, "")
        (rating,) = objects(run("convert", f"out-{name}", "-", "--to", "jsonl").out)
        assert rating["hypothesis"] == hypothesis
        spans = [(one["start"], one["end"]) for one in rating["errors"]]  # type: ignore[attr-defined]
        placeholder = hypothesis.index("%s")
        assert spans
        assert not any(placeholder <= start and end <= placeholder + 2 for start, end in spans)
        noted = (folder / f"out-{name}").read_text(encoding="utf-8")
        assert "expected scores" not in ran.err
        assert '<g id="1">das 😀 ist</g> für <x id="2"/>1,5 %s</target>' in noted or name == "a.po"
        assert "[matese]" in noted
    numbers = run("tag", "--checks", "only", "--input", "a.xlf", "--format", "jsonl", "--only-errors")
    (rating,) = objects(numbers.out)
    assert (rating["lang_pair"], rating["system"], rating["index"]) == ("en_GB-de", None, 0)
    assert [one["text"] for one in rating["errors"]] == ["1,5"]  # type: ignore[attr-defined]


def test_any_file_of_ratings_is_marked_anew(run: Run, folder: Path) -> None:
    printed = run(*JSONL, "--hyp", "mt.txt", "--ref", "ref.txt").out
    (folder / "spans.jsonl").write_text(printed * 2, encoding="utf-8")
    assert run(*JSONL, "--input", "spans.jsonl").out == printed
    checked = run("tag", "--checks", "only", "--input", "spans.jsonl", "--lang-pair", "en-de", "--format", "jsonl")
    assert {line["lang_pair"] for line in objects(checked.out)} == {"en-de"}
    problem = run("tag", "--input", "mt.txt").refused()
    assert problem.startswith("mt.txt holds translations alone: give its source or reference")
    for arguments, problem in [
        (("--checks", "only", "--hyp", "mt.txt", "--tokens", "--format", "jsonl"), "--tokens needs a model"),
        (("--checks", "alone", "--hyp", "mt.txt"), "--checks: unknown value 'alone'"),
        (("--input", "spans.jsonl", "--output", "spans.jsonl"), "--output spans.jsonl is the input spans.jsonl"),
    ]:
        assert run("tag", *arguments).refused().startswith(problem)


def test_mini_reads_the_reference_alone_where_it_has_both(run: Run) -> None:
    texts = ("--hyp", "mt.txt", "--ref", "ref.txt", "--format", "jsonl", "--quiet")
    alone = [json.loads(line) for line in run("tag", *texts).out.splitlines()]
    both = [json.loads(line) for line in run("tag", *texts, "--src", "ref.txt").out.splitlines()]
    assert [{**line, "source": None} for line in both] == alone
