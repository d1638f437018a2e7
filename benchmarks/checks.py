"""Measure the rule-based checks on correct translations, and on the same texts with one fault put in.

    MATESE_DATA=data/raw python -m benchmarks.checks --fault-every 40 --json benchmarks/results/checks.json

The texts are human translations: NTREX-128, 1,997 English segments of news in 127 languages and variants, and
`short/parallel.jsonl.xz`, 480,000 captions, strings of interfaces and short sentences in 178 directions. They are
correct but for the slips that translators make, such as 3:30 for 3:35. Findings were read, and those that are slips are
listed in `benchmarks/slips.tsv`, as one reader found them who is no native speaker; every other finding counts as a
false alarm. The goal of each rule is at most one in 2,000 texts, and in a language with fewer than 4,000 at most two.

In the second part, each fault is put into every `--fault-every`-th text that has room for it. Placeholders, addresses
and inline codes hardly occur in news: they are put into source and translation, and such a pair is correct, too, until
the fault changes the translation. A finding on the correct text is no finding of the fault. The goal is 95 %.
"""

from __future__ import annotations

import json
import lzma
import os
import random
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
from matese.checks import checker, cldr, language, numbers, rules, scripts
from matese.checks.rule import Rule, Texts
from matese.errors import InputError
from matese.text.languages import languages_of
from matese.text.placeholders import prose
from matese.text.sentences import sentence_ranges
from matese.text.words import count_common_words

