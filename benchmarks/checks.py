"""Measure the rule-based checks on correct translations, and on the same texts with one fault put in.

    MATESE_DATA=data/raw python -m benchmarks.checks --json benchmarks/results/checks.json

The texts are NTREX-128: 1,997 English segments of news with human translations into 127 languages and variants. They
are correct but for the slips that translators make, so that each finding counts as a false alarm. In the second part,
each fault is put into every `--fault-every`-th segment of each language that has room for it. Placeholders, addresses
and inline codes do not occur in news: they are put into source and translation, and such a pair is correct, too, until
the fault changes the translation.

The tables have a row for each rule and fault. A finding on the correct text is no finding of the fault.
"""

from __future__ import annotations

import os
import random
import time
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import regex

from benchmarks import markdown
from data_prep.store import Store
from matese.annotation import Codes, InlineCode, Segment, SegmentKey
from matese.checks import checker, rules
from matese.errors import InputError

FOLDER = "meaning/ntrex-128"
_PREFIX = "NTREX-128/newstest2019-ref"
_SOURCE = "NTREX-128/newstest2019-src.eng.txt"
_GOAL_ALARMS = 1.0
_GOAL_FOUND = 0.95
_MIN_FAULTS = 20
"""A share of fewer faults says nothing about a language."""
_WORD = regex.compile(r"(?w)\b[\p{L}\p{M}\p{N}'’]+\b")
_NUMBER = regex.compile(r"(?<![\p{L}\p{M}\p{N}.,:/-])\p{Nd}+(?![\p{L}\p{M}\p{N}.,:/%-])")
_GROUPED = regex.compile(r"(?<!\p{Nd})\p{Nd}{1,3}(?:[.,]\p{Nd}+)+(?!\p{Nd})")
_PLACEHOLDERS = (
    "%s",
    "%1$d",
    "%(name)s",
    "%1",
    "{0}",
    "{user}",
    "{{ count }}",
    "{ $user }",
    "${total}",
    "$t(common.home)",
)
_TAGS = ("<b>{}</b>", "<0>{}</0>", '<a href="https://example.org/x">{}</a>')
_ADDRESSES = ("https://example.org/help/a-7", "www.example.com", "someone@example.org")


@dataclass(frozen=True, slots=True)
class Faulty:
    """A correct segment and the same segment with a fault."""

    correct: Segment
    faulty: Segment


Fault = Callable[[Segment, random.Random, str], Faulty | None]
"""Puts a fault into a segment; the last argument is another language's translation. None if there is no room."""


@dataclass
class Counts:
    """What the checks say about the texts of one language."""

    n_segments: int = 0
    alarms: Counter[str] = field(default_factory=Counter)
    n_faults: Counter[str] = field(default_factory=Counter)
    found: Counter[str] = field(default_factory=Counter)
    prepared_alarms: Counter[str] = field(default_factory=Counter)
    examples: dict[str, list[str]] = field(default_factory=dict)


def changed_digit(segment: Segment, rng: random.Random, _: str) -> Faulty | None:
    """One digit of a number that source and translation share is another one."""
    return _edited_number(segment, rng, lambda number: _other_digit(number, rng))


def left_out(segment: Segment, rng: random.Random, _: str) -> Faulty | None:
    """A number above 12 that is not round is left out."""
    return _edited_number(
        segment, rng, lambda number: "", is_meant=lambda value: value > 12 and len(str(value).rstrip("0")) > 1
    )


def _edited_number(
    segment: Segment,
    rng: random.Random,
    edit: Callable[[str], str],
    is_meant: Callable[[int], bool] = lambda value: True,
) -> Faulty | None:
    theirs = Counter(int(match[0]) for match in _NUMBER.finditer(segment.source or ""))
    ours = [match for match in _NUMBER.finditer(segment.hypothesis) if len(match[0]) < 16]
    shared = [match for match in ours if theirs[int(match[0])] == 1 and is_meant(int(match[0]))]
    if not shared:
        return None
    match = rng.choice(shared)
    text = f"{segment.hypothesis[: match.start()]}{edit(match[0])}{segment.hypothesis[match.end() :]}"
    values = {int(other[0]) for other in _NUMBER.finditer(text)}
    if int(match[0]) in values:  # it stands there twice
        return None
    return Faulty(segment, replace(segment, hypothesis=text))


def _other_digit(number: str, rng: random.Random) -> str:
    place = rng.randrange(len(number))
    zero = ord(number[place]) - unicodedata.digit(number[place])
    digits = [chr(zero + digit) for digit in range(1, 10)]
    return f"{number[:place]}{rng.choice([digit for digit in digits if digit != number[place]])}{number[place + 1 :]}"


