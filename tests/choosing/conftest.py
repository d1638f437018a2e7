from __future__ import annotations

import pytest
import torch


@pytest.fixture(autouse=True)
def _in_float32(monkeypatch: pytest.MonkeyPatch) -> None:
    """Makes float32 what "auto" means: in bf16, a score depends on the batch by about 0.01."""
    for name in ("_is_avx512_bf16_supported", "_is_amx_tile_supported"):
        monkeypatch.setattr(torch.cpu, name, lambda: False, raising=False)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
