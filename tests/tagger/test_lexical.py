from __future__ import annotations

import dataclasses

import torch

from matese.encoder.encoding import ROLES
from matese.tagger.config import TaggerConfig
from matese.tagger.lexical import UNCONCERNED as NO
from matese.tagger.lexical import match_kinds
from matese.tagger.model import Tagger
from tests.tagger.test_model import make_batch, make_encoder

HYPOTHESIS, SOURCE, REFERENCE = (ROLES.index(name) for name in ("hypothesis", "source", "reference"))


def test_a_token_is_matched_alone_and_beside_its_neighbours() -> None:
    #                    <s> hypothesis       </s> reference      </s>
    ids = torch.tensor([[0, 11, 12, 13, 14, 15, 2, 13, 14, 9, 12, 2]])
    roles = torch.tensor([[0, *[HYPOTHESIS] * 5, 0, *[REFERENCE] * 4, 0]])
    to_reference, to_source, from_reference, from_source = (kinds.tolist() for kinds in match_kinds(ids, roles))
    assert to_reference == [[NO, 0, 1, 1 + 4, 1 + 2, 0, *[NO] * 6]]
    assert from_reference == [[*[NO] * 7, 1 + 4, 1 + 2, 0, 1, NO]]
    assert to_source == from_source == [[NO] * 12]


def test_neighbours_are_looked_for_within_the_texts() -> None:
    # 5 stands last in the hypothesis and first in the source: what is beside it in the row is a special token
    ids, roles = torch.tensor([[0, 5, 2, 5, 2]]), torch.tensor([[0, HYPOTHESIS, 0, SOURCE, 0]])
    assert match_kinds(ids, roles)[1].tolist() == [[NO, 1, NO, NO, NO]]


def test_a_tagger_is_told_what_matches() -> None:
    torch.manual_seed(1)
    config = TaggerConfig(extra_layers=0, extra_heads=2, lexical_match=True)
    tagger, batch = Tagger(config, make_encoder("xlm-roberta")).eval(), make_batch("xlm-roberta", 3)
    with torch.inference_mode():
        before = tagger(batch).tag_logits
        assert tagger.lexical_match is not None
        tagger.lexical_match.matches.weight[0, 0] += 9.0  # of hypothesis tokens that are not in the reference
        after = tagger(batch).tag_logits
        assert not torch.allclose(after, before)
        told = dataclasses.replace(batch, matches=torch.stack(match_kinds(batch.ids, batch.roles)))
        assert torch.equal(tagger(told).tag_logits, after)


def test_torch_and_numpy_say_the_same() -> None:
    torch.manual_seed(2)
    ids, roles = torch.randint(0, 6, (5, 30)), torch.randint(0, 4, (5, 30)).sort(1).values
    roles[3] = HYPOTHESIS
    for one, other in zip(match_kinds(ids, roles), match_kinds(ids.numpy(), roles.numpy()), strict=True):
        assert one.tolist() == other.tolist()
