"""A plain loop over transformers: padded batches of 32 in the order of the texts, in float32."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from transformers import AutoModel, AutoTokenizer

from benchmarks.speed import texts
from benchmarks.speed.worker import Prepared

_BATCH, _N_TAGS, _LONGEST = 32, 5, 512


def prepare(entry: dict[str, Any]) -> Prepared:
    """Loads an encoder with a linear tag head."""
    torch.set_num_threads(entry["threads"])
    tokenizer: Any = AutoTokenizer.from_pretrained(entry["model"])
    encoder: Any = AutoModel.from_pretrained(entry["model"]).to(entry["device"]).eval()
    head = torch.nn.Linear(encoder.config.hidden_size, _N_TAGS).to(entry["device"])

    def run(limit: int | None) -> None:
        segments = list(texts.read(entry["texts"], limit))
        for start in range(0, len(segments), _BATCH):
            batch = segments[start : start + _BATCH]
            encoded = tokenizer(
                [segment["hypothesis"] for segment in batch],
                [segment["reference"] for segment in batch],
                padding=True,
                truncation=True,
                max_length=_LONGEST,
                return_offsets_mapping=True,
                return_tensors="pt",
            )
            offsets = encoded.pop("offset_mapping").tolist()
            with torch.inference_mode():
                states = encoder(**encoded.to(entry["device"])).last_hidden_state
                tags = head(states).argmax(-1).tolist()
            for own_tags, own_offsets in zip(tags, offsets, strict=True):
                spans(own_tags, own_offsets)

    return Prepared(run, sum(1 for _ in texts.read(entry["texts"])))


def spans(tags: Sequence[int], offsets: Sequence[Sequence[int]]) -> list[tuple[int, int, int]]:
    """Returns runs of tokens with the same tag as start, end and tag.

    >>> spans([0, 1, 1, 3], [(0, 2), (3, 4), (5, 6), (7, 9)])
    [(3, 6, 1), (7, 9, 3)]
    """
    found: list[tuple[int, int, int]] = []
    for number, (tag, (start, end)) in enumerate(zip(tags, offsets, strict=True)):
        if tag and number and tags[number - 1] == tag:
            found[-1] = (found[-1][0], end, tag)
        elif tag:
            found.append((start, end, tag))
    return found