FOLDER = "meaning/ntrex-128"
PARALLEL = "short/parallel.jsonl.xz"
_PREFIX = "NTREX-128/newstest2019-ref"
_SOURCE = "NTREX-128/newstest2019-src.eng.txt"
_CODES = {"shi": "shi_Arab", "mey": "mey_Arab", "nso": "sot"}
"""What the texts of NTREX-128 are in, where their names or their usual scripts say something else."""
_SLIPS = Path(__file__).with_name("slips.tsv")
_ROWS_OF_ALARM = 2_000
_MOST = 2
"""False alarms of a rule in a language with so few rows that chance would decide."""
_GOAL_FOUND = 0.95
_MIN_FAULTS = 20
"""A share of fewer faults says nothing about a language."""
_N_WORST = 3
_LEAST_LETTERS = 60
_WORD = regex.compile(r"(?w)\b[\p{L}\p{M}\p{N}'’]+\b")
_LETTERS = regex.compile(r"[\p{L}\p{M}]+")
_NUMBER = regex.compile(r"(?<![\p{L}\p{M}\p{N}.,:/-])\p{Nd}+(?![\p{L}\p{M}\p{N}.,:/%-])")
_DECIMAL = regex.compile(r"(?<![\p{L}\p{Nd}.,])\p{Nd}{1,3}[.,]\p{Nd}{1,2}(?!\p{Nd}|[.,]\p{Nd})")
_YEAR = regex.compile("[12][0-9]{3}")
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
_ALIKE = {"Latn": ("aeopcy", "аеорсу"), "Cyrl": ("аеорсу", "aeopcy"), "Grek": ("ουαν", "ouav")}
_SENTENCES = {
    "Cyrl": "Пожалуйста, выберите свой новый пароль ещё раз.",
    "Latn": "Please choose your own new password once again.",
    "Thai": "กรุณาเลือกรหัสผ่านใหม่ของคุณอีกครั้งหนึ่ง",
}
_ADDRESSES = ("https://example.org/help/a-7", "www.example.com", "someone@example-pets.org")


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
        slips: findings that are slips of the translator, by rule.
        n_faults: how often each fault was put in.
        n_found: how often each was found.
        prepared_alarms: findings in pairs that were prepared for a fault, and are correct.
    """

    n_segments: int = 0
    alarms: Counter[str] = field(default_factory=Counter)
    slips: Counter[str] = field(default_factory=Counter)
    n_faults: Counter[str] = field(default_factory=Counter)
    n_found: Counter[str] = field(default_factory=Counter)
    prepared_alarms: Counter[str] = field(default_factory=Counter)


def _is_compared(texts: Texts, match: regex.Match[str]) -> bool:
    """Whether the rule compares a number of a source.

    It says nothing beside units, currencies and words such as million, nor of years in languages with other eras.
    """
    has_unit = cldr.quantities(texts.source, match.start(), match.end(), texts.source_lang)
    is_scaled = cldr.is_scaled(texts.source, match.end(), texts.source_lang)
    is_dated = _YEAR.search(texts.source) or cldr.names_month(texts.source, texts.source_lang)
    return not has_unit and not is_scaled and not (numbers.has_other_era(texts) and is_dated)


def changed_digit(segment: Segment, rng: random.Random, _: str) -> Faulty | None:
    """One digit of a number that source and translation share is another one."""
    texts = Texts(segment)
    matches = (match for match in _NUMBER.finditer(prose(texts.source)) if _is_compared(texts, match))
    theirs = Counter(int(match[0]) for match in matches)
    ours = [match for match in _NUMBER.finditer(prose(segment.hypothesis)) if len(match[0]) < 16]
    shared = [match for match in ours if theirs[int(match[0])] == 1]
    if not shared:
        return None
    match = rng.choice(shared)
    text = f"{segment.hypothesis[: match.start()]}{_other_digit(match[0], rng)}{segment.hypothesis[match.end() :]}"
    if int(match[0]) in {int(number[0]) for number in _NUMBER.finditer(text)}:  # it stands there twice
        return None
    return Faulty(segment, replace(segment, hypothesis=text))


def _other_digit(number: str, rng: random.Random) -> str:
    place = rng.randrange(len(number))
    zero = ord(number[place]) - unicodedata.digit(number[place])
    digits = [chr(zero + digit) for digit in range(1, 10)]
    return f"{number[:place]}{rng.choice([digit for digit in digits if digit != number[place]])}{number[place + 1 :]}"


def lost_mark(segment: Segment, rng: random.Random, _: str) -> Faulty | None:
    """A number loses its decimal mark."""
    texts = Texts(segment)
    compared = (match for match in _DECIMAL.finditer(prose(texts.source)) if _is_compared(texts, match))
    theirs = {regex.sub(r"\P{Nd}", "", match[0]) for match in compared}
    places = [(match, regex.sub(r"\P{Nd}", "", match[0])) for match in _DECIMAL.finditer(prose(segment.hypothesis))]
    places = [(match, digits) for match, digits in places if digits in theirs]
    if not places:
        return None
    match, digits = rng.choice(places)
    return Faulty(segment, replace(segment, hypothesis=_put(segment.hypothesis, *match.span(), digits)))


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
    source_words = list(_WORD.finditer(segment.source or ""))
    if not words or not source_words:
        return None
    word = rng.choice(words)
    source_word = rng.choice(source_words)
    source = _put(segment.source or "", source_word.start(), source_word.end(), tag.replace("{}", source_word[0]))
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


def repeated_word(segment: Segment, rng: random.Random, _: str) -> Faulty | None:
    """A word of three letters or more stands there three times."""
    words = [match for match in _WORD.finditer(segment.hypothesis) if _is_spaced_word(match[0])]
    if not words:
        return None
    word = rng.choice(words)
    text = _put(segment.hypothesis, word.end(), word.end(), f" {word[0]} {word[0]}")
    return Faulty(segment, replace(segment, hypothesis=text))


def repeated_phrase(segment: Segment, rng: random.Random, _: str) -> Faulty | None:
    """Three words stand there three times."""
    words = list(_WORD.finditer(segment.hypothesis))
    starts = [
        place
        for place in range(len(words) - 2)
        if any(_is_spaced_word(word[0]) for word in words[place : place + 3])
        and not segment.hypothesis[words[place].end() : words[place + 1].start()].strip()
        and not segment.hypothesis[words[place + 1].end() : words[place + 2].start()].strip()
    ]
    if not starts:
        return None
    start = rng.choice(starts)
    phrase = segment.hypothesis[words[start].start() : words[start + 2].end()]
    text = _put(segment.hypothesis, words[start + 2].end(), words[start + 2].end(), f" {phrase} {phrase}")
    return Faulty(segment, replace(segment, hypothesis=text))


def _is_spaced_word(word: str) -> bool:
    is_word = len(word) >= 5 and _LETTERS.fullmatch(word)
    return bool(is_word) and regex.search(r"[\p{lb=SA}\p{Han}\p{Hira}\p{Kana}\p{Tibt}]", word) is None


def repeated_sentence(segment: Segment, _: random.Random, __: str) -> Faulty | None:
    """The first sentence stands there twice."""
    start, end = next(iter(sentence_ranges(segment.hypothesis)), (0, 0))
    sentence = segment.hypothesis[start:end]
    if len(sentence) < 20 or not regex.search(r"[.!?…؟।。！？]$", sentence):
        return None
    return Faulty(segment, replace(segment, hypothesis=_put(segment.hypothesis, end, end, f" {sentence}")))


def untranslated(segment: Segment, _: random.Random, __: str) -> Faulty | None:
    """The source, with three words that are no names, stands in the place of the translation."""
    if count_common_words(prose(segment.source or "")) < 3:
        return None
    source_lang, target_lang = languages_of(segment.key)
    if source_lang == target_lang:
        return None
    return Faulty(segment, replace(segment, hypothesis=segment.source or ""))


def letter_of_another_alphabet(segment: Segment, rng: random.Random, _: str) -> Faulty | None:
    """A letter of a word is one of another alphabet that looks alike."""
    words = [
        match for match in _WORD.finditer(segment.hypothesis) if len(match[0]) > 3 and _LETTERS.fullmatch(match[0])
    ]
    for word in rng.sample(words, len(words)):
        for letters, lookalikes in _ALIKE.values():
            places = [place for place, letter in enumerate(word[0]) if letter in letters]
            if places and len(places) < len(word[0]) and not set(word[0]) & set(lookalikes):
                place = word.start() + rng.choice(places)
                letter = lookalikes[letters.index(segment.hypothesis[place])]
                return Faulty(segment, replace(segment, hypothesis=_put(segment.hypothesis, place, place + 1, letter)))
    return None


def sentence_in_another_script(segment: Segment, rng: random.Random, _: str) -> Faulty | None:
    """A sentence in another script stands behind the translation, which ends a sentence."""
    if len(segment.hypothesis) < 20 or not regex.search(r"[.!?…؟।。！？]$", segment.hypothesis):
        return None
    used = scripts.of_language(Texts(segment).tags[1])
    unused = [script for script in _SENTENCES if script not in used]
    sentence = _SENTENCES[rng.choice(unused)]
    return Faulty(segment, replace(segment, hypothesis=f"{segment.hypothesis} {sentence}"))


def other_language(segment: Segment, _: random.Random, foreign_text: str) -> Faulty | None:
    """A translation into another language stands in the place of the translation; it has some words.

    Where py3langid knows the target language.
    """
    if not language.knows(languages_of(segment.key)[1]):
        return None
    return Faulty(segment, replace(segment, hypothesis=foreign_text)) if len(foreign_text) >= _LEAST_LETTERS else None


def blank(segment: Segment, _: random.Random, __: str) -> Faulty | None:
    """Nothing but a space is there."""
    return Faulty(segment, replace(segment, hypothesis=" "))


def model_output(segment: Segment, rng: random.Random, _: str) -> Faulty | None:
    """A model's thoughts, its preamble or a code fence."""
    if ":" in (segment.source or ""):
        return None
    form = rng.choice(("<think>{0}</think>{0}", "Sure! Here is the translation:\n{0}", "```\n{0}\n```"))
    return Faulty(segment, replace(segment, hypothesis=form.format(segment.hypothesis)))


