from __future__ import annotations

import dataclasses
import math
from typing import Any

import pytest
import torch
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.nn import functional
from torch.utils._pytree import tree_map_only

from matese.annotation import ErrorSpan, Omission, Rating, Segment, Severity
from matese.model.encoder.loading import load_encoder
from matese.model.heads import losses, registry
from matese.model.heads.learning import IGNORED
from matese.model.heads.networks import NetworkOutput
from matese.model.heads.score.network import ScoreTensor
from matese.model.heads.tags.network import TagLogits
from matese.model.heads.tags.targets import cross_entropy
from matese.model.network import Network
from matese.model.texts.encoding import TextEncoder
from matese.training import corpus_building
from matese.training.config import TrainingConfig
from matese.training.corpus import Draw
from matese.training.module import TrainingModule
from matese.training.optimisation import Steps, dev_figures, learning_rate_factor
from matese.training.rater_bias import RaterBias
from matese.training.targets import Batch, collate
from tests.conftest import ENCODERS, make_config
from tests.training.material import HEADS, RATINGS

TRAINING = TrainingConfig(learning_rate=1.0, encoder_learning_rate=0.5, freeze_embeddings=False, weight_decay=0.1)


@pytest.fixture(scope="module")
def batch(tokenizer: Any) -> Batch:
    corpus = corpus_building.build(RATINGS, TextEncoder(tokenizer, max_tokens=128), ("reference",), HEADS)
    return collate([corpus.example(Draw(segment, 0, 0, 0.0)) for segment in range(6)], HEADS, pad_id=1)


@pytest.fixture(scope="module")
def tagger(tokenizer: Any) -> Network:
    torch.manual_seed(3)
    settings = make_config(extra=1, extra_heads=2, score={}, dropout=0.0)
    return Network(settings, load_encoder({**ENCODERS["xlm-roberta"], "vocab_size": len(tokenizer)}))


def module(tagger: Network, **settings: Any) -> TrainingModule:
    return TrainingModule(tagger, dataclasses.replace(TRAINING, **settings), Steps(10))


def test_loss_of_tags_is_the_cross_entropy_over_hypothesis_tokens(tagger: Network, batch: Batch) -> None:
    output = tagger.eval()(batch.inputs)
    loss = module(tagger).losses(batch, output)["tag"]
    is_token = batch.inputs.hypothesis_mask
    logits = output[TagLogits].logits[is_token]
    gold = batch.targets.labels["tag_ids"][is_token]
    each = -functional.log_softmax(logits, -1)[torch.arange(len(gold)), gold]
    torch.testing.assert_close(loss, each.mean())


def with_scores(batch: Batch, scores: torch.Tensor) -> Batch:
    labels = {**batch.targets.labels, "scores": scores}
    return batch._replace(targets=batch.targets._replace(labels=labels))


def test_loss_of_scores_counts_known_ones_only(tagger: Network, batch: Batch) -> None:
    tags = TagLogits(torch.zeros(6, batch.inputs.positions.shape[1], 5))
    output = NetworkOutput.of([tags, ScoreTensor(torch.tensor([-5.0, 0, 0, 0, 0, 0]))])
    scores = torch.tensor([0.0, 10.0, *[float("nan")] * 4])
    loss = module(tagger).losses(with_scores(batch, scores), output)["score"]
    assert loss.item() == pytest.approx((1 + 4) / 2)
    unknown = with_scores(batch, torch.full((6,), float("nan")))
    assert module(tagger).losses(unknown, output)["score"].item() == 0


def test_tags_that_are_all_ignored_cost_nothing(batch: Batch) -> None:
    tag_ids = batch.targets.labels["tag_ids"]
    logits = torch.randn(*tag_ids.shape, 5, requires_grad=True)
    loss = cross_entropy(logits, torch.full_like(tag_ids, IGNORED))
    torch.autograd.backward(loss)
    assert loss.item() == 0
    assert logits.grad is not None
    assert not logits.grad.any()


