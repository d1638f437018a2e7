from __future__ import annotations

import glob
import json
import shlex
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest
import yaml

from matese import mqm
from matese.annotation import ErrorFree, Rating, Segment, SegmentKey
from matese.checks import checker
from matese.formats.tables import jsonl
from tests.cli.conftest import Run, write
from tests.evaluation.material import major, minor
from tests.markdown import ROOT
from tests.tasks.material.gate import write_files

UNPLACED = (mqm.NON_TRANSLATION,)


@pytest.fixture(autouse=True)
def files(folder: Path) -> None:
    write_files(folder)


@pytest.mark.parametrize(
    ("limits", "code"),
    [
        (("--max-major-per-1k", "50"), 0),  # just met
        (("--max-major-per-1k", "49.9"), 1),
        (("--max-errors-per-1k", "100"), 0),
        (("--max-errors-per-1k", "99"), 1),
        (("--min-score", "-1.2"), 0),
        (("--min-score", "-12e-1"), 0),
        (("--min-score", "-1.1"), 1),
        (("--min-score", "-2", "--max-major-per-1k", "1"), 1),
        (("--baseline", "good.jsonl"), 0),  # three of ten segments are no evidence
        (("--baseline", "worse.jsonl"), 0),
    ],
)
def test_exit_code(run: Run, limits: tuple[str, ...], code: int) -> None:
    ran = run("gate", "bad.jsonl", *limits)
    few = "matese: the scores of 3 segments differ: too few for any loss to be significant at alpha 0.05\n"
    assert (ran.code, ran.err) == (code, few if "good.jsonl" in limits else "")
    assert ran.out.startswith("FAIL") or "\nFAIL" in ran.out or not code


def test_another_signature_is_said_and_refused(run: Run, folder: Path) -> None:
    for precision in ("bf16", "float32"):
        rating = Rating(Segment("Das", key=SegmentKey(index=0)), f"matese|model:a@1|precision:{precision}", ())
        write(folder / f"{precision}.jsonl", jsonl.dumps(rating))
    ran = run("gate", "bf16.jsonl", "--baseline", "float32.jsonl")
    differ = "signatures differ in precision (bf16: bf16; float32: float32)"
    assert (ran.code, ran.err) == (0, f"matese: {differ}: the scores may not be comparable\n")
    ran = run("gate", "bf16.jsonl", "--baseline", "float32.jsonl", "--require-same-signature")
    assert ran.refused() == f"{differ}: must be the same"


@pytest.mark.parametrize(
    ("arguments", "place"),
    [
        (("good.jsonl",), "--min-score"),
        (("good.jsonl", "--min-score", "1"), "min-score 1: "),
        (("good.jsonl", "--max-major-per-1k", "x"), "--max-major-per-1k: 'x'"),
        (("good.jsonl", "--max-major-per-1k", "inf"), "--max-major-per-1k: 'inf'"),
        (("good.jsonl", "--min-error-free", "120%"), "--min-error-free: "),
        (("good.jsonl", "--min-error-free", "half"), "--min-error-free: 'half'"),
        (("good.jsonl", "--min-error-free", "50%"), "has no error_free"),
        (("good.jsonl", "--max", "numbers"), "'numbers': must be KIND=N"),
        (("good.jsonl", "--max", "numbers=1/day"), "KIND=N/UNIT"),
        (("good.jsonl", "--max", "nombers=1"), "--max nombers=1: unknown kind"),
        (("good.jsonl", "--max", "errors=1/1k"), "has no source"),
        (
            ("good.jsonl", "--since", "no-such"),
            "--since no-such: no such folder or file, and good.jsonl is in no repository of Git",
        ),
        (("good.jsonl", "--since", "good.jsonl", "--accepted", "wrong.jsonl"), "wrong.jsonl:2: "),
        (("da.jsonl", "--accept", "right", "--accepted", "no/a.jsonl"), "--accepted no/a.jsonl: its directory does"),
        (("good.jsonl", "--accept", " "), "--accept: ' ': must be a text that is not blank"),
        (("folder", "--max-findings", "0"), "folder: a folder in no format that is read: give the files in it"),
        (("good.jsonl", "--baseline", "empty.jsonl"), "empty has 1 rating and good 10"),
        (("rain.jsonl", "--baseline", "snow.jsonl"), "source is 'snow' in snow and"),
        (("good.jsonl", "--baseline", "no.jsonl"), "--baseline no.jsonl: "),
        (("good.jsonl", "--baseline", "good.jsonl"), "only the baseline, good"),
        (("good.jsonl", "--baseline", "da.jsonl"), "da.jsonl "),
        (("--input", "new.csv", "--baseline", "good.jsonl"), "--baseline good.jsonl is a file"),
    ],
)
def test_bad_input(run: Run, folder: Path, arguments: tuple[str, ...], place: str) -> None:
    (folder / "folder").mkdir()
    write(folder / "folder" / "de.json", "{}")
    write(folder / "wrong.jsonl", '{"unit": "a", "text": "b"}', '{"unit": "a"}')
    write(folder / "empty.jsonl", jsonl.dumps(Rating(Segment(""), "m", ())))
    keys = [SegmentKey(system="da", index=index) for index in range(10)]
    write(folder / "da.jsonl", *(jsonl.dumps(Rating(Segment("Das Haus", key=key), "da", None)) for key in keys))
    for source in ("rain", "snow"):
        write(folder / f"{source}.jsonl", jsonl.dumps(Rating(Segment("Es regnet", source), "m", ())))
    write(folder / "new.csv", "hypothesis,reference", "Ein Haus,Das Haus", "Ein Baum,Der Baum")
    assert place in run("gate", *arguments, "--json", "g.json").refused()
    assert not (folder / "g.json").exists()


