"""Damages files and requests: whatever reads them must return valid values or end in one error that the user can fix.

    python -m tests.hardening.fuzz --inputs 10000
    python -m tests.hardening.fuzz --only xlsx --first 4711 --inputs 1     # one input again
    python -m tests.hardening.fuzz --inputs 10000 --atheris                # led by coverage; needs atheris

The files of a target are whole ones, in its format. Input `i` depends on the target and `i` alone, so that a fault is
found again by its number. It prints the number of inputs of each target, those that could be read, and the faults.
"""

from __future__ import annotations

import argparse
import gc
import io
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
import traceback
import warnings
import zipfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from types import FunctionType

import hypothesis

from matese.annotation import ErrorSpan, Omission, Rating, Segment, SegmentKey, Severity
from matese.cli import messages
from matese.errors import InputError
from matese.formats import candidates, detection, glossary, weights_file, writing
from matese.formats.format import STRICT, ReadOptions
from matese.formats.registry import BY_NAME, TABLE
from matese.formats.tables import jsonl
from matese.validation import settings
from tests.formats import score_files, wmt26_submissions
from tests.formats.localisation.test_key_files import JSON, SOURCE_XML, TARGET_JSON, TARGET_XML, put
from tests.formats.localisation.test_subtitles import SRT, VTT
from tests.formats.localisation.test_tmx import TMX
from tests.formats.localisation.test_translation_files import PO, XLIFF_1, XLIFF_2
from tests.formats.test_round_trips import HOW, ON_TEMPLATES

ROOT = Path(__file__).parents[2]
XCSTRINGS = """{"sourceLanguage": "en", "version": "1.0", "strings": {"Open %@": {"comment": "menu", "localizations": {
 "de": {"stringUnit": {"state": "translated", "value": "Öffne %@"}}}}}}"""
PAIRS = {
    "android": {"values/strings.xml": SOURCE_XML, "values-de/strings.xml": TARGET_XML},
    "i18n-json": {"en/app.json": json.dumps(JSON), "de/app.json": TARGET_JSON},
    "xcstrings": {"app.xcstrings": XCSTRINGS},
}
"""Files of texts by keys; the last one of a format is read, and finds the one before it."""
TEXTS = ("Das 😀 ist <b>gut</b>.", "Haus", "der \u202eText\t[a]", "")
RATINGS = [
    Rating(
        Segment(text, f"The house {index}", ("ein Text", "zwei"), SegmentKey("ted", "en-de", "A", "doc", index)),
        "anna",
        (ErrorSpan(0, 3, Severity.MAJOR, "Grammar", 0.5),) if len(text) > 3 else (),
        omissions=(Omission("source", None, 4, 9, Severity.MINOR, "Accuracy/Omission"),),
    )
    for index, text in enumerate(TEXTS)
]
PREDICTIONS = {
    "task1_pred": {
        "Big One": {
            "errors": [{"start": 0, "end": 1, "severity": "major", "category": "Grammar"}],
            "omission": "minor",
            "instruction_fault": None,
        }
    },
    "task2_pred": {"Big One": 81.5},
    "task3_pred": {"Big One": 0},
}
XCOMET = """{"mt.txt": [{"src": "A tree.", "mt": "Ein Haus.", "ref": "Ein Baum.", "COMET": 0.5,
 "errors": [{"text": "Haus", "confidence": 0.5, "severity": "major", "start": 4, "end": 8}]}]}"""
WMT26 = "".join(json.dumps(line | PREDICTIONS) + "\n" for line in wmt26_submissions.TEST_SET)
"""A submission together with its test set: alone, it holds no texts."""
WEIGHTS = """minor: 1
major: 5
categories:
  - {category: Fluency/Punctuation, severity: minor, penalty: 0.1}
"""
TOKENS = (
    *rb"""" ' \ { } [ ] [] {} , ; # ||| <v> </v> ]]> &a; <!DOCTYPE -1 0 1e999""".split(),
    *rb"""NaN true null \ud800 *a =1+1 ../ en-de""".split(),
    *(b"\t", b"\n", b"\r", b"\0", b"\xff", b"\x1f\x8b", b"PK\x03\x04", b"9" * 20, b"9" * 5000, b"&a [*a]"),
    *(text.encode() for text in ("😀", "\u2028", "\ufeff", "!!python/name:os.system ")),
)


