"""From texts to the ids an encoder reads, with the place of every token of the hypothesis.

Texts are tokenised apart and joined as ids, so offsets are exact: nothing is glued into a string and searched again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
import numpy.typing as npt

from matese.annotation import Segment
from matese.encoder import windows
from matese.encoder.tokenizer import FileTokenizer, characters_of
from matese.encoder.windows import Window

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

Inputs = Literal["reference", "source", "source+reference"]
"""What a model reads beside the hypothesis."""

ROLES = ("special", "hypothesis", "source", "reference")
"""What a token may be: one of the tokenizer's own, or of one of the texts."""

IntArray = npt.NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class Tokens:
    """One tokenised text, without special tokens.

    Attributes:
        ids: (tokens,).
        ranges: (tokens, 2), half-open, in code points of the text, trimmed of white space: a token of white space
            alone has an empty range.
    """

    ids: IntArray
    ranges: IntArray


@dataclass(frozen=True, slots=True)
class Encoding:
    """What one row of a batch holds: a whole segment, or a window of a long one.

    Attributes:
        ids: (tokens,), what the encoder reads, special tokens in place.
        roles: (tokens,), the text that each of `ids` is of: a number of ROLES.
        decoder_ids: (tokens,), what the decoder reads; None for a model without decoder.
        first: position of the first hypothesis token in `ids`, or in `decoder_ids` where there are.
        ranges: (hypothesis tokens, 2), places in the whole hypothesis, as `Tokens.ranges`.
        kept: the part of those tokens that counts; the kept parts of the windows join to the whole hypothesis.
    """

    ids: IntArray
    roles: IntArray
    decoder_ids: IntArray | None
    first: int
    ranges: IntArray
    kept: tuple[int, int]


def contexts(segment: Segment, inputs: Inputs, reference: int = 0) -> tuple[str, ...]:
    """Returns the texts that are read beside the hypothesis, the source before the reference.

    Raises:
        ValueError: if the segment lacks one of them.
    """
    texts: list[str] = []
    if inputs != "reference":
        if segment.source is None:
            raise ValueError("segment without a source: this input needs one")
        texts.append(segment.source)
    if inputs != "source":
        if reference >= len(segment.references):
            raise ValueError(
                f"segment with {len(segment.references)} references: this input needs reference {reference}"
            )
        texts.append(segment.references[reference])
    return tuple(texts)


class TextEncoder:
    """The one place where the tokenizer is called."""

    def __init__(
        self, tokenizer: PreTrainedTokenizerBase | FileTokenizer, *, max_tokens: int, decoder_start: int | None = None
    ) -> None:
        """Reads the layout of special tokens off the tokenizer.

        Args:
            tokenizer: a fast one, since only these know offsets.
            max_tokens: the longest input of the encoder (and of the decoder), special tokens included.
            decoder_start: the first id of the decoder's input; None for a model without decoder.

        Raises:
            ValueError: if the tokenizer is not a fast one or lacks a special token that is needed, or if `max_tokens`
                leaves no room for text.
        """
        if not tokenizer.is_fast:
            raise ValueError(f"tokenizer {type(tokenizer).__name__}: must be a fast one, which knows offsets")
        self.has_decoder = decoder_start is not None
        self.pad_id = _token_id(tokenizer, "pad")
        self._backend = tokenizer.backend_tokenizer
        self._letters = characters_of(self._backend)
        self._special_ids, self._unknown_id = _special_ids(tokenizer)
        self._prefix, self._separator, self._suffix = _template(tokenizer, is_pair=not self.has_decoder)
        self._decoder_prefix, self._decoder_suffix = [], []
        if decoder_start is not None:
            self._decoder_prefix = [decoder_start]
            self._decoder_suffix = [_token_id(tokenizer, "eos")]
        self._max_tokens = max_tokens
        if min(self._capacity(2), max_tokens - 2) < 8:
            raise ValueError(f"max_tokens {max_tokens}: must leave room for at least 8 tokens of text")

    def knows(self, text: str) -> bool:
        """Whether at least half of the letters of a text are in pieces of the vocabulary, and not spelt in bytes."""
        known = self._letters
        letters = [] if known is None else [character for character in text if character.isalpha()]
        return known is None or 2 * sum(letter in known for letter in letters) >= len(letters)

    def tokenize(self, texts: Sequence[str]) -> list[Tokens]:
        """Returns the tokens of each text; what looks like a special token in a text is none.

        Raises:
            ValueError: if a text holds half of a surrogate pair, which is no character.
        """
        # Set before each call, since the tokenizer's own calls set it back.
        self._backend.encode_special_tokens = True
        self._backend.no_truncation()
        self._backend.no_padding()
        try:
            encoded = self._backend.encode_batch(list(texts), add_special_tokens=False)
        except (TypeError, UnicodeEncodeError) as error:
            raise ValueError(f"text that is not Unicode: {error}; must be str without lone surrogates") from error
        return [self._tokens(text, encoding) for text, encoding in zip(texts, encoded, strict=True)]

    def _tokens(self, text: str, encoding: object) -> Tokens:
        ids = np.array(encoding.ids, dtype=np.int32)  # type: ignore[attr-defined]
        # A unigram vocabulary holds "</s>" as an ordinary piece too.
        ids[np.isin(ids, self._special_ids)] = self._unknown_id
        ranges = _trimmed(text, encoding.offsets)  # type: ignore[attr-defined]
        return Tokens(ids, np.array(ranges, dtype=np.int32).reshape(-1, 2))

    def join(self, hypothesis: Tokens, contexts: Sequence[Tokens], inputs: Inputs) -> list[Encoding]:
        """Returns what the model reads: one row, or overlapping windows where the texts exceed its length.

        Args:
            hypothesis: its tokens.
            contexts: those of the texts beside it, as `contexts` orders them.
            inputs: which texts these are.
        """
        lengths = [len(context.ids) for context in contexts]
        found = self._windows(len(hypothesis.ids), lengths)
        roles = [ROLES.index(name) for name in inputs.split("+")]
        return [self._encoding(hypothesis, contexts, roles, window) for window in found]

    def _encoding(
        self, hypothesis: Tokens, contexts: Sequence[Tokens], context_roles: Sequence[int], window: Window
    ) -> Encoding:
        start, end = window.hypothesis
        own = hypothesis.ids[start:end]
        parts = [context.ids[slice(*part)] for context, part in zip(contexts, window.contexts, strict=True)]
        if self.has_decoder:
            ids, roles = self._glue(parts, context_roles)
            decoder_ids = np.concatenate([self._decoder_prefix, own, self._decoder_suffix]).astype(np.int32)
            first = len(self._decoder_prefix)
        else:
            ids, roles = self._glue([own, *parts], [ROLES.index("hypothesis"), *context_roles])
            decoder_ids, first = None, len(self._prefix)
        return Encoding(ids, roles, decoder_ids, first, hypothesis.ranges[start:end], window.kept)

    def _glue(self, parts: Sequence[IntArray], part_roles: Sequence[int]) -> tuple[IntArray, IntArray]:
        """Returns the ids of the parts with the special tokens around and between them, and their roles."""
        pieces: list[npt.ArrayLike] = []
        roles: list[npt.ArrayLike] = []
        for part, role in zip(parts, part_roles, strict=True):
            special = self._separator if pieces else self._prefix
            pieces += [special, part]
            roles += [np.zeros(len(special)), np.full(len(part), role)]
        pieces.append(self._suffix)
        roles.append(np.zeros(len(self._suffix)))
        return np.concatenate(pieces).astype(np.int32), np.concatenate(roles).astype(np.int32)

    def _capacity(self, n_texts: int) -> int:
        n_special = len(self._prefix) + len(self._suffix) + len(self._separator) * max(0, n_texts - 1)
        return self._max_tokens - n_special

    def _windows(self, n_tokens: int, lengths: Sequence[int]) -> list[Window]:
        if self.has_decoder:
            room = self._max_tokens - len(self._decoder_prefix) - len(self._decoder_suffix)
            return windows.plan_apart(n_tokens, lengths, room=room, context_room=self._capacity(len(lengths)))
        return windows.plan_together(n_tokens, lengths, room=self._capacity(1 + len(lengths)))


