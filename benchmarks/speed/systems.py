"""Runs one system once in this process: `python -m benchmarks.speed.systems '{"maker": ..., ...}'`.

Each public function but `main` loads a system and returns what it does with segments. Only they import other modules,
because COMET's environment, which has no `matese`, runs this module too.
"""

from __future__ import annotations

import json
import os
import resource
import sys
import time
import warnings
from collections import deque
from collections.abc import Callable, Iterable
from itertools import islice
from pathlib import Path
from typing import Any

from benchmarks.speed import texts
from benchmarks.speed.texts import Text

Run = Callable[[Iterable[Text]], object]
_BATCH = 32
_N_TAGS = 5
_LONGEST = 512
_WARM = 32
"""Segments of the warm-up run."""


def ours(entry: dict[str, Any]) -> Run:
    """This package, with its default options."""
    import matese
    from matese.annotation import Segment
    from matese.model.model_input import with_inputs

    options = {name: entry[name] for name in ("device", "precision", "threads")}
    annotator = matese.load(entry["model"], **options)

    def run(rows: Iterable[Text]) -> None:
        annotator.predictor.forget()  # or results of the warm-up would be reused
        segments = (Segment(text["hypothesis"], text["source"], (text["reference"],)) for text in rows)
        if entry["inputs"]:
            segments = (with_inputs(segment, entry["inputs"]) for segment in segments)
        # Streamed, so that texts and ratings do not count as memory of the annotator.
        deque(annotator.annotate_segments(segments), maxlen=0)

    return run


def ter(entry: dict[str, Any]) -> Run:
    """The TER of sacrebleu, in pure Python."""
    from sacrebleu.metrics.ter import TER

    metric = TER()
    return lambda rows: [metric.sentence_score(text["hypothesis"], [text["reference"]]) for text in rows]


def plain_loop(entry: dict[str, Any]) -> Run:
    """A loop over transformers with a linear tag head: padded batches in the order of the texts, in float32."""
    import torch
    from transformers import AutoModel, AutoTokenizer

    torch.set_num_threads(entry["threads"])
    tokenizer: Any = AutoTokenizer.from_pretrained(entry["model"])
    encoder: Any = AutoModel.from_pretrained(entry["model"]).to(entry["device"]).eval()
    head = torch.nn.Linear(encoder.config.hidden_size, _N_TAGS).to(entry["device"])

    @torch.inference_mode()
    def run(rows: Iterable[Text]) -> None:
        segments = iter(rows)
        while batch := list(islice(segments, _BATCH)):
            pairs = ([text[name] for text in batch] for name in ("hypothesis", "reference"))
            cut = {"truncation": True, "max_length": _LONGEST}
            encoded = tokenizer(*pairs, padding=True, **cut, return_tensors="pt").to(entry["device"])
            head(encoder(**encoded).last_hidden_state).argmax(-1).tolist()

    return run


def comet(entry: dict[str, Any]) -> Run:
    """COMET: `model` is "KIND:ENCODER" for random weights, or "checkpoint:DIRECTORY", written by `speed.comet`."""
    warnings.simplefilter("ignore")
    import torch
    from comet.models import load_from_checkpoint  # type: ignore[import-not-found]

    from benchmarks.speed.comet import build

    torch.set_num_threads(entry["threads"])
    kind, directory = entry["model"].split(":", 1)
    if kind == "checkpoint":
        model = load_from_checkpoint(str(Path(directory) / "checkpoints" / "model.ckpt"), local_files_only=True)
    else:
        model = build(kind, Path(directory))
    model.eval()
    if not hasattr(model, "word_outputs"):
        model.set_embedding_cache()  # as `comet-score` does

    def run(rows: Iterable[Text]) -> None:
        samples = [{"src": text["source"], "mt": text["hypothesis"], "ref": text["reference"]} for text in rows]
        options = {"gpus": int(entry["device"].startswith("cuda")), "progress_bar": False, "num_workers": 0}
        # `comet-score` predicts each system alone, so that the cached batches of sources and references are the same.
        n_sources = len({(sample["src"], sample["ref"]) for sample in samples})
        for start in range(0, len(samples), n_sources):
            model.predict(samples[start : start + n_sources], batch_size=_BATCH, **options)

    return run


def main() -> None:
    """Writes one line of JSON to stdout; output of libraries goes to stderr."""
    entry = json.loads(sys.argv[1])
    stream = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    run: Run = globals()[entry["maker"]](entry)
    run(texts.read(entry["texts"], _WARM))
    # Of one thread, processor time hardly depends on other load of the machine.
    clock = time.process_time if entry["device"] == "cpu" and entry["threads"] == 1 else time.perf_counter
    start = clock()
    run(texts.read(entry["texts"]))
    seconds = clock() - start
    n_segments = sum(1 for _ in texts.read(entry["texts"]))
    stream.write(json.dumps({"seconds": seconds, "n_segments": n_segments, "peak_bytes": _peak_bytes()}) + "\n")
    stream.close()


def _peak_bytes() -> int:
    """Returns the peak memory of this process; on Linux `ru_maxrss` includes that of its parent."""
    status = Path("/proc/self/status")
    if status.exists():
        return int(status.read_text(encoding="utf-8").partition("VmHWM:")[2].split()[0]) * 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


if __name__ == "__main__":
    main()
