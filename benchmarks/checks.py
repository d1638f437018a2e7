"""Measure the rule-based checks on correct translations, and on the same texts with one fault put in.

    MATESE_DATA=data/raw python -m benchmarks.checks --json benchmarks/results/checks.json

The texts are NTREX-128: 1,997 English segments of news with human translations into 127 languages and variants. They
are correct but for the slips that translators make, such as 3:30 for 3:35. Findings were read, and those that are slips
are listed in `benchmarks/ntrex_slips.tsv`; every other finding counts as a false alarm. Variants of a language count as
one, as they do for the rules. For the figures, the even sources say where rules must be silent, and the odd ones are
measured. The lists of the package are then those of all sources:

    MATESE_DATA=data/raw python -m benchmarks.checks --write-lists matese/checks/measured.py              # before it
    MATESE_DATA=data/raw python -m benchmarks.checks --write-lists matese/checks/measured.py --half all   # after it

In the second part, each fault is put into every `--fault-every`-th segment of each language that has room for it.
Placeholders, addresses and inline codes do not occur in news: they are put into source and translation, and such a pair
is correct, too, until the fault changes the translation.

A rule is silent in a language, for one of its categories, where it has more than one false alarm in a thousand
segments, or clearly finds less than 95 % of the category's faults there (binomial, 5 %). The tables have a row for each
rule and fault; the share that is found is over the languages in which the rule speaks. A finding on the correct text is
no finding of the fault.
"""

from __future__ import annotations

import math
import os
import random
import textwrap
import time
import unicodedata
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import regex

from benchmarks import markdown
from data_prep.store import Store
from matese.annotation import Codes, InlineCode, Omission, Segment, SegmentKey, UnplacedError
from matese.checks import (
    addresses,
    checker,
    cldr,
    codes,
    copied,
    language,
    numbers,
    placeholders,
    repetition,
    rules,
    scripts,
)
from matese.checks import blank as blank_rule
from matese.checks.rule import Rule
from matese.errors import InputError
from matese.text.languages import languages_of

FOLDER = "meaning/ntrex-128"
_PREFIX = "NTREX-128/newstest2019-ref"
_SOURCE = "NTREX-128/newstest2019-src.eng.txt"
_GOAL_ALARMS = 1.0
_GOAL_FOUND = 0.95
_SLIPS = Path(__file__).with_name("ntrex_slips.tsv")
_CHANCE = 0.05
_DOUBLED = (repetition.DOUBLED, repetition.DOUBLED_SHORT)
_N_WORST = 3
_APART = "language"
_HALVES = {"even": slice(0, None, 2), "odd": slice(1, None, 2), "all": slice(None)}
_MODULE = '''"""In which languages rules are sure, written by `python -m benchmarks.checks --write-lists`.

Measured on NTREX-128, whose translations are correct: a category of a rule is silent where it has more than one false
alarm in a thousand of them, or finds less than 95 % of the faults that are put in. `docs/mark.md` has the figures.
"""

# ruff: noqa: SIM905  # a list would have a line for each language

from __future__ import annotations

from collections.abc import Mapping
'''
_LEAST_LETTERS = 60
_MIN_FAULTS = 20
"""A share of fewer faults says nothing about a language."""
_WORD = regex.compile(r"(?w)\b[\p{L}\p{M}\p{N}'’]+\b")
_LETTERS = regex.compile(r"[\p{L}\p{M}]+")
_NUMBER = regex.compile(r"(?<![\p{L}\p{M}\p{N}.,:/-])\p{Nd}+(?![\p{L}\p{M}\p{N}.,:/%-])")
_IN_TWO_UNITS = regex.compile(r"\p{Nd}+ \p{L}+ \([^()]*\p{Nd}[^()]*\)")
"""45 miles (72 kilometers): a translation may keep one of them."""
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
_FOREIGN = {"Cyrl": "слово", "Grek": "λέξη", "Deva": "शब्द", "Thai": "คำ"}
_ADDRESSES = ("https://example.org/help/a-7", "www.example.com", "someone@example.org")


@dataclass(frozen=True, slots=True)
class Faulty:
    """A correct segment and the same segment with a fault."""

    correct: Segment
    faulty: Segment


Rules = Sequence[Rule]
Fault = Callable[[Segment, random.Random, str], Faulty | None]
"""Puts a fault into a segment; the last argument is another language's translation. None if there is no room."""


