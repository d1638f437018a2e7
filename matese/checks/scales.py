"""Words that multiply the number before them ("million", "lakh", 万), and years that are counted by eras.

A word means different powers of ten in different languages: German "Billion" is 10^12, English "billion" 10^9. A word
that is not listed is not recognised, and a number without a recognised word agrees with one that has such a word
where their digits do: an error may be missed, but a translation is not called wrong for an unusual word.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache

_ENGLISH = "en"
# Stems, to which endings may be added; a word with a dot is complete, and may be an abbreviation with or
# without the dot. Several words are joined by "_".
_WORDS: dict[str, dict[int, str]] = {
    "en": {
        3: "thousand",
        5: "lakh lac. hundred_thousand",
        6: "million mn. mln. mio.",
        7: "crore",
        8: "hundred_million",
        9: "billion bn. bln. thousand_million",
        12: "trillion trn. tn. million_million lakh_crore",
    },
    "de": {3: "tausend tsd.", 6: "million mio.", 9: "milliard mrd.", 12: "billion bio. billiarden."},
    "nl": {3: "duizend", 6: "miljoen mln.", 9: "miljard mld. mrd.", 12: "biljoen"},
    "sv": {3: "tusen tkr.", 6: "miljon milj. mn.", 9: "miljard md. mdr.", 12: "biljon"},
    "da": {3: "tusind", 6: "million mio.", 9: "milliard mia.", 12: "billion"},
    "nb": {3: "tusen", 6: "million mill.", 9: "milliard mrd.", 12: "billion"},
    "is": {3: "þúsund", 6: "milljón", 9: "milljarð", 12: "billjón"},
    "fr": {3: "mille. milliers_de", 6: "million mio.", 9: "milliard md. mds. mrd.", 12: "billion mille_milliard"},
    "es": {
        3: "mil. miles.",
        6: "millón millones. mill. mdp. mdd.",
        9: "mil_millón mil_millones millardo",
        12: "billón billones.",
    },
    "ca": {3: "mil. milers_de", 6: "milió milions.", 9: "mil_milions miliard", 12: "bilió bilions."},
    "gl": {3: "mil.", 6: "millón millóns.", 9: "mil_millón mil_millóns", 12: "billón billóns."},
    "pt": {
        3: "mil.",
        6: "milhão milhões. mi.",
        9: "bilhão bilhões. bi. mil_milhão mil_milhões",
        12: "trilhão trilhões. bilião biliões.",
    },
    "it": {
        3: "mila. mille. migliaia_di",
        6: "milion mln.",
        9: "miliard mld. mrd.",
        12: "bilion mila_miliard mille_miliard",
    },
    "ro": {3: "mii. mie.", 6: "milion milioane. mil. mln.", 9: "miliard mld.", 12: "bilion trilion"},
    "pl": {3: "tysi tys.", 6: "milion mln.", 9: "miliard mld.", 12: "bilion bln."},
    "cs": {3: "tisíc tis.", 6: "milion milión mil. mio.", 9: "miliard mld.", 12: "bilion bilión bil."},
    "sk": {3: "tisíc tis.", 6: "milión mil. mio.", 9: "miliard mld.", 12: "bilión bil."},
    "sl": {3: "tisoč tis.", 6: "milijon mio.", 9: "milijard mrd.", 12: "bilijon"},
    "hr": {3: "tisuć hiljad tis.", 6: "milijun milion mil. mio.", 9: "milijard mlrd. mrd.", 12: "bilijun bilion"},
    "ru": {3: "тысяч тыс.", 6: "миллион млн.", 9: "миллиард млрд. биллион", 12: "триллион трлн."},
    "uk": {3: "тисяч тис.", 6: "мільйон млн.", 9: "мільярд млрд.", 12: "трильйон трлн."},
    "be": {3: "тысяч тыс.", 6: "мільён млн.", 9: "мільярд млрд.", 12: "трыльён трлн."},
    "bg": {3: "хиляд хил.", 6: "милион млн.", 9: "милиард млрд.", 12: "трилион трлн."},
    "sr": {3: "хиљад hiljad", 6: "милион milion", 9: "милијард milijard", 12: "билион bilion"},
    "el": {3: "χιλιάδ χιλ.", 6: "εκατομμύρι εκατομμυρί εκατ.", 9: "δισεκατομμύρι δισεκατομμυρί δισ.", 12: "τρισ."},
    "lt": {3: "tūkst", 6: "milijon mln.", 9: "milijard mlrd.", 12: "trilijon"},
    "lv": {3: "tūksto tūkst.", 6: "miljon milj.", 9: "miljard mljrd.", 12: "triljon"},
    "et": {3: "tuhat tuhan tuh.", 6: "miljon mln.", 9: "miljard mld.", 12: "triljon"},
    "fi": {3: "tuhat tuhan tuhann t.", 6: "miljoon milj.", 9: "miljard mrd.", 12: "biljoon"},
    "hu": {3: "ezer ezr", 6: "millió mill.", 9: "milliárd mrd.", 12: "billió"},
    "tr": {3: "bin.", 6: "milyon mn.", 9: "milyar mr.", 12: "trilyon tn."},
    "vi": {3: "nghìn ngàn", 6: "triệu", 9: "tỷ tỉ", 12: "nghìn_tỷ nghìn_tỉ ngàn_tỷ ngàn_tỉ"},
    "id": {3: "ribu rb.", 6: "juta jt.", 9: "miliar milyar", 12: "triliun"},
    "sw": {3: "elfu", 6: "milioni", 9: "bilioni", 12: "trilioni"},
    "he": {3: "אלף אלפים", 6: "מיליון מליון", 9: "מיליארד", 12: "טריליון"},
    "ar": {3: "ألف آلاف الف", 6: "مليون ملايين", 9: "مليار بليون", 12: "تريليون"},
    "fa": {3: "هزار", 6: "میلیون", 9: "میلیارد", 12: "تریلیون"},
    "ur": {3: "ہزار", 5: "لاکھ", 6: "ملین", 7: "کروڑ", 9: "ارب بلین", 11: "کھرب"},
    "hi": {
        3: "हज़ार हजार",
        5: "लाख",
        6: "मिलियन",
        7: "करोड़ करोड",
        9: "अरब बिलियन",
        11: "खरब",
        12: "ट्रिलियन लाख_करोड़ लाख_करोड",
    },
    "mr": {3: "हजार", 5: "लाख लक्ष", 6: "दशलक्ष", 7: "कोटी", 9: "अब्ज", 12: "लाख_कोटी"},
    "ne": {3: "हजार", 5: "लाख", 7: "करोड", 9: "अर्ब", 11: "खर्ब"},
    "bn": {3: "হাজার", 5: "লাখ লক্ষ", 6: "মিলিয়ন", 7: "কোটি", 9: "বিলিয়ন", 12: "লাখ_কোটি ট্রিলিয়ন"},
    "gu": {3: "હજાર", 5: "લાખ", 7: "કરોડ", 9: "અબજ", 12: "લાખ_કરોડ"},
    "pa": {3: "ਹਜ਼ਾਰ", 5: "ਲੱਖ", 7: "ਕਰੋੜ", 9: "ਅਰਬ"},
    "ta": {3: "ஆயிர", 5: "லட்ச இலட்ச", 6: "மில்லியன்", 7: "கோடி", 9: "பில்லியன்", 12: "லட்சம்_கோடி"},
    "te": {3: "వేల", 5: "లక్ష", 6: "మిలియన్", 7: "కోటి కోట్ల", 9: "బిలియన్", 12: "లక్షల_కోట్ల"},
    "kn": {3: "ಸಾವಿರ", 5: "ಲಕ್ಷ", 7: "ಕೋಟಿ", 12: "ಲಕ್ಷ_ಕೋಟಿ"},
    "ml": {3: "ആയിര", 5: "ലക്ഷ", 7: "കോടി", 12: "ലക്ഷം_കോടി"},
    "th": {
        3: "พัน",
        4: "หมื่น",
        5: "แสน",
        6: "ล้าน",
        7: "สิบล้าน",
        8: "ร้อยล้าน",
        9: "พันล้าน",
        10: "หมื่นล้าน",
        11: "แสนล้าน",
        12: "ล้านล้าน",
    },
}
_ALIASES = {"no": "nb", "nn": "nb", "bs": "hr", "ms": "id", "fil": "en"}
_CHINESE = {"十": 1, "百": 2, "千": 3, "万": 4, "萬": 4, "亿": 8, "億": 8, "兆": 12}
_KOREAN = {"십": 1, "백": 2, "천": 3, "만": 4, "억": 8, "조": 12}
# The thousand behind a larger one belongs to a unit: 82万千瓦 are kilowatts.
# "More than" may stand between them: 550多万, 20여만.
_EAST_ASIAN = re.compile(r"\s?[多余餘來来幾几여]?([十百千]*[万萬亿億兆]+|[十百千]+|[십백천]*[만억조]+|[십백천]+)")
_THOUSAND = frozenset({3})
_OF = re.compile(r"\s[^\W\d]{2}(?=\s)")
# Too short to be sure: 5 m are metres, too.
_LOOSE = (
    (1, re.compile(r"\s?(?:成|decade|jahrzehnt|décennie|decenni|d[eé]cada|десятилет)", re.IGNORECASE)),
    (3, re.compile(r"\s?k\b", re.IGNORECASE)),
    (6, re.compile(r"\s?m(?:il|n)?\b", re.IGNORECASE)),
    (9, re.compile(r"\s?(?:b|g|md)\b", re.IGNORECASE)),
    (12, re.compile(r"\s?t\b", re.IGNORECASE)),
)
_ERAS = {"令和": 2018, "平成": 1988, "昭和": 1925, "大正": 1911, "明治": 1867, "民國": 1911, "民国": 1911, "พ.ศ.": -543}
_ERA = re.compile(rf"({'|'.join(map(re.escape, _ERAS))})\s?$")
_FIRST_YEAR = re.compile(rf"({'|'.join(era for era, start in _ERAS.items() if start > 0)})元年")
_BUDDHIST_YEARS = range(2400, 2700)


@dataclass(frozen=True, slots=True)
class ScaleWord:
    """A word behind a number.

    Attributes:
        exponents: the powers of ten that it may mean.
        end: one past its last character.
    """

    exponents: frozenset[int]
    end: int


def find(text: str, start: int, lang: str) -> ScaleWord | None:
    """Returns the word that multiplies a number which ends at `start`; None without one that is sure.

    >>> find("1.2 billion", 3, "en").exponents, find("1,2 Billionen", 3, "de").exponents, find("3 dogs", 1, "en")
    (frozenset({9}), frozenset({12}), None)
    >>> find("2,8 miles de millones", 3, "es")
    ScaleWord(exponents=frozenset({9}), end=21)
    """
    if match := _EAST_ASIAN.match(text, start):
        letters = _CHINESE | _KOREAN
        return ScaleWord(frozenset({sum(letters[letter] for letter in match[1])}), match.end())
    first = _word(text, start, lang)
    if first is None or first.exponents != _THOUSAND:
        return first
    # Thousands of millions: "2,8 miles de millones".
    of = _OF.match(text, first.end)
    second = _word(text, of.end(), lang) if of else None
    if second is None or not second.exponents or min(second.exponents) <= min(_THOUSAND):
        return first
    return ScaleWord(frozenset(exponent + min(_THOUSAND) for exponent in second.exponents), second.end)


def _word(text: str, start: int, lang: str) -> ScaleWord | None:
    for words in _patterns(_ALIASES.get(lang, lang)):
        if match := words.pattern.match(text, start):
            stem = next(name for name, value in match.groupdict().items() if value is not None)
            return ScaleWord(words.exponents[stem], match.end())
    return None


def knows(lang: str) -> bool:
    """Whether the words of a language are known."""
    return _ALIASES.get(lang, lang) in _WORDS or lang in ("zh", "ja", "ko")


def loose_exponents(text: str, start: int) -> Iterator[int]:
    """Yields the powers of ten that a letter or an unsure word behind a number may mean."""
    return (exponent for exponent, pattern in _LOOSE if pattern.match(text, start))


def years(value: int, text: str, start: int, lang: str) -> Iterator[int]:
    """Yields the year of the common era of a year that is counted by another one, at `start`.

    >>> list(years(6, "令和6年", 2, "ja")), list(years(2567, "ปี 2567", 3, "th"))
    ([2024], [2024])
    """
    if match := _ERA.search(text, max(0, start - 8), start):
        yield value + _ERAS[match[1]]
    elif lang == "th" and value in _BUDDHIST_YEARS:
        yield value - 543


def first_years(text: str) -> Iterator[int]:
    """Yields the years that are written as the first of an era (令和元年)."""
    return (_ERAS[match[1]] + 1 for match in _FIRST_YEAR.finditer(text))


@dataclass(frozen=True)
class _Words:
    """The words of some languages: a pattern with a group for each, and the powers of ten of each group."""

    pattern: re.Pattern[str]
    exponents: dict[str, frozenset[int]]


@cache
def _patterns(lang: str) -> tuple[_Words, ...]:
    """Returns the words of a language and then the English ones; those of all languages if it is unknown."""
    if lang not in _WORDS:
        return (_compile(_WORDS.values()),)
    return tuple(_compile([_WORDS[name]]) for name in dict.fromkeys((lang, _ENGLISH)))


def _compile(tables: Iterable[dict[int, str]]) -> _Words:
    by_word: dict[str, set[int]] = {}
    for table in tables:
        for exponent, words in table.items():
            for word in words.split():
                by_word.setdefault(word, set()).add(exponent)
    alternatives = []
    exponents = {}
    for number, word in enumerate(sorted(by_word, key=len, reverse=True)):
        written = r"[\s-]+".join(map(re.escape, word.removesuffix(".").split("_")))
        end = r"\.?(?![^\W\d_])" if word.endswith(".") else ""
        alternatives.append(f"(?P<w{number}>{written}{end})")
        exponents[f"w{number}"] = frozenset(by_word[word])
    return _Words(re.compile(rf"[\s-]?\s?(?:{'|'.join(alternatives)})", re.IGNORECASE), exponents)
