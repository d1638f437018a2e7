"""In which languages rules are sure, written by `python -m benchmarks.checks --write-lists`.

Measured on NTREX-128, whose translations are correct: a category of a rule is silent where it has more than one false
alarm in a thousand of them, or finds less than 95 % of the faults that are put in. `docs/mark.md` has the figures.
"""

# ruff: noqa: SIM905  # a list would have a line for each language

from __future__ import annotations

from collections.abc import Mapping

LANGUAGES: frozenset[str] = frozenset(
    (
        "af am ar az ba be bem bg bn bo bs ca ckb cs cy da de dv dz ee el en es et eu fa ff fi fil fj fo fr "
        "ga gl gu ha he hi hmn hr hu hy id ig is it ja ka kk km kn ko ku ky lb lo lt lv mey mg mi mk ml mn mr "
        "ms mt my nb nd ne nl nn nso ny om pa pl ps pt ro ru rw sd shi si sk sl sm sn so sq sr ss sv sw ta te "
        "tg th ti tk tn to tr tt ty ug uk ur uz ve vi wo xh yo yue zh zu "
    ).split()
)
"""All that were measured."""
SILENT: Mapping[str, Mapping[str, frozenset[str]]] = {
    "language": {
        "Accuracy/Wrong language": frozenset(
            ("bem ee ff fil fj hmn mey mi nb nd nso ny shi sm sr ss tn to ty ve wo yue ").split()
        ),
        "Accuracy/Source language fragment": frozenset(("shi ").split()),
    },
    "scripts": {
        "Fluency/Character encoding/Script": frozenset(("mey shi ").split()),
    },
    "numbers": {
        "Accuracy/Mistranslation/Number": frozenset(("bo km mey mg shi sw ug ve ").split()),
        "Accuracy/Omission/Number": frozenset(("dz ee mey my nn ps shi yo zu ").split()),
    },
    "repetition": {
        "Accuracy/Addition/Doubled word": frozenset(
            (
                "af az bn bo dz fj ga ig ja km lo mey mn my nd nso ny sm sn so sw ta th tr uz ve vi wo xh yue zh zu "
            ).split()
        ),
        "Accuracy/Addition/Doubled short word": frozenset(
            (
                "af am bn bo ckb de dv dz ee el fa ff fj fr gu hi ig ja km kn ku lb lo lt mey mn mr mt my nd nl nso "
                "ny pa ps rw sd shi sm sn ss sv sw tg th tn tr ty ur ve vi wo xh yo yue zh zu "
            ).split()
        ),
        "Accuracy/Addition/Repetition": frozenset(("fj gu hmn kn mg mi sd sm tn ty ve yo ").split()),
    },
}
"""By rule and category, the languages in which it says nothing."""