@pytest.mark.parametrize(("share", "code"), [("60%", 0), ("0.6", 0), ("60.1%", 1), ("0", 0)])
def test_a_share_of_segments_must_be_free_of_errors(run: Run, folder: Path, share: str, code: int) -> None:
    ratings = [
        Rating(Segment("Das Haus", key=SegmentKey(index=index)), "m", (), error_free=ErrorFree(index < 6, index / 10))
        for index in range(10)
    ]
    write(folder / "decided.jsonl", *map(jsonl.dumps, ratings))
    ran = run("gate", "decided.jsonl", "--min-error-free", share, "--json", "gate.json")
    assert ran.code == code
    (check,) = json.loads((folder / "gate.json").read_text("utf-8"))["checks"]
    assert (check["check"], check["value"], check["n_blamed"]) == ("min-error-free", 0.6, 4 * code)


def test_annotations_of_github(run: Run, folder: Path) -> None:
    rating = Rating(Segment("9% Haus", key=SegmentKey(index=0)), "m", (major(0, 2),))
    write(folder / "a,b.jsonl", jsonl.dumps(rating))
    ran = run("gate", "a,b.jsonl", "--min-score", "-1", "--max-errors-per-1k", "999", "--github")
    assert (ran.code, ran.out.splitlines()) == (
        1,
        [
            "::notice title=matese gate%3A max-errors-per-1k of a%2Cb::errors per 1,000 words 500.00 (at most 999)",
            "::error title=matese gate%3A min-score of a%2Cb::score -5.00 (at least -1)",
            '::error title=matese%3A model%2C segment 1::"9%25": Major%0Atranslation: 9%25 Haus',
        ],
    )
    assert (
        run("gate", "good.jsonl", "--min-score", "-1", "--github", "--json", "-")
        .refused()
        .startswith("only one of --json")
    )


def test_the_worst_of_equals_is_blank_or_scores_less(run: Run, folder: Path) -> None:
    texts = [("Das Haus ist alt.", (major(0, 3), minor(4, 8))), ("Das", (major(0, 3), major(0, 2))), ("", ())]
    lines = [
        Rating(Segment(text, "a b c", key=SegmentKey(index=index)), "m", spans, unplaced=() if text else UNPLACED)
        for index, (text, spans) in enumerate([texts[0], texts[2], texts[1]])
    ]
    write(folder / "ties.jsonl", *map(jsonl.dumps, lines))
    ran = run("gate", "ties.jsonl", "--max-major-per-1k", "1", "--max-blank", "9", "--json", "-")
    (check,) = json.loads(ran.out)["checks"]
    assert [segment["number"] for segment in check["segments"]] == [2, 1, 0]


def test_several_files_of_one_system_and_their_lines(run: Run, folder: Path) -> None:
    write(folder / "one.txt", "The museum is closed.", "The shop is closed.")
    write(folder / "two.txt", "The door is not open.")
    write(folder / "src.txt", "Das Museum ist zu.", "The shop is closed.")
    write(folder / "two.src.txt", "Die Tür ist zu.")
    texts = ("--input", "one.txt", "two.txt", "--src", "src.txt", "--src", "two.src.txt")
    command = ("gate", *texts, "--max-errors-per-1k", "1", "--checks", "only,untranslated", "--github")
    first, finding, last = run(*command).out.splitlines()
    assert first.startswith("::error title=matese gate%3A max-errors-per-1k of one::errors per 1,000 words ")
    assert finding.startswith("::error file=one.txt,line=2,title=matese%3A untranslated%2C line 2::")
    assert finding.endswith("%0Atranslation: The shop is closed.%0Asource: The shop is closed.")
    assert last == "::notice title=matese gate%3A max-errors-per-1k of two::errors per 1,000 words 0.00 (at most 1)"
    assert run(*command, "--system", "s").out.startswith("::error title=matese gate%3A max-errors-per-1k of s::")


