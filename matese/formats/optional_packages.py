"""Packages that only some formats need, and that an extra of the package installs."""

from __future__ import annotations

import importlib.util

from matese.errors import UsageError


def check(what: str, package: str, *, extra: str) -> None:
    """Raises a UsageError where a package of an extra is not installed."""
    if importlib.util.find_spec(package) is None:
        raise UsageError(f"{what} needs {package}; install it with pip install 'matese[{extra}]'")
