from __future__ import annotations

from pathlib import Path

import pytest

from tests.data_prep.raw_files import RAW


@pytest.fixture
def raw() -> Path:
    """The tables of MQM and of error spans, and their texts; no test changes them."""
    return RAW