def moved_mark(segment: Segment, rng: random.Random, _: str) -> Faulty | None:
    """A number with a decimal or grouping mark loses the mark, so that its value is another."""
    matches = list(_GROUPED.finditer(segment.hypothesis))
    theirs = {regex.sub(r"\P{Nd}", "", match[0]) for match in _GROUPED.finditer(segment.source or "")}
    matches = [match for match in matches if regex.sub(r"\P{Nd}", "", match[0]) in theirs]
    if not matches:
        return None
    match = rng.choice(matches)
    digits = regex.sub(r"\P{Nd}", "", match[0])
    if digits.endswith("0"):
        return None
    text = f"{segment.hypothesis[: match.start()]}{digits}{digits[-1]}{segment.hypothesis[match.end() :]}"
    return Faulty(segment, replace(segment, hypothesis=text))


def lost_placeholder(segment: Segment, rng: random.Random, _: str) -> Faulty | None:
    """A placeholder is left out."""
    code = rng.choice(_PLACEHOLDERS)
    return _with(segment, rng, code, "")


def renamed_placeholder(segment: Segment, rng: random.Random, _: str) -> Faulty | None:
    """A placeholder is written in another way."""
    code = rng.choice(("%(name)s", "{user}", "{ $user }", "%1$d", "${total}"))
    wrong = {"%(name)s": "%(nom)s", "{user}": "{usr}", "{ $user }": "{ $usr }", "%1$d": "% 1$ d", "${total}": "${sum}"}
    return _with(segment, rng, code, wrong[code])


def lost_tag(segment: Segment, rng: random.Random, _: str) -> Faulty | None:
    """The tags around a word are left out."""
    tag = rng.choice(_TAGS)
    words = list(_WORD.finditer(segment.hypothesis))
    others = list(_WORD.finditer(segment.source or ""))
    if not words or not others:
        return None
    word = rng.choice(words)
    other = rng.choice(others)
    source = _put(segment.source or "", other.start(), other.end(), tag.replace("{}", other[0]))
    hypothesis = _put(segment.hypothesis, word.start(), word.end(), tag.replace("{}", word[0]))
    correct = replace(segment, source=source, hypothesis=hypothesis)
    return Faulty(correct, replace(correct, hypothesis=segment.hypothesis))


def wrong_address(segment: Segment, rng: random.Random, _: str) -> Faulty | None:
    """An address is changed or left out."""
    address = rng.choice(_ADDRESSES)
    place = rng.randrange(4, len(address) - 2)
    wrong = rng.choice(("", address.replace("example", "beispiel"), f"{address[:place]}{address[place + 1 :]}"))
    return _with(segment, rng, address, wrong)


def _with(segment: Segment, rng: random.Random, code: str, wrong: str) -> Faulty:
    def put(text: str, place: int, words: str) -> str:
        return _put(text, place, place, f" {words} ") if words else text

    source = put(segment.source or "", _place(segment.source or "", rng), code)
    place = _place(segment.hypothesis, rng)
    correct = replace(segment, source=source, hypothesis=put(segment.hypothesis, place, code))
    return Faulty(correct, replace(correct, hypothesis=put(segment.hypothesis, place, wrong)))


def _place(text: str, rng: random.Random) -> int:
    """Returns the place of a space, or the end."""
    return rng.choice([match.start() for match in regex.finditer(r"(?<=\p{L}) |$", text)])


def _put(text: str, start: int, end: int, words: str) -> str:
    return f"{text[:start]}{words}{text[end:]}"


def wrong_code(segment: Segment, rng: random.Random, _: str) -> Faulty | None:
    """An inline code is lost, renamed or there twice."""
    codes = (InlineCode("g", "1"), InlineCode("x", "INTERPOLATION"))
    correct = replace(segment, codes=Codes(codes, tuple(rng.sample(codes, 2))))
    wrong = rng.choice((codes[:1], (codes[0], InlineCode("x", "INTERPOLATIE")), (*codes, codes[1])))
    return Faulty(correct, replace(segment, codes=Codes(codes, wrong)))


def doubled_word(segment: Segment, rng: random.Random, _: str) -> Faulty | None:
    """A word of three letters or more stands there twice."""
    words = [match for match in _WORD.finditer(segment.hypothesis) if len(match[0]) > 2 and match[0].isalpha()]
    if not words:
        return None
    word = rng.choice(words)
    text = _put(segment.hypothesis, word.end(), word.end(), f" {word[0]}")
    return Faulty(segment, replace(segment, hypothesis=text))


