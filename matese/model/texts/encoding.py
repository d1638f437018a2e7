"""Encode texts as the ids that an encoder reads, with the character range of every hypothesis token.

Each text is tokenised separately before the ids are joined, so the offsets are exact.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from matese.annotation import Segment
from matese.errors import InputError, ModelError
from matese.model.arrays import Int32Array
from matese.model.texts import tokenizer as tokenizers
from matese.model.texts.windows import Window, plan
from matese.text.languages import languages_of

if TYPE_CHECKING:
    from torch import nn

    from matese.model.texts.tokenizer import Tokenizer

InputKind = Literal["reference", "source", "source+reference"]
"""What a model reads besides the hypothesis."""

ROLES = ("special", "hypothesis", "source", "reference")
"""Roles of tokens: a special token, or a token of one of the texts."""
_HYPOTHESIS = ROLES.index("hypothesis")
_REFERENCE = ROLES.index("reference")

_NO_PLACE = np.zeros((1, 2), np.int32)
_IS_SPACE = np.array([chr(number).isspace() for number in range(0x3001)] + [False])
"""Whether a character is white space, by its code point; the last stands for all later ones, of which none is."""


class Tokens(NamedTuple):
    """One tokenised text, without special tokens.

    Attributes:
        ids: (tokens,).
        ranges: (tokens, 2), half-open, in code points of the text, without white space at the ends: a white-space token
            has an empty range.
    """

    ids: Int32Array
    ranges: Int32Array


class ContextPart(NamedTuple):
    """The position of a context's tokens in a row.

    Attributes:
        first: position of the first token in `Encoding.ids`.
        start: number of that token in the context: 0 unless the row is a window.
        ranges: (tokens, 2), ranges in the whole context, as `Tokens.ranges`.
        reference: number of the reference that it is, among those that are read together: 0; None for a source.
    """

    first: int
    start: int
    ranges: Int32Array
    reference: int | None


class LanguageCodes(NamedTuple):
    """The ids of the languages of a segment; None where the tokenizer has no code of a language, or it is unknown."""

    source: int | None
    target: int | None


class Encoding(NamedTuple):
    """One row of a batch: a whole segment, or a window of a long one.

    Attributes:
        ids: (tokens,), input of the encoder, including special tokens.
        roles: (tokens,), index into ROLES for each of `ids`.
        decoder_ids: (tokens,), input of the decoder; None for a model without a decoder.
        first: position of the first hypothesis token in `ids`, or in `decoder_ids` if the model has a decoder.
        ranges: (hypothesis tokens, 2), ranges in the whole hypothesis, as `Tokens.ranges`.
        kept: the part of those tokens whose predictions are used; the windows' kept parts cover the hypothesis exactly
            once.
        context: the part of the last context, which is the reference if one is read; None without a context.
        text_positions: (tokens,), position of each of `ids` in its text, including the special tokens around the text;
            None for a model that reads all texts together from the first layer on.
        is_cut: whether a part of a text is missing, because the texts are too long to be read at once.
        start: number of the first hypothesis token in the whole hypothesis.
        is_piece: whether it is read beside the whole, see `matese.model.texts.pieces`.
        sentences: (sentences, 2), the sentences of both texts as positions in `ids`, half-open, whose mean states the
            engine returns; None for none.
    """

    ids: Int32Array
    roles: Int32Array
    decoder_ids: Int32Array | None
    first: int
    ranges: Int32Array
    kept: tuple[int, int]
    context: ContextPart | None = None
    text_positions: Int32Array | None = None
    is_cut: bool = False
    start: int = 0
    is_piece: bool = False
    sentences: Int32Array | None = None

    @property
    def n_decoded(self) -> int:
        """Number of tokens that the decoder reads."""
        return 0 if self.decoder_ids is None else len(self.decoder_ids)


class TextEncoder:
    """Turns texts into a model's input; the only code that calls the tokenizer."""

    def __init__(
        self,
        tokenizer: Tokenizer,
        *,
        max_tokens: int,
        decoder_start: int | None = None,
        is_separate: bool = False,
    ) -> None:
        """Derives the layout of special tokens from the tokenizer.

        Args:
            tokenizer: a fast tokenizer; slow ones have no offsets.
            max_tokens: longest input of the encoder (and of the decoder), including special tokens.
            decoder_start: first id of the decoder's input; None for a model without a decoder.
            is_separate: whether the model reads each text alone in its lowest layers; each text then has the special
                tokens of a single text.

        Raises:
            InputError: if the tokenizer is slow or lacks a required special token, or if `max_tokens` leaves no room
                for text.
        """
        if not tokenizer.is_fast:
            raise InputError(f"tokenizer {type(tokenizer).__name__}: must be a fast tokenizer, which has offsets")
        self.has_decoder = decoder_start is not None
        self.pad_id = tokenizers.token_id(tokenizer, "pad")
        self._backend = tokenizer.backend_tokenizer
        special_ids, self._unknown_id = tokenizers.special_ids(tokenizer)
        self._special_ids = sorted(special_ids)
        self._is_separate = is_separate
        around = tokenizers.template(tokenizer, is_pair=not self.has_decoder)
        self._prefix, self._separator, self._suffix = (np.array(ids, np.int32) for ids in around)
        self._codes = tokenizers.language_codes(tokenizer) if self.has_decoder else {}
        special = itertools.chain.from_iterable(around)
        self._usual_code = next((number for number in special if number in self._codes.values()), None)
        if is_separate or self._usual_code is not None:
            self._separator = np.concatenate([self._suffix, self._prefix])
        decoder_prefix = [] if decoder_start is None else [decoder_start]
        if self._usual_code is not None:
            # mBART-25 reads "X </s> code" and "code X </s>", mBART-50 "code X </s>" and "</s> code X </s>".
            begins_with_end = self._usual_code in self._prefix
            decoder_prefix = [*([tokenizers.token_id(tokenizer, "eos")] if begins_with_end else []), self._usual_code]
        decoder_suffix = [] if decoder_start is None else [tokenizers.token_id(tokenizer, "eos")]
        self._decoder_prefix = np.array(decoder_prefix, np.int32)
        self._decoder_suffix = np.array(decoder_suffix, np.int32)
        self._numbers = np.arange(max_tokens, dtype=np.int32)
        self._max_tokens = max_tokens
        if min(self.capacity(2), max_tokens - 2) < 8:
            raise InputError(f"max_tokens {max_tokens}: must leave room for at least 8 tokens of text")

    @property
    def highest_special_id(self) -> int:
        """The highest id of the special tokens around texts."""
        special = (self._prefix, self._separator, self._suffix, self._decoder_prefix, self._decoder_suffix)
        return int(max(self.pad_id, *np.concatenate(special)))

    @property
    def longest(self) -> int:
        """Most tokens of a model input, including those of the decoder."""
        return self._max_tokens * (2 if self.has_decoder else 1)

    def languages(self, segment: Segment) -> LanguageCodes | None:
        """Returns the codes of a segment's languages; None for a model without such codes."""
        if self._usual_code is None:
            return None
        source, target = languages_of(segment.key)
        return LanguageCodes(self._codes.get(source), self._codes.get(target))

    def code_names(self, languages: LanguageCodes) -> str:
        """Returns the codes that are read, such as "en_XX-de_DE"."""
        return "-".join(str(self._backend.id_to_token(code)) for code in self._read_codes(languages))

    def _read_codes(self, languages: LanguageCodes) -> list[int]:
        """Returns the codes of source and target, English for an unknown one."""
        assert self._usual_code is not None
        return [self._usual_code if code is None else code for code in languages]

    def tokenization(self) -> str:
        """Returns the tokenizer's vocabulary and rules: if they are equal, two models tokenise alike."""
        return str(self._backend.to_str())

    def tokenize(self, texts: Sequence[str]) -> list[Tokens]:
        """Returns the tokens of each text. Text that looks like a special token is ordinary text.

        Raises:
            InputError: if a text contains a lone surrogate.
        """
        # Set before each call, because the tokenizer's own methods reset it.
        self._backend.encode_special_tokens = True
        self._backend.no_truncation()
        self._backend.no_padding()
        try:
            encoded = self._backend.encode_batch(list(texts), add_special_tokens=False)
        except (TypeError, UnicodeEncodeError) as error:
            raise InputError(f"text is not valid Unicode: {error}; must have no lone surrogates") from error
        except Exception as error:  # tokenizers raises bare Exceptions
            raise ModelError(f"the tokenizer fails ({error}): fetch the model again") from error
        of_texts = [encoding.ids for encoding in encoded]
        places = [place for encoding in encoded for place in encoding.offsets]
        # (tokens of all texts,), and their ranges: one array is quicker than one for each text.
        ids = np.fromiter(itertools.chain.from_iterable(of_texts), np.int32, len(places))
        ranges = np.fromiter(itertools.chain.from_iterable(places), np.int32, 2 * len(places)).reshape(-1, 2)
        # A unigram vocabulary also holds "</s>" as an ordinary piece.
        ids[np.isin(ids, self._special_ids)] = self._unknown_id
        starts = [0, *itertools.accumulate(map(len, of_texts))]
        for number in _untrimmed(texts, ranges, starts):
            of_text = slice(starts[number], starts[number + 1])
            ranges[of_text] = np.reshape(_trimmed(texts[number], places[of_text]), (-1, 2))
        return [Tokens(ids[start:end], ranges[start:end]) for start, end in itertools.pairwise(starts)]

    def join(
        self,
        hypothesis: Tokens,
        contexts: Sequence[Tokens],
        inputs: InputKind | None,
        languages: LanguageCodes | None = None,
    ) -> list[Encoding]:
        """Returns the model's input: one row, or overlapping windows if the texts are too long for one.

        Args:
            hypothesis: the tokens of the hypothesis.
            contexts: those of the other texts, the source before the reference.
            inputs: their kind, if any.
            languages: see `languages`.
        """
        windows = self.plan(len(hypothesis.ids), [len(context.ids) for context in contexts])
        return self.encode(hypothesis, contexts, inputs, languages, windows)

    def plan(self, n_tokens: int, lengths: Sequence[int]) -> list[Window]:
        """Returns the windows over a hypothesis and contexts of these lengths in tokens: one if they fit into a row."""
        if not self.has_decoder:
            return plan(n_tokens, lengths, room=self.capacity(1 + len(lengths)))
        room = self._max_tokens - len(self._decoder_prefix) - len(self._decoder_suffix)
        return plan(n_tokens, lengths, room=room, context_room=self.capacity(len(lengths)))

    def encode(
        self,
        hypothesis: Tokens,
        contexts: Sequence[Tokens],
        inputs: InputKind | None,
        languages: LanguageCodes | None,
        windows: Sequence[Window],
    ) -> list[Encoding]:
        """Returns the model's input for parts of the texts; see `join`."""
        roles = [] if inputs is None else [ROLES.index(name) for name in inputs.split("+")]
        encodings = [self._encoding(hypothesis, contexts, roles, window) for window in windows]
        return encodings if languages is None else [self._in(languages, inputs, encoding) for encoding in encodings]

    def _in(self, languages: LanguageCodes, inputs: InputKind | None, encoding: Encoding) -> Encoding:
        """Returns the encoding with the code of its own language beside each text."""
        source, target = self._read_codes(languages)
        ids = encoding.ids.copy()
        names = (inputs or "reference").split("+")
        ids[ids == self._usual_code] = [source if name == "source" else target for name in names]
        assert encoding.decoder_ids is not None  # only models with a decoder read codes
        decoder_ids = encoding.decoder_ids.copy()
        decoder_ids[decoder_ids == self._usual_code] = target
        return encoding._replace(ids=ids, decoder_ids=decoder_ids)

    def _encoding(
        self, hypothesis: Tokens, contexts: Sequence[Tokens], context_roles: Sequence[int], window: Window
    ) -> Encoding:
        start, end = window.hypothesis
        hypothesis_ids = hypothesis.ids[start:end]
        parts = [context.ids[slice(*part)] for context, part in zip(contexts, window.contexts, strict=True)]
        if self.has_decoder:
            ids, roles = self._glue(parts, context_roles)
            decoder_ids = np.concatenate([self._decoder_prefix, hypothesis_ids, self._decoder_suffix])
            first = len(self._decoder_prefix)
        else:
            ids, roles = self._glue([hypothesis_ids, *parts], [_HYPOTHESIS, *context_roles])
            decoder_ids = None
            first = len(self._prefix)
        context = positions = None
        if contexts:
            start_in_context, end_in_context = window.contexts[-1]
            place = len(ids) - len(self._suffix) - (end_in_context - start_in_context)
            reference = 0 if context_roles[-1:] == [_REFERENCE] else None
            ranges = contexts[-1].ranges[start_in_context:end_in_context]
            context = ContextPart(place, start_in_context, ranges, reference)
        if self._is_separate:
            n_special = len(self._prefix) + len(self._suffix)
            positions = np.concatenate([self._numbers[: len(part) + n_special] for part in (hypothesis_ids, *parts)])
        return Encoding(
            ids,
            roles,
            decoder_ids,
            first,
            hypothesis.ranges[start:end],
            window.kept,
            context,
            positions,
            window.is_cut,
            start,
        )

    def _glue(self, parts: Sequence[Int32Array], part_roles: Sequence[int]) -> tuple[Int32Array, Int32Array]:
        """Returns the ids of the parts with special tokens around and between them, and the roles of all ids."""
        pieces: list[Int32Array] = []
        places = []
        end = 0
        for part in parts:
            special = self._separator if pieces else self._prefix
            pieces += [special, part]
            start = end + len(special)
            end = start + len(part)
            places.append(slice(start, end))
        ids = np.concatenate([*pieces, self._suffix])
        roles = np.zeros(len(ids), np.int32)
        for place, role in zip(places, part_roles, strict=True):
            roles[place] = role
        return ids, roles

    def capacity(self, n_texts: int) -> int:
        """Returns the most tokens of texts in a row of so many texts."""
        n_special = len(self._prefix) + len(self._suffix) + len(self._separator) * max(0, n_texts - 1)
        return self._max_tokens - n_special


