"""The JSON Schemas that the package ships, of our JSONL and of results: after a change of keys, run this module."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import msgspec

import matese.annotation
import matese.formats
from matese.annotation import Rating, Segment, SegmentKey, Severity
from matese.formats.tables import jsonl_keys
from matese.render import result_keys
from matese.validation.options import attribute_docs

_NEVER_NULL = ("references", "source_errors", "omissions", "unplaced")
"""Lists that may be null when they are read and never are when they are written."""
_NOT_IN_EARLIER_VERSIONS = ("deviation",)
_LINE = "A line of the JSONL of matese: how one rater, human or model, judged one translated segment."
_OF_LINE = {
    "score": "MQM score of the errors; null where `errors` is null.",
    "expected_score": "value of the estimate, where it is an MQM score or a COMET model's own score.",
    "segment_name": 'what the file that the segment comes from calls it, such as "unit title" or "id 17"; only where '
    "that says more than the index.",
    "tokens": "only on request: the model's scores of each token.",
}
_CHARACTERS = "the characters from `start` to `end`."


def schema() -> dict[str, Any]:
    """Returns the JSON Schema of the lines that are written: keys are required if they are written without a value."""
    _, parts = msgspec.json.schema_components([jsonl_keys.Line, jsonl_keys.Token], ref_template="#/$defs/{name}")
    written = {name: _as_written(part) for name, part in parts.items()}
    line = written.pop("Line")
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "Rating", **line, "$defs": written}


def schema_of_results() -> dict[str, Any]:
    """Returns the JSON Schema of what `matese gate --json` and `matese compare --json` write."""
    kinds = [result_keys.GateKeys, result_keys.GatesKeys, result_keys.ComparisonKeys]
    references, components = msgspec.json.schema_components(kinds, ref_template="#/$defs/{name}")
    for part in components.values():
        documented = attribute_docs(getattr(result_keys, part["title"]))
        part["description"] = part["description"].partition("\n")[0]
        part["title"] = part["title"].removesuffix("Keys")
        for key, property_ in part["properties"].items():
            property_["description"] = documented[key]
    title = "Result of matese gate or matese compare"
    head = {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": title}
    text = re.sub(r"(#/\$defs/\w+?)Keys\b", r"\1", json.dumps({"anyOf": list(references), "$defs": components}))
    whole = json.loads(text)
    return {**head, **whole, "$defs": {key.removesuffix("Keys"): part for key, part in whole["$defs"].items()}}


def _as_written(part: dict[str, Any]) -> dict[str, Any]:
    """Returns the schema of what is written, given that of what can be read."""
    title = part["title"]
    if "properties" not in part:
        first_line = (Severity.__doc__ or "").partition("\n")[0]
        return {"description": first_line, "enum": [severity.value for severity in Severity]}
    if title == "Line":
        description = _LINE
        documented = {**_documented(SegmentKey), **_documented(Segment), **_documented(Rating), **_OF_LINE}
    else:
        kind = getattr(jsonl_keys if title == "Token" else matese.annotation, title)
        description = kind.__doc__.partition("\n")[0]
        documented = dict.fromkeys(jsonl_keys.CHARACTERS.values(), _CHARACTERS) | _documented(kind)
    properties = {}
    for name, property_ in part["properties"].items():
        described = {"description": documented[name]} if name in documented else {}
        properties[name] = described | {key: value for key, value in property_.items() if key != "default"}
        is_characters = name in jsonl_keys.CHARACTERS.values() and "start" in part["properties"]
        if "default" in property_ or name in _NEVER_NULL or is_characters:
            alternatives = properties[name].pop("anyOf", [{}])
            properties[name] |= alternatives[0]
    required = [name for name, property_ in part["properties"].items() if "default" not in property_]
    is_open = title == "Line"  # which may have other columns
    written = {"description": description} | ({} if is_open else {"additionalProperties": False})
    return written | {
        "type": "object",
        "required": [name for name in required if name not in _NOT_IN_EARLIER_VERSIONS],
        "properties": properties,
    }


def _documented(kind: type) -> dict[str, str]:
    """Returns the description of each field in the terms of JSON."""
    texts = attribute_docs(kind).items()
    return {name: re.sub(r"\bNone\b", "null", text).replace("`()`", "`[]`") for name, text in texts}


if __name__ == "__main__":
    folder = Path(matese.formats.__file__).parent
    for stem, made in (("rating", schema()), ("results", schema_of_results())):
        (folder / f"{stem}.schema.json").write_text(json.dumps(made, indent=2) + "\n", encoding="utf-8")