def _trimmed(text: str, offsets: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Returns the ranges without white space at their ends, and with the characters that belong to no token.

    Normalisation joins a combining mark to its letter and leaves out others; the tokenizer's offsets hold only the
    first, so what follows up to the next token is added.

    >>> _trimmed("e\u0301 ab", [(0, 1), (2, 4), (4, 5)])
    [(0, 2), (3, 4), (4, 5)]
    """
    trimmed = []
    following = len(text)
    for start, end in reversed(offsets):
        later = following
        following = start if start < end else following
        # bytes of one character have one range: the next token is the one behind all of them
        end = max(end, later) if end < later and text[end:later].strip() and start < end else end
        while start < end and text[start].isspace():
            start += 1
        while end > start and text[end - 1].isspace():
            end -= 1
        trimmed.append((start, end))
    return trimmed[::-1]


def _special_ids(tokenizer: PreTrainedTokenizerBase | FileTokenizer) -> tuple[list[int], int]:
    unknown = tokenizer.unk_token_id
    if unknown is None:  # byte-level vocabularies know every text and need no unknown token
        unknown = _token_id(tokenizer, "pad")
    return [number for number in tokenizer.all_special_ids if number != unknown], int(unknown)


def _token_id(tokenizer: PreTrainedTokenizerBase | FileTokenizer, name: Literal["pad", "eos", "sep"]) -> int:
    number = getattr(tokenizer, f"{name}_token_id")
    if number is None:
        raise ValueError(f"tokenizer {type(tokenizer).__name__} without a {name} token: must have one")
    return int(number)


def _template(
    tokenizer: PreTrainedTokenizerBase | FileTokenizer, *, is_pair: bool
) -> tuple[list[int], list[int], list[int]]:
    """Returns the special tokens before the first text, between two texts and after the last."""
    backend = tokenizer.backend_tokenizer
    encoded = backend.encode("a", "a") if is_pair else backend.encode("a")
    owners = encoded.sequence_ids
    last = max(owner for owner in owners if owner is not None)
    places = [[place for place, owner in enumerate(owners) if owner == text] for text in range(last + 1)]
    prefix = encoded.ids[: places[0][0]]
    separator = encoded.ids[places[0][-1] + 1 : places[1][0]] if is_pair else []
    suffix = encoded.ids[places[-1][-1] + 1 :]
    return prefix, separator or [_token_id(tokenizer, "sep")], suffix