PO = """msgid ""
msgstr ""
"Language: {}\\n"
"X-Source-Language: en\\n"
"Content-Type: text/plain; charset=UTF-8\\n"

msgid "Save 17 files"
msgstr "15 Dateien"

# 2
msgid "Open {{name}}"
msgstr "{}"
"""


@pytest.fixture
def repository(folder: Path) -> Path:
    """Two languages in a repository of Git, whose old errors nobody has mended."""
    for lang in ("de", "fr"):
        (folder / lang).mkdir()
        (folder / lang / "app.po").write_text(PO.format(lang, "{name}"), encoding="utf-8")
    git = ("git", "-c", "user.name=a", "-c", "user.email=a@example.org")
    for command in (("init", "-q"), ("add", "de", "fr"), ("commit", "-q", "-m", "first")):
        subprocess.run([*git, *command], cwd=folder, check=True)
    return folder


APPS = ("gate", "de/app.po", "fr/app.po", "--since", "HEAD")


def test_only_what_has_changed_counts(run: Run, repository: Path) -> None:
    ran = run(*APPS)
    assert (ran.code, [line.split() for line in ran.out.splitlines()]) == (
        0,
        [
            ["system", "segments", "errors", "findings", "result"],
            ["de/app.po", "0", "0", "0", "PASS"],
            ["fr/app.po", "0", "0", "0", "PASS"],
        ],
    )
    (repository / "de" / "app.po").write_text(
        PO.format("de", "Name") + '\nmsgid "new"\nmsgstr "neu"\n', encoding="utf-8"
    )
    ran = run(*APPS, "--json", "g.json", "--sarif", "g.sarif", "--junit", "g.xml")
    assert ran.code == 1
    assert ran.out.splitlines()[1].split() == ["de/app.po", "2", "1", "1", "FAIL", "max-findings"]
    report = json.loads((repository / "g.json").read_text(encoding="utf-8"))
    assert [(system["ratings"], system["segments"], system["passed"]) for system in report["systems"]] == [
        ("de/app.po", 2, False),
        ("fr/app.po", 0, True),
    ]
    assert not report["passed"]
    (result,) = json.loads((repository / "g.sarif").read_text(encoding="utf-8"))["runs"][0]["results"]
    place = result["locations"][0]["physicalLocation"]
    assert (result["ruleId"], place["artifactLocation"]["uri"], place["region"]["startLine"]) == (
        "placeholders",
        "de/app.po",
        10,
    )
    suites = ElementTree.parse(repository / "g.xml").getroot()
    assert [(suite.get("name"), suite.get("failures")) for suite in suites] == [("de/app.po", "1"), ("fr/app.po", "0")]


EMPTY = {
    "de.po": PO.partition('msgid "Save')[0].format("de"),
    "de.json": "{}",
    "de.xlf": '<xliff version="1.2"><file source-language="en" target-language="de"><body/></file></xliff>',
    "app_de.arb": '{"@@locale": "de"}',
}


@pytest.mark.parametrize("name", EMPTY)
@pytest.mark.parametrize("further", [(), ("--since", "old"), ("--system", "s")])
def test_a_file_without_texts_does_not_stop_the_others(
    run: Run, repository: Path, name: str, further: tuple[str, ...]
) -> None:
    for empty, text in {"en.json": "{}", "app_en.arb": "{}", **EMPTY}.items():
        write(repository / empty, text)
    (repository / "old").mkdir()
    for code, files in enumerate(([name], [name, "fr/app.po"])):
        ran = run("gate", *files, "--checks", "only", "--max-findings", "0", *further)
        assert ran.code == code
        assert f"{name}: holds no text that is to be translated" in ran.err
        assert ran.out.startswith("0 segments") == (len(files) == 1)


def test_a_new_translation_is_blank_until_it_is_translated(run: Run, folder: Path) -> None:
    write(folder / "en.json", '{"a": "Open", "b": "Close"}')
    write(folder / "de.json", "{}")
    write(folder / "fr.json", '{"a": "Ouvrir"}')
    command = ("gate", "de.json", "fr.json", "--checks", "only", "--max-findings", "3")
    ran = run(*command, "--github")
    assert (ran.code, ran.out.count("error file=de.json,title"), ran.out.count("error file=fr.json,title")) == (1, 2, 1)
    assert run(*command, "--max-blank", "2").code == 0
    (folder / "old").mkdir()
    for name in ("en.json", "de.json"):
        shutil.copy(folder / name, folder / "old")
    assert run("gate", "de.json", "--since", "old").out == "0 segments of 2, the others as before\n"