def with_special_tokens(windows: Sequence[Encoding]) -> list[Encoding]:
    """Returns the windows of a row with the special tokens around the hypothesis counted as its tokens.

    Their ranges are empty.
    """
    if windows[0].first == 0:  # rows begin without a special token
        return list(windows)
    changed = []
    for number, window in enumerate(windows):
        is_first = number == 0
        is_last = number == len(windows) - 1
        start, end = window.kept
        ranges = np.concatenate([_NO_PLACE, window.ranges, _NO_PLACE])
        kept = (start + (not is_first), end + 1 + is_last)
        changed.append(window._replace(first=window.first - 1, ranges=ranges, kept=kept))
    return changed


def _untrimmed(texts: Sequence[str], ranges: Int32Array, starts: Sequence[int]) -> list[int]:
    """Returns the numbers of the texts whose ranges `_trimmed` would change: few.

    Args:
        texts: the texts.
        ranges: (tokens of all texts, 2), offsets of the tokenizer.
        starts: first token of each text, and the number of all tokens.
    """
    characters = np.frombuffer("".join(texts).encode("utf-32-le"), np.uint32)  # of all texts
    is_space = _IS_SPACE[np.minimum(characters, len(_IS_SPACE) - 1)]
    n_others = np.append(0, np.cumsum(~is_space))  # before each character
    lengths = np.array([len(text) for text in texts], np.int64)
    ends_of_texts = np.cumsum(lengths)
    owners = np.repeat(np.arange(len(texts)), np.diff(starts))
    filled = ranges[:, 0] < ranges[:, 1]
    owners = owners[filled]
    tokens = ranges[filled] + (ends_of_texts - lengths)[owners, None]
    begins = tokens[:, 0]
    ends = tokens[:, 1]
    # Up to the next token of the same text, or its end.
    following = np.append(begins[1:], 0)
    is_last = np.append(owners[1:] != owners[:-1], True)[: len(owners)]
    following = np.where(is_last, ends_of_texts[owners], following[: len(owners)])
    has_rest = (ends < following) & (n_others[np.maximum(following, ends)] > n_others[ends])
    numbers: list[int] = np.unique(owners[is_space[begins] | is_space[ends - 1] | has_rest]).tolist()
    return numbers