@dataclass
class Counts:
    """What the checks say about the texts of one language.

    Attributes:
        n_segments: how many were read.
        alarms: false alarms by rule.
        categories: false alarms by rule and category.
        slips: findings that are slips of the translator, by rule.
        n_faults: how often each fault was put in.
        found: how often each was found, by the categories of the findings.
        prepared_alarms: findings in pairs that were prepared for a fault, and are correct.
        words: how often the words of a false alarm were found, by category.
        examples: of false alarms, by rule.
    """

    n_segments: int = 0
    alarms: Counter[str] = field(default_factory=Counter)
    categories: Counter[tuple[str, str]] = field(default_factory=Counter)
    slips: Counter[str] = field(default_factory=Counter)
    n_faults: Counter[str] = field(default_factory=Counter)
    found: Counter[tuple[str, frozenset[str]]] = field(default_factory=Counter)
    prepared_alarms: Counter[str] = field(default_factory=Counter)
    words: Counter[tuple[str, str]] = field(default_factory=Counter)
    examples: dict[str, list[str]] = field(default_factory=dict)

    def add(self, other: Counts) -> None:
        """Adds what they say about other texts of the language."""
        self.n_segments += other.n_segments
        for name in ("alarms", "categories", "slips", "n_faults", "found", "prepared_alarms", "words"):
            getattr(self, name).update(getattr(other, name))

    def n_found(self, fault: str, silent: Collection[str] = ()) -> int:
        """Returns how often a fault was found, by categories that are not silent."""
        return sum(n for (name, categories), n in self.found.items() if name == fault and not categories <= set(silent))


def changed_digit(segment: Segment, rng: random.Random, _: str) -> Faulty | None:
    """One digit of a number that source and translation share is another one."""
    return _edited_number(segment, rng, lambda number: _other_digit(number, rng))


def left_out(segment: Segment, rng: random.Random, _: str) -> Faulty | None:
    """A number above 12 that is not round is left out; not one of an amount in two units, which has another.

    Where CLDR has no words for numbers, it is one from 1,000, which are seldom written as words.
    """
    least = 13 if cldr.can_spell(languages_of(segment.key)[1]) else 1000
    restated = {
        int(match[0]) for both in _IN_TWO_UNITS.findall(segment.source or "") for match in _NUMBER.finditer(both)
    }

    def is_meant(value: int) -> bool:
        return value >= least and len(str(value).rstrip("0")) > 1 and value not in restated

    return _edited_number(segment, rng, lambda number: "", is_meant=is_meant)


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
    place = rng.randrange(address.index("example"), len(address) - 2)
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
    """A word of five letters or more stands there twice."""
    return _doubled(segment, rng, lambda word: len(word) >= 5)


def doubled_short_word(segment: Segment, rng: random.Random, _: str) -> Faulty | None:
    """A word of three or four letters stands there twice."""
    return _doubled(segment, rng, lambda word: 3 <= len(word) < 5)


def _doubled(segment: Segment, rng: random.Random, is_meant: Callable[[str], bool]) -> Faulty | None:
    words = [
        match for match in _WORD.finditer(segment.hypothesis) if is_meant(match[0]) and _LETTERS.fullmatch(match[0])
    ]
    if not words:
        return None
    word = rng.choice(words)
    text = _put(segment.hypothesis, word.end(), word.end(), f" {word[0]}")
    return Faulty(segment, replace(segment, hypothesis=text))


def doubled_particle(segment: Segment, rng: random.Random, _: str) -> Faulty | None:
    """的 in Chinese, or を, or が, の or に before a word in kanji or katakana in Japanese, stands there twice."""
    particle = {"zh": "的", "ja": r"を|[がのに](?=[\p{Han}\p{Katakana}])"}.get(languages_of(segment.key)[1] or "")
    places = [] if particle is None else list(regex.finditer(particle, segment.hypothesis))
    if not places:
        return None
    place = rng.choice(places)
    return Faulty(segment, replace(segment, hypothesis=_put(segment.hypothesis, place.end(), place.end(), place[0])))


def repeated_phrase(segment: Segment, rng: random.Random, _: str) -> Faulty | None:
    """A third of the text, which has three words or more, stands there twice."""
    size = len(segment.hypothesis) // 3
    places = [match.start() for match in regex.finditer(r"(?w)\b(?=\p{L})", segment.hypothesis)]
    starts = [place for place in places if place + size < len(segment.hypothesis)]
    if size < 20 or not starts:
        return None
    start = rng.choice(starts)
    end = next((place for place in places if place >= start + size), None)
    if end is None or len(_WORD.findall(segment.hypothesis, start, end)) < 3:
        return None
    part = segment.hypothesis[start:end]
    text = _put(segment.hypothesis, end, end, part if part.endswith(" ") else f"{part} ")
    return Faulty(segment, replace(segment, hypothesis=text))