def test_before_is_no_commit(run: Run, repository: Path) -> None:
    assert run("gate", "de/app.po", "--since", "no-such").refused().startswith("--since no-such: no such commit")


def test_before_may_be_a_folder_or_a_file(run: Run, repository: Path) -> None:
    shutil.copytree(repository / "de", repository / "old" / "de")
    (repository / "de" / "app.po").write_text(PO.format("de", "Name"), encoding="utf-8")
    for since in ("old", "old/de/app.po"):
        ran = run("gate", "de/app.po", "--since", since)
        assert (ran.code, ran.out.splitlines()[0]) == (1, "1 segment of 2, the others as before: score -5.00")
    assert run("gate", "fr/app.po", "--since", "old").out.startswith("2 segments: ")  # it was not there


def test_a_finding_is_accepted_until_its_text_changes(run: Run, repository: Path) -> None:
    path = repository / "de" / "app.po"
    path.write_text(PO.format("de", "Name"), encoding="utf-8")
    assert "1 finding accepted in matese-accepted.jsonl" in run(*APPS, "--accept", "a name").err
    (line,) = map(json.loads, (repository / "matese-accepted.jsonl").read_text(encoding="utf-8").splitlines())
    assert (line["rule"], line["words"], line["why"]) == ("placeholders", "{name}", "a name")
    assert line["unit"] == "app.po: unit 'Open {name}'"
    assert run(*APPS).code == 0
    path.write_text(PO.format("de", "Der Name"), encoding="utf-8")
    ran = run(*APPS)
    assert ran.code == 1
    assert "1 segment accepted with another text" in ran.out


def test_a_blank_translation_is_accepted_as_well(run: Run, folder: Path) -> None:
    write(folder / "blank.jsonl", jsonl.dumps(checker.check(Segment(" ", "Yes", key=SegmentKey(index=0)))))
    command = ("gate", "blank.jsonl", "--max-findings", "0")
    assert run(*command).code == 1
    assert "1 finding accepted" in run(*command, "--accept", "nothing to say").err
    assert run(*command).code == 0


@pytest.mark.parametrize(
    "comment",
    ["#, ignore-placeholders", "#, fuzzy-not, ignore-python-brace-format", '# [matese] "anna": no errors'],
)
def test_what_the_file_says_is_right_is_accepted(run: Run, repository: Path, comment: str) -> None:
    text = PO.format("de", "Name").replace("# 2", comment)
    (repository / "de" / "app.po").write_text(text, encoding="utf-8")
    assert run(*APPS).code == 0


def test_a_review_in_which_nothing_is_wrong_accepts(run: Run, folder: Path) -> None:
    segment = Segment("15 Dateien", "17 files", key=SegmentKey(index=0))
    findings = checker.check(segment)
    write(folder / "found.jsonl", jsonl.dumps(findings))
    write(folder / "anna.jsonl", jsonl.dumps(Rating(segment, "anna", ())))
    write(folder / "ben.jsonl", jsonl.dumps(Rating(segment, "ben", (major(0, 2),))))
    command = ("gate", "found.jsonl", "--max-findings", "0", "--accepted")
    assert [run(*command, f"{name}.jsonl").code for name in ("anna", "ben")] == [0, 1]


@pytest.mark.parametrize(
    ("limit", "value", "code"),
    [
        ("errors=2/segment", "errors in a segment 2 (at most 2)", 0),
        ("errors=1/segment", "errors in a segment 2 (at most 1)", 1),
        ("minor=2", "minor errors 2 (at most 2)", 0),
        ("minor=1", "minor errors 2 (at most 1)", 1),
        ("critical=0", "critical errors 0 (at most 0)", 0),
        ("numbers=0", "numbers errors 0 (at most 0)", 0),
        ("terms=0", "terms errors 0 (at most 0)", 0),
        ("errors=80/1k", "errors per 1,000 source words 80.00 (at most 80)", 0),
        ("major=39/1k", "major errors per 1,000 source words 40.00 (at most 39)", 1),
        ("errors=20/1k-characters", "errors per 1,000 source characters 16.67 (at most 20)", 0),
    ],
)
def test_limits_of_kinds(run: Run, folder: Path, limit: str, value: str, code: int) -> None:
    source = "The house here is old."  # five words; 24 characters with two more spaces
    lines = [
        replace(rating, segment=replace(rating.segment, source=f"{source}  "))
        for rating in map(jsonl.loads, (folder / "bad.jsonl").read_text(encoding="utf-8").splitlines())
    ]
    write(folder / "sourced.jsonl", *map(jsonl.dumps, lines))
    ran = run("gate", "sourced.jsonl", "--max", limit)
    assert ran.code == code
    assert value in ran.out


