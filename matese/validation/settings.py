"""Settings in YAML as validated types; an error names file and line.

`extends: other.yaml` at the top of a file takes all values of the other file (found beside this one) that this file
does not set; nested settings are merged.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from matese.errors import FormatError
from matese.files import name_of, read_lines
from matese.validation import plain_values

if TYPE_CHECKING:
    import yaml

T = TypeVar("T")
_EXTENDS = "extends"
_EXPONENT = re.compile(r"[-+]?\d+(\.\d*)?[eE][-+]?\d+")
"""YAML 1.1 reads 1e-5 as a string; here it is a number."""
_MOST_VALUES = 100_000


@dataclass(frozen=True)
class _Node:
    """A value and where it is written.

    Attributes:
        value: a plain value, a list of nodes, or a dict of nodes.
        path: the file, or the option that set the value.
        line: of the value or its key, counted from 1; None for an option.
    """

    value: Any
    path: str
    line: int | None

    def error(self, problem: str) -> FormatError:
        return FormatError(self.path, self.line, problem)

    def plain(self) -> Any:  # noqa: ANN401  (what YAML holds)
        if isinstance(self.value, dict):
            return {key: node.plain() for key, node in self.value.items()}
        return [node.plain() for node in self.value] if isinstance(self.value, list) else self.value

    def at(self, place: plain_values.Place) -> _Node:
        """Returns the innermost node on the way to a place."""
        node = self
        for step in place:
            try:
                node = node.value[step]
            except (KeyError, IndexError, TypeError):
                break
        return node

    def merged(self, other: _Node) -> _Node:
        """Returns the node with another's values in place of its own."""
        if not (isinstance(self.value, dict) and isinstance(other.value, dict)):
            return other
        values = {**self.value, **other.value}
        for key in self.value.keys() & other.value.keys():
            values[key] = self.value[key].merged(other.value[key])
        return _Node(values, other.path, other.line)


def read(
    path: str | Path,
    kind: type[T],
    *,
    overrides: Sequence[tuple[str, str]] = (),
    defaults: Callable[[Mapping[str, object]], Mapping[str, object]] = lambda _: {},
) -> T:
    """Returns the settings of a YAML file; what the file leaves out has its default.

    Args:
        path: the file.
        kind: a frozen dataclass or msgspec struct; its fields may be such types, too.
        overrides: pairs of a dotted key and a YAML value, as `--set` gives them; they replace values of the file.
        defaults: returns values for what neither the file nor an override sets, from what they set.

    Raises:
        FormatError: if the file is not YAML, a key is unknown, missing or given twice, or a value is not allowed.
    """
    return parse("\n".join(read_lines(path)), kind, path=path, overrides=overrides, defaults=defaults)


def parse(
    text: str,
    kind: type[T],
    *,
    path: str | Path,
    overrides: Sequence[tuple[str, str]] = (),
    defaults: Callable[[Mapping[str, object]], Mapping[str, object]] = lambda _: {},
) -> T:
    """Returns the settings of a YAML text, as `read` does; `path` is its name in messages."""
    root = _load(text, name_of(path), (str(path),))
    for key, value in overrides:
        root = root.merged(_override(key, value))
    root = _plain_node(defaults(root.plain()), root.path).merged(root)
    plain = root.plain()
    try:
        plain_values.check_keys(plain, kind)
        return plain_values.convert(plain, kind)
    except plain_values.InvalidValueError as error:
        raise root.at(error.place).error(error.problem) from None


def _override(key: str, value: str) -> _Node:
    node = _compose(value, name := f"--set {key}={value}", None)
    for part in reversed(key.split(".")):
        node = _Node({part: node}, name, None)
    return node


def _plain_node(value: object, path: str) -> _Node:
    """Returns a plain value as a node."""
    if isinstance(value, Mapping):
        return _Node({key: _plain_node(inner, path) for key, inner in value.items()}, path, None)
    return _Node([_plain_node(inner, path) for inner in value] if isinstance(value, list) else value, path, None)


