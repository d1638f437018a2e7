"""Measure what a training step costs the host, beside a GPU: processor time in milliseconds, by part.

    OMP_NUM_THREADS=1 python -m benchmarks.training_host --data data/prepared/dev.jsonl

The settings are those of `configs/mini.yaml`, with an encoder of width 16. A batch of 65,536 tokens is made, which
worker processes can do beside the training (`training.workers`). The step itself is measured on a batch of 1,024
tokens, in which little more is computed than on the host of a GPU: the same operations are started for any number of
tokens. Each text is read in its row, as on a GPU. 500,000 tokens a second are 131 ms for a step of 65,536 tokens.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterable
from pathlib import Path
from statistics import median

import torch

from benchmarks import markdown
from matese.annotation import Rating
from matese.formats import detection
from matese.model.heads import registry
from matese.training import batching, config, corpus_building, run_setup
from matese.training.batching import BatchLimits, BatchStream
from matese.training.corpus import Corpus, Draw
from matese.training.module import TrainingModule
from matese.training.optimisation import Steps
from matese.training.targets import Batch

_SETTINGS = Path(__file__).absolute().parents[1] / "configs" / "mini.yaml"
_ENCODER = (
    "{model_type: bert, hidden_size: 16, num_hidden_layers: 12, num_attention_heads: 2, intermediate_size: 64, "
    "max_position_embeddings: 512, type_vocab_size: 2}"
)
_TOKENS = 65_536
_FEW_TOKENS = 1_024
_N_RUNS = 7


def main() -> None:
    """Prints the table."""
    arguments = markdown.parser(__doc__, "--data").parse_args()
    parts = measure(detection.read(str(arguments.data)))
    rows = [[name, f"{1000 * seconds:.1f}"] for name, seconds in parts.items()]
    print(*markdown.table(["part", "ms"], rows), sep="\n")


def measure(ratings: Iterable[Rating]) -> dict[str, float]:
    """Returns the processor seconds of each part of a step; medians of several runs, after one that is left out."""
    overrides = [("encoder", _ENCODER), ("tokenizer", "mini"), ("model.layers.extra_heads", "2")]
    settings = config.resolve(config.load(_SETTINGS, overrides=overrides))
    tokenizer = run_setup.make_tokenizer(settings)
    network = run_setup.make_model(settings, tokenizer)
    texts = network.text_encoder(tokenizer)
    corpus = corpus_building.build(ratings, texts, settings.model.texts.inputs, registry.targets(settings.model))
    module = TrainingModule(network, settings.training, Steps(1000), n_rater_groups=len(settings.data.raters))
    module.train()
    optimizer = module.configure_optimizers()["optimizer"]
    large, small = (_draws(corpus, n_tokens, texts.longest) for n_tokens in (_TOKENS, _FEW_TOKENS))
    batch = _as_on_gpu(batching.make_batch(corpus, small))
    runs: list[dict[str, float]] = []
    for _ in range(1 + _N_RUNS):
        times = [time.process_time()]
        batching.make_batch(corpus, large)
        times.append(time.process_time())
        with torch.autocast("cpu", torch.bfloat16):
            loss = module.training_step(batch, 0)
        times.append(time.process_time())
        torch.autograd.backward(loss)
        times.append(time.process_time())
        module.configure_gradient_clipping(optimizer)
        times.append(time.process_time())
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        times.append(time.process_time())
        names = ("batch (in a worker)", "forward and losses", "backward", "clip", "optimizer")
        runs.append(dict(zip(names, (end - start for start, end in itertools.pairwise(times)), strict=True)))
    parts = {name: median(run[name] for run in runs[1:]) for name in runs[0]}
    return parts | {"step, without the batch": sum(list(parts.values())[1:])}


def _draws(corpus: Corpus, n_tokens: int, longest: int) -> list[Draw]:
    return BatchStream(corpus, BatchLimits(n_tokens, longest), seed=1, group_size=8).batch(0)


def _as_on_gpu(batch: Batch) -> Batch:
    """Returns the batch without what a CPU alone reads, see `Inputs.texts`."""
    inputs = batch.inputs._replace(texts=None, text_starts=None, text_places=None)
    return batch._replace(inputs=inputs)


if __name__ == "__main__":
    main()