def untranslated(segment: Segment, _: random.Random, __: str) -> Faulty | None:
    """The source stands in the place of the translation."""
    source_lang, target_lang = languages_of(segment.key)
    if source_lang == target_lang:
        return None
    return Faulty(segment, replace(segment, hypothesis=segment.source or ""))


def foreign_word(segment: Segment, rng: random.Random, _: str) -> Faulty | None:
    """A word in a script that is neither Latin nor that of the text stands in the place of a word."""
    words = list(_WORD.finditer(segment.hypothesis))
    if not words:
        return None
    word = rng.choice(words)
    others = [other for script, other in _FOREIGN.items() if not regex.search(rf"\p{{{script}}}", segment.hypothesis)]
    text = _put(segment.hypothesis, word.start(), word.end(), rng.choice(others))
    return Faulty(segment, replace(segment, hypothesis=text))


def other_language(segment: Segment, _: random.Random, other: str) -> Faulty | None:
    """A translation into another language stands in the place of the translation; it has some words."""
    return Faulty(segment, replace(segment, hypothesis=other)) if len(other) >= _LEAST_LETTERS else None


def blank(segment: Segment, _: random.Random, __: str) -> Faulty | None:
    """Nothing but a space is there."""
    return Faulty(segment, replace(segment, hypothesis=" "))


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of fault.

    Attributes:
        rule: which should find it.
        category: of that finding; where it is silent, the fault is not counted.
        put: puts it in.
    """

    rule: str
    category: str
    put: Fault


FAULTS: Mapping[str, Kind] = {
    "digit changed": Kind("numbers", numbers.CHANGED, changed_digit),
    "decimal or grouping mark lost": Kind("numbers", numbers.CHANGED, moved_mark),
    "number left out": Kind("numbers", numbers.MISSING, left_out),
    "placeholder left out": Kind("placeholders", placeholders.LOST, lost_placeholder),
    "placeholder renamed": Kind("placeholders", placeholders.LOST, renamed_placeholder),
    "tags left out": Kind("placeholders", placeholders.LOST, lost_tag),
    "address changed or left out": Kind("addresses", addresses.LOST, wrong_address),
    "code lost, renamed or twice": Kind("codes", codes.LOST, wrong_code),
    "word of five letters doubled": Kind("repetition", repetition.DOUBLED, doubled_word),
    "shorter word doubled": Kind("repetition", repetition.DOUBLED_SHORT, doubled_short_word),
    "particle doubled": Kind("repetition", repetition.REPEATED, doubled_particle),
    "third of the text doubled": Kind("repetition", repetition.REPEATED, repeated_phrase),
    "left untranslated": Kind("untranslated", copied.UNTRANSLATED, untranslated),
    "word in another script": Kind("scripts", scripts.FOREIGN, foreign_word),
    "in another language": Kind("language", language.WRONG, other_language),
    "blank": Kind("blank", blank_rule.CATEGORY, blank),
}


Slips = Collection[tuple[str, int, str]]
"""Findings that are right: the name of the translation, the number of the source from 0, and the category."""


def read_slips() -> Slips:
    """Returns the slips of translators that were read."""
    rows = (line.split("\t") for line in _SLIPS.read_text(encoding="utf-8").splitlines()[1:])
    return {(name, int(index), category) for name, index, category in rows}


def measure(
    segments: Sequence[Segment],
    others: Callable[[int], str],
    *,
    indices: Sequence[int],
    fault_every: int,
    chosen: Rules,
    slips: Slips = (),
    name: str = "",
) -> Counts:
    """Returns what rules say about some of the translations into a language, and about some of these with faults."""
    counts = Counts()
    by_name = {rule.name: rule for rule in chosen}
    for place, index in enumerate(indices):
        segment = segments[index]
        counts.n_segments += 1
        findings = found(segment, chosen)
        right = {finding for finding in findings if (name, index, finding[1]) in slips}
        counts.slips.update({rule for rule, _ in right})
        counts.alarms.update({rule for rule, _ in findings.keys() - right})
        for (rule, category), example in findings.items():
            if (rule, category) not in right:
                counts.categories[rule, category] += 1
                counts.words[category, example.casefold()] += 1
                counts.examples.setdefault(rule, []).append(
                    f"{index} {category}: {example} | {segment.source} | {segment.hypothesis}"
                )
        for fault, kind in FAULTS.items():
            is_rare = kind.rule == "numbers"
            if kind.rule not in by_name or not fault_every or not (is_rare or place % fault_every == 0):
                continue
            rng = random.Random(f"{fault}|{segment.key}")
            pair = kind.put(segment, rng, others(index))
            own = [by_name[kind.rule]]
            if pair is None or found(pair.correct, own):
                counts.prepared_alarms[fault] += pair is not None
                continue
            counts.n_faults[fault] += 1
            if categories := frozenset(category for _, category in found(pair.faulty, own)):
                counts.found[fault, categories] += 1
    return counts


def found(segment: Segment, chosen: Rules) -> dict[tuple[str, str], str]:
    """Returns rule and category of the findings, each with the words of its first finding."""
    words: dict[tuple[str, str], str] = {}
    for error in checker.check(segment, chosen).all_errors:
        match error:
            case UnplacedError():
                text = error.words or ""
            case Omission():
                text = error.words(segment)
            case _:
                text = segment.hypothesis[error.start : error.end]
        words.setdefault((error.rule or "", error.category or ""), text)
    return words


def silent_where(counts: Mapping[str, Counts], table: Rules = rules.TABLE) -> dict[str, dict[str, list[str]]]:
    """Returns by rule and category the languages in which it must say nothing, so that a rule keeps the goals.

    Where a rule has more alarms than the goal allows, its category with most of them is left out, until it has not; and
    a category is left out if too few of its faults are found by those that are left. Doubled words are left out where
    one of them was found in two correct segments, which shows a habit of the language: "nous nous".
    """
    silent: dict[str, dict[str, list[str]]] = {}
    for rule in table:
        for lang, one in counts.items():
            for category in unsure_categories(rule, one):
                silent.setdefault(rule.name, {}).setdefault(category, []).append(lang)
    return silent


def unsure_categories(rule: Rule, counts: Counts) -> set[str]:
    """Returns the categories of a rule that are left out in a language."""
    habits = {category for (category, _), n in counts.words.items() if n > 1 and category in _DOUBLED}
    silent = habits & set(rule.categories)
    while True:
        left = {category: counts.categories[rule.name, category] for category in rule.categories}
        left = {category: n for category, n in left.items() if category not in silent}
        rare = {
            kind.category
            for fault, kind in FAULTS.items()
            if kind.rule == rule.name and kind.category in left and not finds_enough(counts, fault, silent)
        }
        if sum(left.values()) > allowed(counts):
            silent.add(max(left, key=left.__getitem__))
        elif rare:
            silent |= rare
        else:
            return silent


def finds_enough(counts: Counts, fault: str, silent: Collection[str]) -> bool:
    """Whether the goal's share of a fault is found: fewer would be by chance only, or too few were put in to tell."""
    n_faults = counts.n_faults[fault]
    return n_faults < _MIN_FAULTS or not falls_short(n_faults, counts.n_found(fault, silent))


