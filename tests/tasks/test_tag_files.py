import gzip
import json
import re
from pathlib import Path

import pytest
import torch

from matese.annotation import Rating, Segment
from matese.checks.rules import NAMES
from matese.formats.tables import jsonl
from matese.tasks import convert, score, tag
from tests.cli.conftest import HYPOTHESES, REFERENCES
from tests.conftest import TinyModelFactory
from tests.tasks.conftest import do, refusal, write

TAG = {"model": "{tiny}", "precision": "float32"}
FILES = {"hyp": ["mt.txt"], "ref": ["ref.txt"]}
JSONL = {"format": "jsonl", **TAG}


def objects(out: str) -> list[dict[str, object]]:
    return [json.loads(line) for line in out.split("\n")[:-1]]


def test_tokens() -> None:
    line = objects(do(tag, tokens=True, **JSONL, **FILES).out)[0]
    tokens = line["tokens"]
    assert isinstance(tokens, list)
    assert "".join(HYPOTHESES[0][token["start"] : token["end"]] for token in tokens) == HYPOTHESES[0].replace(" ", "")
    assert all(len(token["p"]) == 5 for token in tokens)


def test_limit_and_only_errors(folder: Path) -> None:
    write(folder / "b.txt", *REFERENCES[:2], HYPOTHESES[2])  # copies of the references have no error
    everything = objects(do(tag, hyp=["mt.txt", "b.txt"], ref=["ref.txt"], **JSONL).out)
    with_errors = [line for line in everything if line["errors"] or line["unplaced"]]
    assert 0 < len(with_errors) < len(everything)
    only_errors = do(tag, hyp=["mt.txt", "b.txt"], ref=["ref.txt"], only_errors=True, **JSONL)
    assert objects(only_errors.out) == with_errors
    assert f"{len(with_errors)} of 6 segments are written (--only-errors)\n" in only_errors.told
    limited = do(tag, hyp=["mt.txt", "b.txt"], ref=["ref.txt"], limit=1, **JSONL)
    assert objects(limited.out) == [everything[0], everything[3]]
    assert "2 of 6 segments are written" in limited.told


def test_terminal_agrees_with_jsonl() -> None:
    lines = objects(do(tag, **JSONL, **FILES).out)
    *_, row, _, _, _, _ = do(tag, **TAG, **FILES).out.split("\n")
    errors = [error for line in lines for error in line["errors"]]  # type: ignore[attr-defined]
    scores = [float(line["score"]) for line in lines]  # type: ignore[arg-type]
    counts = [sum(error["severity"] == name for error in errors) for name in ("minor", "major")]
    counts[1] += 1  # the blank hypothesis
    flawed = sum(bool(line["errors"] or line["unplaced"]) for line in lines)
    assert row.split()[:7] == ["mt", "3", "1", *map(str, (flawed, *counts)), f"{sum(scores) / 3:.2f}"]


def test_weights(folder: Path) -> None:
    (folder / "own.yaml").write_text("minor: 0\nmajor: 0\n")
    lines = objects(do(tag, weights="own.yaml", **JSONL, **FILES).out)
    assert [line["score"] for line in lines] == [0, 0, 0]
    assert re.search(r"\|weights:own@[0-9a-f]{8}\|", str(lines[0]["rater"]))
    lines = objects(do(tag, weights="google", **JSONL, **FILES).out)
    assert "|weights:google|" in str(lines[0]["rater"])


