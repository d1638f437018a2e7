"""What docs/in-a-service.md promises: one annotator in several threads, streams, and a Dockerfile without surprises."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from pathlib import Path

import pytest

import matese
from matese.annotation import Segment
from matese.cli.options import COMMANDS

ROOT = Path(__file__).resolve().parents[2]
DOCKERFILE = (ROOT / "Dockerfile").read_text(encoding="utf-8")
INSTRUCTIONS = [
    tuple(line.split(maxsplit=1))
    for line in re.sub(r"\\\n\s*", "", DOCKERFILE).splitlines()
    if line.strip() and not line.startswith("#")
]


@pytest.fixture(scope="module")
def annotator(tiny_model_dir: Path) -> matese.Annotator:
    return matese.load(tiny_model_dir, precision="float32")


def test_threads_share_an_annotator(annotator: matese.Annotator) -> None:
    batches = [[f"Satz {number} {line} ist gut." for line in range(number % 5 + 1)] for number in range(40)]

    def annotate(texts: list[str]) -> list[matese.Rating]:
        return list(annotator.annotate(texts, references=["Das ist schlecht."] * len(texts)))

    expected = [annotate(texts) for texts in batches]
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(annotate, batches)) == expected


def test_a_stream_is_read_as_it_is_needed(annotator: matese.Annotator) -> None:
    taken = 0

    def endless() -> Iterator[Segment]:
        nonlocal taken
        while True:
            taken += 1
            yield Segment("Gut.", references=("Schlecht.",))

    ratings = list(islice(annotator.annotate_segments(endless()), 3))
    assert len(ratings) == 3
    assert taken < 100_000


def test_the_example_of_a_request_gets_a_mark() -> None:
    page = (ROOT / "docs" / "serve.md").read_text(encoding="utf-8")
    (request,) = re.findall(r"^  '(\{.*\})'$", page, re.MULTILINE)
    (segment,) = json.loads(request)["segments"]
    (rating,) = matese.load("mini").annotate(
        [segment["hypothesis"]], sources=[segment["source"]], references=[segment["references"]]
    )
    assert rating.errors


def of(keyword: str) -> list[str]:
    return [rest for name, rest in INSTRUCTIONS if name == keyword]


def test_the_image_is_lean_and_runs_as_nobody_special() -> None:
    known = {"FROM", "RUN", "COPY", "USER", "ENV", "EXPOSE", "HEALTHCHECK", "ENTRYPOINT"}
    assert {name for name, *_ in INSTRUCTIONS} <= known
    (base,) = of("FROM")
    assert re.fullmatch(r"python:3\.\d+-slim", base)
    (user,) = of("USER")
    assert int(user) > 0
    assert "HF_HUB_OFFLINE=1" in of("ENV")
    assert all(
        "--no-cache-dir" in command for run in of("RUN") for command in run.split("&&") if "pip install" in command
    )
    assert not [run for run in of("RUN") if "sudo" in run or "curl" in run or "apt-get" in run]
    # As hadolint asks (DL3013, DL3045): versions are stated, and what is copied has an absolute place.
    installed = [words for run in of("RUN") for words in re.findall(r'"([^"]+)"', run)]
    assert all(re.search(r"[=<>~]=", word) or word.startswith("/") for word in installed)
    assert all(line.split()[-1].startswith("/") for line in of("COPY"))
    names = [name for name, *_ in INSTRUCTIONS]
    assert names.index("USER") > max(at for at, name in enumerate(names) if name == "RUN")


def test_the_image_starts_a_command_that_exists() -> None:
    (entry,) = of("ENTRYPOINT")
    assert entry.startswith("[")  # not through a shell, which would swallow the signal that ends the server
    program, command, *_ = re.findall(r'"([^"]*)"', entry)
    assert program == "matese"
    assert command in COMMANDS


def test_what_is_copied_into_the_image_is_what_the_package_is_built_from() -> None:
    kept = {line[1:] for line in (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines() if line[:1] == "!"}
    assert all((ROOT / name).exists() for name in kept)
    assert {"matese", "pyproject.toml", "README.md", "LICENSE", "constraints.txt"} == kept


def test_the_image_has_the_versions_that_are_tested() -> None:
    installs = [command for run in of("RUN") for command in run.split("&&") if "pip install" in command]
    assert installs
    assert all("--constraint /constraints.txt" in command for command in installs)
    assert "constraints.txt /constraints.txt" in of("COPY")