def falls_short(n_faults: int, n_found: int) -> bool:
    """Whether a rule that finds the goal's share would find so few in at most one of twenty samples (binomial)."""
    share = sum(
        math.comb(n_faults, k) * _GOAL_FOUND**k * (1 - _GOAL_FOUND) ** (n_faults - k) for k in range(n_found + 1)
    )
    return share <= _CHANCE


def allowed(counts: Counts) -> int:
    """Returns the number of alarms that the goal allows: one in each thousand segments that was begun by half."""
    return round(_GOAL_ALARMS * counts.n_segments / 1000)


def beyond_chance(counts: Counts, n_alarms: int) -> bool:
    """Whether a rule that keeps the goal would have so many alarms in at most one of twenty samples (Poisson)."""
    mean = _GOAL_ALARMS * counts.n_segments / 1000
    fewer = sum(math.exp(-mean) * mean**k / math.factorial(k) for k in range(n_alarms))
    return 1 - fewer <= _CHANCE


def write_lists(path: Path, counts: Mapping[str, Counts], apart: Mapping[str, Counts]) -> None:
    """Writes the module of the languages in which rules are silent.

    Args:
        path: of the module.
        counts: of all rules but `language`, by language.
        apart: of `language`, measured apart: a text in the wrong language has no other finding, so that the other rules
            would seem to be right where `language` is wrong.
    """
    lines = [_MODULE, f"LANGUAGES: frozenset[str] = {_listed(sorted(counts))}", '"""All that were measured."""']
    lines.append("SILENT: Mapping[str, Mapping[str, frozenset[str]]] = {")
    of_others = silent_where(counts, [rule for rule in rules.TABLE if rule.name != _APART])
    for rule, of_rule in (
        silent_where(apart, [rule for rule in rules.TABLE if rule.name == _APART]) | of_others
    ).items():
        lines.append(f'    "{rule}": {{')
        lines += [f'        "{category}": {_listed(sorted(langs))},' for category, langs in of_rule.items()]
        lines.append("    },")
    lines += ["}", '"""By rule and category, the languages in which it says nothing."""', ""]
    path.write_text("\n".join(lines), encoding="utf-8")