def _trimmed(text: str, offsets: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Returns the ranges without white space at the ends, extended over characters that belong to no token.

    Normalisation joins a combining mark to its letter and drops other characters. The tokenizer's offsets cover only
    the letter, so the characters up to the next token are added.

    >>> _trimmed("e\u0301 ab", [(0, 1), (2, 4), (4, 5)])
    [(0, 2), (3, 4), (4, 5)]
    """
    trimmed = []
    following = len(text)
    for start, end in reversed(offsets):
        later = following
        following = start if start < end else following
        # The bytes of a character have equal ranges: the next token comes after all of them.
        end = max(end, later) if end < later and text[end:later].strip() and start < end else end
        while start < end and text[start].isspace():
            start += 1
        while end > start and text[end - 1].isspace():
            end -= 1
        trimmed.append((start, end))
    return trimmed[::-1]


def fitted(
    tokenizer: Tokenizer,
    n_pieces: int,
    *,
    max_tokens: int,
    decoder_start: int | None = None,
    is_separate: bool = False,
) -> TextEncoder:
    """Returns the text encoder of a model with a vocabulary of `n_pieces`; see `TextEncoder` for the arguments.

    Raises:
        InputError: if the tokenizer does not fit the model.
    """
    if len(tokenizer) > n_pieces:
        raise InputError(f"the tokenizer has {len(tokenizer):,} pieces; the encoder has embeddings for {n_pieces:,}")
    longest = min(max_tokens, int(tokenizer.model_max_length))
    encoder = TextEncoder(tokenizer, max_tokens=longest, decoder_start=decoder_start, is_separate=is_separate)
    if encoder.highest_special_id >= n_pieces:
        raise InputError(
            f"special token {encoder.highest_special_id}: the encoder has embeddings for {n_pieces:,} pieces"
        )
    return encoder


def longest_input(model: nn.Module) -> int:
    """Returns the longest input of the model, in tokens, including special tokens."""
    config: Any = model.config
    limit = getattr(config, "max_position_embeddings", None) or 10**9
    # The RoBERTa family counts positions from the padding id + 1.
    positions = dict(model.named_modules()).get("embeddings.position_embeddings")
    padding_id = getattr(positions, "padding_idx", None)
    return int(limit if padding_id is None else limit - padding_id - 1)


def decoder_start_of(model: nn.Module, tokenizer: Tokenizer) -> int | None:
    """Returns the first id of the decoder's input: the model's setting, or its language; None without a decoder."""
    config: Any = model.config
    if not config.is_encoder_decoder:
        return None
    number = getattr(config, "decoder_start_token_id", None)
    if number is None:  # mBART begins with the language, the last special token that its tokenizer appends
        number = tokenizer.backend_tokenizer.encode("a").ids[-1]
    return int(number)
