"""What languages write differently is no finding; what differs is one."""

from __future__ import annotations

import pytest

from matese.annotation import Segment, SegmentKey
from matese.checks import numbers
from matese.checks.rule import Texts


def compared(source: str, hypothesis: str, pair: str = "", *references: str) -> list[str]:
    """What was changed, as it stands in the hypothesis."""
    texts = Texts(Segment(hypothesis, source, references, SegmentKey(lang_pair=pair or None)))
    return [hypothesis[span.start : span.end] for span in numbers.compare(texts)]


@pytest.mark.parametrize(
    ("pair", "source", "hypothesis"),
    [
        ("", "", ""),
        ("en-de", "1,234.56 and 1,234", "1.234,56 und 1.234"),
        ("en-de", "1,234,567 people", "1 234 567 Menschen"),
        ("en-de", "10,000 francs", "10'000 Franken"),
        ("de-en", "3,5 Millionen", "3.5 million"),
        ("en-fr", "10,000.5 m", "10\u202f000,5 m"),
        ("en-ru", "The 21st century, the 1990s", "XXI век, 90-е годы"),
        ("en-hi", "100,000 rupees", "1,00,000 रुपये"),
        ("en-ar", "12.5 and 2023", "١٢٫٥ و ٢٠٢٣"),
        ("", "1,234", "1.234"),
        ("", "1,5", "1.5"),
        # Written as words, or with words.
        ("en-de", "I have 2 dogs and 12 cats", "Ich habe zwei Hunde und zwölf Katzen"),
        ("en-de", "100 people, 3 dogs", "hundert Menschen, 3 Hunde"),
        ("en-zh", "30 million and 350,000", "3000万和35万"),
        ("zh-en", "有3亿5000万人", "There are 350 million people"),
        ("zh-en", "多存两成，6成是男性", "saved 20% more, 60% are men"),
        ("en-de", "for 30 years", "seit 3 Jahrzehnten"),
        ("en-zh", "21 of 35 per cent", "百分之三十五中的二十一"),
        ("zh-en", "二〇二三年有15人", "In 2023 there were 15 people"),
        ("en-de", "$1.5bn", "1500 Millionen $"),
        ("ko-en", "15만 명", "150,000 people"),
        ("zh-en", "1.5亿人", "150 million people"),
        # Times, dates, decades.
        ("en-de", "at 10:30 p.m.", "um 22.30 Uhr"),
        ("de-en", "um 22:15 Uhr", "at 10:15 pm"),
        ("en-de", "on 5/12/2023", "am 12.05.2023"),
        ("en-de", "2023-05-12", "12. Mai 2023"),
        ("en-de", "the 1980s", "die 80er"),
        # Copied as they stand, and names.
        ("en-de", "Version 3.5 of 1.234", "Version 3.5 von 1.234"),
        ("en-zh", "COVID-19, H2O, B-52", "新冠病毒，水，轰炸机"),
        ("en-de", "in 2020 300 people", "2020 waren es 300 Menschen"),
        ("en-de", "pages 13-17", "Seiten 13–17"),
        # In words, whose forms CLDR knows.
        ("ko-en", "14명이 왔다", "Fourteen people came"),
        ("en-de", "There are 25 of 31 guests", "Es sind fünfundzwanzig von einunddreißig Gästen"),
        ("en-ru", "14 people and 21 dogs", "четырнадцати людям и двадцать одна собака"),
        ("en-fr", "the 14th row", "la quatorzième rangée"),
        # Of years, and glued to what stands beside them.
        ("en-de", "the season of 2019-20", "die Saison 2019/2020"),
        ("de-en", "die Jahre 1998–1999", "the years 1998-99"),
        ("en-de", "64 × 22 × 15 mm", "64×22×15 mm"),
        ("en-de", "WO 2015/203041", "WO2015/203041"),
        ("en-sna", "in 2016", "muna2016"),
        # As East Asian languages group them.
        ("en-ko", "23,456 people", "2만3456명"),
        ("ko-en", "1만 2500명", "12,500 people"),
        ("en-ko", "12,500 people", "1만2천500명"),
        ("en-ja", "23,456 people", "2万3456人"),
        # Converted units.
        ("en-de", "for 30 miles", "über 48 Kilometer"),
        ("en-de", "a 550-pound hog", "ein 250 Kilo schweres Schwein"),
        ("en-de", "97°F", "36 °C"),
        ("en-de", "for 30 miles", "etliche Kilometer weit"),
        ("en-de", "a 6-foot-6 forward", "ein 198 cm großer Stürmer"),
        ("en-de", "80 degrees, 10 degrees more", "27 Grad, 6 Grad mehr"),
        ("en-et", "$26,750 and 17 people", "23 585,88 eurot ja 17 inimest"),
        ("en-de", "€3.1 billion ($3.6bn)", "3,1 Milliarden €"),
        # Of regions, of languages with digits of their own, and zeros.
        ("en-es", "37,125 people", "37,125 personas"),
        ("en-es", "37,125 people", "37.125 personas"),
        ("en-ar", "76,120 people", "76.120 people"),
        ("en-fa", "77,125 views", "77،125 بازدید"),
        ("en-km", "380,000 people", "380.000 នាក់"),
        ("en-ky", "380,000 people", "380 миң киши"),
        # Of a clock, of telephones, and of decades that are no years.
        ("en-da", "at 5.30pm", "kl. 17.30"),
        ("en-ca", "at 5.30pm", "a les 17:30"),
        ("en-et", "at 5 a.m.", "kell 05:00"),
        ("en-fr", "call 859-292-3680", "appeler le 859 292-3680"),
        ("en-fa", "call 0800 555 111", "تلفن ۰۸۰۰۵۵۵۱۱۱"),
        ("en-de", "in the low 80s", "bei 27 Grad"),
        ("en-ja", "at 19:30", "午後7時30分"),
        # Of months, and of words that are made of a number.
        ("en-fi", "on 29 March, 5 people", "29.3., viisi ihmistä"),
        ("de-en", "am 29.3.", "on 29 March"),
        ("en-cs", "A host, 37, and a boy, 13", "Sedmatřicetiletá moderátorka a třináctiletý chlapec"),
        ("en-pl", "a 42-year-old", "czterdziestodwuletni mechanik"),
        ("en-it", "a 13-year-old", "un tredicenne"),
        ("en-ro", "his 47th match", "al patruzeci și șaptelea meci"),
        # Of scale words: of several, with "more than" between, and those that CLDR alone has.
        ("en-es", "the £2.8bn market", "un mercado de 2,8 miles de millones"),
        ("en-zh", "5.5 million people", "550多万人"),
        ("en-tt", "2.4 million people", "2 миллион 400 мең кеше"),
        # Of amounts in two units, one of which is enough, and of ranges whose ends are converted into each other.
        ("en-de", "45 miles (72 km) away", "72 km entfernt"),
        ("en-de", "six meters (18 feet)", "sechs Meter"),
        ("en-es", "1 to 2 inches, up to 4 inches", "entre 2 y 5 centímetros, hasta 10"),
        ("en-fr", "76,000 hectares", "760 kilomètres carrés"),
        ("en-pt", "it costs $36", "custa R$ 130"),
        # Glued to a prefix, or part of a name; a tone mark of an old encoding of Burmese is a digit of Shan.
        ("en-zu", "2.4 million and 1,127", "izigidi ezingu-2.4 ne-1 127"),
        ("en-ru", "per 247sports", "сообщает сайт"),
        ("en-my", "5 of them", "သူတို႔"),
        # Hours, fractions, powers, versions and signs.
        ("en-de", "from 8 am to 8 pm", "von 8 bis 20 Uhr"),
        ("en-de", "at 12:30 AM", "um 0:30 Uhr"),
        ("en-sw", "at 09:30", "saa 3:30"),
        ("en-fr", "0.75 litres", "¾ litre"),
        ("en-de", "1.5e-3 mol", "1,5 · 10⁻³ mol"),
        ("en-pt", "version 0.17.0", "a versão 0.17"),
        ("en-de", "Store it at -20 °C.", "Bei minus 20 °C lagern."),
        ("en-de", "5-20 °C", "5 bis 20 °C"),
        ("en-ru", "-5 things", "5 вещей"),
        ("en-fi", "on 29 September 1918", "29 9.1918"),
        # Of other eras, and in words of any language.
        ("en-am", "since September 2011", "ከመስከረም 2004 ጀምሮ"),
        ("en-zh_TW", "in 2024", "民國113年"),
        ("eng-zho_Hant", "in 2024", "民國113年"),
        ("en-lg", "In 1990 we came", "Mu lukumi mu lwenda kyenda"),
        ("en-ja", "He joined in March, at 52", "3月に参加した"),
        # Of placeholders.
        ("en-de", "%25$s, {14}, <x id='33'/>", "nichts"),
    ],
)
def test_no_false_alarms(pair: str, source: str, hypothesis: str) -> None:
    assert compared(source, hypothesis, pair) == []


