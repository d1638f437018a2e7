"""Writes tiny checkpoints of COMET models with random weights, and the scores that COMET itself gives with them.

Run by hand in an environment of its own (`benchmarks/speed/comet.py` lists its packages):

    python tests/model/released/comet/make.py

writes the directories beside this file. With two arguments, TEXTS and OUTPUT, it makes larger ones for the texts of a
JSONL file of objects with `src`, `mt` and `ref`. `python -m tests.model.released.compare OUTPUT` shows the differences.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
WIDTH = 16
N_LAYERS = 3
_SHARED = {"nr_frozen_epochs": 0.3, "keep_embeddings_frozen": True, "dropout": 0.1, "local_files_only": True}
_ESTIMATOR = {**_SHARED, "hidden_sizes": [24, 12], "layer_norm": False}
_XCOMET = {**_SHARED, "hidden_sizes": [24, 12], "word_layer": N_LAYERS, "layer_transformation": "sparsemax"}
# By name: class, kind of encoder, hyperparameters; "patch" is what hparams.yaml says in place of a transformation.
MODELS: dict[str, tuple[str, str, dict[str, Any]]] = {
    "estimator": ("regression_metric", "xlmr", {**_ESTIMATOR, "layer_transformation": "sparsemax"}),
    "estimator-patch": (
        "regression_metric",
        "xlmr",
        {**_ESTIMATOR, "layer_transformation": "sparsemax", "patch": "sparsemax_patch"},
    ),
    "estimator-norm": ("regression_metric", "bert", {**_ESTIMATOR, "layer_norm": True, "activations": "Sigmoid"}),
    "estimator-max": ("regression_metric", "minilm", {**_ESTIMATOR, "pool": "max"}),
    "estimator-layer": ("regression_metric", "rembert", {**_ESTIMATOR, "pool": "cls", "layer": 2}),
    "estimator-xl": ("regression_metric", "xlmr-xl", _ESTIMATOR),
    "referenceless": (
        "referenceless_regression_metric",
        "xlmr",
        {**_ESTIMATOR, "hidden_sizes": [20], "final_activation": "Sigmoid"},
    ),
    "ranking": ("ranking_metric", "xlmr", {**_SHARED, "layer_norm": True}),
    "unite": ("unified_metric", "xlmr", {**_ESTIMATOR, "layer_norm": True}),
    "unite-bert": ("unified_metric", "bert", _ESTIMATOR),
    "unite-rembert": ("unified_metric", "rembert", {**_ESTIMATOR, "sent_layer": 3}),
    "kiwi": ("unified_metric", "xlmr", {**_ESTIMATOR, "input_segments": ["mt", "src"]}),
    "unified-words": (
        "unified_metric",
        "xlmr",
        {**_ESTIMATOR, "word_level_training": True, "word_layer": 0, "error_labels": ["minor", "major"]},
    ),
    "xcomet": ("xcomet_metric", "xlmr-xl", _XCOMET),
}
ENCODERS = {
    "xlmr": ("XLM-RoBERTa", "xlm-roberta"),
    "xlmr-xl": ("XLM-RoBERTa-XL", "xlm-roberta-xl"),
    "bert": ("BERT", "bert"),
    "minilm": ("MiniLM", "bert"),
    "rembert": ("RemBERT", "rembert"),
}
_SCALES = {"word_embeddings.weight": 2.0, "bias": 0.05, "hidden2tag.weight": 1.0}
"""Standard deviations, so that tokens differ and all labels occur."""
TEXTS = [
    ("The house is old.", "Das Haus ist alt.", "Das Haus ist sehr alt."),
    ("The dog sleeps under the table.", "Die Katze schläft auf dem Tisch!", "Der Hund schläft unter dem Tisch."),
    ("", "", ""),
    ("Not empty.", "", "Nicht leer."),
    ("", "Nicht leer.", ""),
    ("Good", "Gut", "Gut"),
    ("Two  spaces, and more   of them .", "  Zwei  Leerzeichen, und   mehr ", "Zwei Leerzeichen , und mehr."),
    ("你好，世界。今天很好。", "Hallo Welt. Heute ist es gut.", "Hallo, Welt! Heute ist ein guter Tag."),
    ("مرحبا بالعالم", "Hallo Welt", "Hallo, Welt!"),
    ("Cafe\u0301 cre\u0300me \U0001f600\U0001f600 ½ ﬁn", "Café crème \U0001f600 1/2 fin\u0301", "Café ½ ﬁn"),
    ("1, 2, 3 and 4.5 %", "1, 2, 3 und 4,5 %", "1, 2, 3 und 4,5 Prozent"),
    ("A long text: the house and the dog and the cat", "Ein langer Text: das Haus und der Hund", "Ein Text"),
    ("Same words", "Same words", "Same words"),
]


@dataclass(frozen=True)
class Job:
    """What is made: for which texts, where, and how large."""

    samples: list[dict[str, str]]
    output: Path
    n_pieces: int
    n_positions: int


def main() -> None:
    """Writes the checkpoints and their scores."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("texts", nargs="?", type=Path)
    parser.add_argument("output", nargs="?", type=Path)
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    samples = [dict(zip(("src", "mt", "ref"), texts, strict=True)) for texts in TEXTS]
    job = Job(samples, HERE, 260, 68)
    if args.texts:
        rows = [json.loads(line) for line in args.texts.read_text(encoding="utf-8").splitlines()]
        samples += [{name: row[name] for name in ("src", "mt", "ref")} for row in rows]
        job = Job(samples, args.output.resolve(), 8000, 514)
    for kind in ENCODERS:
        write_encoder(kind, job)
    expected_by_model = {}
    for name in MODELS:
        write_checkpoint(name, job.output)
        expected_by_model[name] = score(name, job)
    expected = {"texts": samples, "models": expected_by_model}
    text = json.dumps(expected, indent=1, ensure_ascii=False)
    (job.output / "expected.json").write_text(text + "\n", encoding="utf-8")


