from __future__ import annotations

import base64
import hashlib
import json
import re

from matese import mqm
from matese.annotation import ErrorSpan, Rating, Segment, Severity
from matese.render import html_page
from matese.render.html_page import Chart, Page
from matese.render.page_data import PageSegment, Translation
from matese.render.tables import Table

HOSTILE = "</script><script>alert(1)</script><!-- & \u2028 '\" \ud800"
RATING = Rating(Segment(HOSTILE, HOSTILE, (HOSTILE,)), HOSTILE, (ErrorSpan(0, 3, Severity.MAJOR, HOSTILE),))


def page() -> str:
    return html_page.render(
        Page(
            title=HOSTILE,
            facts={HOSTILE: HOSTILE},
            segments=[PageSegment((Translation(HOSTILE, RATING),))],
            weights=mqm.MATESE,
            tables=[Table([HOSTILE], [[HOSTILE, HOSTILE]], HOSTILE)],
            charts=[Chart(HOSTILE, "<svg></svg>")],
            notes=[HOSTILE],
        )
    )


def test_texts_are_never_markup() -> None:
    text = page()
    assert text.count("<script") == text.count("</script>") == 2
    assert "<!--" not in text
    assert text.count("alert(1)") == text.count("alert(1)\\u003c") + text.count("alert(1)&lt;")


def test_page_of_the_server_asks_its_server_only() -> None:
    text = html_page.render_live(HOSTILE, {HOSTILE: HOSTILE})
    assert text.count("<script") == text.count("</script>") == 1
    assert text.count("alert(1)") == text.count("alert(1)&lt;")
    policy = re.findall(r'http-equiv="Content-Security-Policy" content="([^"]*)"', text)[0].replace("&#39;", "'")
    assert policy.startswith("default-src 'none'; ")
    assert policy.endswith("; base-uri 'none'; form-action 'none'; connect-src 'self'; img-src data:")
    assert set(re.findall(r"""(?:src|href)\s*=\s*"([^"]*)""", text)) == {"data:,", "docs"}


def test_data_come_back() -> None:
    (text,) = re.findall(r'<script type="application/json" id="data">(.*?)</script>', page(), re.DOTALL)
    assert "\u2028" not in text
    found = json.loads(text)
    assert found["systems"] == [HOSTILE]
    assert found["rows"][0]["translations"][0]["hypothesis"] == HOSTILE
    assert found["rows"][0]["translations"][0]["errors"] == [{"start": 0, "end": 3, "severity": 3, "category": HOSTILE}]


def test_page_asks_for_nothing_and_allows_itself_only() -> None:
    text = page()
    assert re.findall(r"""(?:src|(?<!\.)href)\s*=|url\(|@import|https?://""", text) == []
    policy = re.findall(r'http-equiv="Content-Security-Policy" content="([^"]*)"', text)[0].replace("&#39;", "'")
    assert policy.startswith("default-src 'none'; ")
    for name in ("script", "style"):
        (inside,) = re.findall(rf"<{name}>(.*?)</{name}>", text, re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(inside.encode()).digest()).decode()
        assert f"{name}-src 'sha256-{digest}'" in policy


def test_control_characters_are_shown_outside_the_data_too() -> None:
    page = html_page.render(
        Page("a\x1bb\x00", {"Ratings": "c\u202ed"}, [], mqm.MATESE, [Table(["", "e\x07"], [["f\x1b", "1"]], "t")])
    )
    assert not re.search("[\x00-\x08\x0b-\x1f\u202e]", page)
    assert "<title>a␛b␀</title>" in page
    assert page.count("<svg") == 0