@pytest.mark.parametrize(
    ("pair", "source", "hypothesis", "changed"),
    [
        ("en-de", "1,500 km", "1,5 km", ["1,5"]),
        ("en-de", "1.5 km", "1.500 km", ["1.500"]),
        ("en-de", "12,000 people", "12 Leute", ["12"]),
        ("en-de", "Open from 8 am.", "Geöffnet ab 20 Uhr.", ["20"]),
        ("en-de", "It starts at 8:30 AM.", "Beginn um 20:30 Uhr.", ["20"]),
        ("en-de", "2.5 hours", "2¼ Stunden", ["2¼"]),
        ("en-de", "10⁶ cells", "10⁹ Zellen", ["10⁹"]),
        ("en-de", "Python 3.10", "Python 3.1", ["3.1"]),
        ("en-de", "Store it at -20 °C.", "Bei 20 °C lagern.", ["20"]),
        ("en-zh", "Store it at -70 °C.", "在70 °C下保存。", ["70"]),
        ("en-ro", "5 more letters", "mai mult de 7 scrisori", ["7"]),
        ("en-zh_CN", "in 1939", "1639 年", ["1639"]),
        # Others may be words, but one digit of a number differs.
        ("en-zh", "18 wins, 20 losses and seven halves", "18勝，25負，7和", ["25"]),
        ("en-de", "in 1999", "im Jahr 1989", ["1989"]),
        ("en-de", "in 1999, 17 people", "17 Menschen", []),
        ("en-de", "500 people", "1.500 Menschen", ["1.500"]),
        ("en-de", "3 apples", "4 Äpfel", ["4"]),
        ("en-zh", "37 apples", "三十八个苹果", []),
        ("en-de", "17 😀 and 18", "😀 18", []),
        ("", "17", "18", ["18"]),
        ("en-de", "There were 14 guests", "Es waren Gäste da", []),
        ("en-de", "the season of 2019-20", "die Saison 2019–2021", ["2021"]),
        ("en-de", "64 × 22 × 15 mm", "64×33×15 mm", ["33"]),
        ("en-de", "$26,750", "$26.570", ["26.570"]),
        ("en-de", "in 1999 (17 people)", "1999", []),
        ("en-es", "37,125 people", "37,152 personas", ["37,152"]),
        ("en-de", "at 5.30pm", "um 18.30 Uhr", ["18.30"]),
        ("en-de", "45 miles (72 km) away", "65 Meilen (72 km) entfernt", ["65"]),
        ("en-de", "20 feet high", "50 Fuß (6 m) hoch", ["50"]),
        ("en-fr", "2 to 4 inches", "2 à 6 pouces", ["6"]),
        ("en-de", "a 550-pound hog", "ein schweres Schwein", []),
        ("en-it", "on May 30, 2005 in Xining", "il 30 maggio a Xining", []),
        # Numbers as words that only stand there as letters of others: "once" in "entonces", "art" in "artist".
        ("en-es", "about 11 cats", "entonces unos 21 gatos", ["21"]),
        ("en-sv", "18 years ago, artists", "artister för 19 år sedan", ["19"]),
        ("en-pt", "it costs $37", "custa US$ 67", ["67"]),
        # Not compared: beside words that multiply.
        ("en-pt", "$37 billion", "US$ 67 bilhões", []),
        ("en-ky", "380,000 people", "390 миң киши", []),
        # A lost decimal mark: beside other numbers, and where the language's words for thousands are unknown.
        ("en-de", "a 2.53 ERA, 18-7 and 220 2/3", "ein ERA von 253, 18-7 und 220", ["253"]),
        ("en-bem", "a drop of 4.8 per cent", "ukufika kuli 48 pesenti", ["48"]),
        ("en-de", "they won 5&4", "sie gewannen mit 4&4", ["4"]),
    ],
)
def test_findings(pair: str, source: str, hypothesis: str, changed: list[str]) -> None:
    assert compared(source, hypothesis, pair) == changed


