from __future__ import annotations

import json
import random
from typing import Any

import numpy as np
import pytest
import transformers
from hypothesis import given, settings
from hypothesis import strategies as st

from matese.annotation import Segment, SegmentKey
from matese.model.texts import encoding
from matese.model.texts.encoding import InputKind, TextEncoder, Tokens
from tests.conftest import make_tokenizer

ENCODER = TextEncoder(make_tokenizer(), max_tokens=32)
DECODER = TextEncoder(make_tokenizer(), max_tokens=32, decoder_start=2)


def some_tokens(n_tokens: int, first_id: int = 10) -> Tokens:
    places = np.arange(n_tokens, dtype=np.int32)
    return Tokens(places + first_id, np.stack([places, places + 1], 1))


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "  the  good ",
        "😀👩\u200d👧",
        "e\u0301 é ﬁ ＡＢ",
        "שלום",
        "你好，世界",
        "a\u2028b\x85c\x0c\rd\x00",
        "<s> </s> <pad><unk>",
        "<0x41>",
    ],
)
def test_ranges_point_into_the_text_in_order_and_hold_all_of_it(text: str) -> None:
    (tokens,) = ENCODER.tokenize([text])
    assert len(tokens.ids) == len(tokens.ranges)
    assert not set(tokens.ids.tolist()) & {0, 1, 2}, "no special token comes out of a text"
    starts = tokens.ranges[:, 0].tolist()
    assert starts == sorted(starts)
    covered = {place for start, end in tokens.ranges for place in range(start, end)}
    assert covered == {place for place, character in enumerate(text) if not character.isspace()}
    for start, end in tokens.ranges:
        assert text[start:end] == text[start:end].strip()


@settings(max_examples=50)
@given(st.lists(st.text(max_size=20), max_size=4))
def test_a_text_is_tokenised_the_same_whatever_its_neighbours(texts: list[str]) -> None:
    for text, tokens in zip(texts, ENCODER.tokenize(texts), strict=True):
        (alone,) = ENCODER.tokenize([text])
        assert tokens.ids.tolist() == alone.ids.tolist()
        assert tokens.ranges.tolist() == alone.ranges.tolist()


@settings(max_examples=200)
@given(
    st.lists(st.text(st.sampled_from("ab \u0301\u200b\u3000"), max_size=6), max_size=4),
    st.randoms(use_true_random=False),
)
def test_texts_with_other_ranges_than_the_tokenizers_are_found(texts: list[str], chance: random.Random) -> None:
    ranges: list[tuple[int, int]] = []
    expected = []
    starts = [0]
    for number, text in enumerate(texts):
        places = sorted(chance.randint(0, len(text)) for _ in range(2 * chance.randint(0, 3)))
        offsets = list(zip(places[::2], places[1::2], strict=True))
        expected += [number] if encoding._trimmed(text, offsets) != offsets else []
        ranges += offsets
        starts.append(len(ranges))
    assert encoding._untrimmed(texts, np.array(ranges, np.int32).reshape(-1, 2), starts) == expected


def test_a_lone_surrogate_is_refused() -> None:
    with pytest.raises(ValueError, match="must have no lone surrogates"):
        ENCODER.tokenize(["ok", "\ud800"])


def test_join_uses_the_tokenizers_own_layout() -> None:
    hypothesis = some_tokens(2, 10)
    source = some_tokens(1, 20)
    reference = some_tokens(3, 30)
    (row,) = ENCODER.join(hypothesis, [source, reference], "source+reference")
    assert row.ids.tolist() == [0, 10, 11, 2, 2, 20, 2, 2, 30, 31, 32, 2]
    assert row.roles.tolist() == [0, 1, 1, 0, 0, 2, 0, 0, 3, 3, 3, 0]
    assert (row.first, row.kept, row.decoder_ids) == (1, (0, 2), None)
    (row,) = DECODER.join(hypothesis, [reference], "reference")
    assert (row.ids.tolist(), row.roles.tolist()) == ([0, 30, 31, 32, 2], [0, 3, 3, 3, 0])
    assert row.decoder_ids is not None
    assert (row.decoder_ids.tolist(), row.first) == ([2, 10, 11, 2], 1)


def mbart(name: str) -> TextEncoder:
    """The text encoder of mBART with the tokenizer class of transformers and a small vocabulary."""
    pieces = json.loads(make_tokenizer().backend_tokenizer.to_str())["model"]["vocab"]
    tokenizer = getattr(transformers, name)(vocab=list(map(tuple, pieces)))
    return TextEncoder(tokenizer, max_tokens=32, decoder_start=2)


MBART = mbart("MBartTokenizer")
MBART_50 = mbart("MBart50Tokenizer")


def shown(encoder: TextEncoder, ids: Any) -> str:
    tokens = [str(encoder._backend.id_to_token(number)) for number in ids]
    return " ".join(token if token == "</s>" or "_" in token else "X" for token in tokens)