def test_ranking_counts_pairs_of_one_source_that_differ_enough() -> None:
    nan = float("nan")
    predicted = torch.tensor([0.0, -1.0, -2.0, -9.0, 0.0, -1.0])
    gold = torch.tensor([-5.0, 0.0, -5.2, nan, 0.0, -9.0])
    groups = torch.tensor([3, 3, 3, 3, 4, -1])
    # (1 over 0) and (1 over 2); 0 and 2 are too near, 3 is not known, 4 and 5 are alone
    expected = (functional.softplus(torch.tensor(1.0)) + functional.softplus(torch.tensor(-1.0))) / 2
    torch.testing.assert_close(losses.ranking(predicted, gold, groups), expected)
    assert losses.ranking(predicted, torch.full((6,), nan), groups).item() == 0


def test_differences_count_pairs_of_one_source_with_known_scores() -> None:
    predicted = torch.tensor([-1.0, -3.0, -2.0, -9.0])
    gold = torch.tensor([-1.0, -6.0, math.nan, 0.0])
    groups = torch.tensor([4, 4, 4, 5])
    # The only pair differs by 2 where it should by 5, in units of 5.
    assert losses.differences(predicted, gold, groups, unit=5).item() == pytest.approx((3 / 5) ** 2)
    assert losses.differences(predicted, gold, torch.full((4,), -1)).item() == 0


def test_binary_loss_leaves_out_what_is_unknown() -> None:
    logits = torch.tensor([2.0, -1.0, 5.0])
    expected = functional.binary_cross_entropy_with_logits(logits[:2], torch.tensor([1.0, 0.0]))
    torch.testing.assert_close(losses.binary(logits, torch.tensor([1.0, 0.0, math.nan])), expected)
    torch.testing.assert_close(losses.binary(logits, torch.tensor([1, 0, IGNORED])), expected)
    assert losses.binary(logits, torch.full((3,), math.nan)).item() == 0


def test_rater_bias_adds_to_segments_of_its_group_only() -> None:
    bias = RaterBias(1)
    with torch.no_grad():
        bias.tags.weight[1] = torch.arange(5.0)
        bias.scores.weight[1] = torch.tensor([math.log(3), -2.0])
    unbiased = NetworkOutput.of([TagLogits(torch.zeros(2, 3, 5)), ScoreTensor(torch.tensor([-1.0, -1.0]))])
    output = bias(unbiased, torch.tensor([0, 1]))
    assert not output[TagLogits].logits[0].any()
    assert output[TagLogits].logits[1, 2].tolist() == [0, 1, 2, 3, 4]
    assert output[ScoreTensor].values.tolist() == pytest.approx([-1, -5])


def test_every_parameter_is_in_one_group_with_its_rate_and_decay(tagger: Network) -> None:
    optimizer = module(tagger).configure_optimizers()["optimizer"]
    seen = [id(parameter) for group in optimizer.param_groups for parameter in group["params"]]
    assert sorted(seen) == sorted(map(id, tagger.parameters()))
    encoder = set(map(id, tagger.encoder.parameters()))
    for group in optimizer.param_groups:
        for parameter in group["params"]:
            assert group["initial_lr"] == (0.5 if id(parameter) in encoder else 1.0)
            assert group["weight_decay"] == (0.1 if parameter.ndim > 1 else 0.0)


def test_frozen_embeddings_are_in_no_group(tokenizer: Any) -> None:
    encoder = load_encoder({**ENCODERS["xlm-roberta"], "vocab_size": len(tokenizer)})
    made = module(Network(make_config(extra_heads=2), encoder), freeze_embeddings=True)
    optimizer = made.configure_optimizers()["optimizer"]
    trained = {id(parameter) for group in optimizer.param_groups for parameter in group["params"]}
    embeddings: Any = encoder.embeddings
    assert trained.isdisjoint(map(id, embeddings.parameters()))
    assert trained >= set(map(id, made.network.tag_head.parameters()))


@pytest.mark.parametrize(
    ("schedule", "expected"),
    [
        ("linear", [1 / 2, 1, 1, 7 / 8, 6 / 8, 5 / 8, 4 / 8, 3 / 8, 2 / 8, 1 / 8, 0, 0]),
        ("constant", [1 / 2, *[1.0] * 11]),
    ],
)
def test_schedule(schedule: str, expected: list[float]) -> None:
    settings: Any = {"schedule": schedule, "warmup": 0.2}
    factor = learning_rate_factor(dataclasses.replace(TRAINING, **settings), 10, 0)
    assert [factor(step) for step in range(12)] == pytest.approx(expected)


