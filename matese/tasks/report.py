"""Ratings as one HTML page."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from functools import partial
from typing import TextIO

from matese.annotation import Rating
from matese.checks import consistency
from matese.tasks import models, notices, rated, sinks, texts
from matese.tasks.request import function
from matese.tasks.texts import check_stdin, require
from matese.validation.options import File, option


@dataclass(frozen=True)
class Request(rated.RatedOrTexts):
    """Show ratings.

    Attributes:
        output: the page; - is standard output.
        summary: one page to print for a customer: a verdict, counts, the five worst segments, and what was checked by
            what; of several systems or languages, a table of them.
        lang: language of the summary: en, de, es, fr or zh (default: en).
        title: heading of the page (default: names of the systems).
    """

    _: KW_ONLY
    output: File | None = None
    summary: bool = False
    lang: str | None = option(None, metavar="CODE")
    title: str | None = option(None, metavar="TEXT")

    def __post_init__(self) -> None:
        super().__post_init__()
        require(self.summary or self.lang is None, "--lang is for --summary only")


class WrittenPage(str):
    """An HTML page; notebooks show its length."""

    __slots__ = ()

    def __repr__(self) -> str:
        """Returns its length, and how to write it."""
        return f"<HTML page of {len(self):,} characters; output=FILE writes it>"


def run(request: Request, stream: TextIO | None = None) -> WrittenPage:
    """Returns ratings as one HTML page, which needs no other file and no network; a model marks translations first.

    The page is written to `output`, "-" for `stream`, if one is named.

    Raises:
        InputError: if a file cannot be read.
    """
    from matese.formats.registry import ENDINGS

    files = request.files
    check_stdin(files)
    if request.output is None:
        require(stream is None, "no page: give --output FILE; - is standard output")
        return _page(request)
    sinks.check_apart(request.output, files)
    sinks.format_of(request.output, "html", {**ENDINGS, **sinks.PAGE})
    with sinks.opened(request.output, stream) as output:
        page = _page(request)
        output.write(page)
    return page


report = function(Request, run)


def _page(request: Request) -> WrittenPage:
    from matese.render import report_page, summary_page

    systems = _systems(request)
    title = request.title or ", ".join(systems)
    every = [rating for ratings in systems.values() for rating in ratings]
    notes = [*models.blind_spots(every), *consistency.sentences(rating.segment for rating in every)]
    if not request.summary:
        return WrittenPage(report_page.render(title, systems, weights=request.penalties, notes=notes))
    pairs = {rating.segment.key.lang_pair for rating in every if rating.segment.key is not None}
    is_single = len(systems) == 1 and len(pairs) < 2
    render = partial(summary_page.render, every) if is_single else partial(summary_page.render_several, systems)
    return WrittenPage(render(title=title, language=request.lang or "en", weights=request.penalties, notes=notes))


def _systems(request: Request) -> Mapping[str, Sequence[Rating]]:
    if not request.ratings:
        return rated.marked(request)
    options = replace(texts.read_options(request.texts), naming="")
    systems = rated.systems(rated.as_systems(request.ratings), options, must_be_rated=False)
    if not any(map(texts.is_rated, itertools.chain(*systems.values()))):
        notices.info("nothing is marked: RATINGS hold translations alone, which --input marks first")
    return systems
