"""Hand-written ratings and the smallest settings that learn them.

`python -m tests.training.material` writes the tokenizer of the settings.
"""

from __future__ import annotations

from pathlib import Path

from matese.annotation import ErrorSpan, Rating, Segment, Severity
from matese.formats.tables import jsonl
from matese.model.heads import registry
from matese.training.reading import texts_of
from tests.conftest import make_config, make_tokenizer

# Hypothesis with errors marked [so] if Minor and {so} if Major, reference, source.
MARKED = (
    ("Der Hund schläft im Garten.", "Der Hund schläft im Garten.", "The dog sleeps in the garden."),
    ("Der {Katze} schläft im Garten.", "Der Hund schläft im Garten.", "The dog sleeps in the garden."),
    ("Der Hund schläft [am] Garten.", "Der Hund schläft im Garten.", "The dog sleeps in the garden."),
    ("Das {Auto brennt} im Garten.", "Der Hund schläft im Garten.", "The dog sleeps in the garden."),
    ("Sie kauft zwei Äpfel.", "Sie kauft zwei Äpfel.", "She buys two apples."),
    ("Sie {verkauft} zwei Äpfel.", "Sie kauft zwei Äpfel.", "She buys two apples."),
    ("Sie kauft {zwölf} Äpfel[,]", "Sie kauft zwei Äpfel.", "She buys two apples."),
    ("Sie kauft zwei [apfel].", "Sie kauft zwei Äpfel.", "She buys two apples."),
    ("I have never been to 北京 😀!", "I've never been to Beijing 😀!", "我从没去过北京😀！"),
    ("I {never want to} see [Peking] 😀!", "I've never been to Beijing 😀!", "我从没去过北京😀！"),
    ("[ i] have never been to Beijing{ 🚗}", "I've never been to Beijing 😀!", "我从没去过北京😀！"),
    ("I have {always} been to Beijing 😀!", "I've never been to Beijing 😀!", "我从没去过北京😀！"),
    ("Книга лежит на столе.", "Книга лежит на столе.", "The book lies on the table."),
    ("Книга {стоит} в [столе].", "Книга лежит на столе.", "The book lies on the table."),
    ("{Кошка} лежит на столе.", "Книга лежит на столе.", "The book lies on the table."),
    ("Книга лежит на [стол].", "Книга лежит на столе.", "The book lies on the table."),
)
_SEVERITIES = {"[": Severity.MINOR, "{": Severity.MAJOR}


def rating(marked: str, reference: str, source: str) -> Rating:
    text = ""
    spans = []
    opened = None
    for character in marked:
        if character in _SEVERITIES:
            opened = len(text), _SEVERITIES[character]
        elif character in "]}":
            assert opened is not None
            spans.append(ErrorSpan(opened[0], len(text), opened[1]))
        else:
            text += character
    return Rating(Segment(text, source, (reference, reference.upper())), "hand", tuple(spans))


HEADS = registry.targets(make_config(score={}, omissions={}))
"""What a model with these heads learns."""
RATINGS = tuple(rating(*row) for row in MARKED)


def write_ratings(path: Path, ratings: tuple[Rating, ...] = RATINGS) -> Path:
    path.write_text("".join(jsonl.dumps(row) + "\n" for row in ratings), encoding="utf-8")
    return path


TOKENIZER = Path(__file__).parent / "tokenizer"
SETTINGS = f"""\
encoder:
  model_type: xlm-roberta
  hidden_size: 64
  num_hidden_layers: 2
  num_attention_heads: 2
  intermediate_size: 128
  max_position_embeddings: 130
tokenizer: {TOKENIZER}
model: {{layers: {{extra: 0, dropout: 0.0}}, heads: {{tags: {{}}, score: {{}}}}}}
output: replaced
training:
  learning_rate: 3e-3
  batch_tokens: 256
  max_epochs: 60
  validate_every: 30
  warmup: 0.1
  precision: float32
  accelerator: cpu
"""


def write_settings(path: Path, text: str = SETTINGS) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


if __name__ == "__main__":
    make_tokenizer(text for row in RATINGS for text in texts_of(row)).save_pretrained(str(TOKENIZER))
