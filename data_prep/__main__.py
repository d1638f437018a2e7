"""The command line of data_prep."""

from __future__ import annotations

import argparse
import itertools
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NoReturn, get_args

import data_prep
from data_prep.assembly import Merge
from data_prep.download import BASE_URL, SOURCES
from data_prep.splits import COMMITTED
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
    """Returns the parser of the command line."""
    root = _Parser(prog="python -m data_prep", description=data_prep.__doc__)
    commands = root.add_subparsers(dest="command", required=True, parser_class=_Parser)

    def add(name: str, run: Run, what: str, *, output: str = "", reads_data: bool = True) -> argparse.ArgumentParser:
        command: argparse.ArgumentParser = commands.add_parser(
            name, help=what, description=f"{what[0].upper()}{what[1:]}."
        )
        command.set_defaults(run=run)
        if reads_data:
            command.add_argument("--data", type=Path, help="folder of the raw files; default: $MATESE_DATA")
        if output:
            command.add_argument("--output", type=Path, required=True, help=output)
        return command

    def change(name: str, run: Run, what: str) -> argparse.ArgumentParser:
        command = add(name, run, what, output=file, reads_data=False)
        command.add_argument("inputs", nargs="+", type=Path, metavar="IN", help="human ratings as JSONL")
        _add(command, "--seed", 0, "random seed", "N")
        return command

    file, folder = "file to write", "folder to write"
    _add_download(add("download", _download, "download the raw files", output=folder, reads_data=False))
    _add_prepare(add("prepare", _prepare, "prepare splits of WMT20 to WMT22 MQM", output=folder))
    add("labels", _labels, "prepare biomedical MQM and WMT24 ESA", output=folder)
    what = "prepare automatic scores of WMT25 and human scores of MLQE-PE"
    add("segment-scores", _segment_scores, what, output="folder of wmt25-metrics.jsonl and mlqe-pe.jsonl")
    what = "prepare direct assessments of WMT21 and WMT22, and z-scores and HTER of MLQE-PE"
    add("assessments", _assessments, what, output="folder of da.jsonl, da-raw.jsonl, mlqe-pe-z.jsonl and hter.jsonl")
    what = "rate human translations of WMT test sets as error-free"
    _add_translations(add("translations", _translations, what, output=file))
    command = change("synthesise", _synthesise, "inject errors into rated translations")
    _add(command, "--share", 0.35, "share of ratings that get errors", "P")
    change("rewordings", _rewordings, "pair correct translations of a source, and damage some of them")
    change("foreign", _foreign, "make wrong translations: texts in another target language and copies of the source")
    what = "remove words from rated translations to make omissions"
    _add_omissions(change("omissions", _omissions, what))
    add("check", _check, "compare the data with published figures")
    return root


def _add(parser: argparse.ArgumentParser, name: str, default: float | str | Path, text: str, metavar: str) -> None:
    """Adds an option with its default in the help."""
    text = f"{text}; default: %(default)s"
    parser.add_argument(name, type=type(default), default=default, metavar=metavar, help=text)