SPARSE = {
    "texts": {"hyp": ["a.txt"], "src": ["s.txt"], "ref": ["r.txt"]},
    "csv": {"input": ["t.csv"]},
    "jsonl": {"input": ["t.jsonl"]},
    "ratings": {"input": ["ratings.jsonl"]},
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
def test_each_row_is_read_with_the_texts_that_it_has(form: str) -> None:
    ran = do(tag, **JSONL, **SPARSE[form])
    read = [re.findall(r"\|inputs:(.+?)\|refs:(\d)\|", str(line["rater"])) for line in objects(ran.out)]
    assert read == [[("source+reference", "1")], [("source", "0")], [("reference", "1")], [("source", "0")]]
    assert "1 with source and reference, 2 with source, 1 with reference" in ran.told
    assert "of 4 segments have a blank source or reference" in ran.told


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
    form: str, lines: str, tiny_model_factory: TinyModelFactory
) -> None:
    model = {"model": str(tiny_model_factory(inputs=("reference",)))}
    assert f"2 of 4 segments lack what the model needs, a reference ({lines})" in (
        refusal(tag, format="jsonl", **model, **SPARSE[form])
    )
    do(tag, format="jsonl", limit=1, **model, **SPARSE[form])
    ran = do(tag, format="jsonl", skip_incomplete=True, **model, **SPARSE[form])
    assert [line["hypothesis"] for line in objects(ran.out)] == ["das Haus", "gut"]
    assert f"left out: 2 of 4 segments lack what the model needs, a reference ({lines})" in ran.told
    assert "of 4 segments lack what the model needs" in refusal(score, **model, **SPARSE[form])
    scored = do(score, skip_incomplete=True, **model, **SPARSE[form]).out.splitlines()[-1]
    assert scored.split("\t")[3] == "2"


INTERLEAVED = ("system,mt,src", "A,a one,x", "B,b one,x", "B,b two,y", "A,a two,y", "C,c one,x", "A,a three,z")


@pytest.mark.parametrize("form", ["jsonl", "csv", "tsv", "json", "doccano"])
def test_the_output_has_the_order_of_the_table(form: str, folder: Path) -> None:
    write(folder / "t.csv", *INTERLEAVED)
    texts = [row.split(",")[1] for row in INTERLEAVED[1:]]
    out = do(tag, input=["t.csv"], format=form, min_confidence=0.9999, **TAG).out  # marks would repeat the texts
    assert re.findall(r"[abc] (?:one|two|three)", out) == texts


def test_a_limit_is_of_each_system_of_a_table(folder: Path) -> None:
    write(folder / "t.csv", *INTERLEAVED)
    lines = objects(do(tag, input=["t.csv"], limit=1, **JSONL).out)
    assert [line["hypothesis"] for line in lines] == ["a one", "b one", "c one"]
    lines = objects(do(tag, input=["t.csv"], sort="worst", limit=1, **JSONL).out)
    assert [line["system"] for line in lines] == ["A", "B", "C"]
    rows = objects(do(tag, input=["t.csv"], only_errors=True, limit=1, **JSONL).out)
    assert len({line["system"] for line in rows}) == len(rows) > 0


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


def test_odd_texts_work(folder: Path) -> None:
    (folder / "mt.txt").write_bytes(b"\xef\xbb\xbf" + "\r\n".join(ODD_TEXTS).encode())
    write(folder / "ref.txt", *["das ist gut"] * len(ODD_TEXTS))
    lines = objects(do(tag, **JSONL, **FILES).out)
    assert [line["hypothesis"] for line in lines] == ODD_TEXTS
    for line, text in zip(lines, ODD_TEXTS, strict=True):
        for error in line["errors"]:  # type: ignore[attr-defined]
            assert error["text"] == text[error["start"] : error["end"]]
    shown = do(tag, **TAG, **FILES)
    assert not set(shown.out) & set("\0\x1b\x9b\x85\u2028\u2029\x0c\r")


def test_long_line_is_counted(folder: Path) -> None:
    long = "das ist gut " * 100
    write(folder / "mt.txt", long, "das")
    write(folder / "ref.txt", "das", "das")
    ran = do(tag, checks="none", **JSONL, **FILES)
    assert objects(ran.out)[0]["hypothesis"] == long
    assert ran.told.startswith("1 of 2 segments is too long for the model")
    assert ran.told.count("\n") == 1


