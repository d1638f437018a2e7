"""Ratings as one HTML page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import TextIO

from matese import mqm
from matese.annotation import Rating
from matese.errors import UsageError
from matese.tasks import rated, sinks
from matese.tasks.request import Checked, function, option, required
from matese.tasks.texts import check_stdin, require
from matese.tasks.values import File, Penalties, Text


@dataclass(frozen=True)
class Request(Checked):
    """Show ratings.

    Attributes:
        ratings: files of ratings, of one system or several.
        output: the page; - is standard output.
        summary: one page to print for a customer: a verdict, counts, the five worst segments, and what was checked by
            what.
        lang: language of the summary: en, de, es, fr or zh (default: en).
        title: heading of the page (default: names of the systems).
        weights: penalties of errors: matese, google, unbabel or no-omissions, or a YAML file (default: matese).
        lang_pair: language pair, such as en-de or english-german, for files that do not state it.
    """

    ratings: rated.AnyRatings = required(rated.RatingsOfSystems())
    _: KW_ONLY
    output: str | None = option(None, File())
    summary: bool = False
    lang: str | None = option(None, Text("CODE"))
    title: str | None = option(None, Text("TEXT"))
    weights: mqm.AnyWeights = option("matese", Penalties())
    lang_pair: str | None = option(None, Text("PAIR"))

    def __post_init__(self) -> None:
        super().__post_init__()
        require(self.summary or self.lang is None, "--lang is for --summary only")


def run(request: Request, stream: TextIO | None = None) -> str:
    """Returns ratings as one HTML page, which needs no other file and no network.

    The page is written to `output`, "-" for `stream`, if one is named.

    Raises:
        InputError: if a file cannot be read.
    """
    from matese.formats.file_endings import ENDINGS

    files = rated.files_of(request.ratings)
    check_stdin(files)
    if request.output is None:
        return _page(request)
    sinks.check_apart(request.output, files)
    sinks.format_of(request.output, "html", {**ENDINGS, **sinks.PAGE})
    with sinks.opened(request.output, stream) as output:
        page = _page(request)
        output.write(page)
    return page


report = function(Request, run)


def _page(request: Request) -> str:
    from matese.formats.format import ReadOptions
    from matese.render import report_page

    how = ReadOptions(lang_pair=request.lang_pair, naming="")
    systems = rated.systems(rated.as_systems(request.ratings), how, must_be_rated=False)
    if request.summary:
        return _summary(request, systems)
    return report_page.render(request.title or ", ".join(systems), systems, weights=mqm.find_weights(request.weights))


def _summary(request: Request, systems: Mapping[str, Sequence[Rating]]) -> str:
    from matese.render import summary_page

    if len(systems) > 1:
        raise UsageError(
            f"a summary of {len(systems)} systems ({', '.join(systems)}): must be one; use compare for several"
        )
    ((name, ratings),) = systems.items()
    weights = mqm.find_weights(request.weights)
    return summary_page.render(ratings, title=request.title or name, language=request.lang or "en", weights=weights)