RIGHT: dict[str, dict[str, tuple[str, ...]]] = {
    "1.2 billion": {
        "de": ("1,2 Milliarden", "1,2 Mrd.", "1200 Millionen", "1.200.000.000"),
        "es": ("1.200 millones", "1200 millones", "1,2 mil millones", "mil doscientos millones (1.200 millones)"),
        "fr": ("1,2 milliard", "1,2 Md", "1 200 millions"),
        "it": ("1,2 miliardi", "1.200 milioni", "1,2 mld"),
        "pt": ("1,2 bilhão", "1,2 mil milhões", "1.200 milhões", "1,2 bi"),
        "ru": ("1,2 миллиарда", "1,2 млрд", "1200 миллионов"),
        "pl": ("1,2 miliarda", "1,2 mld", "1200 mln"),
        "cs": ("1,2 miliardy", "1,2 mld.", "1200 milionů"),
        "da": ("1,2 milliarder", "1200 millioner"),
        "tr": ("1,2 milyar", "1200 milyon"),
        "zh": ("12亿", "12億", "1.2十亿"),
        "ja": ("12億", "12億0000万"),
        "ko": ("12억", "1.2십억"),
        "hi": ("120 करोड़", "1.2 अरब", "1.2 बिलियन"),
        "ar": ("1.2 مليار", "١٫٢ مليار"),
        "vi": ("1,2 tỷ", "1.200 triệu"),
    },
    "350,000": {
        "de": ("350 Tausend", "350.000", "350 Tsd."),
        "es": ("350 mil", "350.000"),
        "ru": ("350 тысяч", "350 тыс."),
        "zh": ("35万",),
        "ja": ("35万", "三十五万"),
        "ko": ("35만",),
        "hi": ("3.5 लाख", "3,50,000", "3 लाख 50 हज़ार"),
        "bn": ("৩.৫ লাখ",),
        "ta": ("3.5 லட்சத்தில்",),
    },
    "152 million": {
        "zh": ("1.52亿", "1亿5200万"),
        "ko": ("1억 5200만", "1억5,200만"),
        "hi": ("15.2 करोड़", "15 करोड़ 20 लाख"),
        "de": ("152 Mio. Euro",),
    },
    "3 to 5 million": {
        "de": ("3 bis 5 Millionen", "3-5 Millionen", "3 Millionen bis 5 Millionen"),
        "ja": ("300万～500万", "300万から500万"),
    },
    "in 2024": {"ja": ("令和6年", "2024年"), "th": ("พ.ศ. 2567", "ในปี 2567")},
    "in 2019": {"ja": ("令和元年", "平成31年")},
}


