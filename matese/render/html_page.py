"""HTML pages: one file that needs nothing else, with its data inside as JSON.

Data never become markup: `<`, `>` and `&` are escaped in the JSON, and the script makes text nodes from it. The page of
`matese serve` has the same parts and asks its server for ratings. A Content-Security-Policy allows a page its own
script and style by their hashes, the server's page its server, and nothing else.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from matese import mqm
from matese.annotation import Severity, severities
from matese.annotation.severity_looks import LOOKS
from matese.render import page_data
from matese.render.labels import show
from matese.render.page_data import PageSegment, Saving
from matese.render.tables import Table
from matese.version import __version__

if TYPE_CHECKING:
    from jinja2 import Environment

_MADE_BY = f"matese {__version__}"
CATEGORIES = (
    *(f"Accuracy/{name}" for name in ("Mistranslation", "Addition", "Omission", "Untranslated text")),
    *(f"Fluency/{name}" for name in ("Grammar", "Spelling", "Punctuation", "Register")),
    *("Terminology", "Style", "Locale convention", "Other"),
)
"""Categories of MQM that an editor suggests, beside those of the page."""
_OF_SERVER = "; connect-src 'self'; img-src data:"
"""What a page may load that has a server."""
_TEMPLATES = Path(__file__).parent / "pages"


@dataclass(frozen=True, slots=True)
class Chart:
    """A chart above the segments; its legend has classes of colours and what they stand for."""

    caption: str
    svg: str
    legend: Sequence[tuple[str, str]] = ()


@dataclass(frozen=True, slots=True)
class Page:
    """The contents of a page from top to bottom.

    Attributes:
        folded: facts that are shown on demand.
        is_editable: whether readers can correct the marks.
        saving: where the server of the page saves their ratings; None for a page without a server.
    """

    title: str
    facts: Mapping[str, str]
    segments: Sequence[PageSegment]
    weights: mqm.Weights
    tables: Sequence[Table] = ()
    charts: Sequence[Chart] = ()
    notes: Sequence[str] = ()
    verdict: Sequence[str] = ()
    folded: Mapping[str, str] = field(default_factory=dict)
    is_editable: bool = True
    saving: Saving | None = None


def render(page: Page) -> str:
    """Returns a page as HTML."""
    from markupsafe import Markup

    return _render(
        "page.html",
        (
            *("list.js", "segments.js", "details.js", "controls.js"),
            *(("reviews.js", "editor.js") if page.is_editable else ()),
            "start.js",
        ),
        _OF_SERVER if page.saving else "",
        title=page.title,
        facts=page.facts,
        notes=page.notes,
        verdict=page.verdict,
        folded=page.folded,
        page=page,
        categories="|".join(CATEGORIES),
        severity_keys={key: severities.name(severity) for key, severity in _severity_keys()},
        charts=[(chart, Markup(chart.svg)) for chart in page.charts],
        data=Markup(page_data.dumps(page.segments, page.weights, page.saving)),
    )


def render_live(title: str, facts: Mapping[str, str]) -> str:
    """Returns the page that asks its server for the errors of the texts typed into it."""
    scripts = ("segments.js", "details.js", "live.js")
    return _render("live.html", scripts, _OF_SERVER, title=title, facts=facts, notes=(), verdict=(), folded={})


def render_plain(template: str, own_style: str, **values: object) -> str:
    """Returns a page without a script, for print; its texts stand in the page itself."""
    from markupsafe import Markup

    style = _severity_style() + own_style
    policy = f"default-src 'none'; style-src '{_hash(style)}'; base-uri 'none'; form-action 'none'"
    values |= {"style": Markup(style), "made_by": _MADE_BY, "policy": policy}
    return _environment().get_template(template).render(values)


def render_api_reference() -> str:
    """Returns the page that describes the server's interface, by Swagger UI, which the server must have beside it."""
    script = '"use strict";\nSwaggerUIBundle({ url: "openapi.json", dom_id: "#swagger", validatorUrl: null });\n'
    policy = f"default-src 'self'; script-src 'self' '{_hash(script)}'; style-src 'self' 'unsafe-inline'; img-src data:"
    return (_TEMPLATES / "api_reference.html").read_text(encoding="utf-8").format(policy=policy, script=script)


def _render(template: str, scripts: Sequence[str], policy: str = "", **values: object) -> str:
    """Returns a page of a template with its style and scripts; `policy` is what else it may load."""
    from markupsafe import Markup

    script = "".join([_script_head(), *((_TEMPLATES / name).read_text(encoding="utf-8") for name in scripts)])
    style = _severity_style() + (_TEMPLATES / "page.css").read_text(encoding="utf-8")
    strict = f"default-src 'none'; script-src '{_hash(script)}'; style-src '{_hash(style)}'"
    values |= {"script": Markup(script), "style": Markup(style)}
    values |= {"made_by": _MADE_BY, "policy": f"{strict}; base-uri 'none'; form-action 'none'{policy}"}
    return _environment().get_template(template).render(values)


def _environment() -> Environment:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    return Environment(
        loader=FileSystemLoader(_TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=lambda value: show(value) if type(value) is str else value,  # markup stays
        trim_blocks=True,
        lstrip_blocks=True,
    )


def _script_head() -> str:
    """Returns the first lines of a script: the names of severities by their ranks, and the ranks by their keys."""
    names = [severities.name(severity) for severity in severities.EVERY]
    ranks = [(key, severities.rank(severity)) for key, severity in _severity_keys()]
    return f'"use strict";\nconst SEVERITIES = {json.dumps(names)};\nconst SEVERITY_KEYS = {json.dumps(ranks)};\n'


def _severity_keys() -> list[tuple[str, Severity]]:
    """Returns the keys for severities in their order on a keyboard, where 0 is the last digit, with what they mean."""
    keys = [(key, severity) for severity in Severity if (key := LOOKS[severity].key) is not None]
    return sorted(keys, key=lambda pair: (pair[0] == "0", pair[0]))


def _severity_style() -> str:
    """Returns the looks of severities: variables for the whole page, and a class for each."""
    variables = []
    classes = []
    for severity, looks in LOOKS.items():
        name = severities.name(severity)
        variables.append(f"--{name}: light-dark({', '.join(looks.fill)});")
        variables.append(f"--{name}-line: light-dark({', '.join(looks.ink)});")
        style = f"--fill: var(--{name}); --stroke: var(--{name}-line); --underline: {looks.line};"
        classes.append(f".{name} {{ {style} }}\n")
    return f":root {{ {' '.join(variables)} }}\n{''.join(classes)}"


def _hash(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"
