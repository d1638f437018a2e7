"""The JSON Schemas that the package ships, of our JSONL and of results: after a change of keys, run this module."""

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
from matese.render import result_keys
from matese.validation.docstrings import attribute_docs

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


def schema_of_results() -> dict[str, Any]:
    """Returns the JSON Schema of what `matese gate --json` and `matese compare --json` write."""
    kinds = [result_keys.GateKeys, result_keys.ComparisonKeys]
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
    folder = Path(matese.formats.__file__).parent
    for stem, made in (("rating", schema()), ("results", schema_of_results())):
        (folder / f"{stem}.schema.json").write_text(json.dumps(made, indent=2) + "\n", encoding="utf-8")