@dataclass(frozen=True, slots=True)
class Target:
    """What is attacked.

    Attributes:
        name: of the reader or loader.
        path: a whole file, or a folder of which one file is damaged at a time.
        read: reads the path; an error that the user can fix is allowed.
    """

    name: str
    path: Path
    read: Callable[[Path], object]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a target's inputs: how many were read, and tracebacks, one of each kind, by their first input."""

    n_inputs: int
    n_read: int
    faults: dict[int, str]


def formats(folder: Path) -> Iterator[Target]:
    """Yields the readers of the registry."""
    whole = {"xliff": (XLIFF_1, XLIFF_2), "po": (PO,), "tmx": (TMX.partition("?>")[2],), "xcomet": (XCOMET,)}
    whole |= {"wmt26": (WMT26,), "srt": (SRT,), "vtt": (VTT,)}
    for name, files in PAIRS.items():
        put(folder / name, files)
        *_, last = files
        yield Target(name, folder / name, partial(_read_within, name, last))
    written = {one.name for one in TABLE if one.read and one.writes} - {*PAIRS}
    for name in sorted({"mtme", *whole} | written):
        form = BY_NAME[name]
        place = folder / name
        place.mkdir()
        if name == "mtme":
            paths = [score_files.make(place / "wmt")]
            (place / "wmt" / "sources").mkdir()
            (place / "wmt" / "sources" / "en-de.txt").write_text("one\ntwo\nthree\n")
        elif name in whole:
            paths = [place / f"{number}.{name}" for number in range(len(whole[name]))]
            for path, text in zip(paths, whole[name], strict=True):
                path.write_text(text, encoding="utf-8")
        else:
            paths = [place / f"written.{name}"]
            writing.write(RATINGS, paths[0], name, HOW)
        assert form.name not in ON_TEMPLATES or name in whole
        for number, path in enumerate(paths, start=1):
            yield Target(name if number == 1 else f"{name} {number}", path, partial(_read, name))


def _read_within(name: str, file: str, folder: Path) -> None:
    """Reads a file of a folder."""
    _read(name, folder / file)


def _read(name: str, path: Path) -> None:
    """Reads a file leniently, then strictly, and as what it looks like; its ratings can be written and read again."""
    for one, options in ((name, ReadOptions(lambda issue: None, lang_pair="en-de")), (name, STRICT), (None, STRICT)):
        for rating in _allowed(detection.read(path, options, name=one)):
            again = jsonl.loads(jsonl.dumps(rating))
            assert replace(again, segment=replace(again.segment, extra=None)) == replace(
                rating, segment=replace(rating.segment, extra=None)
            ), f"{again} is not {rating}"
    list(detection.read(path, STRICT, name=name))


def _allowed(ratings: Iterator[Rating]) -> Iterator[Rating]:
    try:
        yield from ratings
    except Exception as error:
        if messages.describe(error) is None:
            raise


def others(folder: Path) -> Iterator[Target]:
    """Yields the readers of settings, weights, glossaries and lists of candidates."""
    from matese.training.config import Config

    (folder / "weights.yaml").write_text(WEIGHTS)
    (folder / "terms.tsv").write_text("tree\tBaum\nhouse\tHaus\n")
    (folder / "n.best").write_text(
        "0 ||| Ein Baum ||| a= 1 ||| -1.5\n0 ||| Ein Haus ||| a= 1 ||| -2\n1 ||| Ja ||| ||| 0\n"
    )
    shutil.copytree(ROOT / "configs", folder / "configs")
    yield Target(
        "settings", folder / "configs" / "comet" / "xcomet-spans.yaml", lambda path: settings.read(path, Config)
    )
    yield Target("weights", folder / "weights.yaml", weights_file.read)
    yield Target("glossary", folder / "terms.tsv", glossary.read)
    yield Target("candidates", folder / "n.best", lambda path: candidates.read(str(path)))


