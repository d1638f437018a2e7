import inspect
import re
from pathlib import Path

import pytest

import matese
from matese.cli import interrupts, options
from matese.errors import one_of
from matese.tasks import annotators, tag
from matese.tasks.tag import Request
from matese.validation.options import leaves
from tests.cli.conftest import Ran, Run

KNOWN = one_of(options.COMMANDS)
FILES = ("--hyp", "mt.txt", "--ref", "ref.txt")


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ([], f"no command: must be {KNOWN} (see matese --help)"),
        (["tga"], f"unknown command 'tga', did you mean 'tag'? must be {KNOWN} (see matese --help)"),
        (["--verbose"], "unknown option --verbose: must be --help or --version"),
        (["--versoin"], "unknown option --versoin, did you mean '--version'"),
        (["--quiet", "tag", *FILES], "unknown option --quiet: must be --help or --version"),
        (["--version=1"], "-v/--version: ignored explicit argument '1'"),
        (["tag", "--hyp"], "-t/--hyp: expected at least one argument"),
        (["tag", "--hyp", "mt.txt"], "nothing to compare with"),
        (["tag", *FILES, "--forma", "jsonl"], "unknown option --forma, did you mean '--format'"),
        (["tag", *FILES, "b.txt"], "unexpected 'b.txt'"),
        (["tag", "mt.txt"], "unexpected 'mt.txt'"),
        (["score", "a.jsonl", "--csv", "x"], "unknown option --csv"),
        (["compare", "a.jsonl", "b.jsonl", "--output", "x"], "unknown option --output"),
        (["tag", *FILES, "--html", "x"], "unknown option --html"),
        (["tag", "--input", "fr.po", "--output", "out.docx"], "out.docx: the name has no ending that stands for a"),
        (["compare", "a", "--by", "spans", "b"], "unexpected 'b': matese compare takes all RATINGS one after the"),
        (["agreement", "a", "b"], "unexpected 'b': matese agreement takes RATINGS"),
        (["tag", *FILES, "--format", "jsnol"], "--format: unknown format 'jsnol', did you mean 'jsonl'"),
        (["tag", *FILES, "--format", "htm"], "--format: unknown format 'htm', did you mean 'html'"),
        (["tag", *FILES, "--weights", "googel"], "--weights: unknown weights 'googel', did you mean 'google'"),
        (["tag", *FILES, "--weights", "own.yaml"], "own.yaml: no such file or directory"),
        (["tag", *FILES, "--precision", "bf61"], "--precision: unknown precision 'bf61', did you mean 'bf16'"),
        (["tag", *FILES, "--device", "gpu"], "--device: unknown device 'gpu', did you mean 'cpu'"),
        (["tag", *FILES, "--limit", "-1"], "--limit: '-1'"),
        (["tag", *FILES, "--threads", "1.5"], "--threads: '1.5'"),
        (["tag", *FILES, "--batch-tokens", "0"], "--batch-tokens: '0'"),
        (["tag", *FILES, "--min-confidence", "nan"], "--min-confidence: 'nan'"),
        (["tag", *FILES, "--min-confidence", "1"], "--min-confidence: '1'"),
        (["tag", *FILES, "--min-confidence", "half"], "--min-confidence: 'half'"),
        (["tag", *FILES, "--checks", "only", "--min-confidence", "0.5"], "--min-confidence needs a model"),
        (["report", "--hyp", "mt.txt", "--checks", "only", "--for", "interface"], "--for needs a model"),
        (["tag", *FILES, "--tokens"], "--tokens is for --format jsonl only"),
        (["tag", *FILES, "--model", "maxi"], "no model maxi: no such directory"),
        (["tag", *FILES, "--output", "no/spans.txt"], "--output no/spans.txt"),
        (["tag", *FILES, "--output", "mt.txt"], "--output mt.txt is the input mt.txt"),
    ],
)
def test_bad_usage(run: Run, arguments: list[str], problem: str) -> None:
    assert run(*arguments).refused().startswith(problem)


def test_weights_are_read_first(run: Run, folder: Path) -> None:
    (folder / "own.yaml").write_text("minor: 1\nmajro: 5\n", encoding="utf-8")
    problem = run("score", *FILES, "--weights", "own.yaml").refused()
    assert problem.startswith("--weights: own.yaml:2: unknown key 'majro', did you mean 'major'? must be neutral")


@pytest.mark.parametrize("name", ["", *options.COMMANDS])
def test_the_help_fits_one_screen_and_hides_nothing(run: Run, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setenv("COLUMNS", "82")
    lines = run(*filter(None, [name]), "--help").out.splitlines()
    assert len(lines) <= 50
    assert max(map(len, lines)) <= 120
    if name:
        every = run(name, "--help-all").out
        assert max(map(len, every.splitlines())) <= 120
        _, commands = options.make_parsers([name])
        usual = commands[name].usual
        options_of_command = {option for action in commands[name]._actions for option in action.option_strings}
        assert {f"--{name_of_option}" for name_of_option in usual} <= options_of_command
        assert all(option in every for option in options_of_command - {"--help-all"})
        assert ("--help-all" in "".join(lines)) == bool(usual)


def test_version(run: Run) -> None:
    ran = run("--version")
    assert run("-v") == ran
    version, signature = ran.out.splitlines()
    assert (ran.code, version, ran.err) == (0, f"matese {matese.__version__}", "")
    assert re.fullmatch(rf"matese\|model:mini@[0-9a-f]{{8}}\|version:{re.escape(matese.__version__)}", signature)


def test_defaults_are_those_of_python() -> None:
    parameters = {
        **inspect.signature(matese.load).parameters,
        **inspect.signature(matese.DecodingChoice).parameters,
    }
    for _, each in leaves(annotators.Loading):
        assert each.field.default == parameters[each.name].default, each.name


def test_devices_have_numbers() -> None:
    assert options.parse(["tag", "--hyp", "a", "--ref", "b", "--device", "cuda:1"]).device == "cuda:1"


def test_fault_keeps_its_traceback(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(request: Request, stream: object) -> None:
        raise KeyError(request.marking.model)

    monkeypatch.setattr(tag, "run", broken)
    ran = run("tag", *FILES)
    assert (ran.code, ran.out) == (70, "")
    assert ran.err.startswith("Traceback (most recent call last):\n")
    assert ran.err.endswith("KeyError: 'mini'\n")


@pytest.mark.parametrize("error", [KeyboardInterrupt, interrupts.CtrlC, ImportError])
def test_ctrl_c_is_quiet(run: Run, monkeypatch: pytest.MonkeyPatch, error: type[BaseException]) -> None:
    def interrupted(request: Request, stream: object) -> None:
        raise error from KeyboardInterrupt()

    monkeypatch.setattr(tag, "run", interrupted)
    assert run("tag", *FILES) == Ran(130, "", "")


def test_repeated_options_add_up() -> None:
    args = options.parse(["tag", "--hyp", "a", "b", "--ref", "c", "--hyp", "d", "--ref", "e"])
    assert (args.hyp, args.ref) == (["a", "b", "d"], ["c", "e"])


@pytest.mark.parametrize(("option", "hint"), [("--wat", None), ("--ouput", "--output"), ("--formt=x", "--format")])
def test_only_near_options_are_suggested(run: Run, option: str, hint: str | None) -> None:
    refusal = run("tag", option).refused()
    assert ("did you mean" in refusal) is (hint is not None)
    assert hint is None or f"did you mean {hint!r}?" in refusal
