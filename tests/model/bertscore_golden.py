"""A tiny encoder, and what the package `bert_score` 0.3.13 computes with it: `bertscore.json`.

Run by hand with `bert_score` and transformers 4: python -m tests.model.bertscore_golden
"""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
TOKENIZER = HERE / "released" / "comet" / "encoders" / "xlmr"
HYPOTHESES = ["Das Haus ist alt.", "Die Katze schläft.", "", "  Gut  ", "1, 2, 3 und 4,5 %", "Nicht leer."]
REFERENCES = ["Das Haus ist sehr alt.", "Der Hund schläft.", "Nicht leer.", "Gut", "1, 2, 3 und 4,5 Prozent", "leer"]


def make_encoder(directory: Path) -> Path:
    """Saves an encoder whose weights are the same in every version of torch, and the tokenizer; returns its path."""
    import torch
    from transformers import AutoConfig, AutoModel, PreTrainedTokenizerFast

    settings = json.loads((TOKENIZER / "config.json").read_text(encoding="utf-8"))
    settings.pop("model_type")
    config: Any = AutoConfig.for_model("xlm-roberta", **settings)
    model: Any = AutoModel.from_config(config)  # type: ignore[no-untyped-call]
    with torch.no_grad():
        # By name: versions of transformers differ in the order.
        for number, (name, tensor) in enumerate(sorted(model.named_parameters()), 1):
            places = torch.arange(tensor.numel(), dtype=torch.float64)
            values = torch.sin(places * (1.7 + 0.31 * number)).view(tensor.shape)
            tensor.copy_(1 + 0.1 * values if "LayerNorm.weight" in name else 0.5 * values)
    model.save_pretrained(directory)
    make: Any = PreTrainedTokenizerFast
    roles = {"bos": "<s>", "cls": "<s>", "eos": "</s>", "sep": "</s>", "pad": "<pad>", "unk": "<unk>"}
    tokens = {f"{role}_token": token for role, token in roles.items()}
    made = make(tokenizer_file=str(TOKENIZER / "tokenizer.json"), model_max_length=64, **tokens)
    made.save_pretrained(directory)
    return directory


def main() -> None:
    """Writes the F1 of each segment by layer and weighting."""
    from bert_score import score  # type: ignore[import-not-found]

    f1_by_case = {}
    with tempfile.TemporaryDirectory() as folder:
        name = str(make_encoder(Path(folder) / "tiny"))
        for layer in (1, 3):
            for idf in (False, True):
                options = {"model_type": name, "num_layers": layer, "idf": idf, "device": "cpu", "nthreads": 0}
                _, _, f1 = score(HYPOTHESES, REFERENCES, use_fast_tokenizer=True, **options)
                f1_by_case[f"{layer}{'-idf' if idf else ''}"] = [round(value, 6) for value in f1.tolist()]
    (HERE / "bertscore.json").write_text(json.dumps(f1_by_case, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
