"""Explanations for readers and programs: shaded words, a page with heat maps, and JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from matese import mqm
from matese.annotation import Explanation, TextWeights
from matese.render import html_page, terminal
from matese.render.html_page import Page
from matese.render.labels import place_label, show
from matese.render.page_data import HYPOTHESIS, SOURCE, PageSegment, Translation

if TYPE_CHECKING:
    from rich.text import Text

LEVELS = (1.0, 1.75, 2.5, 4.0)
"""Weights from which a token has each shade: 1 is the mean of the absolute weights of a text."""
_STYLES = ("", "underline", "underline yellow", "bold underline yellow", "bold underline red")
_MOST_WORDS = 5
EXPLAINED = "shaded words lower the score: the darker, the more"


def level(weight: float) -> int:
    """Returns the shade of a token, 0 for none.

    >>> level(0.5), level(-3.0), level(2.6)
    (0, 0, 3)
    """
    return sum(weight >= least for least in LEVELS)


def draw(explanation: Explanation, *, width: int) -> Text:
    """Returns an explanation in lines of `width` cells: each text, shaded, and the words with the highest weights."""
    from rich.text import Text

    rating = explanation.rating
    segment = rating.segment
    place = show(place_label(segment, ("system", "document")))
    score = "" if rating.estimate is None else f"score {rating.estimate.value:.2f}"
    block = [Text.assemble((place, "bold"), "   " * bool(place), score, f"   {explanation.method}")]
    for weighted in explanation.texts:
        text = segment.hypothesis
        reference = weighted.reference
        if weighted.text != "hypothesis":
            text = (segment.source or "") if reference is None else segment.references[reference]
        shaded = Text()
        end = 0
        for (start, stop), weight in zip(weighted.ranges, weighted.weights, strict=True):
            shaded.append(show(text[end:start]))
            shaded.append(show(text[start:stop]), style=_STYLES[level(weight)])
            end = max(end, stop)
        shaded.append(show(text[end:]))
        label = {"hypothesis": "hyp", "source": "src", "reference": "ref"}[weighted.text]
        label += f" {reference + 1}" if reference is not None and len(segment.references) > 1 else ""
        lines = terminal.wrap(shaded, width - 9)
        ranked = sorted(zip(weighted.weights, weighted.ranges, strict=True), key=lambda token: (-token[0], token[1]))
        highest = [
            f"{show(text[start:end])} {weight:.1f}" for weight, (start, end) in ranked[:_MOST_WORDS] if weight > 0
        ]
        lines += [Text("  ".join(highest), "dim")] if highest else []
        for number, line in enumerate(lines):
            block.append(Text.assemble((f"  {label if number == 0 else '':<5}  ", "dim"), line))
    return Text("\n").join([*block, Text()])


def to_json(explanation: Explanation) -> dict[str, Any]:
    """Returns the method, and the tokens of each text with their weights; offsets count code points."""
    return {
        "method": explanation.method,
        "texts": [
            {
                "text": weighted.text,
                "reference": weighted.reference,
                "tokens": [
                    {"start": start, "end": end, "weight": weight}
                    for (start, end), weight in zip(weighted.ranges, weighted.weights, strict=True)
                ],
            }
            for weighted in explanation.texts
        ],
    }


def page(
    title: str, explanations: Sequence[Explanation], *, weights: mqm.Weights = mqm.MATESE, notes: Sequence[str] = ()
) -> str:
    """Returns a page with heat maps beside the model's own spans, as HTML; `notes` are lines below the heading."""
    segments = []
    for explanation in explanations:
        key = explanation.rating.segment.key
        heat = tuple(map(_heat, explanation.texts))
        segments.append(PageSegment((Translation((key and key.system) or "", explanation.rating, heat=heat),)))
    methods = ", ".join(dict.fromkeys(explanation.method for explanation in explanations))
    raters = ", ".join(dict.fromkeys(explanation.rating.rater or "" for explanation in explanations))
    facts = {"Explained by": methods}
    folded = {"Signatures": raters}
    return html_page.render(
        Page(title, facts, segments, weights, folded=folded, notes=[*notes, EXPLAINED], is_editable=False)
    )


def _heat(weighted: TextWeights) -> tuple[int, tuple[tuple[int, int, int], ...]]:
    """Returns the number of the text on a page, and its shaded ranges."""
    number = SOURCE if weighted.reference is None else weighted.reference
    if weighted.text == "hypothesis":
        number = HYPOTHESIS
    shaded = zip(weighted.ranges, weighted.weights, strict=True)
    return number, tuple((start, end, level(weight)) for (start, end), weight in shaded if level(weight))