def write_encoder(kind: str, job: Job) -> None:
    """Writes configuration and tokenizer of an encoder."""
    from transformers import AutoConfig

    directory = job.output / "encoders" / kind
    shutil.rmtree(directory, ignore_errors=True)
    tokenizer = write_tokenizer(kind, job, directory)
    settings: dict[str, Any] = {
        "vocab_size": len(tokenizer),
        "hidden_size": WIDTH,
        "num_hidden_layers": N_LAYERS,
        "num_attention_heads": 2,
        "intermediate_size": 2 * WIDTH,
        "max_position_embeddings": job.n_positions,
        "type_vocab_size": 2 if kind in ("bert", "rembert", "minilm") else 1,
        "pad_token_id": tokenizer.pad_token_id,
        "bos_token_id": tokenizer.bos_token_id,
        "eos_token_id": tokenizer.eos_token_id,
    }
    if kind == "rembert":
        settings |= {"input_embedding_size": 8, "output_embedding_size": 8}
    AutoConfig.for_model(ENCODERS[kind][1], **settings).save_pretrained(directory)


def write_tokenizer(kind: str, job: Job, directory: Path) -> Any:
    """Writes the tokenizer of an encoder, trained on the samples, and returns it."""
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors, trainers
    from transformers import PreTrainedTokenizerFast

    is_bert = kind in ("bert", "rembert")
    first, last = ("[CLS]", "[SEP]") if is_bert else ("<s>", "</s>")
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"] if is_bert else ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
    pad, unknown = ("[PAD]", "[UNK]") if is_bert else ("<pad>", "<unk>")
    words = [text for texts in job.samples for text in texts.values()]
    trainer: Any
    if kind == "bert":
        tokenizer = Tokenizer(models.WordPiece(unk_token=unknown))
        tokenizer.normalizer = normalizers.BertNormalizer(lowercase=False)
        tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
        trainer = trainers.WordPieceTrainer(vocab_size=job.n_pieces, special_tokens=special, show_progress=False)
    else:
        tokenizer = Tokenizer(models.Unigram())
        tokenizer.normalizer = normalizers.NFKC()
        tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
            [pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace(prepend_scheme="always")]
        )
        trainer = trainers.UnigramTrainer(
            vocab_size=job.n_pieces, special_tokens=special, unk_token=unknown, show_progress=False
        )
    tokenizer.train_from_iterator(words, trainer)
    numbers = [(name, tokenizer.token_to_id(name)) for name in (first, last)]
    between = f"{last}" if is_bert else f"{last} {last}"
    second = "$B:1" if is_bert else "$B"
    end = f"{last}:1" if is_bert else last
    tokenizer.post_processor = processors.TemplateProcessing(
        single=f"{first} $A {last}", pair=f"{first} $A {between} {second} {end}", special_tokens=numbers
    )
    roles = {"bos": first, "cls": first, "eos": last, "sep": last, "pad": pad, "unk": unknown, "mask": special[-1]}
    tokens = {f"{role}_token": token for role, token in roles.items()}
    make: Any = PreTrainedTokenizerFast  # its constructor has no types
    made = make(tokenizer_object=tokenizer, model_max_length=job.n_positions - 2, **tokens)
    made.save_pretrained(directory)
    name_tokenizer_class(directory, kind)
    return made


