"""In which languages rules are sure, written by `python -m benchmarks.checks --write-lists`.

Measured on the even sources of NTREX-128, whose translations are correct: a rule is silent where it has more than one
finding in a thousand of them. `docs/mark.md` has figures of the odd ones.
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
    "untranslated": {
        "Accuracy/Source language fragment": frozenset(("fj ").split()),
    },
    "language": {
        "Accuracy/Wrong language": frozenset(("mey nso shi yue ").split()),
        "Accuracy/Source language fragment": frozenset(("shi ").split()),
    },
    "scripts": {
        "Accuracy/Source language fragment": frozenset(("km mk ").split()),
        "Fluency/Character encoding/Script": frozenset(("mey sd shi ").split()),
    },
    "numbers": {
        "Accuracy/Omission/Number": frozenset(
            ("am ar bs cs dz ee ga hr kk my nd nn nso ny pl ps ru shi ss sw tg ug xh yo yue zu ").split()
        ),
        "Accuracy/Mistranslation/Number": frozenset(
            (
                "am ar bn ca ckb cy el et fa ha he hu hy is km ky lt mey mg ml mr my ne ny pa ro rw sd shi si sl so "
                "sw ug uz ve vi wo yue "
            ).split()
        ),
    },
    "repetition": {
        "Accuracy/Addition/Doubled word": frozenset(
            (
                "af am az bn de ee fa ff fj fr ga gu ig kk kn ku lb lt mn ny pa pl ps rw sd sm sn so sv sw ta tg tn "
                "tr ur uz ve vi wo xh yo zu "
            ).split()
        ),
        "Accuracy/Addition/Repetition": frozenset(("fj hmn ig kn mi sd tn ty ve ").split()),
    },
}
"""By rule and category, the languages in which it says nothing."""