@pytest.mark.parametrize(
    ("encoder", "inputs", "lang_pair", "read", "decoded"),
    [
        (MBART, "source", "en-de", "X </s> en_XX", "de_DE X </s>"),
        (MBART, "reference", "en-de", "X </s> de_DE", "de_DE X </s>"),
        (MBART, "source+reference", "zh_Hans-de_AT", "X </s> zh_CN X </s> de_DE", "de_DE X </s>"),
        (MBART, "reference", "de-sw", "X </s> en_XX", "en_XX X </s>"),
        (MBART, "source", None, "X </s> en_XX", "en_XX X </s>"),
        (MBART_50, "source", "en-de", "en_XX X </s>", "</s> de_DE X </s>"),
        (MBART_50, "source+reference", "zh-de", "zh_CN X </s> de_DE X </s>", "</s> de_DE X </s>"),
    ],
)
def test_mbart_reads_each_text_in_its_language_as_in_pretraining(
    encoder: TextEncoder, inputs: InputKind, lang_pair: str | None, read: str, decoded: str
) -> None:
    segment = Segment("a", "b", ("c",), SegmentKey(lang_pair=lang_pair))
    contexts = [some_tokens(1)] * len(inputs.split("+"))
    (row,) = encoder.join(some_tokens(1), contexts, inputs, encoder.languages(segment))
    assert row.decoder_ids is not None
    assert row.context is not None
    assert (shown(encoder, row.ids), shown(encoder, row.decoder_ids)) == (read, decoded)
    assert shown(encoder, row.ids[[row.context.first]]) == shown(encoder, row.decoder_ids[[row.first]]) == "X"


def test_codes_of_languages_are_named_and_missing_ones_are_known() -> None:
    languages = MBART.languages(Segment("a", key=SegmentKey(lang_pair="en-sw")))
    assert languages is not None
    assert (languages.target, MBART.code_names(languages)) == (None, "en_XX-en_XX")
    assert ENCODER.languages(Segment("a")) is None
    assert DECODER.languages(Segment("a")) is None


@pytest.mark.parametrize("encoder", [ENCODER, DECODER, MBART, MBART_50])
@given(st.integers(0, 200), st.lists(st.integers(0, 200), min_size=1, max_size=2))
def test_windows_lose_no_token_and_fit(encoder: TextEncoder, n_tokens: int, lengths: list[int]) -> None:
    hypothesis = some_tokens(n_tokens)
    inputs: InputKind = "source" if len(lengths) == 1 else "source+reference"
    rows = encoder.join(hypothesis, [some_tokens(length) for length in lengths], inputs)
    kept = [row.ranges[slice(*row.kept)] for row in rows]
    assert np.concatenate(kept).tolist() == hypothesis.ranges.tolist()
    for row in rows:
        assert len(row.ids) == len(row.roles) <= 32
        read = row.ids if row.decoder_ids is None else row.decoder_ids
        assert len(read) <= 32
        ids = read[row.first : row.first + len(row.ranges)]
        assert (ids - 10).tolist() == row.ranges[:, 0].tolist(), "the ids and the ranges are of the same tokens"


def test_each_window_has_the_part_of_the_context_that_belongs_to_it() -> None:
    rows = ENCODER.join(some_tokens(100), [some_tokens(100)], "source")
    for row in rows:
        starts = row.ranges[:, 0]
        context = row.ids[row.first + len(row.ranges) + 2 : -1] - 10
        assert context[0] <= starts[0] + 1
        assert context[-1] >= starts[-1] - 1


@pytest.mark.parametrize(
    ("n_tokens", "n_of_context", "expected"),
    [(0, 5, [False]), (5, 5, [False]), (2, 40, [True]), (0, 40, [True]), (40, 2, [True, True])],
)
def test_rows_without_a_part_of_a_text_are_cut(n_tokens: int, n_of_context: int, expected: list[bool]) -> None:
    rows = ENCODER.join(some_tokens(n_tokens), [some_tokens(n_of_context)], "source")
    assert [row.is_cut for row in rows] == expected


def test_a_longest_input_without_room_is_refused() -> None:
    with pytest.raises(ValueError, match="max_tokens 8: must leave room"):
        TextEncoder(make_tokenizer(), max_tokens=8)


def test_a_slow_tokenizer_is_refused() -> None:
    class Slow:
        is_fast = False

    slow: Any = Slow()
    with pytest.raises(ValueError, match="tokenizer Slow: must be a fast tokenizer"):
        TextEncoder(slow, max_tokens=32)


def test_a_tokenizer_without_a_needed_token_is_refused() -> None:
    tokenizer = make_tokenizer()
    tokenizer.eos_token = None
    with pytest.raises(ValueError, match="has no eos token; it needs one"):
        TextEncoder(tokenizer, max_tokens=32, decoder_start=0)
    tokenizer.pad_token = None
    with pytest.raises(ValueError, match="has no pad token; it needs one"):
        TextEncoder(tokenizer, max_tokens=32)