def test_out_of_memory_is_told_once(monkeypatch: pytest.MonkeyPatch) -> None:
    from matese.model.heads.networks import NetworkOutput
    from matese.model.inputs import Inputs
    from matese.model.network import Network

    whole = Network.forward
    expected = do(tag, **JSONL, **FILES).out

    def forward(self: Network, batch: Inputs) -> NetworkOutput:
        if len(batch.positions) > 1:
            raise torch.OutOfMemoryError("CUDA out of memory")
        return whole(self, batch)

    monkeypatch.setattr(Network, "forward", forward)
    ran = do(tag, batch_tokens=3000, engine="torch", **JSONL, **FILES)
    assert ran.out == expected
    assert ran.told.count("out of memory") == 1
    assert "out of memory on the device: continued with --batch-tokens " in ran.told


def test_formats_of_other_tools(folder: Path) -> None:
    ran = do(tag, format="label-studio", output="tasks", limit=2, **TAG, **FILES)
    assert ran.out == ""
    assert ran.told.startswith("label-studio: left out or changed: expected scores (mqm): 2; ")
    assert "(--limit)\n" in ran.told
    lines = objects(do(convert, to="jsonl", input="tasks", output="-").out)
    assert [line["hypothesis"] for line in lines] == [*HYPOTHESES[:2]]
    # What people are to correct is marked at a lower threshold.
    assert "|decode:0.25|" in str(lines[0]["rater"]), "half the model's own"
    ran = do(tag, format="csv", min_confidence=0.4, **TAG, **FILES)
    assert "|decode:0.4|" in ran.out
    assert refusal(tag, format="word-tags", **TAG, **FILES).startswith("word-tags is a folder")


def test_a_minimum_confidence_is_explained_by_the_calibration() -> None:
    for task in (tag, score):
        told = do(task, min_confidence=0.33, **FILES).told
        assert "from 0.33 on: on the calibration data (measured at 0.35), " in told
    assert "calibration" not in do(score, **FILES).told
    assert "calibration" not in do(tag, min_confidence=0.33, **TAG, **FILES).told, "this model was not calibrated"


SOURCES = ("It costs 15 euros (net).", "something", "the text the text")
RULES = "+".join(NAMES)
CHECKS = {"checks": "only", "hyp": ["mt.txt"], "format": "jsonl"}


def test_checks_alone_need_no_model(folder: Path) -> None:
    write(folder / "src.txt", *SOURCES)
    write(folder / "mt.txt", "Es kostet 16 Euro (netto.", "", "der Text der Text")
    ran = do(tag, src=["src.txt"], lang_pair="en-de", model="there is none", **CHECKS)
    assert ran.told == ""
    first, second, third = objects(ran.out)
    assert str(first["rater"]).startswith(f"matese|checks:{RULES}+py3langid+icu4py|lang_pair:en-de|version:")
    assert [(error["text"], error["confidence"]) for error in first["errors"]] == [("16", None)]  # type: ignore[attr-defined]
    assert (first["lang_pair"], first["score"], first["expected_score"]) == ("en-de", -5, None)
    assert [error["category"] for error in second["unplaced"]] == ["Non-translation"]  # type: ignore[attr-defined]
    assert third["errors"] == []
    assert objects(do(tag, src=["src.txt"], only_errors=True, **CHECKS).out)[1]["index"] == 1
    # Without a source too, in the terminal as well.
    *_, row, signature, _ = do(tag, checks="only", hyp=["mt.txt"]).out.split("\n")
    assert row.split() == ["mt", "3", "1", "1", "0", "1", "-8.33", "[-25.00,", "0.00]"]
    assert signature.startswith(f"matese|checks:{RULES}+icu4py|lang_pair:unknown|")


