import json
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from matese.tasks import compare, score, tag
from tests.tasks.conftest import do, refusal, write
from tests.tasks.material.inputs import write_files


def test_tables_by_the_commands(folder: Path) -> None:
    write(folder / "data.csv", "Source,mtA,mtB,gold,domain", "A tree,Ein Baum,Das Haus,Ein Baum,news", "a,b,c,b,")
    options = {"input": ["data.csv"], "columns": ["hypothesis=mtA,mtB,reference=gold"], "model": "{tiny}"}
    scored = do(score, **options)
    assert [line.split("\t")[0] for line in scored.out.splitlines()] == ["system", "mtA", "mtB"]
    tagged = do(tag, format="jsonl", **options)
    rows = [json.loads(line) for line in tagged.out.splitlines()]
    assert [(row["system"], row["index"], row["domain"]) for row in rows] == [
        ("mtA", 0, "news"),
        ("mtB", 0, "news"),
        ("mtA", 1, None),
        ("mtB", 1, None),
    ]
    write(folder / "marked.jsonl", *tagged.out.splitlines())
    same = do(compare, json="-", ratings=["marked.jsonl"])
    assert json.loads(do(compare, json="-", **options).out) == {**json.loads(same.out), "ratings": ["data.csv"]}
    for wrong_options in ({}, {"ratings": ["marked.jsonl"], "input": ["data.csv"]}):
        assert refusal(compare, **wrong_options).startswith("give either RATINGS")
    assert "no column of translations among Source, mtA, mtB" in refusal(tag, input=["data.csv"])


def test_shards_of_a_table_keep_its_columns(folder: Path) -> None:
    write(folder / "data.tsv", "src\tmt\tdomain", "A tree\tEin Baum\tnews", "a\tb\tchat", "c\td\tchat")
    options = {"input": ["data.tsv"], "model": "{tiny}", "precision": "float32"}
    for number in ("1", "2"):
        do(tag, **options, format="jsonl", output=f"{number}.jsonl", shard=f"{number}/2")
    do(tag, **options, format="jsonl", output="all.jsonl")
    parts = (folder / "1.jsonl").read_text() + (folder / "2.jsonl").read_text()
    assert parts == (folder / "all.jsonl").read_text()
    assert [json.loads(line)["domain"] for line in parts.splitlines()] == ["news", "chat", "chat"]


def test_test_sets(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    dataset = pytest.importorskip("sacrebleu.dataset").DATASETS["wmt17"]
    monkeypatch.setattr(dataset, "_outdir", str(folder))
    monkeypatch.setattr(dataset, "_rawdir", str(folder / "raw"))

    def offline(url: object) -> None:
        raise urllib.error.URLError("no network")

    monkeypatch.setattr(urllib.request, "urlopen", offline)
    command = {"hyp": ["mt.txt"], "format": "jsonl", "model": "{tiny}"}
    problem = refusal(tag, **command, test_set="wmt17", lang_pair="en-de")
    assert problem.startswith("wmt17 en-de was not downloaded before and cannot be downloaded now (<urlopen error no")
    for field in dataset.fieldnames("en-de"):
        write(Path(dataset._get_txt_file_path("en-de", field)), *(f"{field} {number}" for number in range(3)))
    rows = [
        json.loads(line) for line in do(tag, **command, test_set="wmt17", lang_pair="English-German").out.splitlines()
    ]
    assert [(row["source"], row["references"][0]) for row in rows] == [(f"src {n}", f"ref {n}") for n in range(3)]
    assert {(row["test_set"], row["lang_pair"]) for row in rows} == {("wmt17", "en-de")}
    assert "unknown test set 'wmt1', did you mean" in refusal(tag, **command, test_set="wmt1", lang_pair="en-de")
    assert "wmt17 has no de-pl: must be " in refusal(tag, **command, test_set="wmt17", lang_pair="de-pl")
    assert "'en-xx' is not a language pair: must be" in refusal(tag, **command, test_set="wmt17", lang_pair="en-xx")


@pytest.fixture
def three(folder: Path) -> None:
    write_files(folder)


@pytest.mark.usefixtures("three")
def test_one_result_over_several_files() -> None:
    command = {"input": ["a.csv", "b.xlf", "c.po"], "checks": "only", "format": "jsonl"}
    rows = [json.loads(line) for line in do(tag, system="ours", **command).out.splitlines()]
    assert [(line["system"], line["document"], line["hypothesis"]) for line in rows] == [
        ("ours", "a", "Eins 2"),
        ("ours", "b", "Drei 4"),
        ("ours", "c", "Zwei 3"),
    ]
    rows = [json.loads(line) for line in do(tag, **command).out.splitlines()]
    assert [(line["document"], line["hypothesis"]) for line in rows] == [
        (None, "Eins 2"),
        (None, "Drei 4"),
        (None, "Zwei 3"),
    ]
    twice = {**command, "input": ["a.csv", "b.xlf", "c.po", "a.csv"]}
    assert refusal(tag, **twice).startswith("a.csv is given 2 times")
    assert "give one file" in refusal(tag, input=["b.xlf", "c.po"], checks="only", output="e.po")
