"""The command line of data_prep."""

from __future__ import annotations

import argparse
import itertools
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NoReturn, get_args

from rich.console import Console

import data_prep
from data_prep import (
    check,
    check_wmt19,
    contrasts,
    download,
    injected,
    judgments,
    labels,
    rewordings,
    segment_scores,
    short_texts,
    splits,
    synthesis,
    translations,
    unrated,
)
from data_prep.cleaning import Merge
from data_prep.prepare import Options, prepare
from data_prep.store import Store
from matese import files
from matese.annotation import Rating
from matese.errors import InputError, UsageError
from matese.formats.tables import jsonl

Run = Callable[[argparse.Namespace], int | None]


class _Parser(argparse.ArgumentParser):
    """Prints errors in one line."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: {message}\n")


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs a command and returns its exit code: 0, 1 for a failed check, 2 for unusable input."""
    options = parser().parse_args(arguments)
    try:
        code: int | None = options.run(options)
    except (InputError, OSError) as error:
        sys.stderr.write(f"data_prep {options.command}: {_in_one_line(error)}\n")
        return 2
    except KeyboardInterrupt:
        return 130
    return code or 0


def parser() -> argparse.ArgumentParser:
    """Returns the parser of the command line; the docstring of each command is its help."""
    root = _Parser(prog="python -m data_prep", description=data_prep.__doc__)
    commands = root.add_subparsers(dest="command", required=True, parser_class=_Parser)

    def add(name: str, run: Run, output: str = "file to write") -> argparse.ArgumentParser:
        command: argparse.ArgumentParser = commands.add_parser(name, help=run.__doc__, description=run.__doc__)
        command.set_defaults(run=run)
        if output:
            command.add_argument("--output", type=Path, required=True, help=output)
        return command

    def read_raw(name: str, run: Run, output: str = "folder to write") -> argparse.ArgumentParser:
        command = add(name, run, output)
        command.add_argument("--data", type=Path, help="folder of the raw files; default: $MATESE_DATA")
        return command

    def read_ratings(name: str, run: Run) -> argparse.ArgumentParser:
        command = add(name, run)
        command.add_argument("inputs", nargs="+", type=Path, metavar="IN", help="human ratings as JSONL")
        _add(command, "--seed", 0, "random seed", "N")
        return command

    _add_download(add("download", _download, "folder to write"))
    _add_prepare(read_raw("prepare", _prepare))
    read_raw("labels", _labels)
    read_raw("segment-scores", _segment_scores, "folder of wmt25-metrics.jsonl and mlqe-pe.jsonl")
    _add_unrated(read_raw("unrated", _unrated, "file to write"))
    contrasted = read_raw("contrasts", _contrasts, "file to write")
    _add(contrasted, "--seed", 0, "random seed", "N")
    _add(contrasted, "--paragraphs", 0, "number of paragraphs of several contrasts, written right and wrong, too", "N")
    contrasted.add_argument(
        "--kept", type=Path, metavar="FILE", help="file of the short texts that are kept for calibration"
    )
    judged = read_raw("judgments", _judgments, "folder of gemba.jsonl and remedy.jsonl")
    judged.add_argument("--held-out", action="store_true", help="only the held-out sources, for measuring")
    read_raw("short-texts", _short_texts, "folder of written.jsonl, written-dev.jsonl, pairs.jsonl and short.jsonl")
    mined = add("mine", _mine)
    mined.add_argument("inputs", nargs="+", type=Path, metavar="IN", help="JSONL of lp, src and tgt (lang_pair, texts)")
    _add(mined, "--seed", 0, "random seed", "N")
    damaged = read_raw("injected", _injected, "folder of injected.jsonl, cheats.jsonl and varied.jsonl")
    for name, text in (
        ("judged", "translations that a metric scored: remedy.jsonl"),
        ("written", "written contrasts: written.jsonl"),
        ("short", "right translations: short.jsonl"),
    ):
        damaged.add_argument(name, type=Path, metavar=name.upper(), help=f"JSONL of {text}")
    _add(damaged, "--share", 0.1, "share of the good translations that become cheats", "P")
    _add(damaged, "--seed", 0, "random seed", "N")
    read_raw("assessments", _assessments, "folder of da.jsonl, da-raw.jsonl, mlqe-pe-z.jsonl and hter.jsonl")
    _add_translations(read_raw("translations", _translations, "file to write"))
    _add(read_ratings("synthesise", _synthesise), "--share", 0.35, "share of ratings that get errors", "P")
    read_ratings("rewordings", _rewordings)
    read_ratings("foreign", _foreign)
    omissions = read_ratings("omissions", _omissions)
    text = "pretrained encoder that aligns translation and source"
    omissions.add_argument("--encoder", required=True, metavar="DIR", help=text)
    _add(omissions, "--share", 0.5, "share of ratings from which words are removed", "P")
    read_raw("check", _check, output="")
    return root


