"""A rating as a piece of HTML, as notebooks show it. Uses nothing but the standard library, as the types do.

The line below a span and the name after it show its severity, so colour is not needed. Colours are translucent and
legible on light and on dark pages. Texts are escaped.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING

from matese import mqm
from matese.annotation import AnyError, ErrorSpan, Omission, Rating, severities
from matese.annotation.severity_looks import LOOKS
from matese.errors import counted
from matese.render.labels import marked_texts, show
from matese.text.ranges import covered_pieces

if TYPE_CHECKING:
    from matese.render.results import Tabular

_STYLES = {severity: f"background:{looks.colour}4d;border-bottom:{looks.line}" for severity, looks in LOOKS.items()}
"""A background of 30 % opacity, and the line."""
_RESULTS = (
    ("spans.evaluation", "Evaluation"),
    ("systems.agreement", "RaterAgreement"),
    ("systems.comparison", "SystemComparison"),
    ("metrics.meta_evaluation", "MetaEvaluation"),
    ("systems.gate", "GateResult"),
)
"""Modules and names of types that are shown as tables, once their modules are imported."""
_MISSING = "background:none;border:2px dashed"
"""Of words that the translation lacks."""
_MOST_SHOWN = 20
_TEXT = "white-space:pre-wrap;unicode-bidi:plaintext"


def install() -> None:
    """Gives the types of results the method that notebooks call; they stand below this room, and know of no HTML."""
    for module, name in _RESULTS:
        if (loaded := sys.modules.get(f"matese.evaluation.{module}")) is not None:
            getattr(loaded, name)._repr_html_ = _as_tables


def _as_tables(result: Tabular) -> str:
    from matese.render import results

    return results.tables(result, look="html")


def html(rating: Rating, *, has_rater: bool = True) -> str:
    """Returns the texts of a rating with its errors marked, in one `div`, and its scores with the weights `matese`."""
    rows = [(kind, _marked(text, spans)) for kind, text, spans in marked_texts(rating)]
    if rating.errors is None:
        rows.append(("errors", "not annotated"))
    else:
        rows.append(("score", f"{mqm.score(rating):g}"))
    if rating.unplaced:
        rows.append(("without a place", _escape(", ".join(map(_name, rating.unplaced)))))
    if rating.overall is not None:
        rows.append((f"overall ({rating.overall.scale})", f"{rating.overall.value:g}"))
    if rating.estimate is not None:
        is_expected = mqm.expected_score(rating) is not None
        name = "expected score" if is_expected else f"estimate ({rating.estimate.scale})"
        rows.append((name, f"{rating.estimate.value:g}"))
    if has_rater and rating.rater is not None:
        rows.append(("rater", _escape(rating.rater)))
    return f'<div style="line-height:1.7">{"".join(_row(name, text) for name, text in rows)}</div>'


def html_list(ratings: Sequence[Rating]) -> str:
    """Returns the first ratings as HTML, how many more there are, their mean score, and a rater that they share."""
    if not ratings:
        return "<div>no ratings</div>"
    raters = {rating.rater for rating in ratings}
    parts = [html(rating, has_rater=len(raters) > 1) for rating in ratings[:_MOST_SHOWN]]
    n_more = len(ratings) - _MOST_SHOWN
    rest = [f"<div>{n_more:,} more {'rating' if n_more == 1 else 'ratings'}</div>"] if n_more > 0 else []
    if len(ratings) > 1 and all(rating.errors is not None for rating in ratings):
        mean = mqm.corpus_score(map(mqm.score, ratings))
        rest.append(_row(f"mean score of {counted(len(ratings), 'rating')}", f"{mean:.4g}"))
    if len(raters) == 1 and (rater := ratings[0].rater) is not None:
        rest.append(_row("rater", _escape(rater)))
    return "<hr>".join([*parts, "".join(rest)] if rest else parts)


def _row(name: str, text: str) -> str:
    return f'<div style="{_TEXT}"><span style="opacity:.7;font-size:smaller">{name}</span> {text}</div>'


def _marked(text: str, spans: Sequence[ErrorSpan | Omission]) -> str:
    """Returns the text as HTML; where spans overlap, the worst is seen, and each is named at its end."""
    pieces = []
    for (start, end), covering in covered_pieces(text, spans):
        piece = _escape(text[start:end])
        if covering:
            worst = max(covering, key=lambda span: severities.rank(span.severity))
            style = _MISSING if isinstance(worst, Omission) else _STYLES[worst.severity]
            piece = f'<mark style="color:inherit;{style}">{piece}</mark>'
        pieces.append(piece)
        for span in (span for span in spans if span.end == end):
            sure = "" if span.confidence is None else f" {span.confidence:.0%}"
            pieces.append(f"<sub>{_escape(_name(span))}{sure}</sub>")
    return "".join(pieces)


def _name(error: AnyError) -> str:
    severity = severities.name(error.severity) + " missing" * isinstance(error, Omission)
    return severity if error.category is None else f"{severity} {error.category}"


def _escape(text: str) -> str:
    return escape("\n".join(map(show, text.split("\n"))))
