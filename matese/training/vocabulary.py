"""A tokenizer trained on the training texts, for an encoder from scratch.

A unigram model over pieces of words (Kudo 2018), with what error spans ask for: white space is kept out of pieces,
every digit and punctuation mark is a token of its own, so that a span can end before it, and a character too rare for
the vocabulary is spelt in its UTF-8 bytes, so that no text holds an unknown token.

Texts are normalised to NFC, which joins only what Unicode holds to be the same character. NFKC, the habit of
multilingual models, would show a full-width comma as "," and a ligature as its letters: it hides typographic errors.
"""

from __future__ import annotations

import collections
import json
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from matese.training.config import VocabularyConfig

if TYPE_CHECKING:
    from tokenizers import Tokenizer
    from transformers import PreTrainedTokenizerFast

SPECIAL = ("<s>", "<pad>", "</s>", "<unk>")
"""In the order of XLM-R, whose positions count from the padding id."""
SPACE = "\u2581"
"""What stands for a space in pieces."""
_BYTES = tuple(f"<0x{byte:02X}>" for byte in range(256))
_UNKNOWN = SPECIAL.index("<unk>")

Piece = tuple[str, float]
"""With its log-probability."""


def train(texts: Iterable[str], config: VocabularyConfig) -> PreTrainedTokenizerFast:
    """Returns a tokenizer trained on some texts.

    Raises:
        ValueError: if the texts have more characters than pieces were asked for, or what is extended is not of this
            kind.
        OSError: if it cannot be read.
    """
    from transformers import PreTrainedTokenizerFast

    distinct = [unicodedata.normalize("NFC", text) for text in dict.fromkeys(texts)]
    given = _pieces_of(config.extends) if config.extends else []
    alphabet = _alphabet(distinct, config.character_coverage).union(piece for piece, _ in given if len(piece) == 1)
    n_pieces = config.vocab_size - len(SPECIAL) - len(_BYTES)
    pieces = _joined(given, _learn(distinct, alphabet, n_pieces), n_pieces)
    make: Any = PreTrainedTokenizerFast  # its constructor has no types
    tokenizer: PreTrainedTokenizerFast = make(
        tokenizer_object=_assemble(pieces, alphabet),
        bos_token="<s>",
        cls_token="<s>",
        eos_token="</s>",
        sep_token="</s>",
        pad_token="<pad>",
        unk_token="<unk>",
    )
    return tokenizer


def _alphabet(texts: Iterable[str], coverage: float) -> frozenset[str]:
    """Returns the most frequent characters, which together make up this share of all but spaces."""
    counts = collections.Counter[str]()
    for text in texts:
        counts.update(text)
    del counts[" "]
    wanted, covered, kept = coverage * counts.total(), 0, []
    # Of equally frequent ones the first by code point, so that the order of the texts does not matter.
    for character, count in sorted(counts.items(), key=lambda item: (-item[1], item[0])):
        if covered >= wanted:
            break
        covered += count
        kept.append(character)
    return frozenset(kept)


def _pre_tokenizer(alphabet: Iterable[str]) -> Any:  # noqa: ANN401  (tokenizers is imported within functions)
    """Returns what splits a text into the parts within which pieces lie."""
    from tokenizers import Regex, pre_tokenizers

    # A rare character stands apart, or a run of them would share one range.
    listed = "".join(f"\\x{{{ord(character):X}}}" for character in sorted({*alphabet, SPACE}))
    return pre_tokenizers.Sequence(
        [
            pre_tokenizers.Metaspace(replacement=SPACE, prepend_scheme="always"),
            pre_tokenizers.Digits(individual_digits=True),
            pre_tokenizers.Punctuation("isolated"),
            pre_tokenizers.Split(Regex(f"[^{listed}]"), "isolated"),
        ]
    )


