from __future__ import annotations

from typing import Any

import torch

from matese.annotation import Rating, Segment
from matese.training import embeddings, vocabulary
from matese.training.config import VocabularyConfig

WORDS = {"dog": "Hund", "cat": "Katze", "house": "Haus", "tree": "Baum"}
PAIRS = [(one, other) for one in WORDS for other in WORDS if one != other]
SEGMENTS = [Segment(f"{WORDS[one]} {WORDS[other]}", f"{one} {other}", (f"{WORDS[other]}",)) for one, other in PAIRS]


def test_words_that_translate_each_other_have_similar_embeddings() -> None:
    texts = [text for segment in SEGMENTS for text in (segment.hypothesis, segment.source or "")]
    tokenizer: Any = vocabulary.train(texts, VocabularyConfig(330))
    made = embeddings.make([Rating(segment, None, ()) for segment in SEGMENTS], tokenizer, 16)
    assert made.shape == (len(tokenizer), 16)
    torch.testing.assert_close(made.square().mean(1).sqrt(), torch.full([len(tokenizer)], 0.03))

    def similarity(one: str, other: str) -> float:
        left, right = (made[tokenizer(word, add_special_tokens=False)["input_ids"]].mean(0) for word in (one, other))
        return float(torch.cosine_similarity(left, right, dim=0))

    for word, translation in WORDS.items():
        others = [similarity(word, other) for other in WORDS.values() if other != translation]
        assert similarity(word, translation) > max(others), word


def test_without_sources_embeddings_are_random() -> None:
    tokenizer: Any = vocabulary.train(["dog"], VocabularyConfig(300))
    made = embeddings.make([Rating(Segment("dog", None, ("dog",)), None, ())], tokenizer, 4)
    torch.testing.assert_close(made.square().mean(1).sqrt(), torch.full([len(tokenizer)], 0.03))