def repeated_phrase(segment: Segment, rng: random.Random, _: str) -> Faulty | None:
    """A third of the text stands there twice."""
    size = len(segment.hypothesis) // 3
    places = [match.start() for match in regex.finditer(r"(?w)\b(?=\p{L})", segment.hypothesis)]
    starts = [place for place in places if place + size < len(segment.hypothesis)]
    if size < 20 or not starts:
        return None
    start = rng.choice(starts)
    end = next((place for place in places if place >= start + size), None)
    if end is None:
        return None
    part = segment.hypothesis[start:end]
    text = _put(segment.hypothesis, end, end, part if part.endswith(" ") else f"{part} ")
    return Faulty(segment, replace(segment, hypothesis=text))


def untranslated(segment: Segment, _: random.Random, __: str) -> Faulty | None:
    """The source stands in the place of the translation."""
    return Faulty(segment, replace(segment, hypothesis=segment.source or ""))


def half_translated(segment: Segment, _: random.Random, __: str) -> Faulty | None:
    """The second half is the source's."""
    source = segment.source or ""
    cut = source.find(" ", len(source) // 2)
    mine = segment.hypothesis.find(" ", len(segment.hypothesis) // 2)
    if cut < 0 or mine < 0 or len(source) < 100:
        return None
    return Faulty(segment, replace(segment, hypothesis=f"{segment.hypothesis[:mine]}{source[cut:]}"))


def other_language(segment: Segment, _: random.Random, other: str) -> Faulty | None:
    """A translation into another language stands in the place of the translation."""
    return Faulty(segment, replace(segment, hypothesis=other))


def blank(segment: Segment, _: random.Random, __: str) -> Faulty | None:
    """Nothing but a space is there."""
    return Faulty(segment, replace(segment, hypothesis=" "))


FAULTS: Mapping[str, tuple[str, Fault]] = {
    "digit changed": ("numbers", changed_digit),
    "number above 12 left out": ("numbers", left_out),
    "decimal or grouping mark lost": ("numbers", moved_mark),
    "placeholder left out": ("placeholders", lost_placeholder),
    "placeholder renamed": ("placeholders", renamed_placeholder),
    "tags left out": ("placeholders", lost_tag),
    "address changed or left out": ("addresses", wrong_address),
    "code lost, renamed or twice": ("codes", wrong_code),
    "word doubled": ("repetition", doubled_word),
    "third of the text doubled": ("repetition", repeated_phrase),
    "left untranslated": ("untranslated", untranslated),
    "second half left untranslated": ("untranslated", half_translated),
    "in another language": ("language", other_language),
    "blank": ("blank", blank),
}
"""Each fault, the rule that should find it, and the function that puts it in."""


def measure(segments: Sequence[Segment], others: Sequence[str], *, every: int, fault_every: int) -> Counts:
    """Returns what the checks say about the translations of one language, and about some with faults."""
    counts = Counts()
    for index, segment in enumerate(segments):
        if index % every == 0:
            counts.n_segments += 1
            for name, example in found(segment).items():
                counts.alarms[name] += 1
                counts.examples.setdefault(name, []).append(f"{example} | {segment.source} | {segment.hypothesis}")
        for name, (rule, put) in FAULTS.items():
            if index % (1 if rule == "numbers" else fault_every):  # numbers are rare
                continue
            rng = random.Random(f"{name}|{segment.key}")
            pair = put(segment, rng, others[index])
            if pair is None or found(pair.correct).get(rule):
                counts.prepared_alarms[name] += pair is not None
                continue
            counts.n_faults[name] += 1
            counts.found[name] += rule in found(pair.faulty)
    return counts


def found(segment: Segment) -> dict[str, str]:
    """Returns the rules that have a finding, each with the words of its first finding."""
    rating = checker.check(segment)
    words: dict[str, str] = {}
    for error in rating.errors or ():
        words.setdefault(error.rule or "", segment.hypothesis[error.start : error.end])
    for omission in rating.omissions:
        words.setdefault(omission.rule or "", f"-{omission.words(segment)}")
    for unplaced in rating.unplaced:
        words.setdefault(unplaced.rule or "", unplaced.words or "")
    return words


def languages(store: Store, *, is_reversed: bool) -> Iterator[tuple[str, list[Segment], list[str]]]:
    """Yields name, segments and another language's texts of each language."""
    names = [name for name in store.names(FOLDER) if name.startswith(_PREFIX)]
    texts = {
        name: [line.rstrip("\r") for line in lines] for name, lines in store.texts(FOLDER, [*names, _SOURCE]).items()
    }
    english = texts.pop(_SOURCE)
    for place, (name, lines) in enumerate(sorted(texts.items())):
        code = name.removeprefix(_PREFIX).removesuffix(".txt").removeprefix("-2").removeprefix(".").replace("-", "_")
        pair = f"{code}-eng" if is_reversed else f"eng-{code}"
        rows = zip(lines, english, strict=True) if is_reversed else zip(english, lines, strict=True)
        segments = [
            Segment(hypothesis, source, (), SegmentKey("ntrex", pair, None, None, index))
            for index, (source, hypothesis) in enumerate(rows)
        ]
        # Some languages on in the list: seldom a close relative.
        other = sorted(texts)[(place + 41) % len(texts)]
        yield code, segments, texts[other]


def by_rule(counts: Mapping[str, Counts]) -> list[str]:
    """Returns the table of rules: false alarms in a thousand correct segments, and languages beyond the goal."""
    rows = []
    for rule in rules.NAMES:
        rates = {code: 1000 * one.alarms[rule] / one.n_segments for code, one in counts.items()}
        mean = sum(rates.values()) / len(rates)
        worst = max(rates, key=rates.__getitem__)
        beyond = sum(rate > _GOAL_ALARMS for rate in rates.values())
        rows.append([f"`{rule}`", f"{mean:.2f}", f"{rates[worst]:.1f} ({worst})", str(beyond)])
    return markdown.table(["rule", "false alarms per 1,000", "worst language", "languages above 1"], rows)


def by_fault(counts: Mapping[str, Counts]) -> list[str]:
    """Returns the table of faults: the share that is found, and languages below the goal."""
    rows = []
    for name, (rule, _) in FAULTS.items():
        n_faults = sum(one.n_faults[name] for one in counts.values())
        n_found = sum(one.found[name] for one in counts.values())
        shares = {
            code: one.found[name] / one.n_faults[name]
            for code, one in counts.items()
            if one.n_faults[name] >= _MIN_FAULTS
        }
        below = sum(share < _GOAL_FOUND for share in shares.values())
        n_alarms = sum(one.prepared_alarms[name] for one in counts.values())
        rows.append(
            [
                f"`{rule}`",
                name,
                f"{n_faults:,}",
                f"{100 * n_found / max(1, n_faults):.1f} %",
                f"{below} of {len(shares)}",
                str(n_alarms),
            ]
        )
    heads = ["rule", "fault", "faults", "found", "languages below 95 %", "alarms without the fault"]
    return markdown.table(heads, rows)


def main() -> None:
    """Prints the tables."""
    parser = markdown.parser(__doc__, "--every", "--json")
    parser.add_argument("--fault-every", type=int, default=10, metavar="K", help="put faults into every K-th segment")
    parser.add_argument(
        "--into-english", action="store_true", help="read the translations as sources of the English texts"
    )
    parser.add_argument("--only", nargs="+", metavar="LANGUAGE", help="names of NTREX-128, such as deu zho_CN")
    parser.add_argument(
        "--show", type=int, default=0, metavar="N", help="print N false alarms of each rule and language"
    )
    arguments = parser.parse_args()
    if "MATESE_DATA" not in os.environ:
        raise InputError("MATESE_DATA is not set: must be the folder with the raw data (docs/research/training.md)")
    store = Store(Path(os.environ["MATESE_DATA"]))
    counts: dict[str, Counts] = {}
    begun = time.process_time()
    for code, segments, others in languages(store, is_reversed=arguments.into_english):
        if arguments.only and code not in arguments.only:
            continue
        name = code if code not in counts else f"{code}-2"
        counts[name] = measure(segments, others, every=arguments.every, fault_every=arguments.fault_every)
        for rule, examples in counts[name].examples.items():
            print(
                *(f"{name} {rule}: {example}" for example in examples[: arguments.show]),
                sep="\n",
                end="\n" * bool(arguments.show),
            )
    print(*by_rule(counts), "", *by_fault(counts), "", f"{time.process_time() - begun:.0f} s", sep="\n")
    figures = {
        code: {
            "segments": one.n_segments,
            "alarms": dict(one.alarms),
            "faults": dict(one.n_faults),
            "found": dict(one.found),
        }
        for code, one in counts.items()
    }
    markdown.write_json(arguments.json, figures)


if __name__ == "__main__":
    main()