def test_terms_are_checked_on_files_of_all_formats(folder: Path) -> None:
    write(folder / "src.txt", "Save the file", "15")
    write(folder / "mt.txt", "Das Dokument sichern", "16")
    write(folder / "terms.tsv", "file\tDatei")
    texts = {"hyp": ["mt.txt"], "src": ["src.txt"], "lang_pair": "en-de", "terms": "terms.tsv"}
    first, second = objects(do(tag, **texts, **JSONL).out)
    assert [error["rule"] for error in first["omissions"] if "rule" in error] == ["terms"]  # type: ignore[attr-defined]
    assert "|checks:terms@" in str(first["rater"])
    assert not any("rule" in error for error in second["errors"])  # type: ignore[attr-defined]
    only = objects(do(tag, **texts, checks="only,numbers", format="jsonl").out)
    assert [[error["rule"] for error in row["errors"] + row["omissions"]] for row in only] == [["terms"], ["numbers"]]  # type: ignore[operator]
    assert refusal(tag, **{**texts, "terms": "none.tsv"}).startswith("none.tsv")


def test_the_language_pair_of_the_user_wins_over_that_of_a_file(folder: Path) -> None:
    header = 'msgid ""\nmsgstr "Language: fr\\nX-Source-Language: en\\nContent-Type: text/plain; charset=UTF-8\\n"'
    write(folder / "a.po", header, "", 'msgid "It costs 15"', 'msgstr "Es kostet 16"')
    write(folder / "a.jsonl", '{"source": "It costs 15", "hypothesis": "Es kostet 16", "lang_pair": "en-fr"}')
    for name in ("a.po", "a.jsonl"):
        command = {"checks": "only", "input": [name], "format": "jsonl"}
        assert objects(do(tag, **command).out)[0]["lang_pair"] == "en-fr"
        ran = do(tag, **command, lang_pair="en-de")
        assert objects(ran.out)[0]["lang_pair"] == "en-de"
        assert f"{name}: 1 row repaired: states en-fr, read as en-de (--lang-pair)" in ran.told
        assert "|lang_pair:en-de|" in str(objects(ran.out)[0]["rater"])


def test_checks_beside_a_model(folder: Path) -> None:
    write(folder / "src.txt", *SOURCES)
    write(folder / "mt.txt", "Das ist gut 16.", "", "x")
    alone = objects(do(tag, hyp=["mt.txt"], src=["src.txt"], **JSONL).out)
    both = objects(do(tag, hyp=["mt.txt"], src=["src.txt"], checks="also", **JSONL).out)
    assert both[0]["expected_score"] == alone[0]["expected_score"]
    assert both[0]["rater"] == f"{alone[0]['rater']}|checks:{RULES}+icu4py|lang_pair:unknown"
    added = [error for error in both[0]["errors"] if error not in alone[0]["errors"]]  # type: ignore[attr-defined, operator]
    # The model has marked other words before, which share some with the number: they have become one error.
    assert [(error["text"], error["category"]) for error in added] == [("16", "Accuracy/Mistranslation/Number")]
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


def test_a_comment_stays_its_authors(folder: Path) -> None:
    (folder / "a.po").write_text(NOTED % "Offen", encoding="utf-8")
    for source, written in (("a.po", "b.po"), ("b.po", "c.po")):
        do(tag, checks="only", input=[source], output=written)
        assert (folder / written).read_text(encoding="utf-8").count("# Comment: The verb?") == 1


def test_notes_of_an_older_text(folder: Path) -> None:
    (folder / "a.po").write_text(NOTED % "Öffne", encoding="utf-8")
    ran = do(tag, checks="only", input=["a.po"], output="b.po")
    assert ran.told.count("1 annotation ignored: note of an older text (line 1)") == 1
    refused = refusal(convert, input="a.po", output="c.jsonl")
    assert refused.startswith("a.po:1: ")
    assert "line 1" not in refused