def test_frozen_steps() -> None:
    factor = learning_rate_factor(dataclasses.replace(TRAINING, warmup=0.0), 4, 2)
    assert [factor(step) for step in range(5)] == pytest.approx([0, 0, 0.5, 0.25, 0])


def test_means_over_kinds_of_input_leave_out_what_is_not_defined() -> None:
    figures = dev_figures({"reference": {"macro_f1": 0.2, "hsh": 0.5}, "source": {"macro_f1": 0.4}})
    assert figures["dev/macro_f1"] == pytest.approx(0.3)
    assert figures["dev/hsh"] == 0.5
    assert "dev/source/hsh" not in figures
    assert set(dev_figures({"source": {"macro_f1": 0.4}})) == {"dev/macro_f1"}


HEADS_OF_ONE_RUN = make_config(extra=1, extra_heads=2, score={}, omissions={}, categories={}, meaning={})


@pytest.mark.parametrize(("loss", "part"), [("omission", "omission_head"), ("category", "category_head")])
def test_losses_of_omissions_and_categories_reach_their_own_layers_only(tokenizer: Any, loss: str, part: str) -> None:
    network = Network(HEADS_OF_ONE_RUN, load_encoder({**ENCODERS["xlm-roberta"], "vocab_size": len(tokenizer)}))
    heads = registry.targets(HEADS_OF_ONE_RUN)
    hund = "Der Hund schläft im Garten."
    rating = Rating(
        Segment("Der Katze schläft.", None, (hund,)),
        "r",
        (ErrorSpan(4, 9, Severity.MAJOR, "Accuracy/Mistranslation"),),
        omissions=(Omission("reference", 0, 17, 26, Severity.MAJOR),),
    )
    corpus = corpus_building.build([rating], TextEncoder(tokenizer, max_tokens=128), ("reference",), heads)
    batch = collate([corpus.example(Draw(0, 0, 0, 0.0))], heads, pad_id=1)
    made = module(network)
    torch.autograd.backward(made.losses(batch, network(batch.inputs))[loss])
    reached = {name for name, tensor in network.named_parameters() if tensor.grad is not None and tensor.grad.any()}
    assert reached == {f"{part}.{layer}.{kind}" for layer in (0, 2) for kind in ("weight", "bias")}


def test_losses_read_no_value_from_the_device(tokenizer: Any) -> None:
    """The host of a GPU would wait for it; fake tensors have no values."""
    settings = make_config(extra=1, extra_heads=2, score={}, omissions={}, categories={}, meaning={}, separate_layers=1)
    network = Network(settings, load_encoder({**ENCODERS["xlm-roberta"], "vocab_size": len(tokenizer)}))
    heads = registry.targets(settings)
    corpus = corpus_building.build(RATINGS, network.text_encoder(tokenizer), ("reference",), heads)
    made = collate([corpus.example(Draw(number, 0, 0, 0.0, 1)) for number in range(4)], heads, pad_id=1)
    inputs = made.inputs._replace(texts=None, text_starts=None, text_places=None)
    trained = TrainingModule(network, dataclasses.replace(TRAINING, difference_loss_weight=1.0), Steps(10))
    with FakeTensorMode(allow_non_fake_inputs=True) as mode:
        fake = tree_map_only(torch.Tensor, mode.from_tensor, made._replace(inputs=inputs))
        torch.autograd.backward(trained.training_step(fake, 0))


def test_heads_that_are_kept_are_not_trained(tokenizer: Any) -> None:
    encoder = load_encoder({**ENCODERS["xlm-roberta"], "vocab_size": len(tokenizer)})
    network = Network(HEADS_OF_ONE_RUN, encoder)
    made = TrainingModule(network, TRAINING, Steps(10), kept=("omissions", "meaning"))
    frozen = {name.partition(".")[0] for name, tensor in network.named_parameters() if not tensor.requires_grad}
    assert frozen == {"omission_head", "meaning_head"}
    assert set(made._weights) == {"tag", "score", "ranking", "category"}