def _add_download(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--from", dest="copies", type=Path, metavar="DIR", help="copy the files from this folder")
    _add(parser, "--base-url", BASE_URL, "server that hosts the repositories", "URL")
    _add(parser, "--sources", SOURCES, "list of the files", "FILE")


def _add_prepare(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--lang-pairs", nargs="+", default=(), metavar="PAIR", help="write only these language pairs")
    parser.add_argument("--test-sets", nargs="+", default=(), metavar="SET", help="write only these test sets")
    parser.add_argument("--merge", choices=get_args(Merge), default="union", help="how raters are merged")
    _add(parser, "--seed", 0, "random seed for merging and for drawn splits", "N")
    text = "draw N random 90/10 splits instead of the split in --held-out"
    parser.add_argument("--splits", type=int, metavar="N", help=text)
    _add(parser, "--held-out", COMMITTED, "list of held-out texts", "FILE")


def _add_translations(parser: argparse.ArgumentParser) -> None:
    text = "language pairs, such as bn-hi; default: all pairs of the embedded model's languages"
    parser.add_argument("--lang-pairs", nargs="+", metavar="PAIR", help=text)
    _add(parser, "--sources", 900, "number of sources of each test set and language pair", "N")
    _add(parser, "--most", 5, "largest number of system translations used as references of a source", "N")
    _add(parser, "--seed", 0, "random seed", "N")


def _add_omissions(parser: argparse.ArgumentParser) -> None:
    text = "pretrained encoder that aligns translation and source"
    parser.add_argument("--encoder", required=True, metavar="DIR", help=text)
    _add(parser, "--share", 0.5, "share of ratings from which words are removed", "P")


def _download(options: argparse.Namespace) -> None:
    from data_prep.download import fetch, read_sources

    sources, n_fetched = read_sources(options.sources), 0
    for source in sources:
        how = {"copies": options.copies, "base_url": options.base_url, "progress_bar": sys.stderr.isatty()}
        n_fetched += fetch(source, options.output, **how)
    print(f"{n_fetched} files fetched, {len(sources) - n_fetched} already in {options.output}")
    for licence, repository in sorted({(source.licence, source.repository) for source in sources}):
        print(f"licence of {repository}: {licence}")


def _prepare(options: argparse.Namespace) -> None:
    from rich.console import Console

    from data_prep.prepare import Options, prepare

    wanted = Options(
        data=_data(options.data),
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
    from rich.console import Console

    from data_prep import labels

    with _progress() as progress:
        report = labels.write(_data(options.data), options.output, progress)
    report.show(Console())


def _segment_scores(options: argparse.Namespace) -> None:
    from data_prep import segment_scores
    from data_prep.store import Store

    store = Store(_data(options.data))
    files_by_name = {"wmt25-metrics": segment_scores.wmt25_metrics(store), "mlqe-pe": segment_scores.mlqe_pe(store)}
    for name, ratings in files_by_name.items():
        _write(options.output / f"{name}.jsonl", ratings)


def _assessments(options: argparse.Namespace) -> None:
    from data_prep import assessments, segment_scores
    from data_prep.store import Store

    store = Store(_data(options.data))
    files_by_name = {
        "da": assessments.direct_assessments(store, "z"),
        "da-raw": assessments.direct_assessments(store, "da"),
        "mlqe-pe-z": segment_scores.mlqe_pe(store, scale="z"),
        "hter": assessments.hter(store),
    }
    for name, ratings in files_by_name.items():
        _write(options.output / f"{name}.jsonl", ratings)


def _translations(options: argparse.Namespace) -> None:
    from data_prep import translations
    from data_prep.store import Store

    with _progress() as progress:
        rated = translations.build(
            Store(_data(options.data)),
            lang_pairs=options.lang_pairs,
            n_sources=options.sources,
            most=options.most,
            seed=options.seed,
            progress=progress,
        )
        _write(options.output, rated)


def _synthesise(options: argparse.Namespace) -> None:
    from data_prep.synthesis import synthesise

    if not 0 <= options.share <= 1:
        raise UsageError(f"--share {options.share}: must be between 0 and 1")
    with _progress() as progress:
        counts = synthesise(options.inputs, options.output, share=options.share, seed=options.seed, progress=progress)
    for name in sorted(counts):
        print(f"{counts[name]:7,} {name}")


def _rewordings(options: argparse.Namespace) -> None:
    from data_prep import rewordings

    with _progress() as progress:
        _write(options.output, rewordings.build(options.inputs, seed=options.seed, progress=progress))


def _foreign(options: argparse.Namespace) -> None:
    from data_prep import rewordings

    ratings = itertools.chain.from_iterable(map(jsonl.read, options.inputs))
    _write(options.output, rewordings.foreign(ratings, seed=options.seed))


def _omissions(options: argparse.Namespace) -> None:
    from data_prep import omissions

    with _progress() as progress:
        aligner = omissions.Aligner(options.encoder)
        rated = omissions.build(options.inputs, aligner, share=options.share, seed=options.seed, progress=progress)
        _write(options.output, rated)


def _check(options: argparse.Namespace) -> int:
    from rich.console import Console

    from data_prep import check_wmt19
    from data_prep.check import check
    from data_prep.splits import COMMITTED, read_held_out
    from data_prep.store import Store

    store = Store(_data(options.data))
    with _progress() as progress:
        is_right = check(store, read_held_out(COMMITTED), Console(), progress)
        progress("correlating the metrics of WMT19")
        is_right &= check_wmt19.check(store, Console())
    return 0 if is_right else 1


@contextmanager
def _progress() -> Iterator[Callable[[str], None]]:
    """Yields a function that shows the current step on stderr."""
    from rich.console import Console

    with Console(stderr=True).status("") as status:
        yield status.update


def _write(path: Path, ratings: Iterable[Rating]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    print(f"{files.write_lines(path, map(jsonl.dumps, ratings)):,} translations: {path}")


def _data(chosen: Path | None) -> Path:
    folder = chosen or os.environ.get("MATESE_DATA")
    if not folder:
        raise UsageError("MATESE_DATA is not set; set it to the folder of the raw files (see `data_prep download`)")
    if not Path(folder).is_dir():
        raise UsageError(f"folder {folder} does not exist; give the folder of the raw files (see `data_prep download`)")
    return Path(folder)


def _in_one_line(error: Exception) -> str:
    if isinstance(error, OSError) and error.filename is not None:
        return f"{error.filename}: {error.strerror}"
    return " ".join(str(error).split())


if __name__ == "__main__":
    sys.exit(main())