def name_tokenizer_class(directory: Path, kind: str) -> None:
    """Writes the class that the hub's files name."""
    path = directory / "tokenizer_config.json"
    settings = json.loads(path.read_text(encoding="utf-8"))
    names = {"bert": "BertTokenizer", "rembert": "RemBertTokenizer"}
    settings["tokenizer_class"] = names.get(kind, "XLMRobertaTokenizer")
    path.write_text(json.dumps(settings, indent=1) + "\n", encoding="utf-8")


def write_checkpoint(name: str, output: Path) -> None:
    """Writes hparams.yaml and checkpoints/model.ckpt as Lightning does, with random weights."""
    import torch
    import yaml
    from comet.models import str2model  # type: ignore[import-not-found]
    from pytorch_lightning import Trainer

    identifier, kind, settings = MODELS[name]
    patch = settings.get("patch")
    hparams = {key: value for key, value in settings.items() if key != "patch"}
    directory = output / name
    shutil.rmtree(directory, ignore_errors=True)
    (directory / "checkpoints").mkdir(parents=True)
    os.chdir(directory)
    if kind == "minilm":  # COMET always takes the tokenizer of this hub id for MiniLM
        encoder = output / "encoders" / kind
        shutil.copytree(encoder, "xlm-roberta-base", ignore=shutil.ignore_patterns("config.json"))
    hparams |= {"encoder_model": ENCODERS[kind][0], "pretrained_model": f"../encoders/{kind}"}
    torch.manual_seed(list(MODELS).index(name))
    model = str2model[identifier](**hparams, load_pretrained_weights=False)
    with torch.no_grad():
        for key, tensor in model.named_parameters():
            scale = next((suffix_scale for end, suffix_scale in _SCALES.items() if key.endswith(end)), 0.3)
            tensor.normal_(1.0 if "LayerNorm.weight" in key or "layer_norm.weight" in key else 0.0, scale)
    trainer = Trainer(logger=False, enable_checkpointing=False, accelerator="cpu")
    trainer.strategy.connect(model)
    trainer.save_checkpoint(directory / "checkpoints" / "model.ckpt", weights_only=True)
    written = {**dict(model.hparams), "class_identifier": identifier}
    written |= {"layer_transformation": patch} if patch else {}
    (directory / "hparams.yaml").write_text(yaml.safe_dump(written), encoding="utf-8")


def score(name: str, job: Job) -> dict[str, Any]:
    """Returns what COMET predicts: with source and reference and, where the model can, with either."""
    from comet.models import load_from_checkpoint

    os.chdir(job.output / name)
    model = load_from_checkpoint("checkpoints/model.ckpt", local_files_only=True)
    samples = job.samples
    is_unified = MODELS[name][0] in ("unified_metric", "xcomet_metric")
    by_inputs = {"source+reference": predict(model, samples)}
    if is_unified:
        by_inputs["source"] = predict(model, [{"src": sample["src"], "mt": sample["mt"]} for sample in samples])
    if is_unified and "input_segments" not in MODELS[name][2]:
        by_inputs["reference"] = predict(model, [{"ref": sample["ref"], "mt": sample["mt"]} for sample in samples])
    return by_inputs


def predict(model: Any, samples: list[dict[str, str]]) -> dict[str, Any]:
    """Returns scores and, of a model that marks errors, spans and the label of each token, special ones included."""
    labels: list[list[int]] = []
    if hasattr(model, "decode"):

        def decode(probabilities: Any, ids: Any, offsets: Any) -> Any:
            rows = zip(probabilities.argmax(-1).tolist(), offsets, strict=True)
            labels.extend(row[: len(own)] for row, own in rows)
            return type(model).decode(model, probabilities, ids, offsets)

        model.decode = decode
    # Without batches by length, labels come in the order of the samples.
    output = model.predict(samples, batch_size=4, gpus=0, progress_bar=False, num_workers=0, length_batching=False)
    expected: dict[str, Any] = {"scores": [round(score, 7) for score in output["scores"]]}
    if "metadata" in output and "error_spans" in output["metadata"]:
        keys = ("start", "end", "severity", "confidence")
        every = output["metadata"]["error_spans"]
        expected["spans"] = [[[span[key] for key in keys] for span in spans] for spans in every]
        expected["labels"] = labels
    return expected


if __name__ == "__main__":
    main()