def wrong_encoding(segment: Segment, _: random.Random, __: str) -> Faulty | None:
    """The text was written in UTF-8, and read as Windows-1252; or a character was lost."""
    wrong = segment.hypothesis.encode().decode("cp1252", "replace")
    if wrong == segment.hypothesis:
        return None
    return Faulty(segment, replace(segment, hypothesis=wrong))


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of fault.

    Attributes:
        rule: which should find it.
        put: puts it in.
    """

    rule: str
    put: Fault


FAULTS: Mapping[str, Kind] = {
    "digit changed": Kind("numbers", changed_digit),
    "decimal mark lost": Kind("numbers", lost_mark),
    "placeholder left out": Kind("placeholders", lost_placeholder),
    "placeholder renamed": Kind("placeholders", renamed_placeholder),
    "tags left out": Kind("placeholders", lost_tag),
    "address changed or left out": Kind("addresses", wrong_address),
    "code lost, renamed or twice": Kind("codes", wrong_code),
    "word three times": Kind("repetition", repeated_word),
    "phrase three times": Kind("repetition", repeated_phrase),
    "sentence twice": Kind("repetition", repeated_sentence),
    "left untranslated": Kind("untranslated", untranslated),
    "letter of another alphabet": Kind("scripts", letter_of_another_alphabet),
    "sentence in another script": Kind("scripts", sentence_in_another_script),
    "in another language": Kind("language", other_language),
    "model's output": Kind("artefacts", model_output),
    "wrong encoding": Kind("artefacts", wrong_encoding),
    "blank": Kind("blank", blank),
}
Slips = Collection[tuple[str, int, str]]
"""Findings that are right: the name of the translation, the number of the source from 0, and the category."""
_ANY = -1
"""The number of a slip that is all over a translation."""


def read_slips() -> Slips:
    """Returns the slips of translators that were read."""
    rows = (line.split("\t") for line in _SLIPS.read_text(encoding="utf-8").splitlines()[1:])
    return {(name, _ANY if index == "*" else int(index), category) for name, index, category in rows}


@dataclass(frozen=True, slots=True)
class Text:
    """A correct translation.

    Attributes:
        name: of its file.
        index: its number there.
        segment: the texts.
        other: a translation into another language; "" if there is none.
    """

    name: str
    index: int
    segment: Segment
    other: str = ""


def measure(
    text: Text, counts: Counts, *, has_faults: bool, wanted: Rules = rules.TABLE, slips: Slips = ()
) -> dict[tuple[str, str], str]:
    """Adds what rules say about a text, and about the text with faults; returns the false alarms."""
    counts.n_segments += 1
    findings = findings_of(text.segment, wanted)
    right = {
        finding
        for finding in findings
        if not {(text.name, index, finding[1]) for index in (text.index, _ANY)}.isdisjoint(slips)
    }
    counts.slips.update({rule for rule, _ in right})
    counts.alarms.update({rule for rule, _ in findings.keys() - right})
    by_name = {rule.name: rule for rule in wanted}
    for fault, kind in FAULTS.items() if has_faults else ():
        if kind.rule not in by_name:
            continue
        rule_alone = [by_name[kind.rule]]
        pair = kind.put(text.segment, random.Random(f"{fault}|{text.segment.key}"), text.other)
        if pair is None or findings_of(pair.correct, rule_alone):
            counts.prepared_alarms[fault] += pair is not None
            continue
        counts.n_faults[fault] += 1
        counts.n_found[fault] += bool(findings_of(pair.faulty, rule_alone))
    return {finding: words for finding, words in findings.items() if finding not in right}


def findings_of(segment: Segment, wanted: Rules) -> dict[tuple[str, str], str]:
    """Returns rule and category of the findings, each with the words of its first finding."""
    words: dict[tuple[str, str], str] = {}
    for error in checker.check(segment, wanted).all_errors:
        match error:
            case UnplacedError():
                text = error.words or ""
            case Omission():
                text = error.words(segment)
            case _:
                text = segment.hypothesis[error.start : error.end]
        words.setdefault((error.rule or "", error.category or ""), text)
    return words


def ntrex(store: Store) -> Iterator[Text]:
    """Yields the translations of NTREX-128, each beside one into another language that py3langid knows."""
    names = [name for name in store.names(FOLDER) if name.startswith(_PREFIX)]
    texts = {
        name: [line.rstrip("\r") for line in lines] for name, lines in store.texts(FOLDER, [*names, _SOURCE]).items()
    }
    english = texts.pop(_SOURCE)
    codes = {
        name: name.removeprefix(_PREFIX).removesuffix(".txt").removeprefix("-2").removeprefix(".").replace("-", "_")
        for name in sorted(texts)
    }
    pairs = {name: f"eng-{_CODES.get(code, code)}" for name, code in codes.items()}
    tags = {name: languages_of(SegmentKey(lang_pair=pair))[1] for name, pair in pairs.items()}
    recognised = [name for name, tag in tags.items() if language.knows(tag)]
    for place, (name, code) in enumerate(codes.items()):
        foreign = [foreign_name for foreign_name in recognised if tags[foreign_name] != tags[name]]
        for index, (source, hypothesis) in enumerate(zip(english, texts[name], strict=True)):
            segment = Segment(hypothesis, source, (), SegmentKey("ntrex", pairs[name], None, None, index))
            yield Text(code, index, segment, texts[foreign[(7 * index + place) % len(foreign)]][index])


def parallel(store: Store) -> Iterator[Text]:
    """Yields the short texts."""
    with lzma.open(store.root / PARALLEL, "rt", encoding="utf-8") as lines:
        for index, line in enumerate(lines):
            row = json.loads(line)
            key = SegmentKey("short", row["lp"], None, None, index)
            yield Text(f"short:{row['lp']}", index, Segment(row["tgt"], row["src"], (), key))


def most_alarms(n_segments: int) -> int:
    """Returns the number of a rule's false alarms in a language that the goal allows."""
    return max(_MOST, n_segments // _ROWS_OF_ALARM)


def by_rule(counts: Mapping[str, Counts], wanted: Rules) -> list[str]:
    """Returns the table of rules: false alarms, and languages beyond the goal."""
    n_segments = sum(of_lang.n_segments for of_lang in counts.values())
    rows = []
    for rule in wanted:
        alarms = Counter({lang: of_lang.alarms[rule.name] for lang, of_lang in counts.items()})
        above = [lang for lang, n in alarms.items() if n > most_alarms(counts[lang].n_segments)]
        slips = sum(of_lang.slips[rule.name] for of_lang in counts.values())
        n_alarms = sum(alarms.values())
        worst = [f"{lang} {n} of {counts[lang].n_segments:,}" for lang, n in alarms.most_common(_N_WORST) if n]
        rows.append(
            [
                f"`{rule.name}`",
                f"{slips:,}",
                f"{n_alarms:,}",
                f"1 in {n_segments // n_alarms:,}" if n_alarms else "none",
                ", ".join(worst),
                f"{len(above)} of {len(counts)}{f' ({chr(44).join(above)})' if above else ''}",
            ]
        )
    heads = ["rule", "slips", "false alarms", "of texts", "most", "languages above the goal"]
    return markdown.table(heads, rows)


def by_fault(counts: Mapping[str, Counts], wanted: Rules) -> list[str]:
    """Returns the table of faults: the share that is found, and languages below the goal."""
    names = {rule.name for rule in wanted}
    rows = []
    for fault, kind in FAULTS.items():
        if kind.rule not in names:
            continue
        n_faults = sum(of_lang.n_faults[fault] for of_lang in counts.values())
        n_found = sum(of_lang.n_found[fault] for of_lang in counts.values())
        shares = {
            lang: of_lang.n_found[fault] / of_lang.n_faults[fault]
            for lang, of_lang in counts.items()
            if of_lang.n_faults[fault] >= _MIN_FAULTS
        }
        low = sorted((lang for lang, share in shares.items() if share < _GOAL_FOUND), key=lambda lang: shares[lang])
        rows.append(
            [
                f"`{kind.rule}`",
                fault,
                f"{n_faults:,}",
                f"{100 * n_found / max(1, n_faults):.1f} %",
                f"{len(low)} of {len(shares)}",
                ", ".join(f"{lang} {100 * shares[lang]:.0f} %" for lang in low[:_N_WORST]),
                str(sum(of_lang.prepared_alarms[fault] for of_lang in counts.values())),
            ]
        )
    heads = ["rule", "fault", "faults", "found", "languages below 95 %", "worst", "alarms without the fault"]
    return markdown.table(heads, rows)


def main() -> None:
    """Prints the tables, and false alarms if asked."""
    parser = markdown.parser(__doc__, "--every", "--json")
    parser.add_argument("--fault-every", type=int, default=20, metavar="K", help="put faults into every K-th text")
    parser.add_argument("--rules", nargs="+", choices=rules.NAMES, default=rules.NAMES, help="measure only these")
    parser.add_argument("--show", action="store_true", help="print the false alarms")
    arguments = parser.parse_args()
    if "MATESE_DATA" not in os.environ:
        raise InputError("MATESE_DATA is not set: must be the folder with the raw data (docs/research/training.md)")
    store = Store(Path(os.environ["MATESE_DATA"]))
    wanted: Rules = [rule for rule in rules.TABLE if rule.name in arguments.rules]
    counts: dict[str, Counts] = {}
    slips = read_slips()
    begun = time.process_time()
    for texts in (ntrex(store), parallel(store)):
        for place, text in enumerate(texts):
            if place % arguments.every:
                continue
            has_faults = place // arguments.every % arguments.fault_every == 0
            of_lang = counts.setdefault(languages_of(text.segment.key)[1], Counts())
            alarms = measure(text, of_lang, has_faults=has_faults, wanted=wanted, slips=slips)
            for (rule, category), words in alarms.items() if arguments.show else ():
                print(
                    rule, text.name, text.index, category, words, text.segment.source, text.segment.hypothesis, sep="\t"
                )
    print(*by_rule(counts, wanted), "", *by_fault(counts, wanted), "", f"{time.process_time() - begun:.0f} s", sep="\n")
    figures = {
        lang: {
            "segments": of_lang.n_segments,
            "alarms": dict(of_lang.alarms),
            "slips": dict(of_lang.slips),
            "faults": dict(of_lang.n_faults),
            "found": dict(of_lang.n_found),
        }
        for lang, of_lang in sorted(counts.items())
    }
    markdown.write_json(arguments.json, figures)


if __name__ == "__main__":
    main()