def _listed(langs: Sequence[str]) -> str:
    rows = textwrap.wrap(" ".join(langs), 100)
    return f"frozenset(({' '.join(repr(row + ' ') for row in rows)}).split())"


def languages(store: Store, *, is_reversed: bool) -> Iterator[tuple[str, list[Segment], Callable[[int], str]]]:
    """Yields name, segments and a function that returns another language's text of each translation.

    That is a language that py3langid knows; it differs between the segments.
    """
    names = [name for name in store.names(FOLDER) if name.startswith(_PREFIX)]
    texts = {
        name: [line.rstrip("\r") for line in lines] for name, lines in store.texts(FOLDER, [*names, _SOURCE]).items()
    }
    english = texts.pop(_SOURCE)
    codes = {
        name: name.removeprefix(_PREFIX).removesuffix(".txt").removeprefix("-2").removeprefix(".").replace("-", "_")
        for name in sorted(texts)
    }
    tags = {name: languages_of(SegmentKey(lang_pair=f"eng-{code}"))[1] for name, code in codes.items()}
    known = [name for name, tag in tags.items() if language.knows(tag)]
    for place, (name, code) in enumerate(codes.items()):
        lines = texts[name]
        foreign = [other for other in known if tags[other] != tags[name]]

        def other_text(index: int, place: int = place, foreign: Sequence[str] = foreign) -> str:
            return texts[foreign[(7 * index + place) % len(foreign)]][index]

        pair = f"{code}-eng" if is_reversed else f"eng-{code}"
        rows = zip(lines, english, strict=True) if is_reversed else zip(english, lines, strict=True)
        segments = [
            Segment(hypothesis, source, (), SegmentKey("ntrex", pair, None, None, index))
            for index, (source, hypothesis) in enumerate(rows)
        ]
        yield code, segments, other_text


def by_rule(counts: Mapping[str, Counts], chosen: Rules) -> list[str]:
    """Returns the table of rules: false alarms in a thousand correct segments, and languages beyond the goal."""
    rows = []
    for rule in chosen:
        speaking = {lang: one for lang, one in counts.items() if not rule.is_silent(lang)}
        rates = {lang: 1000 * one.alarms[rule.name] / one.n_segments for lang, one in speaking.items()}
        worst = [lang for lang in sorted(rates, key=lambda lang: -rates[lang])[:_N_WORST] if rates[lang]]
        above = [lang for lang, one in speaking.items() if one.alarms[rule.name] > allowed(one)]
        sure = [lang for lang in above if beyond_chance(counts[lang], counts[lang].alarms[rule.name])]
        n_partly = sum(bool(rule.silent_categories(lang)) for lang in speaking)
        n_segments = sum(one.n_segments for one in speaking.values())
        rows.append(
            [
                f"`{rule.name}`",
                f"{len(speaking)}{f' ({n_partly} in part)' if n_partly else ''}",
                f"{1000 * sum(one.slips[rule.name] for one in speaking.values()) / max(1, n_segments):.2f}",
                f"{sum(rates.values()) / max(1, len(rates)):.2f}",
                ", ".join(f"{lang} {rates[lang]:.1f}" for lang in worst),
                str(len(above)),
                f"{len(sure)}{f' ({chr(44).join(sure)})' if sure else ''}",
            ]
        )
    heads = ["rule", "languages", "slips per 1,000", "false alarms per 1,000", "worst", "above 1", "beyond chance"]
    return markdown.table(heads, rows)


