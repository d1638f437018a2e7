"""The command line: parse, call, print."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn, get_args

import data_prep
from data_prep.assembly import Merge
from data_prep.download import BASE_URL, SOURCES
from data_prep.splits import COMMITTED


class _Parser(argparse.ArgumentParser):
    """Says what is wrong in one line."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: {message}\n")


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs a command and returns its exit code: 0, 1 for a check that fails, 2 for input that cannot be used."""
    options = _parser().parse_args(arguments)
    try:
        code: int = options.run(options)
    except (ValueError, OSError) as error:
        sys.stderr.write(f"data_prep {options.command}: {_in_one_line(error)}\n")
        return 2
    except KeyboardInterrupt:
        return 130
    return code


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(prog="python -m data_prep", description=data_prep.__doc__)
    commands = parser.add_subparsers(dest="command", required=True, parser_class=_Parser)
    prepare = commands.add_parser("prepare", help="raw ratings to JSONL splits")
    prepare.add_argument("--data", type=Path, help="folder of the raw files; default: $MATESE_DATA")
    prepare.add_argument("--output", type=Path, required=True, help="folder to write")
    prepare.add_argument("--lang-pairs", nargs="+", default=(), metavar="PAIR", help="only these language pairs")
    prepare.add_argument("--test-sets", nargs="+", default=(), metavar="SET", help="only these test sets")
    prepare.add_argument("--merge", choices=get_args(Merge), default="union", help="how the raters become one")
    prepare.add_argument("--seed", type=int, default=0, help="of the merging and of drawn splits; default: 0")
    prepare.add_argument(
        "--splits",
        type=int,
        metavar="N",
        help="draw N 90/10 splits; default: the one split of a list of held-out texts",
    )
    prepare.add_argument(
        "--held-out", type=Path, default=COMMITTED, metavar="FILE", help="that list; default: %(default)s"
    )
    prepare.set_defaults(run=_prepare)
    labels = commands.add_parser("labels", help="biomedical MQM and WMT24 ESA to JSONL")
    labels.add_argument("--data", type=Path, help="folder of the raw files; default: $MATESE_DATA")
    labels.add_argument("--output", type=Path, required=True, help="folder to write")
    labels.set_defaults(run=_labels)
    check = commands.add_parser("check", help="our figures beside the published ones")
    check.add_argument("--data", type=Path, help="folder of the raw files; default: $MATESE_DATA")
    check.set_defaults(run=_check)
    download = commands.add_parser("download", help="the raw files from their public homes")
    download.add_argument("--output", type=Path, required=True, help="folder to write; then `prepare --data` of it")
    download.add_argument("--from", dest="copies", type=Path, metavar="DIR", help="take local copies")
    download.add_argument(
        "--base-url", default=BASE_URL, help="where the repositories are served; default: %(default)s"
    )
    download.add_argument(
        "--sources", type=Path, default=SOURCES, metavar="FILE", help="the list; default: %(default)s"
    )
    download.set_defaults(run=_download)
    _add_consensus(commands.add_parser("consensus", help="what the systems of WMT agree upon, for pretraining"))
    graded = commands.add_parser("graded", help="translations graded as a whole: WMT25 by judges, MLQE-PE by people")
    graded.add_argument("--data", type=Path, help="folder of the raw files; default: $MATESE_DATA")
    graded.add_argument("--output", type=Path, required=True, help="folder to write judged.jsonl and assessed.jsonl")
    graded.set_defaults(run=_graded)
    _add_synthesise(commands.add_parser("synthesise", help="ratings with injected errors, for training"))
    return parser


def _add_consensus(consensus: argparse.ArgumentParser) -> None:
    consensus.add_argument("--data", type=Path, help="folder of the raw files; default: $MATESE_DATA")
    consensus.add_argument("--output", type=Path, required=True, help="file to write")
    consensus.add_argument(
        "--lang-pairs", nargs="+", metavar="PAIR", help="such as bn-hi; default: all between languages of the model"
    )
    consensus.add_argument(
        "--human", action="store_true", help="the references, as free of errors, beside systems' translations"
    )
    consensus.add_argument("--sources", type=int, default=900, help="of each test set and pair; default: %(default)s")
    consensus.add_argument("--most", type=int, default=5, help="translations of a source; default: %(default)s")
    consensus.add_argument("--seed", type=int, default=0, help="of the draws; default: 0")
    consensus.set_defaults(run=_consensus)


def _add_synthesise(synthesise: argparse.ArgumentParser) -> None:
    synthesise.add_argument("inputs", nargs="+", type=Path, metavar="IN", help="human ratings as JSONL")
    synthesise.add_argument("--output", type=Path, required=True, help="file to write")
    synthesise.add_argument("--share", type=float, default=0.35, help="of the ratings that get errors; default: 0.35")
    synthesise.add_argument(
        "--copies", type=float, default=0.04, help="of the ratings that become an error-free copy; default: 0.04"
    )
    synthesise.add_argument("--seed", type=int, default=0, help="of all that is drawn; default: 0")
    synthesise.set_defaults(run=_synthesise)


def _prepare(options: argparse.Namespace) -> int:
    from rich.console import Console

    from data_prep.prepare import Options, prepare

    console = Console()
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
    with Console(stderr=True).status("") as status:
        report = prepare(wanted, status.update)
    report.show(console)
    return 0


def _labels(options: argparse.Namespace) -> int:
    from rich.console import Console

    from data_prep import more_labels

    with Console(stderr=True).status("") as status:
        labels = more_labels.write(_data(options.data), options.output, status.update)
    labels.show(Console())
    return 0


def _check(options: argparse.Namespace) -> int:
    from rich.console import Console

    from data_prep import check_wmt19
    from data_prep.check import check
    from data_prep.splits import committed
    from data_prep.store import Store

    data = _data(options.data)
    with Console(stderr=True).status("") as status:
        is_right = check(Store(data), committed(), Console(), status.update)
        status.update("correlating the metrics of WMT19")
        is_right &= check_wmt19.check(Store(data), Console())
    return 0 if is_right else 1


def _download(options: argparse.Namespace) -> int:
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn

    from data_prep.download import fetch, read_sources

    sources = read_sources(options.sources)
    done, n_fetched = 0, 0
    columns = TextColumn("{task.description}"), BarColumn(), DownloadColumn()
    with Progress(*columns, console=Console(stderr=True)) as bar:
        task = bar.add_task("", total=sum(source.bytes for source in sources))
        for source in sources:
            bar.update(task, description=source.file)
            n_fetched += fetch(
                source,
                options.output,
                copies=options.copies,
                base_url=options.base_url,
                advance=lambda n_bytes: bar.advance(task, n_bytes),
            )
            # A file that was there, or came compressed, has not advanced by its size.
            done += source.bytes
            bar.update(task, completed=done)
    Console().print(f"{n_fetched} files fetched, {len(sources) - n_fetched} were there: {options.output}")
    return 0


def _consensus(options: argparse.Namespace) -> int:
    from rich.console import Console

    from data_prep import consensus, writing
    from data_prep.store import Store

    wanted = consensus.Options(
        lang_pairs=tuple(options.lang_pairs) if options.lang_pairs else None,
        n_sources=options.sources,
        most=options.most,
        seed=options.seed,
        human=options.human,
    )
    with Console(stderr=True).status("") as status:
        made = consensus.build(Store(_data(options.data)), wanted, status.update)
        n_written = writing.write(options.output, made)
    Console().print(f"{n_written:,} translations: {options.output}")
    return 0


def _graded(options: argparse.Namespace) -> int:
    from rich.console import Console

    from data_prep import graded, writing
    from data_prep.store import Store

    store = Store(_data(options.data))
    for name, ratings in (("judged", graded.judged(store)), ("assessed", graded.assessed(store))):
        path = options.output / f"{name}.jsonl"
        Console().print(f"{writing.write(path, ratings):,} translations: {path}")
    return 0


def _synthesise(options: argparse.Namespace) -> int:
    from rich.console import Console

    from data_prep.synthesis import Options, synthesise

    wanted = Options(tuple(options.inputs), options.output, options.share, options.copies, options.seed)
    with Console(stderr=True).status("") as status:
        counts = synthesise(wanted, status.update)
    for name in sorted(counts):
        Console().print(f"{counts[name]:7,} {name}", highlight=False)
    return 0


def _data(given: Path | None) -> Path:
    folder = given or os.environ.get("MATESE_DATA")
    if not folder:
        raise ValueError("MATESE_DATA is not set: must name the folder of the raw files (see `data_prep download`)")
    if not Path(folder).is_dir():
        raise NotADirectoryError(f"{folder}: no such folder: must hold the raw files (see `data_prep download`)")
    return Path(folder)


def _in_one_line(error: Exception) -> str:
    if isinstance(error, OSError) and error.filename is not None:
        return f"{error.filename}: {error.strerror}"
    return " ".join(str(error).split())


if __name__ == "__main__":
    sys.exit(main())