def test_files_of_localisation_come_back_with_notes(folder: Path) -> None:
    pytest.importorskip("translate")
    for name, text, hypothesis in [("a.xlf", XLIFF, "Ein das 😀 ist für 1,5 %s"), ("a.po", PO, "Das ist ein %s gut.")]:
        (folder / name).write_text(text, encoding="utf-8")
        ran = do(tag, input=[name], checks="also", output=f"out-{name}", min_confidence=0.01, **TAG)
        assert ran.out == ""
        (rating,) = objects(do(convert, to="jsonl", input=f"out-{name}", output="-").out)
        assert rating["hypothesis"] == hypothesis
        spans = [(error["start"], error["end"]) for error in rating["errors"]]  # type: ignore[attr-defined]
        placeholder = hypothesis.index("%s")
        assert spans
        assert not any(placeholder <= start and end <= placeholder + 2 for start, end in spans)
        noted = (folder / f"out-{name}").read_text(encoding="utf-8")
        assert "expected scores" not in ran.told
        assert '<g id="1">das 😀 ist</g> für <x id="2"/>1,5 %s</target>' in noted or name == "a.po"
        assert "[matese]" in noted
    numbers = do(tag, checks="only", input=["a.xlf"], format="jsonl", only_errors=True)
    (rating,) = objects(numbers.out)
    assert (rating["lang_pair"], rating["system"], rating["index"]) == ("en_GB-de", None, 0)
    assert [error["text"] for error in rating["errors"]] == ["1,5"]  # type: ignore[attr-defined]


def test_a_copy_has_the_format_of_its_input(folder: Path) -> None:
    (folder / "a.xlf").write_text(XLIFF, encoding="utf-8")
    refused = refusal(tag, input=["a.xlf"], checks="only", output="a.po")
    assert (
        refused == "po copies an input of this format: write that of the input, or one that is no copy, such as JSONL"
    )


@pytest.mark.parametrize("name", ["a.xlf", "a.po", "a.vtt", "a.xlsx", "a.parquet"])
def test_any_file_is_compressed_if_its_name_ends_so(folder: Path, name: str) -> None:
    given = {"a.xlf": XLIFF, "a.po": PO, "a.vtt": "WEBVTT\n\n00:01.000 --> 00:02.000\nGut 12.\n"}
    source = name if name in given else "a.xlf"
    (folder / source).write_text(given[source], encoding="utf-8")
    do(tag, input=[source], checks="only", output=f"marked-{name}.gz")
    assert gzip.decompress((folder / f"marked-{name}.gz").read_bytes())
    again = do(tag, input=[f"marked-{name}.gz"], checks="only", format="jsonl")
    assert len(objects(again.out)) == 1


def test_any_file_of_ratings_is_marked_anew(folder: Path) -> None:
    printed = do(tag, hyp=["mt.txt"], ref=["ref.txt"], **JSONL).out
    (folder / "spans.jsonl").write_text(printed * 2, encoding="utf-8")
    assert do(tag, input=["spans.jsonl"], **JSONL).out == printed
    checked = do(tag, checks="only", input=["spans.jsonl"], lang_pair="en-de", format="jsonl")
    assert {line["lang_pair"] for line in objects(checked.out)} == {"en-de"}
    problem = refusal(tag, input=["mt.txt"])
    assert problem.startswith("mt.txt holds translations alone: give its source or reference")
    refused: list[tuple[dict[str, object], str]] = [
        ({"checks": "only", "hyp": ["mt.txt"], "tokens": True, "format": "jsonl"}, "--tokens needs a model"),
        ({"checks": "alone", "hyp": ["mt.txt"]}, "checks: unknown value 'alone'"),
        ({"input": ["spans.jsonl"], "output": "spans.jsonl"}, "--output spans.jsonl is the input spans.jsonl"),
    ]
    for arguments, problem in refused:
        assert refusal(tag, **arguments).startswith(problem)


def test_mini_reads_the_reference_alone_where_it_has_both() -> None:
    texts = {"hyp": ["mt.txt"], "ref": ["ref.txt"], "format": "jsonl"}
    alone = [json.loads(line) for line in do(tag, **texts).out.splitlines()]
    both = [json.loads(line) for line in do(tag, src=["ref.txt"], **texts).out.splitlines()]
    assert [{**line, "source": None} for line in both] == alone
