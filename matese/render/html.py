"""Ratings as a page: one HTML file that needs nothing else, opened from disk, with its data inside as JSON.

What stands in the data is never markup: JSON whose `<`, `>` and `&` are escaped, from which the script makes text
nodes. The page of `matese serve` has the same parts and asks its server for the ratings. A Content-Security-Policy
allows a page its own script and style by their hashes, the server's page its server, and nothing else.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from matese import mqm
from matese.render import rows
from matese.render.rows import Row
from matese.render.visible import show

_PAGES = Path(__file__).parent / "pages"
# U+2028 and U+2029 end a line in older readers of scripts.
_UNSAFE = {ord(character): f"\\u{ord(character):04x}" for character in "<>&\u2028\u2029"}


@dataclass(frozen=True, slots=True)
class Table:
    """A table above the segments; the first column holds names."""

    caption: str
    header: Sequence[str]
    rows: Sequence[Sequence[str]]


@dataclass(frozen=True, slots=True)
class Chart:
    """A picture above the segments: what it shows, and its SVG."""

    caption: str
    svg: str


@dataclass(frozen=True, slots=True)
class Page:
    """What a page holds.

    Attributes:
        title: its heading.
        facts: names and values beneath: the files, the weights, signatures.
        rows: the segments, in order.
        weights: what their scores count by.
        tables: above the segments.
        charts: beside the tables.
        notes: lines beneath the facts, such as how many segments were left out.
        made_by: the program and its version, for the foot.
    """

    title: str
    facts: Mapping[str, str]
    rows: Sequence[Row]
    weights: mqm.Weights
    tables: Sequence[Table] = ()
    charts: Sequence[Chart] = ()
    notes: Sequence[str] = ()
    made_by: str = "matese"


def dumps(page: Page) -> str:
    """Returns the whole page."""
    from markupsafe import Markup

    return _render(
        "page.html",
        ("list.js", "segments.js", "details.js", "controls.js"),
        title=page.title,
        facts=page.facts,
        notes=page.notes,
        made_by=page.made_by,
        page=page,
        charts=[(chart.caption, Markup(chart.svg)) for chart in page.charts],
        data=Markup(data(page)),
    )


def live(title: str, facts: Mapping[str, str], made_by: str) -> str:
    """Returns the page that asks the server it comes from for the errors of what one types into it."""
    policy = "; connect-src 'self'; img-src data:"
    return _render(
        "live.html",
        ("segments.js", "details.js", "live.js"),
        policy,
        title=title,
        facts=facts,
        notes=(),
        made_by=made_by,
    )


def _render(template: str, scripts: Sequence[str], policy: str = "", **values: object) -> str:
    """Returns a page of a template, with its style and scripts; `policy` is what it may do beside using these."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined
    from markupsafe import Markup

    environment = Environment(
        loader=FileSystemLoader(_PAGES),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_visible,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    script = "".join(['"use strict";\n', *((_PAGES / name).read_text(encoding="utf-8") for name in scripts)])
    style = (_PAGES / "page.css").read_text(encoding="utf-8")
    own = f"default-src 'none'; script-src '{_hash(script)}'; style-src '{_hash(style)}'; base-uri 'none'"
    return environment.get_template(template).render(
        **values, script=Markup(script), style=Markup(style), policy=own + policy
    )


def _visible(value: object) -> object:
    """Returns what stands for a value on a page: a text shows its control characters; what is markup stays."""
    return show(value) if type(value) is str else value


def data(page: Page) -> str:
    """Returns the page's data as JSON that may stand within a `script` element."""
    systems = list(dict.fromkeys(one.system for row in page.rows for one in row.translations))
    whole = {
        "systems": systems,
        "rows": [rows.to_json(row, systems, weights=page.weights) for row in page.rows],
    }
    text = json.dumps(whole, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.translate(_UNSAFE)


def _hash(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"
