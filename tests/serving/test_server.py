from __future__ import annotations

import asyncio
import gc
import weakref
from unittest.mock import MagicMock

import pytest

pytest.importorskip("uvicorn")

import uvicorn
from uvicorn.server import ServerState

from matese.serving import server
from matese.serving.limits import Limits


def test_closed_connections_are_not_kept_in_memory() -> None:
    async def connect() -> weakref.ref[asyncio.Protocol]:
        kind = server._connection(Limits(1, 1, 60))
        config = uvicorn.Config(MagicMock(), http=kind)
        config.load()
        protocol = kind(config, ServerState(), {})  # type: ignore[call-arg]  # uvicorn's, not asyncio's
        protocol.connection_made(MagicMock())
        protocol.connection_lost(None)
        return weakref.ref(protocol)

    async def closed() -> bool:
        reference = await connect()
        gc.collect()
        return reference() is None

    assert asyncio.run(closed())
