"""Training data as `python -m data_prep` writes them, from a miniature of every raw file that it reads."""

from __future__ import annotations

from pathlib import Path

from data_prep import segment_scores, splits
from data_prep.__main__ import main
from tests.data_prep import raw_files

_NAMES = ("Anna", "Ben", "Carla", "David", "Emma", "Felix")
_HELD_OUT = ("The cat sleeps on the roof.", "My train was late again.", "猫在屋顶上睡觉。")
"""Sources of the raw files, which make the development set."""
_ENGLISH = tuple(f"{name} buys two red apples in the garden." for name in _NAMES)
_GERMAN = tuple(f"{name} kauft zwei rote Äpfel im Garten." for name in _NAMES)


def _write(path: Path, *lines: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def _write_test_set(folder: Path, lang_pair: str, source: tuple[str, ...], target: tuple[str, ...]) -> None:
    """Writes source, reference and the outputs of five systems of a test set of 2021 or 2022."""
    from_, to = lang_pair.split("-")
    stem = f"{folder.parent.name}.{lang_pair}"
    _write(folder / "sources" / f"{stem}.src.{from_}", *source)
    _write(folder / "references" / f"{stem}.ref.A.{to}", *target)
    for number, system in enumerate(("UF", "NVIDIA-NeMo", "C", "D", "E")):
        output = (" ".join([*line.split()[:number], f"X{number}", *line.split()[number + 1 :]]) for line in target)
        _write(folder / "system-outputs" / f"{stem}.hyp.{system}.{to}", *output)


def write_raw(root: Path) -> Path:
    """Writes the raw files."""
    raw_files.write_all(root)
    for name in ("newstest2021", "generaltest2022"):
        _write_test_set(root / "wmt" / name / "txt", "de-en", _GERMAN, _ENGLISH)
    for folder, part in segment_scores.FOLDERS.values():
        scores = (
            f"{name} {line} {raw} 0.{line} 1 " for name, raw in (("UF.15", 90), ("Nemo.3", 40)) for line in (1, 2)
        )
        _write(root / folder / f"humaneval/{part}de-en.csv", "SYS SID RAW.SCR Z.SCR N ", *scores)
    return root


def prepare(raw: Path, output: Path, *, encoder: Path) -> None:
    """Runs the commands of the Makefile, as far as configurations need their files; an encoder finds omissions."""
    rated = [str(output / f"{name}.jsonl") for name in ("train", "bio", "esa")]

    def run(*given: str, reads: bool = True) -> None:
        assert main([*given, *(["--data", str(raw)] if reads else [])]) == 0, given

    held_out = raw / "held_out.txt"
    _write(held_out, *map(splits.fingerprint, _HELD_OUT))
    run("prepare", "--held-out", str(held_out), "--output", str(output))
    for command in ("labels", "segment-scores", "assessments"):
        run(command, "--output", str(output))
    human = str(output / "human.jsonl")
    run("translations", "--most", "2", "--output", human)
    run("synthesise", *rated, "--share", "1", "--output", str(output / "synthetic.jsonl"), reads=False)
    run("unrated", "--output", str(output / "unrated.jsonl"))
    run("foreign", human, "--output", str(output / "foreign.jsonl"), reads=False)
    run("rewordings", *rated, "--output", str(output / "rewordings.jsonl"), reads=False)
    given = [*rated[:2], human, "--encoder", str(encoder), "--share", "1"]
    run("omissions", *given, "--output", str(output / "omissions.jsonl"), reads=False)