def _learn(texts: Iterable[str], alphabet: frozenset[str], n_pieces: int) -> list[Piece]:
    """Returns at most so many pieces with their log-probabilities."""
    from tokenizers import Tokenizer, models, trainers

    needed = len(alphabet) + 1  # and the mark of a space
    if needed > n_pieces:
        raise ValueError(
            f"the texts have {needed} characters that must be pieces: vocab_size must be "
            f"{needed + len(SPECIAL) + len(_BYTES)} or more, or character_coverage less"
        )
    tokenizer = Tokenizer(models.Unigram())
    tokenizer.pre_tokenizer = _pre_tokenizer(alphabet)
    trainer = trainers.UnigramTrainer(vocab_size=n_pieces, special_tokens=[], show_progress=False)
    tokenizer.train_from_iterator(_without_rare(texts, alphabet), trainer)
    model: Mapping[str, Any] = _description(tokenizer)["model"]
    return _settled([(piece, score) for piece, score in model["vocab"] if piece not in SPECIAL], len(alphabet))


def _pieces_of(directory: str) -> list[Piece]:
    """Returns the pieces of a tokenizer of this kind in their order, without the special ones and the bytes."""
    model = json.loads((Path(directory) / "tokenizer.json").read_text(encoding="utf-8"))["model"]
    n_added = len(SPECIAL) + len(_BYTES)
    vocabulary = model["vocab"]
    if model["type"] != "Unigram" or [piece for piece, _ in vocabulary[:n_added]] != [*SPECIAL, *_BYTES]:
        raise ValueError(f"extends {directory}: must hold a tokenizer that matese train has made")
    return [(piece, score) for piece, score in vocabulary[n_added:]]


def _joined(given: Sequence[Piece], learned: Sequence[Piece], n_pieces: int) -> list[Piece]:
    """Returns the given pieces, and after them so many of those learned as there is room for: characters go first."""
    known = {piece for piece, _ in given}
    new = [(piece, score) for piece, score in learned if piece not in known]
    new.sort(key=lambda entry: (len(entry[0]) > 1, -entry[1], entry[0]))
    return [*given, *new[: n_pieces - len(given)]] if given else [*learned]


def _settled(pieces: Iterable[Piece], n_characters: int) -> list[Piece]:
    """Returns the pieces as they are whatever the order in which the trainer met them, so that runs are repeatable.

    It adds numbers up in an order that varies, and gives the characters that it must keep although they are no good
    pieces the lowest score plus 0.0001, 0.0002, ... in such an order.
    """
    rounded = [(piece, round(score, 6)) for piece, score in pieces]
    lowest = min((score for _, score in rounded), default=0.0)
    kept = lowest + 0.0001 * n_characters
    level = [(piece, lowest if len(piece) == 1 and score <= kept else score) for piece, score in rounded]
    return sorted(level, key=lambda entry: (-entry[1], entry[0]))


def _without_rare(texts: Iterable[str], alphabet: frozenset[str]) -> Iterator[str]:
    """Yields the texts with a space for each rare character, since the trainer makes a piece of every one it meets."""
    for text in texts:
        rare = {ord(character): " " for character in set(text) - alphabet}
        yield text.translate(rare) if rare else text


def _assemble(pieces: Iterable[Piece], alphabet: frozenset[str]) -> Tokenizer:
    """Returns the tokenizer of these pieces, the special ones and the bytes."""
    from tokenizers import Tokenizer, decoders, models, normalizers, processors

    # Byte pieces are never matched in a text ("<", digits and ">" stand apart), so their probability is of no account.
    added = [(piece, 0.0) for piece in (*SPECIAL, *_BYTES)]
    tokenizer = Tokenizer(models.Unigram([*added, *pieces], unk_id=_UNKNOWN, byte_fallback=True))
    tokenizer.normalizer = normalizers.NFC()
    tokenizer.pre_tokenizer = _pre_tokenizer(alphabet)
    tokenizer.decoder = decoders.Sequence(
        [decoders.ByteFallback(), decoders.Metaspace(replacement=SPACE, prepend_scheme="always")]
    )
    tokenizer.add_special_tokens(list(SPECIAL))
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>",
        pair="<s> $A </s> </s> $B </s>",
        special_tokens=[(name, SPECIAL.index(name)) for name in ("<s>", "</s>")],
    )
    return tokenizer


def _description(tokenizer: Tokenizer) -> Mapping[str, Any]:
    description: Mapping[str, Any] = json.loads(tokenizer.to_str())
    return description