def _add(parser: argparse.ArgumentParser, name: str, default: float | str | Path, text: str, metavar: str) -> None:
    """Adds an option with its default in the help."""
    text = f"{text}; default: %(default)s"
    parser.add_argument(name, type=type(default), default=default, metavar=metavar, help=text)


def _add_download(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--from", dest="copies", type=Path, metavar="DIR", help="copy the files from this folder")
    _add(parser, "--base-url", download.BASE_URL, "server that hosts the repositories", "URL")
    _add(parser, "--list", download.RAW_FILES, "list of the files", "FILE")


def _add_prepare(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--lang-pairs", nargs="+", default=(), metavar="PAIR", help="write only these language pairs")
    parser.add_argument("--test-sets", nargs="+", default=(), metavar="SET", help="write only these test sets")
    parser.add_argument("--merge", choices=get_args(Merge), default="union", help="how raters are merged")
    _add(parser, "--seed", 0, "random seed for merging and for drawn splits", "N")
    text = "draw N random 90/10 splits instead of the split in --held-out"
    parser.add_argument("--splits", type=int, metavar="N", help=text)
    _add(parser, "--held-out", splits.COMMITTED, "list of held-out texts", "FILE")


def _add_translations(parser: argparse.ArgumentParser) -> None:
    text = "language pairs, such as bn-hi; default: all pairs of the embedded model's languages"
    parser.add_argument("--lang-pairs", nargs="+", metavar="PAIR", help=text)
    _add(parser, "--sources", 900, "number of sources of each test set and language pair", "N")
    _add(parser, "--most", 5, "largest number of system translations used as references of a source", "N")
    _add(parser, "--seed", 0, "random seed", "N")


def _add_unrated(parser: argparse.ArgumentParser) -> None:
    _add(parser, "--sources", 110, "number of sources of each test set and language pair", "N")
    _add(parser, "--systems", 8, "largest number of translations of a source", "N")
    _add(parser, "--seed", 0, "random seed", "N")


def _download(options: argparse.Namespace) -> None:
    """Download the raw files."""
    files = download.read_list(options.list)
    n_fetched = 0
    with _progress() as progress:
        for raw in files:
            progress(raw.file)
            n_fetched += download.fetch(raw, options.output, copies=options.copies, base_url=options.base_url)
    print(f"{n_fetched} files fetched, {len(files) - n_fetched} already in {options.output}")
    for licence, repository in sorted({(raw.licence, raw.repository) for raw in files}):
        print(f"licence of {repository}: {licence}")


def _prepare(options: argparse.Namespace) -> None:
    """Prepare splits of WMT20 to WMT22 MQM."""
    wanted = Options(
        data=_store(options).root,
        output=options.output,
        lang_pairs=tuple(options.lang_pairs),
        test_sets=tuple(options.test_sets),
        merge=options.merge,
        seed=options.seed,
        n_splits=options.splits,
        held_out=options.held_out,
    )
    with _progress() as progress:
        report = prepare(wanted, progress)
    report.show(Console())


def _labels(options: argparse.Namespace) -> None:
    with _progress() as progress:
        report = labels.write(_store(options), options.output, progress)
    report.show(Console())


_labels.__doc__ = f"Prepare {' and '.join(source.title for source in labels.SOURCES.values())}."


def _segment_scores(options: argparse.Namespace) -> None:
    """Prepare automatic scores of WMT25 and human scores of MLQE-PE."""
    store = _store(options)
    ratings = {"wmt25-metrics": segment_scores.wmt25_metrics(store), "mlqe-pe": segment_scores.mlqe_pe(store)}
    _write_all(options.output, ratings)


def _assessments(options: argparse.Namespace) -> None:
    """Prepare direct assessments of WMT21 and WMT22, and z-scores and HTER of MLQE-PE."""
    store = _store(options)
    ratings = {
        "da": segment_scores.direct_assessments(store, "z"),
        "da-raw": segment_scores.direct_assessments(store, "da"),
        "mlqe-pe-z": segment_scores.mlqe_pe(store, scale="z"),
        "hter": segment_scores.hter(store),
    }
    _write_all(options.output, ratings)


def _unrated(options: argparse.Namespace) -> None:
    """Draw translations of WMT test sets that nobody rated."""
    drawn = {"n_sources": options.sources, "n_systems": options.systems, "seed": options.seed}
    with _progress() as progress:
        _write(options.output, unrated.build(_store(options), **drawn, progress=progress))


def _contrasts(options: argparse.Namespace) -> None:
    """Pair texts that mean the same, and texts that do not."""
    made = list(contrasts.build(_store(options), seed=options.seed))
    if options.kept:
        _write(options.kept, filter(contrasts.is_kept_for_calibration, made))
        made = list(itertools.filterfalse(contrasts.is_kept_for_calibration, made))
    joined = contrasts.paragraphs(made, n_paragraphs=options.paragraphs, seed=options.seed)
    _write(options.output, itertools.chain(made, joined))


def _judgments(options: argparse.Namespace) -> None:
    """Prepare GPT-4's and ReMedy's judgments of WMT22."""
    store = _store(options)
    made = {"gemba": judgments.build, "remedy": judgments.remedy}
    _write_all(options.output, {name: build(store, held_out=options.held_out) for name, build in made.items()})


def _short_texts(options: argparse.Namespace) -> None:
    """Prepare written contrasts, minimal pairs, and human translations of short texts."""
    store = _store(options)
    parallel = short_texts.read_parallel(store)
    held_out = short_texts.reserved(parallel)
    blocks = (block for block in short_texts.read_written() if held_out.allows(*short_texts.texts_of(block)))
    written = list(short_texts.written(blocks, seed=0))
    ratings = {
        "written": itertools.filterfalse(short_texts.is_kept_for_calibration, written),
        "written-dev": filter(short_texts.is_kept_for_calibration, written),
        "pairs": short_texts.mined(parallel, short_texts.read_pairs(store), held_out),
        "short": short_texts.right(parallel, held_out),
    }
    _write_all(options.output, ratings)


def _mine(options: argparse.Namespace) -> None:
    """Find minimal pairs in parallel texts."""
    parallel = itertools.chain.from_iterable(map(short_texts.read_parallel_file, options.inputs))
    pairs = short_texts.minimal_pairs(parallel, seed=options.seed)
    print(f"{files.write_lines(options.output, map(short_texts.dumps, pairs)):,} pairs: {options.output}")


def _injected(options: argparse.Namespace) -> None:
    """Inject errors into good translations, and make cheats."""
    store = _store(options)
    parallel = short_texts.read_parallel(store)
    held_out = short_texts.reserved(parallel)
    words = short_texts.lexicon(short_texts.read_pairs(store), parallel, held_out)

    def allowed(ratings: Iterable[Rating]) -> Iterator[Rating]:
        for rating in ratings:
            if held_out.allows(rating.segment.hypothesis, *splits.texts_of(rating.segment)):
                yield rating

    damaged = list(allowed(injected.build(jsonl.read(options.judged), words, seed=options.seed)))
    good = [rating for rating in damaged if not rating.errors]
    cheats = injected.cheats(good, share=options.share, seed=options.seed)
    varied = injected.varied(jsonl.read(options.written), jsonl.read(options.short), words, seed=options.seed)
    _write_all(options.output, {"injected": damaged, "cheats": cheats, "varied": allowed(varied)})


def _translations(options: argparse.Namespace) -> None:
    """Rate human translations of WMT test sets as error-free."""
    drawn = {"n_sources": options.sources, "most": options.most, "seed": options.seed}
    with _progress() as progress:
        rated = translations.build(_store(options), lang_pairs=options.lang_pairs, **drawn, progress=progress)
        _write(options.output, rated)


def _synthesise(options: argparse.Namespace) -> None:
    """Inject errors into rated translations."""
    if not 0 <= options.share <= 1:
        raise UsageError(f"--share {options.share}: must be between 0 and 1")
    with _progress() as progress:
        drawn = {"share": options.share, "seed": options.seed}
        counts = synthesis.synthesise(options.inputs, options.output, **drawn, progress=progress)
    for name in sorted(counts):
        print(f"{counts[name]:7,} {name}")


def _rewordings(options: argparse.Namespace) -> None:
    """Pair correct translations of a source, and damage some of them."""
    with _progress() as progress:
        _write(options.output, rewordings.build(options.inputs, seed=options.seed, progress=progress))


def _foreign(options: argparse.Namespace) -> None:
    """Make wrong translations: texts in another target language and copies of the source."""
    ratings = itertools.chain.from_iterable(map(jsonl.read, options.inputs))
    _write(options.output, rewordings.foreign(ratings, seed=options.seed))


def _omissions(options: argparse.Namespace) -> None:
    """Remove words from rated translations to make omissions."""
    from data_prep import omissions  # imports torch

    with _progress() as progress:
        aligner = omissions.Aligner(options.encoder)
        rated = omissions.build(options.inputs, aligner, share=options.share, seed=options.seed, progress=progress)
        _write(options.output, rated)


def _check(options: argparse.Namespace) -> int:
    """Compare the data with published figures."""
    store = _store(options)
    with _progress() as progress:
        is_right = check.check(store, splits.read_held_out(splits.COMMITTED), Console(), progress)
        progress("correlating the metrics of WMT19")
        is_right &= check_wmt19.check(store, Console())
    return 0 if is_right else 1


@contextmanager
def _progress() -> Iterator[Callable[[str], None]]:
    """Yields a function that shows the current step on stderr."""
    with Console(stderr=True).status("") as status:
        yield status.update


def _write(path: Path, ratings: Iterable[Rating]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    print(f"{files.write_lines(path, map(jsonl.dumps, ratings)):,} translations: {path}")


def _write_all(folder: Path, ratings: Mapping[str, Iterable[Rating]]) -> None:
    for name, rated in ratings.items():
        _write(folder / f"{name}.jsonl", rated)


def _store(options: argparse.Namespace) -> Store:
    folder = options.data or os.environ.get("MATESE_DATA")
    if not folder:
        raise UsageError("MATESE_DATA is not set; set it to the folder of the raw files (see `data_prep download`)")
    if not Path(folder).is_dir():
        raise UsageError(f"folder {folder} does not exist; give the folder of the raw files (see `data_prep download`)")
    return Store(Path(folder))


def _in_one_line(error: Exception) -> str:
    if isinstance(error, OSError) and error.filename is not None:
        return f"{error.filename}: {error.strerror}"
    return " ".join(str(error).split())


if __name__ == "__main__":
    sys.exit(main())