def test_undecided_errors_are_named(run: Run, folder: Path) -> None:
    rating = Rating(Segment("Das Haus", extra={"corrected": "Ein Haus"}, key=SegmentKey(index=0)), "anna", ())
    write(folder / "reviewed.jsonl", jsonl.dumps(rating))
    ran = run("gate", "reviewed.jsonl", "--min-score", "-1")
    assert ran.out.splitlines()[0] == "1 segment: score 0.00; 1 undecided, not in the score"


def test_what_is_translated_in_two_ways_in_the_set(run: Run, repository: Path) -> None:
    """Also if only one of the two has changed; without such a limit, it is no finding."""
    text = PO.format("de", "{name}").replace("15 Dateien", "17 Dateien")
    (repository / "de" / "app.po").write_text(text, encoding="utf-8")
    (repository / "de" / "more.po").write_text(text.replace("17 Dateien", "17 Dateien sichern"), encoding="utf-8")
    command = ("gate", "de/app.po", "de/more.po", "--since", "HEAD", "--checks", "only,blank", "--lang-pair", "en-de")
    assert run(*command).code == 0
    for limit, code, level in ((99, 0, "note"), (0, 1, "error")):
        assert run(*command, "--system", "app", "--max", f"consistency={limit}", "--sarif", "g.sarif").code == code
        (sarif_run,) = json.loads((repository / "g.sarif").read_text(encoding="utf-8"))["runs"]
        shown = [(result["ruleId"], result["level"]) for result in sarif_run["results"]]
        assert shown == 2 * [("consistency", level)]
    ran = run(*command, "--system", "app", "--max", "consistency=0", "--github")
    assert ran.code == 1
    lines = [line for line in ran.out.splitlines() if "Save 17 files: 17 Dateien, 17 Dateien sichern" in line]
    assert [line.partition(",line")[0] for line in lines] == ["::error file=de/app.po", "::error file=de/more.po"]


def test_the_workflow_for_an_app_fails_at_the_line_of_the_error(run: Run, folder: Path) -> None:
    android = "<resources>\n<string name='a'>Save {} files</string>\n<string name='b'>Close</string>\n</resources>\n"
    texts = {
        "app/src/main/res/values/strings.xml": android.format(17),
        "app/src/main/res/values-de/strings.xml": android.format(17).replace("Close", "Schließen"),
        "app/src/main/res/values-fr/strings.xml": android.format(17).replace("Close", "Fermer"),
        "web/locales/en/app.json": '{"open": "Open {{name}}"}',
        "web/locales/de/app.json": '{"open": "Öffne {{name}}"}',
    }
    for name, text in texts.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    git = ("git", "-c", "user.name=a", "-c", "user.email=a@example.org")
    for command in (("init", "-q"), ("add", "app", "web"), ("commit", "-q", "-m", "first")):
        subprocess.run([*git, *command], cwd=folder, check=True)
    workflow = yaml.safe_load((ROOT / "examples" / "gate-app.yml").read_text(encoding="utf-8"))
    (step,) = (step for step in workflow["jobs"]["gate"]["steps"] if step.get("name") == "Gate")
    words = shlex.split(step["run"].replace("\\\n", " ").replace("$SINCE", "HEAD"))
    arguments = [path for word in words[1:] for path in (sorted(glob.glob(word)) if "*" in word else [word])]
    ran = run(*arguments)
    assert ran.code == 0, ran.err
    ran = run(
        "gate", "--checks", "only", "--max-findings", "0", "--input", *sorted(glob.glob("web/locales/*/app.json"))
    )
    assert ran.code == 0, ran.err
    changed = folder / "app/src/main/res/values-fr/strings.xml"
    changed.write_text(android.format(15).replace("Save", "Enregistrer").replace("files", "fichiers"), encoding="utf-8")
    ran = run(*arguments)
    assert ran.code == 1
    place = f"::error file={changed.relative_to(folder)},line=2,title=matese%3A numbers%2C text a"
    assert any(line.startswith(place) for line in ran.out.splitlines())
    assert json.loads((folder / "matese.sarif").read_text(encoding="utf-8"))["runs"][0]["results"]