@pytest.mark.parametrize(
    ("pair", "source", "hypothesis"),
    [
        pair
        for english, translations in RIGHT.items()
        for lang, texts in translations.items()
        for text in texts
        for pair in ((f"en-{lang}", english, text), (f"{lang}-en", text, english))
    ],
)
def test_scale_words_and_eras_of_languages(pair: str, source: str, hypothesis: str) -> None:
    assert compared(source, hypothesis, pair) == []


@pytest.mark.parametrize(
    ("pair", "source", "hypothesis"),
    [
        # Words that are not known here, units, and words that only begin like scale words.
        ("en-hy", "3.5 million", "3.5 միլիոն"),
        ("en-de", "5 m and 7 k", "5 m und 7 k"),
        ("zh-en", "5千米和3千克", "5 km and 3 kg"),
        ("zh-en", "总装机82万千瓦", "820,000 kW"),
        ("en-fr", "17 millionaires", "17 millionnaires"),
        ("de-en", "17 Millionstel", "17 millionths"),
        ("it-en", "17 Milano", "17 Milan"),
        ("th-en", "17 พันธุ์", "17 breeds"),
    ],
)
def test_an_error_is_rather_missed_than_invented(pair: str, source: str, hypothesis: str) -> None:
    assert compared(source, hypothesis, pair) == []


def test_references_know_better() -> None:
    assert compared("17 people", "18 Leute", "en-de", "17 Leute") == ["18"]
    assert compared("17 people", "18 Leute", "en-de", "18 Leute") == []