def _load(text: str, path: str, including: tuple[str, ...]) -> _Node:
    """Returns what a text holds together with the files that it extends; `including` are the files before it."""
    root = _compose(text, path)
    if not isinstance(root.value, dict):
        raise root.error(f"{root.plain()!r} is not a mapping: must be lines of 'key: value'")
    if _EXTENDS not in root.value:
        return root
    extends = root.value.pop(_EXTENDS)
    if not isinstance(extends.value, str):
        raise extends.error(f"extends is {extends.plain()!r}: must be the path of a YAML file")
    base = str(Path(path).parent / extends.value)
    if base in including:
        raise extends.error(f"extends {extends.value!r}, which extends this file: must not form a circle")
    try:
        inherited = "\n".join(read_lines(base))
    except FileNotFoundError:
        raise extends.error(f"extends {extends.value!r}: no such file, must be beside this one") from None
    return _load(inherited, base, (*including, base)).merged(root)


def _compose(text: str, path: str, line: int | None = 1) -> _Node:
    import yaml

    try:
        node = compose(text)
        if node is not None:
            return _node(node, _Node(None, path, line))
    except yaml.YAMLError as error:
        mark = None
        reason = str(error).splitlines()[0]
        if isinstance(error, yaml.MarkedYAMLError):
            mark = error.problem_mark or error.context_mark
            reason = error.problem or error.context or reason
        line = None if mark is None or line is None else mark.line + 1
        raise FormatError(path, line, f"not YAML ({reason}): must be 'key: value' lines") from None
    except RecursionError:
        raise FormatError(path, None, "is nested too deeply, or in itself") from None
    raise FormatError(path, None, "is empty: must be lines of 'key: value'")


def compose(text: str) -> yaml.Node | None:
    """Returns what the YAML parser finds; None for an empty text.

    Raises:
        yaml.YAMLError: if it is not YAML, or aliases of aliases make far more of it than is written.
        RecursionError: if it is nested too deeply.
    """
    import yaml

    node = yaml.compose(text, Loader=yaml.SafeLoader)
    if node is not None and _size(node, {}) > _MOST_VALUES:
        raise yaml.YAMLError(f"more than {_MOST_VALUES:,} values")
    return node


def _size(node: yaml.Node, sizes: dict[int, int]) -> int:
    """Returns the number of values in a node, with those of aliases each time; a node within itself counts once."""
    if id(node) not in sizes:
        sizes[id(node)] = 0
        parts = node.value if isinstance(node.value, list) else []
        flat = [part for child in parts for part in (child if isinstance(child, tuple) else (child,))]
        sizes[id(node)] = 1 + sum(_size(part, sizes) for part in flat)
    return sizes[id(node)]


def _node(node: yaml.Node, parent: _Node, line: int | None = None) -> _Node:
    """Returns what the YAML parser found; `line` is that of the key, if there is one."""
    import yaml

    place = _Node(None, parent.path, parent.line and (line or node.start_mark.line + 1))
    value: Mapping[str, _Node] | Sequence[_Node] | object
    if isinstance(node, yaml.MappingNode):
        value = _entries(node, place)
    elif isinstance(node, yaml.SequenceNode):
        value = [_node(item, place) for item in node.value]
    elif isinstance(node, yaml.ScalarNode) and node.style is None and _EXPONENT.fullmatch(node.value):
        value = float(node.value)
    else:
        try:
            value = yaml.SafeLoader("").construct_object(node)
        # A tag such as !!python/name, the date 2020-13-45, !!bool x, !!timestamp x.
        except (yaml.YAMLError, ValueError, KeyError, AttributeError):
            raise place.error(
                f"{node.value!r} is not a plain value: must be a number, string, list or mapping"
            ) from None
    return _Node(value, place.path, place.line)


def _entries(mapping: yaml.MappingNode, place: _Node) -> dict[str, _Node]:
    entries: dict[str, _Node] = {}
    for key_node, value_node in mapping.value:
        line = key_node.start_mark.line + 1
        key = _Node(key_node.value, place.path, place.line and line)
        if not isinstance(key.value, str):
            raise key.error("a key is a list or mapping: must be a string")
        if key.value in entries:
            raise key.error(f"key {key.value!r} is set twice, first in line {entries[key.value].line}; set it once")
        entries[key.value] = _node(value_node, place, line)
    return entries