def by_fault(counts: Mapping[str, Counts], chosen: Rules) -> list[str]:
    """Returns the table of faults: the share that is found where the rule speaks, and languages below the goal."""
    rows = []
    by_name = {row.name: row for row in chosen}
    for fault, kind in FAULTS.items():
        if kind.rule not in by_name:
            continue
        rule = by_name[kind.rule]
        speaking = {lang: one for lang, one in counts.items() if kind.category not in rule.silent_categories(lang)}
        n_faults = sum(one.n_faults[fault] for one in speaking.values())
        n_found = sum(one.n_found(fault) for one in speaking.values())
        measured = {lang: one for lang, one in speaking.items() if one.n_faults[fault] >= _MIN_FAULTS}
        shares = {lang: one.n_found(fault) / one.n_faults[fault] for lang, one in measured.items()}
        low = sorted((lang for lang, share in shares.items() if share < _GOAL_FOUND), key=lambda lang: shares[lang])
        sure = [lang for lang in low if falls_short(counts[lang].n_faults[fault], counts[lang].n_found(fault))]
        rows.append(
            [
                f"`{kind.rule}`",
                fault,
                str(len(speaking)),
                str(len(counts) - len(speaking)),
                f"{n_faults:,}",
                f"{100 * n_found / max(1, n_faults):.1f} %",
                f"{len(low)} of {len(shares)}",
                f"{len(sure)}{f' ({chr(44).join(sure)})' if sure else ''}",
                ", ".join(f"{lang} {100 * shares[lang]:.0f} %" for lang in low[:_N_WORST]),
                str(sum(one.prepared_alarms[fault] for one in speaking.values())),
            ]
        )
    heads = [
        "rule",
        "fault",
        "languages",
        "silent in",
        "faults",
        "found",
        "languages below 95 %",
        "beyond chance",
        "worst",
        "alarms without the fault",
    ]
    return markdown.table(heads, rows)


def main() -> None:
    """Prints the tables, or writes the lists of silence."""
    parser = markdown.parser(__doc__, "--every", "--json")
    parser.add_argument("--fault-every", type=int, default=10, metavar="K", help="put faults into every K-th segment")
    halves = "the sources that are measured (default: odd; even with --write-lists)"
    parser.add_argument("--half", choices=_HALVES, help=halves)
    parser.add_argument(
        "--write-lists",
        type=Path,
        metavar="FILE",
        help="write the languages in which rules are silent, and print no figures",
    )
    parser.add_argument("--rules", nargs="+", choices=rules.NAMES, default=rules.NAMES, help="measure only these")
    parser.add_argument("--all-speak", action="store_true", help="ignore the lists of silence")
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
    is_fitted = arguments.write_lists is not None
    half = _HALVES[arguments.half or ("even" if is_fitted else "odd")]
    chosen: Rules = [rule for rule in rules.TABLE if rule.name in arguments.rules]
    if is_fitted or arguments.all_speak:
        chosen = [replace(rule, silent={}) for rule in chosen]
    counts: dict[str, Counts] = {}
    apart: dict[str, Counts] = {}
    slips: Slips = () if arguments.into_english else read_slips()
    begun = time.process_time()
    for code, segments, others in languages(store, is_reversed=arguments.into_english):
        if arguments.only and code not in arguments.only:
            continue
        parts = [(counts, chosen)]
        if is_fitted:
            parts = [
                (counts, [rule for rule in chosen if rule.name != _APART]),
                (apart, [rule for rule in chosen if rule.name == _APART]),
            ]
        for into, part in parts:
            one = measure(
                segments,
                others,
                indices=range(len(segments))[half][:: arguments.every],
                fault_every=arguments.fault_every,
                chosen=part,
                slips=slips,
                name=code,
            )
            for rule, examples in one.examples.items():
                for example in examples[: arguments.show]:
                    print(f"{code} {rule}: {example}")
            into.setdefault(languages_of(segments[0].key)[1], Counts()).add(one)
    if is_fitted:
        write_lists(arguments.write_lists, counts, apart)
        return
    print(*by_rule(counts, chosen), "", *by_fault(counts, chosen), "", f"{time.process_time() - begun:.0f} s", sep="\n")
    figures = {
        lang: {
            "segments": one.n_segments,
            "alarms": dict(one.alarms),
            "slips": dict(one.slips),
            "faults": dict(one.n_faults),
            "found": {fault: one.n_found(fault) for fault in one.n_faults},
        }
        for lang, one in counts.items()
    }
    markdown.write_json(arguments.json, figures)


if __name__ == "__main__":
    main()
