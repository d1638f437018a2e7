"""Prompts of the user's own: a file in Jinja, filled in for each segment and sent as the user's message.

| field | what it is |
|---|---|
| `translation`, `source`, `reference` | the texts; the source or the reference may be absent |
| `source_language`, `target_language` | names such as "German"; absent if no language pair is stated |
| `before`, `after` | neighbours of the segment, with `source` and `translation` each |
| `terms` | required translations by term, of the terms in the source |
| `context`, `note`, `max_length` | columns of the table |
| `categories`, `severities` | names and definitions of the scheme |
| `answer` | the form of the answer, which must be in the prompt |

What is absent is empty. The filter `tojson` writes a text as a JSON string, which no text can close.
"""

from __future__ import annotations

import traceback
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from matese.errors import FormatError, near_miss, one_of
from matese.files import name_of
from matese.formats.weights_file import Scheme

if TYPE_CHECKING:
    from jinja2 import Template

FIELDS = (
    *("translation", "source", "reference", "source_language", "target_language", "before", "after", "terms"),
    *("context", "note", "max_length", "categories", "severities", "answer"),
)
_NEEDED = ("translation", "answer")


@dataclass(frozen=True, slots=True)
class OwnPrompt:
    """A prompt of the user's own.

    Attributes:
        name: of the file, in messages.
        text: of the file.
        template: what it is compiled to.
    """

    name: str
    text: str
    template: Template

    def fill(self, texts: Mapping[str, Any], scheme: Scheme, answer: str) -> str:
        """Returns the prompt of a segment.

        Args:
            texts: what is shown of it, by the names of fields.
            scheme: categories and severities.
            answer: the form of the answer.

        Raises:
            FormatError: if an expression of the prompt has no value.
        """
        severities = {severity.name: severity.definition for severity in scheme.severities}
        values = {**dict.fromkeys(FIELDS, ""), **texts, "categories": scheme.categories, "severities": severities}
        try:
            return self.template.render({**values, "answer": answer})
        except Exception as error:  # of many types: it is the user's code
            frames = traceback.extract_tb(error.__traceback__)
            line = next((frame.lineno for frame in reversed(frames) if frame.filename == "<template>"), None)
            raise FormatError(self.name, line, f"cannot be filled in ({error})") from None


def read(path: str | Path) -> OwnPrompt:
    """Returns the prompt of a file.

    Raises:
        FormatError: if it is not Jinja, names an unknown field, or lacks one that is needed.
    """
    from jinja2 import TemplateSyntaxError, meta
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    name = name_of(path)
    try:
        text = Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise FormatError(
            name, None, f"cannot be read ({error}): must be mqm, esa, or a file in Jinja, in UTF-8"
        ) from None
    environment = ImmutableSandboxedEnvironment(keep_trailing_newline=True)
    try:
        used = meta.find_undeclared_variables(environment.parse(text))
        template = environment.from_string(text)
    except TemplateSyntaxError as error:
        raise FormatError(name, error.lineno, f"not Jinja: {error.message}") from None
    for field in sorted(used - {*FIELDS}):
        line = next((number for number, row in enumerate(text.splitlines(), 1) if field in row), None)
        raise FormatError(name, line, f"unknown field {field!r}{near_miss(field, FIELDS)} must be {one_of(FIELDS)}")
    for field in _NEEDED:
        if field not in used:
            raise FormatError(name, None, f"lacks {{{{ {field} }}}}: a prompt must show {' and '.join(_NEEDED)}")
    return OwnPrompt(name, text, template)