def models(folder: Path, tagger: Path) -> Iterator[Target]:
    """Yields the loaders of model directories: ours in numpy and in torch, and two released kinds."""
    from matese.model import loading
    from matese.model.annotator import load
    from matese.model.loading import load_tagger

    comet = folder / "comet"
    shutil.copytree(ROOT / "tests" / "model" / "released" / "comet", comet)
    own = Path(shutil.copytree(tagger, folder / "tagger"))
    yield Target("model", own, lambda path: load(path, n_segments=1).annotate(["gut"], references=["good"]))
    yield Target("model in torch", own, load_tagger)
    for name, directory in (("COMET model", "estimator"), ("xCOMET model", "xcomet")):
        yield Target(name, comet / directory, loading.load)


def requests(folder: Path, tagger: Path) -> Iterator[Target]:
    """Yields the server, once for each kind of request."""
    from starlette.testclient import TestClient

    from matese.model.annotator import load
    from matese.serving import app
    from matese.serving.limits import Limits

    segments = [{"hypothesis": text, "source": "A tree.", "references": ["Ein Baum."]} for text in TEXTS]
    bodies = {"json": json.dumps({"segments": segments}), "csv": "mt,src,ref\nDas ist gut.,That is good.,Gut.\n"}
    with TestClient(app.make_app(load(tagger, n_segments=1), Limits()), base_url="http://localhost") as client:
        for name, body in bodies.items():
            kind = {"json": "application/json", "csv": "text/csv"}[name]
            (folder / f"body.{name}").write_text(body)
            yield Target(f"request in {name}", folder / f"body.{name}", partial(_ask, client, kind))


def _ask(client: object, kind: str, path: Path) -> None:
    answer = client.post("/annotate", content=path.read_bytes(), headers={"Content-Type": kind})  # type: ignore[attr-defined]
    assert answer.status_code in (200, 413, 422), answer.text
    if answer.status_code != 200:
        raise InputError(answer.json()["detail"])
    assert all(jsonl.from_json(one) for one in answer.json()["ratings"])


def attack(target: Target, inputs: range) -> Outcome:
    """Returns what came of some inputs."""
    target.read(target.path)
    n_read = 0
    faults = dict[int, str]()
    kinds = set[str]()
    for number in inputs:
        try:
            n_read += is_read(target, *draw(target, random.Random(f"{target.name} {number}")))
        except Exception as error:
            kind = "".join(traceback.format_exception(error)[-2:])
            if kind not in kinds:
                faults[number] = traceback.format_exc()
            kinds.add(kind)
    return Outcome(len(inputs), n_read, faults)


def search(target: Target) -> None:
    """Lets hypothesis choose a few inputs, and simplify one that is a fault."""
    target.read(target.path)

    @hypothesis.settings(max_examples=8)
    @hypothesis.given(hypothesis.strategies.randoms(use_true_random=False))
    def holds(drawn: random.Random) -> None:
        is_read(target, *draw(target, drawn))

    holds()


def guide(target: Target, n_inputs: int) -> None:
    """Has atheris keep the inputs that reach new code of the package, and damage these; ends the process.

    An input is the number of a file and its content.
    """
    import atheris

    target.read(target.path)
    files = files_of(target)
    wholes = [bytes([number]) + file.read_bytes() for number, file in enumerate(files)]
    for one in gc.get_objects():
        if isinstance(one, FunctionType) and str(one.__module__).startswith("matese"):
            atheris.instrument_func(one)

    def change(data: bytes, most_bytes: int, seed: int) -> bytes:
        drawn = random.Random(seed)
        data = data if data[1:] and drawn.random() < 0.8 else drawn.choice(wholes)
        return (data[:1] + damaged(data[1:], drawn))[:most_bytes]

    def test(data: bytes) -> None:
        if data and data[0] < len(files):
            is_read(target, files[data[0]], data[1:])

    options = f"-runs={n_inputs} -max_len=1000000 -rss_limit_mb=0"
    atheris.Setup([sys.argv[0], *options.split()], test, custom_mutator=change)
    atheris.Fuzz()


def files_of(target: Target) -> list[Path]:
    """Returns the file, or the files of the folder."""
    return [target.path] if target.path.is_file() else sorted(one for one in target.path.rglob("*") if one.is_file())


def draw(target: Target, drawn: random.Random) -> tuple[Path, bytes]:
    """Returns one of the files, and another content for it."""
    file = drawn.choice(files_of(target))
    return file, damaged(file.read_bytes(), drawn)


