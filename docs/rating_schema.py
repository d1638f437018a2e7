"""The JSON Schema of our JSONL, which the package ships: after a change of the keys, run this module."""

from __future__ import annotations

import json
import re
from inspect import cleandoc
from pathlib import Path
from typing import Any

import msgspec

import matese.formats
from matese.annotation import Severity
from matese.formats.tables import jsonl_keys

_NEVER_NULL = ("references", "source_errors", "omissions", "unplaced", "text", "words")
"""Keys that may be null when they are read and never are when they are written."""


def schema() -> dict[str, Any]:
    """Returns the JSON Schema of the lines that are written: every key is required, except for some.

    These are `tokens`, `segment_name`, `votes` and `rule`, and `words` of an error without a place.

    Files of earlier versions are valid too: `deviation` is not required.
    """
    _, components = msgspec.json.schema_components([jsonl_keys.Line, jsonl_keys.Token], ref_template="#/$defs/{name}")
    text = re.sub(r"(#/\$defs/\w+?)Keys\b", r"\1", json.dumps(components))
    parts = {name.removesuffix("Keys"): _as_written(part) for name, part in json.loads(text).items()}
    line = parts.pop("Line")
    for name in ("tokens", "segment_name"):
        line["required"].remove(name)
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "Rating", **line, "$defs": parts}


def _as_written(part: dict[str, Any]) -> dict[str, Any]:
    """Returns the schema of what is written, given that of what can be read."""
    description = part["description"]
    written = {"description": description.partition("\n")[0]}
    if "properties" not in part:
        return written | {"enum": [severity.value for severity in Severity]}
    documented = _attribute_docs(description)
    properties = {}
    for name, property_ in part["properties"].items():
        described = {"description": documented[name]} if name in documented else {}
        properties[name] = described | {key: value for key, value in property_.items() if key != "default"}
        if name in _NEVER_NULL and "anyOf" in properties[name]:
            alternatives = properties[name].pop("anyOf")
            properties[name] |= next(one for one in alternatives if one != {"type": "null"})
    texts = {"rule", *([] if "start" in properties else ["words"])} & properties.keys()
    required = [name for name in properties if name not in ("votes", "deviation", *texts)]
    if "votes" in properties:  # which are written only where there are some
        properties["votes"] = {"description": documented["votes"], "$ref": "#/$defs/Votes"}
    for name in sorted(texts):
        properties[name] = {"description": documented[name], "type": "string"}
    keys = {"type": "object", "required": required, "properties": properties}
    is_line = "hypothesis" in properties  # which may have other columns
    return written | ({} if is_line else {"additionalProperties": False}) | keys


def _attribute_docs(docstring: str) -> dict[str, str]:
    """Returns the description of each attribute in the docstring of a class."""
    section = cleandoc(docstring).partition("Attributes:\n")[2]
    entries = re.findall(r"^    (\w+): (.+(?:\n {8}.+)*)", section, re.MULTILINE)
    return {name: " ".join(text.split()) for name, text in entries}


if __name__ == "__main__":
    path = Path(matese.formats.__file__).with_name("rating.schema.json")
    path.write_text(json.dumps(schema(), indent=2) + "\n", encoding="utf-8")
