"""What a class's docstring says about its attributes: one text for help, settings files and the reference."""

from __future__ import annotations

import inspect
import re


def attribute_docs(kind: type) -> dict[str, str]:
    """Returns the documentation of each attribute from the docstrings of a class and of those that it extends.

    >>> class Size:
    ...     '''How large something is.
    ...
    ...     Attributes:
    ...         width: in metres,
    ...             without the frame.
    ...     '''
    >>> attribute_docs(Size)
    {'width': 'in metres, without the frame.'}
    """
    documented: dict[str, str] = {}
    for parent in reversed(kind.__mro__):
        section = inspect.cleandoc(vars(parent).get("__doc__") or "").partition("Attributes:\n")[2]
        entries = re.findall(r"^    (\w+): (.+(?:\n {8}.+)*)", section, re.MULTILINE)
        documented |= {name: " ".join(text.split()) for name, text in entries}
    return documented