def is_read(target: Target, file: Path, content: bytes) -> bool:
    """Returns whether a target is read, rather than refused, while one of its files has another content."""
    whole = file.read_bytes()
    file.write_bytes(content)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            target.read(target.path)
    except Exception as error:
        if messages.describe(error) is None:
            raise
        return False
    finally:
        file.write_bytes(whole)
    return True


def damaged(content: bytes, drawn: random.Random) -> bytes:
    """Returns a content after a few changes: bytes replaced, removed, repeated, added, or cut off."""
    if content.startswith(b"PK") and drawn.random() < 0.8:
        with suppress(Exception):  # an archive that is damaged already
            return _damaged_archive(content, drawn)
    for _ in range(drawn.choice((1, 1, 1, 2, 4, 8))):
        start = drawn.randrange(len(content) + 1)
        end = min(len(content), start + drawn.choice((0, 1, 1, 2, 8, 100)))
        piece = content[start:end]
        put = drawn.choice((drawn.randbytes(len(piece)), b"", piece * 2, drawn.choice(TOKENS), drawn.choice(TOKENS)))
        content = content[:start] + put + content[end:]
    return content[: drawn.randrange(len(content) + 1)] if drawn.random() < 0.05 else content


def _damaged_archive(content: bytes, drawn: random.Random) -> bytes:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        members = {one.filename: archive.read(one) for one in archive.infolist()}
    name = drawn.choice(sorted(members))
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for member, data in members.items():
            archive.writestr(member, damaged(data, drawn) if member == name else data)
    return stream.getvalue()


def targets(folder: Path, tagger: Path) -> Iterator[Target]:
    """Yields everything that is attacked; `tagger` is the directory of a small model."""
    for number, group in enumerate((formats, others)):
        (folder / str(number)).mkdir()
        yield from group(folder / str(number))
    for name, group_of_models in (("models", models), ("requests", requests)):
        (folder / name).mkdir()
        yield from group_of_models(folder / name, tagger)


def _main() -> None:
    import resource  # POSIX

    from tests.conftest import make_tiny_model, make_tokenizer

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--inputs", type=int, default=1000, help="of each target; default: %(default)s")
    parser.add_argument("--first", type=int, default=0, help="number of the first; default: %(default)s")
    parser.add_argument("--only", nargs="*", default=(), help="names of targets")
    parser.add_argument("--seconds", type=float, help="for each target at most")
    parser.add_argument("--atheris", action="store_true", help="let atheris choose the inputs")
    given = parser.parse_args()
    resource.setrlimit(resource.RLIMIT_AS, (16 << 30, 16 << 30))  # sizes in damaged files must not take the machine
    n_faults = 0
    with tempfile.TemporaryDirectory() as name:
        tagger = make_tiny_model(Path(name) / "tiny", make_tokenizer(), inputs=("reference", "source"))
        (Path(name) / "work").mkdir()
        for target in targets(Path(name) / "work", tagger):
            if given.only and target.name not in given.only:
                continue
            if given.atheris:
                if given.only == [target.name]:
                    guide(target, given.inputs)
                command = [sys.executable, "-m", "tests.hardening.fuzz", "--atheris", "--inputs", str(given.inputs)]
                environment = {**os.environ, "TMPDIR": name}  # atheris ends its process before files are removed
                n_faults += subprocess.call([*command, "--only", target.name], env=environment) != 0
                continue
            total = 0
            read = 0
            end = time.monotonic() + (given.seconds or 1e9)
            for start in range(given.first, given.first + given.inputs, 100):
                outcome = attack(target, range(start, min(start + 100, given.first + given.inputs)))
                total += outcome.n_inputs
                read += outcome.n_read
                for number, fault in outcome.faults.items():
                    n_faults += 1
                    print(f"{target.name} {number}: {fault}", file=sys.stderr)  # noqa: T201
                if time.monotonic() > end:
                    break
            print(f"{target.name}: {total:,} inputs, {read:,} read", flush=True)  # noqa: T201
    print(f"{n_faults} faults")  # noqa: T201
    raise SystemExit(n_faults > 0)


if __name__ == "__main__":
    _main()
